"""Rules, functions, dictionaries and companion answers that Gold contradicts.

A hard rule that no labelled input breaks stays hard. If few of them break it, the rule becomes soft, with a penalty
learned from Gold. If more than a share `FALSE` of them break it, the rule is false, and left out.

A labelling function that is mostly wrong on labelled inputs is left out, unless this may be chance (the p-value of a
one-sided test of "right half of the time" must be below `CHANCE`). With a p-value of up to `DOUBT` it is used, but
reported; so is a function without votes on labelled inputs.

Candidate labels usually come from a dictionary, so they are tested on tokens of labelled inputs: a label of Gold is
admitted if candidates of the same token, anywhere in the evidence, admit it. If fewer than a share `TRUE` of labels are
admitted, and not by chance, candidates are left out.

Companion answers are left out if labelled inputs look like the bad inputs (`likeness`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sidelight.choice.likeness import at_most, likeness
from sidelight.core.checks import is_hashable, is_listed
from sidelight.describe import content_key
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Unlabeled, Voted, voted_labels
from sidelight.rules import Rule, Sentence

FALSE = 0.2
TRUE = 0.75
CHANCE = 0.05
DOUBT = 1 / 3  # for example, none of two votes right, or one of four
MOST = 1000  # maximum number of labelled inputs used


class Believable(NamedTuple):
    """Rules that agree with Gold, descriptions of changes, and the names of false rules."""

    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


def believable(rules: Sequence[Rule], gold: Sequence[Gold], *, sequences: bool) -> Believable:
    """The rules that labelled inputs do not contradict.

    >>> from sidelight.rules import gallery
    >>> found = believable([gallery.starts_with("B")], [Gold(["a"], ["A"]), Gold(["b"], ["B"])], sequences=True)
    >>> found.rules, found.notes
    ((), ('the rule start is broken by 1 of 2 labelled inputs: left out',))
    """
    seen = gold[:MOST]
    believed: list[Rule] = []
    notes: list[str] = []
    false: list[str] = []
    for rule in rules:
        broken = sum(_breaks(rule, piece, i, sequences) for i, piece in enumerate(seen)) if rule.hard else 0
        if not broken:
            believed.append(rule)
            continue
        problem = f"the rule {rule.name} is broken by {broken:,} of {len(seen):,} labelled inputs"
        if broken <= FALSE * len(seen):
            believed.append(rule.soft())
            notes.append(f"{problem}: taken as soft")
        else:
            false.append(rule.name)
            notes.append(f"{problem}: left out")
    return Believable(tuple(believed), tuple(notes), tuple(false))


def _breaks(rule: Rule, piece: Gold, example: int, sequences: bool) -> bool:
    x: Any = piece.x if sequences else [piece.x]
    y: Any = list(piece.y) if sequences else [piece.y]
    return rule.violations(Sentence(x), y, example=example) > 0


class BelievableEvidence(NamedTuple):
    """Evidence that agrees with Gold, descriptions of what was left out, and the names of left-out functions."""

    evidence: list[Evidence]
    notes: tuple[str, ...] = ()
    wrong_functions: tuple[str, ...] = ()
    wrong_candidates: bool = False
    wrong_companions: bool = False
    doubtful_functions: tuple[str, ...] = ()


def believable_evidence(evidence: Sequence[Evidence], *, sequences: bool = True) -> BelievableEvidence:
    """The evidence without votes, candidates and companion answers that labelled inputs contradict.

    >>> votes = {"good": ["A"] * 6, "bad": ["B"] * 6}
    >>> found = believable_evidence([Gold(list("abcdef"), ["A"] * 6), Voted(list("abcdef"), votes)])
    >>> found.notes, list(found.evidence[1].votes)
    (('the function bad is right in 0 of 6 votes on labelled inputs: left out',), ['good'])
    >>> candidates = Candidates(list("abcdefgh"), [("B", "C")] * 8)
    >>> print(*believable_evidence([Gold(list("abcdefgh"), ["A"] * 8), candidates]).notes)
    candidate labels admit 0 of 8 labels of Gold, by tokens that both have: left out
    """
    functions, doubtful, notes = _wrong_functions(evidence)
    admitted, judged = _admitted(evidence)
    candidates = judged > 0 and at_most(admitted, judged, TRUE) < CHANCE
    if candidates:
        counts = f"{admitted:,} of {judged:,}"
        notes.append(f"candidate labels admit {counts} labels of Gold, by tokens that both have: left out")
    answers = [[piece.x for piece in evidence if isinstance(piece, Companion) and piece.z == z] for z in (1, -1)]
    look = likeness([piece.x for piece in evidence if isinstance(piece, Gold)], *answers, sequences=sequences)
    if look.contradicted:
        by = "by the order of their tokens" if sequences else "by their features"
        counts = f"{look.like_bad:,} of {look.judged:,}"
        notes.append(f"companion answers: {counts} labelled inputs look like the bad ones, {by}: left out")
    rest = without(evidence, functions, candidates=candidates, companions=look.contradicted)
    return BelievableEvidence(rest, tuple(notes), functions, candidates, look.contradicted, doubtful)


def without(
    evidence: Sequence[Evidence], functions: Sequence[str], *, candidates: bool, companions: bool
) -> list[Evidence]:
    """The evidence without the votes of some functions and, on request, without candidates and companion answers.

    Without their votes or candidates, inputs remain as unlabelled text. Inputs without their good or bad answers are
    dropped.
    """
    rest = [_without(piece, functions) if functions and isinstance(piece, Voted) else piece for piece in evidence]
    return [
        _text(piece) if _is_empty(piece) or (candidates and isinstance(piece, Candidates)) else piece
        for piece in rest
        if not (companions and isinstance(piece, Companion))
    ]


def _is_empty(piece: Evidence) -> bool:
    return isinstance(piece, Voted) and not piece.votes


def _text(piece: Evidence) -> Unlabeled:
    return Unlabeled(piece.x, weight=piece.weight, origin=piece.origin)


def _wrong_functions(evidence: Sequence[Evidence]) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """The functions that are mostly wrong on labelled inputs, those that may be, and descriptions of both."""
    right, judged = _judged(evidence)
    chance = {name: at_most(right[name], judged[name], 0.5) for name in judged}
    wrong = tuple(name for name in judged if chance[name] < CHANCE)
    doubtful = tuple(name for name in judged if CHANCE <= chance[name] < DOUBT)
    counts = {name: f"{right[name]:,} of {judged[name]:,}" for name in judged}
    notes = [f"the function {name} is right in {counts[name]} votes on labelled inputs: left out" for name in wrong]
    if doubtful:
        named = ", ".join(f"{name} ({counts[name]} right)" for name in doubtful)
        notes.append(f"look at these functions, which have too few votes on labelled inputs to judge: {named}: kept")
    if judged.total() and (silent := _voting(evidence) - {name for name in judged if judged[name]}):
        notes.append(f"functions without a vote on labelled inputs cannot be judged: {', '.join(sorted(silent))}: kept")
    return wrong, doubtful, notes


def _voting(evidence: Sequence[Evidence]) -> set[str]:
    """The functions that vote somewhere."""
    votes = (piece.votes.items() for piece in evidence if isinstance(piece, Voted))
    return {name for items in votes for name, row in items if row is not None and any(map(voted_labels, row))}


def _judged(evidence: Sequence[Evidence]) -> tuple[Counter[str], Counter[str]]:
    """For each function, the numbers of right votes and of all votes on labelled inputs."""
    right: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    voted = [piece for piece in evidence if isinstance(piece, Voted)]
    if not voted:
        return right, judged
    truth = {content_key(piece.x): piece.y for piece in evidence if isinstance(piece, Gold)}
    for piece in voted:
        y = truth.get(content_key(piece.x))
        if y is None:
            continue
        for name, row in piece.votes.items():
            for vote, label in zip(() if row is None else row, _listed(y)):
                named = voted_labels(vote)
                judged[name] += bool(named)
                right[name] += label in named
    return right, judged


def _admitted(evidence: Sequence[Evidence]) -> tuple[int, int]:
    """The number of Gold labels that candidates of the same tokens admit, and the number of such tokens."""
    sets: dict[Hashable, set[Any]] = {}
    for piece in evidence:
        if isinstance(piece, Candidates) and piece.y is not None and isinstance(piece.x, list | tuple):
            for token, labels in zip(piece.x, piece.y):
                if is_listed(labels):  # other values are refused later, with their place
                    sets.setdefault(content_key(token), set()).update(filter(is_hashable, labels))
    admitted = judged = 0
    for piece in evidence if sets else ():
        if isinstance(piece, Gold) and isinstance(piece.x, list | tuple):
            for token, label in zip(piece.x, _listed(piece.y)):
                own = sets.get(content_key(token))
                judged += own is not None
                admitted += own is not None and label in own
    return admitted, judged


def _listed(y: Any) -> Sequence[Any]:
    return y if isinstance(y, list | tuple) else [y]


def _without(piece: Voted, names: Sequence[str]) -> Voted:
    return replace(piece, votes={name: row for name, row in piece.votes.items() if name not in names})

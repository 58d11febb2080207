"""Rules and functions that Gold contradicts.

A rule that labelled inputs break is no law, whatever it says. A hard rule that no labelled input breaks stays hard. One
that few of them break is taken as soft, with a penalty learned from Gold; one that more than a share `FALSE` of them
break is false, and left out.

A labelling function that is oftener wrong than right on labelled inputs is left out, where that is no chance: were it
right every other time, it would be right as seldom as that with a probability of less than `CHANCE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scipy.special import bdtr

from sidelight.describe import content_key
from sidelight.evidence import Evidence, Gold, Voted, voted_labels
from sidelight.rules import Rule, Sentence

FALSE = 0.2
CHANCE = 0.05
MOST = 1000  # labelled inputs that are looked at


class Believable(NamedTuple):
    """Rules as Gold lets one believe them, what was changed in words, and the names of those that are false."""

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
    kept: list[Rule] = []
    notes: list[str] = []
    false: list[str] = []
    for rule in rules:
        broken = sum(_breaks(rule, piece, i, sequences) for i, piece in enumerate(seen)) if rule.hard else 0
        if not broken:
            kept.append(rule)
            continue
        said = f"the rule {rule.name} is broken by {broken:,} of {len(seen):,} labelled inputs"
        if broken <= FALSE * len(seen):
            kept.append(rule.soft())
            notes.append(f"{said}: taken as soft")
        else:
            false.append(rule.name)
            notes.append(f"{said}: left out")
    return Believable(tuple(kept), tuple(notes), tuple(false))


def _breaks(rule: Rule, piece: Gold, example: int, sequences: bool) -> bool:
    x: Any = piece.x if sequences else [piece.x]
    y: Any = list(piece.y) if sequences else [piece.y]
    return rule.violations(Sentence(x), y, example=example) > 0


class BelievableVotes(NamedTuple):
    """Evidence as Gold lets one believe it, what was left out in words, and the names of functions that were."""

    evidence: list[Evidence]
    notes: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def believable_votes(evidence: Sequence[Evidence]) -> BelievableVotes:
    """The evidence without the votes of functions that are oftener wrong than right on labelled inputs.

    >>> votes = {"good": ["A"] * 6, "bad": ["B"] * 6}
    >>> found = believable_votes([Gold(list("abcdef"), ["A"] * 6), Voted(list("abcdef"), votes)])
    >>> found.notes, list(found.evidence[1].votes)
    (('the function bad is right in 0 of 6 votes on labelled inputs: left out',), ['good'])
    """
    right, judged = _judged(evidence)
    wrong = tuple(name for name in judged if bdtr(right[name], judged[name], 0.5) < CHANCE)
    if not wrong:
        return BelievableVotes(list(evidence))
    notes = [
        f"the function {name} is right in {right[name]:,} of {judged[name]:,} votes on labelled inputs: left out"
        for name in wrong
    ]
    return BelievableVotes(without_functions(evidence, wrong), tuple(notes), wrong)


def without_functions(evidence: Sequence[Evidence], names: Sequence[str]) -> list[Evidence]:
    """The evidence without the votes of some functions."""
    if not names:
        return list(evidence)
    kept = [_without(piece, names) if isinstance(piece, Voted) else piece for piece in evidence]
    return [piece for piece in kept if not isinstance(piece, Voted) or piece.votes]


def _judged(evidence: Sequence[Evidence]) -> tuple[Counter[str], Counter[str]]:
    """How many votes of each function on labelled inputs are right, and how many there are."""
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
        labels = y if isinstance(y, list | tuple) else [y]
        for name, said in piece.votes.items():
            for vote, label in zip(() if said is None else said, labels):
                named = voted_labels(vote)
                judged[name] += bool(named)
                right[name] += label in named
    return right, judged


def _without(piece: Voted, names: Sequence[str]) -> Voted:
    return replace(piece, votes={name: said for name, said in piece.votes.items() if name not in names})

"""A summary of evidence: the amount of each kind, ambiguity, labels and contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from sidelight.core import html
from sidelight.core.checks import is_listed, shown
from sidelight.data.single import single_label
from sidelight.errors import DataError
from sidelight.evidence import KINDS, Candidates, Companion, Evidence, Gold, Origin, Partial, Voted, voted_labels

SHOWN = 20  # maximum number of rows of labels, and of conflicts, in the text


@dataclass(frozen=True, slots=True)
class VoteSummary:
    """The number of functions, and the number of tokens they vote on; the table of `sidelight.votes` has more."""

    functions: int
    votes: int
    covered: int  # tokens with at least one vote


@dataclass(frozen=True, slots=True)
class KindSummary:
    """The amount of evidence of one kind, and the number of labels it leaves open."""

    kind: str
    examples: int
    tokens: int
    weight: float
    labels_per_token: float | None = None  # for partial and candidates; None if the number of labels is unknown
    ambiguous: float | None = None  # share of tokens with more than one possible label, for partial and candidates
    votes: VoteSummary | None = None  # for votes


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two pieces of evidence, by index, that cannot both be right."""

    first: int
    second: int
    problem: str
    origins: tuple[Origin | None, Origin | None] = (None, None)

    def __str__(self) -> str:
        one, other = (
            f"evidence {index}" + ("" if origin is None else f" ({_place(origin)})")
            for index, origin in zip((self.first, self.second), self.origins)
        )
        return f"{one} and {other}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Description:
    """The result of `describe`; `str` returns it as a table."""

    kinds: tuple[KindSummary, ...]
    label_counts: Mapping[Any, int]  # known labels of gold and partial evidence, most frequent first
    good: int
    bad: int
    duplicates: int  # pieces that repeat an earlier piece of the same kind
    conflicts: tuple[Conflict, ...]

    def __str__(self) -> str:
        if not self.kinds:
            return "no evidence"
        blocks = [_aligned(_kind_rows(self)), *([_label_table(self.label_counts)] if self.label_counts else [])]
        blocks.append(f"duplicates: {self.duplicates}")
        lines = [f"conflicts: {len(self.conflicts)}", *(f"  {conflict}" for conflict in self.conflicts[:SHOWN])]
        blocks.append("\n".join(lines + _more(len(self.conflicts))))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        """For notebooks."""
        if not self.kinds:
            return html.block("Evidence", "none")
        kinds, labels = _kind_rows(self), _label_rows(self.label_counts)
        parts: list[object] = [html.table(kinds[0], kinds[1:])]
        if self.label_counts:
            parts += [html.table(labels[0], [(html.code(name), *cells) for name, *cells in labels[1:]])]
            parts += _more(len(self.label_counts))
        parts.append(f"{self.duplicates:,} duplicates, {len(self.conflicts):,} conflicts")
        return html.block("Evidence", *parts, *self.conflicts[:SHOWN], *_more(len(self.conflicts)))


def describe(evidence: Sequence[Evidence]) -> Description:
    """Summarise evidence: amounts, labels, ambiguity, duplicates and conflicts, in time linear in its tokens.

    An input is a list of tokens, or one token if it is a string, a dict, a row of numbers or an object without a
    length. A token about which nothing is known can have any label that occurs in the evidence. Pieces about the same
    input conflict if two `Gold` outputs differ, if it is both good and bad, or if the first `Gold` output is outside
    its candidates or known labels. Objects that cannot be hashed are the same input only if they are the same object.

    >>> from sidelight.evidence import Candidates, Gold
    >>> print(describe([Gold(["on"], ["ADP"]), Candidates(["on"], [{"ADV", "VERB"}])]))
    kind        examples  tokens  weight  ambiguity
    gold               1       1       1
    candidates         1       1       1  2.00 labels a token, 100.0% ambiguous
    total              2       2       2
    <BLANKLINE>
    label  count   share
    ADP        1  100.0%
    <BLANKLINE>
    duplicates: 0
    <BLANKLINE>
    conflicts: 1
      evidence 0 and evidence 1: the gold label 'ADP' is outside the candidates at token 0
    """
    if not is_listed(evidence):
        raise DataError(f"evidence is {shown(evidence)}", remedy="give a list of evidence")
    for index, piece in enumerate(evidence):
        if not isinstance(piece, Evidence):
            raise DataError(
                f"evidence {index} is a {type(piece).__name__}", remedy="wrap the input in Gold or its like"
            )
    evidence = [_listed(piece, index) for index, piece in enumerate(evidence)]
    counts = Counter[Any]()
    labels: set[Any] = set()
    for piece in evidence:
        if isinstance(piece, Gold | Partial):
            counts.update(_labels(piece.y))
        elif isinstance(piece, Candidates):
            labels.update(chain.from_iterable(choice for choice in piece.y if choice is not None))
        elif isinstance(piece, Voted):
            labels.update(label for votes in _rows_of(piece) for vote in votes for label in voted_labels(vote))
    labels.update(counts)
    groups: dict[str, list[Evidence]] = {kind.kind: [] for kind in KINDS}
    for piece in evidence:
        groups.setdefault(piece.kind, []).append(piece)
    answers = Counter(piece.z for piece in evidence if isinstance(piece, Companion))
    inputs = [content_key(piece.x) for piece in evidence]
    return Description(
        kinds=tuple(_summary(kind, pieces, len(labels)) for kind, pieces in groups.items() if pieces),
        label_counts=dict(sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))),
        good=answers[1],
        bad=answers[-1],
        duplicates=len(evidence) - len({(p.kind, key, content_key(_known(p))) for p, key in zip(evidence, inputs)}),
        conflicts=tuple(_conflicts(evidence, inputs)),
    )


def _listed(piece: Evidence, index: int) -> Evidence:
    """The same piece, with single labels or label sets put into a list, and with sets for the tokens of chunks."""
    if isinstance(piece, Partial) and (piece.y is None or isinstance(piece.y, str)):
        return single_label(piece, index)
    if isinstance(piece, Voted) and (isinstance(piece.x, str | Mapping) or _stand_alone(piece)):
        return single_label(piece, index)
    if isinstance(piece, Candidates):
        y = piece.y
        if y is None or isinstance(y, Set) or any(isinstance(label, str) for label in y):
            return single_label(piece, index)
        if piece.chunks:
            sets = list(y)
            for chunk in piece.chunks:
                sets[chunk.first : chunk.first + chunk.length] = [set(labels) for labels in zip(*chunk.labelings)]
            return replace(piece, y=sets)
    return piece


def _stand_alone(piece: Voted) -> bool:
    """Whether the votes are not in lists, which is allowed for single labels."""
    return any(not isinstance(votes, list | tuple | np.ndarray | None) for votes in piece.votes.values())


def _labels(y: Any) -> Iterable[Any]:
    parts = y if isinstance(y, list | tuple | np.ndarray) else (y,)
    return (part for part in parts if isinstance(part, str | int | np.generic))


def _tokens(x: Any) -> int:
    if isinstance(x, str | bytes | Mapping) or (isinstance(x, np.ndarray) and x.ndim < 2):
        return 1
    try:
        return len(x)
    except TypeError:
        return 1


def _summary(kind: str, pieces: Sequence[Evidence], label_count: int) -> KindSummary:
    sizes = Counter[int | None]()  # None if every label is open
    for piece in pieces:
        if isinstance(piece, Candidates):
            sizes.update(None if choice is None else len(choice) for choice in piece.y)
        elif isinstance(piece, Partial):
            sizes.update(None if label is None else 1 for label in piece.y)
    total = sizes.total()
    mean = ambiguous = None
    if total:
        ambiguous = sum(count for size, count in sizes.items() if size is None or size > 1) / total
        if label_count or not sizes[None]:
            mean = sum((label_count if size is None else size) * count for size, count in sizes.items()) / total
    voted = _vote_summary([piece for piece in pieces if isinstance(piece, Voted)]) if kind == Voted.kind else None
    tokens = sum(_tokens(piece.x) for piece in pieces)
    weight = float(sum(piece.weight for piece in pieces))
    return KindSummary(kind, len(pieces), tokens, weight, mean, ambiguous, voted)


def _rows_of(piece: Voted) -> list[Sequence[Any]]:
    """The votes of every function that votes at all."""
    return [votes for votes in piece.votes.values() if votes is not None]


def _vote_summary(pieces: Sequence[Voted]) -> VoteSummary:
    names, votes, covered = set[str](), 0, 0
    for piece in pieces:
        names.update(piece.votes)
        counts = [sum(vote is not None for vote in column) for column in zip(*_rows_of(piece))]
        votes += sum(counts)
        covered += sum(count > 0 for count in counts)
    return VoteSummary(len(names), votes, covered)


def _known(piece: Evidence) -> Any:
    match piece:
        case Candidates(y=y, known=known, chunks=chunks):
            return [None if choice is None else frozenset(choice) for choice in y], known, list(chunks)
        case Gold(y=y) | Partial(y=y):
            return y
        case Companion(z=z):
            return z
        case Voted(votes=votes):
            return {name: labels if labels is None else list(labels) for name, labels in votes.items()}
    return None


def content_key(value: Any) -> Hashable:
    """A hashable key that is equal for equal contents; for an object that cannot be hashed, its identity."""
    if value is None or isinstance(value, str | int | float | bytes | frozenset | np.generic):
        return value
    if isinstance(value, list | tuple):
        if all(type(part) is str for part in value):
            return tuple(value)
        return tuple([content_key(part) for part in value])
    if isinstance(value, Mapping):
        return "mapping", frozenset((name, content_key(part)) for name, part in value.items())
    if isinstance(value, set):
        return frozenset(content_key(part) for part in value)
    if isinstance(value, np.ndarray):
        return content_key(value.tolist())
    try:
        hash(value)
    except TypeError:
        return "object", id(value)
    return "object", value


def _conflicts(evidence: Sequence[Evidence], inputs: Sequence[Hashable]) -> Iterable[Conflict]:
    golds: dict[Hashable, tuple[int, Gold, Hashable]] = {}
    answers: dict[tuple[Hashable, int], int] = {}

    def conflict(first: int, second: int, problem: str) -> Conflict:
        return Conflict(first, second, problem, (evidence[first].origin, evidence[second].origin))

    for index, (piece, x) in enumerate(zip(evidence, inputs)):
        if isinstance(piece, Gold):
            output = content_key(piece.y)
            first, _, earlier = golds.setdefault(x, (index, piece, output))
            if output != earlier:
                yield conflict(first, index, "the same input with different gold outputs")
        elif isinstance(piece, Companion) and piece.z in (1, -1):
            answers.setdefault((x, piece.z), index)
            opposite = answers.get((x, -piece.z))
            if opposite is not None:
                yield conflict(opposite, index, "the same input is both good and bad")
    for index, (piece, x) in enumerate(zip(evidence, inputs)):
        if isinstance(piece, Partial | Candidates) and x in golds:
            first, gold, _ = golds[x]
            problem = _outside(gold, piece)
            if problem:
                yield conflict(first, index, problem)


def _outside(gold: Gold, piece: Partial | Candidates) -> str | None:
    output = gold.y if isinstance(gold.y, list | tuple | np.ndarray) else [gold.y]
    for t, (label, admitted) in enumerate(zip(output, piece.y)):
        if admitted is None:
            continue
        if isinstance(piece, Partial) and label != admitted:
            return f"the gold label {label!r} is not the known label {admitted!r} at token {t}"
        if isinstance(piece, Candidates) and label not in admitted:
            return f"the gold label {label!r} is outside the candidates at token {t}"
    return None


def _place(origin: Origin) -> str:
    return f"{origin.file}:{origin.line(0)}" if len(origin.lines) else origin.file


def _kind_rows(description: Description) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("kind", "examples", "tokens", "weight", "ambiguity")]
    for row in description.kinds:
        note = ""
        if row.ambiguous is not None:
            size = "" if row.labels_per_token is None else f"{row.labels_per_token:.2f} labels a token, "
            note = f"{size}{row.ambiguous:.1%} ambiguous"
        elif row.votes is not None:
            cast = row.votes
            note = (
                f"{cast.votes:,} votes of {cast.functions} functions on {cast.covered / row.tokens:.1%} of the tokens"
            )
        elif row.kind == Companion.kind:
            note = f"{description.good} good, {description.bad} bad"
        rows.append((row.kind, f"{row.examples:,}", f"{row.tokens:,}", f"{row.weight:,.10g}", note))
    examples, tokens = (sum(getattr(row, name) for row in description.kinds) for name in ("examples", "tokens"))
    weight = sum(row.weight for row in description.kinds)
    rows.append(("total", f"{examples:,}", f"{tokens:,}", f"{weight:,.10g}", ""))
    return rows


def _label_rows(counts: Mapping[Any, int]) -> list[tuple[str, ...]]:
    total = sum(counts.values())
    shown = list(counts.items())[:SHOWN]
    return [("label", "count", "share"), *((str(label), f"{n:,}", f"{n / total:.1%}") for label, n in shown)]


def _label_table(counts: Mapping[Any, int]) -> str:
    return "\n".join([_aligned(_label_rows(counts)), *_more(len(counts))])


def _more(count: int) -> list[str]:
    return [f"… and {count - SHOWN} more"] if count > SHOWN else []


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Text in columns: the first and fifth column aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in (0, 4) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    )

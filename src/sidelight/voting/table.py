"""Statistics of labelling functions: how often they vote, agree and disagree, and how often they are right (counted, or
estimated by a learner).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.evidence import Voted, voted_labels

TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class VoteCounts:
    """Numbers of tokens, for one function, or for its votes for one label."""

    function: str
    label: str | None  # None for all of them
    votes: int  # it votes
    overlap: int  # … and so does another function
    conflict: int  # … and another one votes for none of its labels
    judged: int  # it votes on a token with a known gold label
    right: int  # … and the gold label is among its votes

    @property
    def accuracy(self) -> float | None:
        """The share of its votes on Gold that are right; None if there are none."""
        return self.right / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class VoteTable:
    """The counts of `sidelight.votes`; `str` returns a table of the functions, and `labels` has counts by label."""

    tokens: int
    gold_tokens: int
    functions: tuple[VoteCounts, ...]
    labels: tuple[VoteCounts, ...]  # one for every function and label that it votes for
    together: VoteCounts  # tokens with any vote; right if all votes on the token are right

    def __str__(self) -> str:
        return text_table(
            [("function", *_HEAD), *(self._row(row, row.function) for row in (*self.functions, self.together))]
        )

    def by_label(self) -> str:
        """The same table as `str`, by label."""
        rows = [self._row(row, f"{row.function} {row.label}") for row in self.labels]
        return text_table([("function and label", *_HEAD), *rows])

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the counts, with shares of all tokens."""
        return {
            "tokens": self.tokens,
            "gold_tokens": self.gold_tokens,
            "functions": [self._entry(row) for row in self.functions],
            "labels": [self._entry(row) for row in self.labels],
            "together": self._entry(self.together),
        }

    def _entry(self, row: VoteCounts) -> dict[str, Any]:
        shares = {"coverage": self._share(row.votes), "accuracy": row.accuracy}
        return {**asdict(row), **shares}

    def _row(self, row: VoteCounts, name: str) -> tuple[str, ...]:
        shares = (f"{self._share(count):.1%}" for count in (row.votes, row.overlap, row.conflict))
        right = "" if row.accuracy is None else f"{row.accuracy:.1%} of {row.judged:,}"
        return name, f"{row.votes:,}", *shares, right

    def _share(self, count: int) -> float:
        return count / self.tokens if self.tokens else 0.0


_HEAD = ("votes", "coverage", "overlap", "conflict", "right on gold")


def vote_table(
    names: Sequence[str], pieces: Iterable[Voted], tried: Iterable[Voted], outputs: Iterable[Sequence[Any]]
) -> VoteTable:
    """Count votes on inputs, and on Gold's inputs with its outputs.

    A set of labels counts for each of them; sets that share a label do not conflict.
    """
    seen: dict[str, Counter[tuple[str, Any]]] = {what: Counter() for what in _COUNTED}
    tokens = gold_tokens = 0
    for piece in pieces:
        rows = _rows(piece)
        tokens += _length(piece)
        for t in range(len(next(iter(rows.values()), ()))):
            _count(seen, _said(rows, t))
    for piece, output in zip(tried, outputs):
        rows = _rows(piece)
        gold_tokens += len(output)
        for t, label in enumerate(output):
            _judge(seen, _said(rows, t), label)
    labelled = sorted({key for counts in seen.values() for key in counts if key[1] is not None}, key=_order(names))
    return VoteTable(
        tokens,
        gold_tokens,
        tuple(_counts(seen, name, None) for name in names),
        tuple(_counts(seen, name, label) for name, label in labelled),
        _counts(seen, TOGETHER, None),
    )


_COUNTED = ("votes", "overlap", "conflict", "judged", "right")


def _count(seen: dict[str, Counter[tuple[str, Any]]], votes: dict[str, frozenset[Any]]) -> None:
    """Count the votes of one token."""
    conflicting = [name for name, own in votes.items() if any(own.isdisjoint(other) for other in votes.values())]
    for name, own in votes.items():
        keys = [(name, None), *((name, label) for label in own)]
        seen["votes"].update(keys)
        if len(votes) > 1:
            seen["overlap"].update(keys)
        if name in conflicting:
            seen["conflict"].update(keys)
    if votes:
        together = (TOGETHER, None)
        seen["votes"][together] += 1
        seen["overlap"][together] += len(votes) > 1
        seen["conflict"][together] += bool(conflicting)


def _judge(seen: dict[str, Counter[tuple[str, Any]]], votes: dict[str, frozenset[Any]], label: Any) -> None:
    for name, own in votes.items():
        keys = [(name, None), *((name, voted) for voted in own)]
        seen["judged"].update(keys)
        if label in own:
            seen["right"].update(keys)
    if votes:
        seen["judged"][TOGETHER, None] += 1
        seen["right"][TOGETHER, None] += all(label in own for own in votes.values())


def _said(rows: dict[str, Sequence[Any]], token: int) -> dict[str, frozenset[Any]]:
    """The labels that each function votes for on a token, for functions that vote on it."""
    voted = {name: frozenset(voted_labels(votes[token])) for name, votes in rows.items()}
    return {name: labels for name, labels in voted.items() if labels}


def _rows(piece: Voted) -> dict[str, Sequence[Any]]:
    return {name: votes for name, votes in piece.votes.items() if votes is not None}


def _length(piece: Voted) -> int:
    return next((len(votes) for votes in piece.votes.values() if votes is not None), _tokens(piece.x))


def _tokens(x: Any) -> int:
    return len(x) if isinstance(x, list | tuple) else 1


def _counts(seen: dict[str, Counter[tuple[str, Any]]], name: str, label: Any) -> VoteCounts:
    numbers = (seen[what][name, label] for what in _COUNTED)
    return VoteCounts(name, None if label is None else str(label), *numbers)


def _order(names: Sequence[str]) -> Any:
    place = {name: i for i, name in enumerate(names)}
    return lambda key: (place[key[0]], str(key[1]))


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Text in columns: the first and the last are aligned to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    last = len(widths) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in (0, last) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class Reliability:
    """The votes of a function for a label (or for a set, as "A or B"), and an estimate of how many are right.

    >>> Reliability("suffix", "NOUN", 20.0, 15.0).share
    0.75
    """

    function: str
    label: str
    votes: float  # times weight and price
    right: float  # expected, or counted on Gold

    @property
    def share(self) -> float:
        """How often it is right."""
        return self.right / self.votes if self.votes > 0 else 0.0


def reliability_table(reliabilities: Sequence[Reliability]) -> str:
    """A line for each function: how often it is right overall, and for each label."""
    rows = [("function", "votes", "right", "by its votes")]
    for name in dict.fromkeys(one.function for one in reliabilities):
        own = [one for one in reliabilities if one.function == name]
        total = Reliability(name, "", sum(one.votes for one in own), sum(one.right for one in own))
        most = sorted(own, key=lambda one: -one.votes)
        parts = ", ".join(f"{one.label} {one.share:.0%}" for one in most[:4]) + (", …" if len(most) > 4 else "")
        rows.append((name, f"{total.votes:,.0f}", f"{total.share:.0%}", parts))
    return text_table(rows)

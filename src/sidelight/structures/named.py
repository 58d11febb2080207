"""The labels that evidence names, and what is named as if it were one: nothing, nan, a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sidelight.checks import is_hashable
from sidelight.data.trouble import trouble
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial, Voted, voted_labels


def named(piece: Evidence, *, sequences: bool) -> Iterator[tuple[int, Any]]:
    """Every label that a piece of evidence names, with its token.

    >>> list(named(Partial(["Lights", "on"], [None, "ADP"]), sequences=True))
    [(1, 'ADP')]
    """
    if isinstance(piece, Gold):
        yield from enumerate(piece.y if sequences else [piece.y])
    elif isinstance(piece, Partial):
        yield from ((t, label) for t, label in enumerate(piece.y) if label is not None)
    elif isinstance(piece, Candidates | Companion):
        sets = piece.y if isinstance(piece, Candidates) else () if piece.candidates is None else piece.candidates
        yield from ((t, label) for t, own in enumerate(sets) if own is not None for label in own)
    elif isinstance(piece, Voted):
        asked = (votes for votes in piece.votes.values() if votes is not None)
        yield from ((t, label) for votes in asked for t, vote in enumerate(votes) for label in voted_labels(vote))
    if isinstance(piece, Candidates):
        for first, labelings in piece.chunks:
            yield from ((first + k, label) for labeling in labelings for k, label in enumerate(labeling))


def is_no_label(label: Any) -> bool:
    """Whether this stands for a missing label.

    >>> is_no_label(None), is_no_label(float("nan")), is_no_label("")
    (True, True, False)
    """
    return label is None or (isinstance(label, float) and label != label)


def raise_at_no_label(evidence: Sequence[Evidence], *, sequences: bool) -> None:
    """Raise `DataError` at the first label that is missing, or cannot be one."""
    for i, piece in enumerate(evidence):
        for t, label in named(piece, sequences=sequences):
            if is_no_label(label) or not is_hashable(label):
                raise no_label(piece, i, label, t if sequences else None)


def no_label(piece: Evidence, i: int, label: Any, token: int | None) -> DataError:
    """The error for what is no label."""
    remedy = "give sets of labels; None in the place of a set is any label"
    if isinstance(piece, Gold):
        remedy = "give labels; Candidates takes sets of them, and Partial None where there is none"
    elif isinstance(piece, Partial):
        remedy = "give labels, or None where one is not known"
    elif isinstance(piece, Voted):
        remedy = "a vote is a label, a set of labels, or None"
    return trouble(piece, i, problem=f"{label!r} is no label", remedy=remedy, token=token)

"""The labels that evidence names; what is named as if it were one (nothing, nan, a list), and labels that are too many.

Labels that are too many to be labels come from another column, or are numbers that are measured and not chosen.
Transitions take memory with the square of the number of labels, features with their number times that of the features;
so this is looked at before anything of that size is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sidelight.core.checks import is_hashable
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


def check_equal_labels(evidence: Sequence[Evidence], labels: Sequence[Any], *, sequences: bool) -> None:
    """Raise `DataError` where two labels are one to Python, and two to whoever wrote them: True, 1 and 1.0.

    >>> check_equal_labels([Gold(["a"], [True])], [0, 1], sequences=True)
    Traceback (most recent call last):
        ...
    sidelight.errors.DataError: evidence 0 (Gold), token 0: the label True is equal to the label 1; give labels of one \
type, or strings
    """
    if all(isinstance(label, str) for label in labels):
        return
    seen = {type(label) for piece in evidence for _, label in named(piece, sequences=sequences)}
    if len({_sort(kind) for kind in seen | set(map(type, labels))} - {None}) < 2:
        return
    known = {label: label for label in labels}
    for i, piece in enumerate(evidence):
        for t, label in named(piece, sequences=sequences):
            other = known.setdefault(label, label)
            if _sort(type(label)) is not _sort(type(other)):
                problem = f"the label {label!r} is equal to the label {other!r}"
                remedy = "give labels of one type, or strings"
                raise trouble(piece, i, problem=problem, remedy=remedy, token=t if sequences else None)


def _sort(kind: type) -> type | None:
    """Which sort of number a type is, those of numpy like Python's; None for what is no number."""
    for sort, others in ((bool, np.bool_), (int, np.integer), (float, np.floating)):
        if issubclass(kind, (sort, others)):
            return sort
    return None


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


MANY = 1000  # labels that nobody asks about
OFTEN = {True: 20, False: 2}  # how often more labels than that must be met, of tokens and of single inputs
COPIES = 3  # of the weights that training holds at least
_COLUMN = "is the label the last column (label_column=…, --label-column)?"


def check_label_count(count: int, evidence: Sequence[Evidence], *, sequences: bool) -> None:
    """Raise `DataError` for labels that were found in evidence, are very many, and are hardly met again."""
    if count <= MANY:
        return
    met = 0
    for piece in evidence:
        if isinstance(piece, Gold):
            met += len(piece.y) if sequences else 1
        else:
            met += sum(1 for _ in named(piece, sequences=sequences))
    if count * OFTEN[sequences] > met:
        what = "tokens" if sequences else "inputs"
        raise DataError(
            f"{count:,} different labels on {met:,} {what}",
            remedy=f"{_COLUMN} If they are right, give them: labels=[…]",
        )


def check_memory(n_weights: int, n_labels: int, n_features: int, *, memory: int | None = None) -> None:
    """Raise `DataError` where the weights of labels that were found in evidence do not fit into memory, in bytes."""
    most = _memory() if memory is None else memory
    needed = 8 * COPIES * n_weights
    if n_labels > 2 and most is not None and needed > most:
        raise DataError(
            f"{n_labels:,} labels and {n_features:,} features need about {needed / 1e9:,.1f} GB, and there are "
            f"{most / 1e9:,.1f}",
            remedy="are these the labels, and is theirs the last column? Raise min_count, lower hash_bits, or give "
            "labels=[…] to try all the same",
        )


def _memory() -> int | None:
    """The memory of this machine in bytes, if it tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None

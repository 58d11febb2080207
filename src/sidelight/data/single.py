"""Conversion of evidence on inputs with one label each to one form: a list with one element.

Users may write the set of candidates alone, {"spam", "ham"}, or in a list, [{"spam", "ham"}], and a known label alone
or in a list. More than one set, or more than one label, is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.core.checks import is_hashable
from sidelight.evidence import Candidates, Companion, Evidence, Partial, Voted, trouble

SETS = "give the labels that the input may have, e.g. {'spam', 'ham'}, alone or in a list; None is any label"
LABELS = "give a label, alone or in a list, or None"


def single_labels(evidence: Iterable[Evidence]) -> list[Evidence]:
    """All evidence in the form of sequences of one token; raises `DataError` like `single_label`.

    >>> single_labels([Partial({"w=on": 1.0}, "ham")])[0].y
    ['ham']
    """
    return [single_label(piece, index) for index, piece in enumerate(evidence)]


def single_label(piece: Evidence, index: int) -> Evidence:
    """A piece of evidence on an input with one label, in the form of a sequence of one token.

    Raises `DataError` if it refers to several labels, or if a set of candidates is empty.

    >>> single_label(Candidates({"w=on": 1.0}, ("spam", "ham")), 0).y
    [('spam', 'ham')]
    """
    match piece:
        case Partial(y=y):
            return replace(piece, y=_one_label(piece, index, labels=y, what="labels"))
        case Candidates(y=y, known=known, initial=initial):
            if piece.chunks:
                problem = "chunks of tokens, where an input has one label"
                raise trouble(piece, index, problem=problem, remedy="give candidates instead")
            return replace(
                piece,
                y=[_one_set(piece, index, y)],
                known=None if known is None else _one_label(piece, index, labels=known, what="known labels"),
                initial=None if initial is None else _one_label(piece, index, labels=initial, what="initial labels"),
            )
        case Companion(candidates=limits) if limits is not None:
            return replace(piece, candidates=[_one_set(piece, index, limits)])
        case Voted(votes=votes) if isinstance(votes, Mapping):
            return replace(piece, votes={name: _one_vote(piece, index, name, vote) for name, vote in votes.items()})
    return piece


def _one_label(piece: Evidence, index: int, *, labels: Any, what: str) -> list[Any | None]:
    """[label] from a label, or from a list with one."""
    if not isinstance(labels, list | tuple | np.ndarray):
        if is_hashable(labels):
            return [labels]
        raise trouble(piece, index, problem=f"the {what} {labels!r} are a {type(labels).__name__}", remedy=LABELS)
    if len(labels) != 1:
        raise trouble(piece, index, problem=f"{len(labels)} {what}, where an input has one", remedy=LABELS)
    if not is_hashable(labels[0]):
        raise trouble(piece, index, problem=f"the label {labels[0]!r} is a {type(labels[0]).__name__}", remedy=LABELS)
    return list(labels)


def _one_vote(piece: Evidence, index: int, name: Any, vote: Any) -> list[Any] | None:
    """[vote] from a vote, or from a list with one."""
    if vote is None:
        return None
    if not isinstance(vote, list | tuple | np.ndarray):
        return [vote]
    if len(vote) != 1:
        problem = f"{len(vote)} votes of {name!r}, where an input has one"
        raise trouble(piece, index, problem=problem, remedy="give a label, a set of labels, or None")
    return list(vote)


def _one_set(piece: Evidence, index: int, sets: Any) -> Collection[Any] | None:
    """The one set of labels, from a collection of labels or from a list with one such collection."""
    listed = isinstance(sets, list | tuple | np.ndarray)
    if listed and len(sets) == 1 and _is_set(sets[0]):
        sets = sets[0]
    elif listed and len(sets) > 1 and any(_is_set(labels) for labels in sets):
        raise trouble(piece, index, problem=f"{len(sets)} candidate sets, where an input has one", remedy=SETS)
    if sets is None:
        return None
    if isinstance(sets, str | bytes) or not isinstance(sets, Collection):
        problem = f"the candidates {sets!r} are a {type(sets).__name__}"
        raise trouble(piece, index, problem=problem, remedy=SETS)
    if len(sets) == 0:
        raise trouble(piece, index, problem="an empty candidate set", remedy=SETS)
    bad = [label for label in sets if label is None or not is_hashable(label)]
    if bad:
        raise trouble(piece, index, problem=f"the candidate {bad[0]!r} is not a label", remedy=SETS)
    return sets


def _is_set(labels: Any) -> bool:
    """Whether this is a set of candidates and not a label."""
    return labels is None or (isinstance(labels, Collection) and not isinstance(labels, str | bytes))

"""Labelling functions and label matrices of Snorkel as votes: integers for classes, -1 for no vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.core.checks import is_listed, shown
from sidelight.errors import DataError
from sidelight.evidence import Gold, Voted
from sidelight.voting import LabellingFunction, Votes
from sidelight.voting.table import vote_table
from sidelight.voting.votes import single_votes

ABSTAIN = -1
Names = Sequence[Any] | Mapping[int, Any] | None


def snorkel_functions(
    functions: Iterable[Any], *, labels: Names = None, point: Callable[[Any], Any] | None = None
) -> list[LabellingFunction]:
    """Labelling functions for `sidelight.votes` from Snorkel's labelling functions, by name.

    `labels` names the classes 0, 1, …: a list, or {number: label}; otherwise classes remain numbers. `point` turns an
    input into the data point that the functions expect, such as `lambda x: SimpleNamespace(text=" ".join(x))`. Any
    callable with a name that returns a number for a data point works.

    >>> def short(x): return 1 if len(x) < 3 else -1
    >>> [one(["hi", "ann"]) for one in snorkel_functions([short], labels=["spam", "ham"])]
    ['ham']
    """
    if not is_listed(functions):
        problem = f"{type(functions).__name__} instead of labelling functions"
        raise DataError(problem, remedy="give a list of Snorkel's LabelingFunction")
    functions_of_rows = []
    for function in functions:
        name = getattr(function, "name", None) or getattr(function, "__name__", None)
        if not callable(function) or not isinstance(name, str):
            raise DataError(f"{shown(function)} among the functions", remedy="give Snorkel's LabelingFunction")
        voter = partial(_vote, function=function, name=name, labels=labels, point=point)
        functions_of_rows.append(LabellingFunction(voter, name, "sentence"))
    return functions_of_rows


def votes_of_matrix(
    xs: Sequence[Any],
    matrix: Any,
    *,
    labels: Names = None,
    names: Sequence[str] | None = None,
    gold: Sequence[Gold] = (),
    gold_matrix: Any = None,
) -> Votes:
    """The votes in a label matrix, as made by Snorkel's appliers. # [N, functions]

    `names` are the names of the functions (by default `function0`, …); `labels` is as for `snorkel_functions`.
    `gold_matrix` has the votes on the inputs of `gold`, which show the reliability of each function.

    >>> found = votes_of_matrix([["hi"], ["cheap", "pills"]], [[1, -1], [-1, 0]], labels=["spam", "ham"])
    >>> [piece.votes for piece in found]
    [{'function0': ['ham'], 'function1': None}, {'function0': None, 'function1': ['spam']}]
    """
    table = _numbers(matrix, len(xs), "matrix")
    tried = _numbers([] if gold_matrix is None else gold_matrix, len(gold), "gold_matrix")
    width = table.shape[1]
    if len(gold) and tried.shape[1] != width:
        problem = f"matrix has {width} columns, and gold_matrix {tried.shape[1]}"
        raise DataError(problem, remedy="ask the same functions about both")
    own = [f"function{i}" for i in range(width)] if names is None else list(names)
    if len(own) != width or len(set(own)) < width or not all(isinstance(name, str) for name in own):
        raise DataError(f"names is {shown(names)}", remedy=f"give {width} different names, one for each column")
    pieces = tuple(_voted(x, row, own, labels) for x, row in zip(xs, table.tolist()))
    known = tuple(_voted(piece.x, row, own, labels) for piece, row in zip(gold, tried.tolist()))
    return Votes(pieces, known, vote_table(own, pieces, known, [[piece.y] for piece in gold]))


def _voted(x: Any, row: Sequence[int], names: Sequence[str], labels: Names) -> Voted:
    votes = [_label(number, name, labels) for name, number in zip(names, row)]
    return single_votes(x, {name: None if vote is None else [vote] for name, vote in zip(names, votes)})


def _numbers(matrix: Any, rows: int, what: str) -> Ints:
    """A matrix of integers with the given number of rows."""
    try:
        votes = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        votes = np.empty(0, dtype=object)
    votes = votes.reshape(0, 0) if not rows and not votes.size else votes
    if votes.ndim != 2 or len(votes) != rows or not (votes.dtype.kind in "iu" or not votes.size):
        problem = f"{what} is an array of {votes.dtype} of shape {votes.shape} for {rows} inputs"
        raise DataError(problem, remedy="give a row of whole numbers for each input, -1 where a function abstains")
    return votes.astype(np.int64)


def _vote(
    x: Any, *, function: Callable[[Any], Any], name: str, labels: Names, point: Callable[[Any], Any] | None
) -> Any:
    return _label(function(x if point is None else point(x)), name, labels)


def _label(number: Any, name: str, labels: Names) -> Any:
    """The label of a number that a function returned; None if it abstains."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise DataError(f"the function {name!r} returned {shown(number)}", remedy="return a class, or -1 to abstain")
    if number == ABSTAIN:
        return None
    known = dict(enumerate(labels)) if isinstance(labels, Sequence) else labels
    if known is None and number >= 0:
        return int(number)
    if known is None or number not in known:
        there = "" if known is None else f", and labels has {', '.join(map(str, known))}"
        raise DataError(f"the function {name!r} voted for class {number}{there}", remedy="name every class in labels")
    return known[int(number)]

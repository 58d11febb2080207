"""Truth and degree of an expression for all labels of a few variables at once.

An array has one axis per variable, in the requested order; axes of variables that a part does not use have length one
and are broadcast. This replaces loops over outputs by a few array operations.

A clause about one token, or two neighbours, is a table [previous label, label], with one row if the previous token does
not matter. Such clauses are free for dynamic programming: they are added to the scores of labels, or of transitions at
one position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ints
from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some, children

Truths = NDArray[Any]  # bool
Axes = Mapping[int, int]  # of variables

NOWHERE = (1 << 60, -1)  # the span of expressions without variables


def truth_table(expression: Expr, variables: Sequence[int], sizes: Sequence[int]) -> Truths:
    """Whether it is true. # [*sizes]

    >>> truth_table(Same(0, 1), (0, 1), (2, 2)).astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    return np.broadcast_to(_truths(expression, _axes(variables), tuple(sizes)), tuple(sizes))


def degree_table(expression: Expr, variables: Sequence[int], sizes: Sequence[int]) -> Ints:
    """How much it is violated. # [*sizes]"""
    return np.broadcast_to(_degrees(expression, _axes(variables), tuple(sizes)), tuple(sizes))


def local_truths(expression: Expr, t: int, n_labels: int) -> Truths:
    """Whether it is true, by the labels of tokens t − 1 and t: [L or 1, L or 1]."""
    return _truths(expression, {t - 1: 0, t: 1}, (n_labels, n_labels))


def local_degrees(expression: Expr, t: int, n_labels: int) -> Ints:
    """The degree of violation, by the labels of tokens t − 1 and t: [1 or L, L], with L rows if both matter.

    >>> local_degrees(OneOf(3, (0, 2)), 3, 4)
    array([[0, 1, 0, 1]])
    """
    table = _degrees(expression, {t - 1: 0, t: 1}, (n_labels, n_labels))
    rows, columns = table.shape
    return table if columns == n_labels else np.broadcast_to(table, (rows, n_labels))


def span(expression: Expr) -> tuple[int, int]:
    """The first and the last variable of an expression."""
    if isinstance(expression, OneOf):
        return expression.variable, expression.variable
    if isinstance(expression, Same):
        return expression.first, expression.second
    if isinstance(expression, Not):
        return span(expression.part)
    first, last = NOWHERE
    parts = expression.parts if isinstance(expression, (Every, Some)) else children(expression)
    for child in parts:
        lower, upper = span(child)
        first = lower if lower < first else first
        last = upper if upper > last else last
    return first, last


def _axes(variables: Sequence[int]) -> Axes:
    return {variable: axis for axis, variable in enumerate(variables)}


def _degrees(expression: Expr, axes: Axes, sizes: tuple[int, ...]) -> Ints:
    if isinstance(expression, OneOf):
        return _one_of(expression.labels, axes[expression.variable], sizes)[1]
    if isinstance(expression, Same):
        return _same(axes[expression.first], axes[expression.second], sizes)[1]
    if isinstance(expression, KnownValue):
        return np.full((1,) * len(sizes), expression.degree, np.int64)
    if isinstance(expression, Every):
        degrees = _degrees(expression.parts[0], axes, sizes)
        for part in expression.parts[1:]:
            degrees = degrees + _degrees(part, axes, sizes)
        return degrees
    if isinstance(expression, Between):
        total = _totals(expression, axes, sizes)
        outside = np.zeros_like(total)
        if expression.low is not None:
            outside = np.maximum(outside, expression.low - total)
        if expression.high is not None:
            outside = np.maximum(outside, total - expression.high)
        return outside
    return np.logical_not(_truths(expression, axes, sizes)).astype(np.int64)


def _totals(expression: Between, axes: Axes, sizes: tuple[int, ...]) -> Ints:
    totals: Ints = np.zeros((1,) * len(sizes), np.int64)
    for weight, part in expression.terms:
        totals = totals + weight * _truths(part, axes, sizes)
    return totals


def _truths(expression: Expr, axes: Axes, sizes: tuple[int, ...]) -> Truths:
    if isinstance(expression, OneOf):
        return _one_of(expression.labels, axes[expression.variable], sizes)[0]
    if isinstance(expression, Same):
        return _same(axes[expression.first], axes[expression.second], sizes)[0]
    if isinstance(expression, Not):
        return np.logical_not(_truths(expression.part, axes, sizes))
    if isinstance(expression, (Every, Some)):
        meet = np.logical_and if isinstance(expression, Every) else np.logical_or
        truths = _truths(expression.parts[0], axes, sizes)
        for part in expression.parts[1:]:
            truths = meet(truths, _truths(part, axes, sizes))
        return truths
    if isinstance(expression, Between):
        total = _totals(expression, axes, sizes)
        low, high = expression.low, expression.high
        holds = np.ones_like(total, dtype=np.bool_)
        if low is not None:
            holds &= total >= low
        if high is not None:
            holds &= total <= high
        return holds
    if isinstance(expression, KnownValue):
        return np.full((1,) * len(sizes), bool(expression))
    raise TypeError(f"not an expression: {expression!r}")


@lru_cache(maxsize=4096)
def _one_of(labels: tuple[int, ...], axis: int, sizes: tuple[int, ...]) -> tuple[Truths, Ints]:
    """Whether a variable has one of some labels, and the degree of that."""
    truths = np.zeros(sizes[axis], np.bool_)
    truths[list(labels)] = True
    return _frozen(truths.reshape([size if k == axis else 1 for k, size in enumerate(sizes)]))


@lru_cache(maxsize=64)
def _same(first: int, second: int, sizes: tuple[int, ...]) -> tuple[Truths, Ints]:
    """Whether two variables have one label, and the degree of that."""
    first, second = sorted((first, second))
    shape = [size if k in (first, second) else 1 for k, size in enumerate(sizes)]
    return _frozen(np.eye(sizes[first], sizes[second], dtype=np.bool_).reshape(shape))


def _frozen(truths: Truths) -> tuple[Truths, Ints]:
    """A cached table, with the degrees of violation."""
    degrees = np.logical_not(truths).astype(np.int64)
    truths.flags.writeable = degrees.flags.writeable = False
    return truths, degrees

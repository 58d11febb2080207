"""Truth and degree of an expression for all labels of a few variables at once.

An array has one axis per variable, in the order in which they are asked for; axes that a part does not speak of have
length one and are broadcast. What takes a loop over outputs elsewhere is a handful of array operations here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some

Whole = NDArray[np.int64]
Truths = NDArray[Any]  # bool


def truth_table(expression: Expr, variables: Sequence[int], sizes: Sequence[int]) -> Truths:
    """Whether it is true. # [*sizes]

    >>> truth_table(Same(0, 1), (0, 1), (2, 2)).astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    axes = {variable: axis for axis, variable in enumerate(variables)}
    return np.broadcast_to(_truths(expression, axes, sizes), tuple(sizes))


def degree_table(expression: Expr, variables: Sequence[int], sizes: Sequence[int]) -> Whole:
    """How much it is violated. # [*sizes]"""
    axes = {variable: axis for axis, variable in enumerate(variables)}
    return np.broadcast_to(_degrees(expression, axes, sizes), tuple(sizes))


def _degrees(expression: Expr, axes: Mapping[int, int], sizes: Sequence[int]) -> Whole:
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


def _totals(expression: Between, axes: Mapping[int, int], sizes: Sequence[int]) -> Whole:
    totals: Whole = np.zeros((1,) * len(sizes), np.int64)
    for weight, part in expression.terms:
        totals = totals + weight * _truths(part, axes, sizes)
    return totals


def _truths(expression: Expr, axes: Mapping[int, int], sizes: Sequence[int]) -> Truths:
    if isinstance(expression, OneOf):
        axis = axes[expression.variable]
        shape = [1] * len(sizes)
        shape[axis] = sizes[axis]
        truths = np.zeros(sizes[axis], np.bool_)
        truths[list(expression.labels)] = True
        return truths.reshape(shape)
    if isinstance(expression, Not):
        return np.logical_not(_truths(expression.part, axes, sizes))
    if isinstance(expression, (Every, Some)):
        meet = np.logical_and if isinstance(expression, Every) else np.logical_or
        truths = _truths(expression.parts[0], axes, sizes)
        for part in expression.parts[1:]:
            truths = meet(truths, _truths(part, axes, sizes))
        return truths
    if isinstance(expression, Same):
        first, second = sorted((axes[expression.first], axes[expression.second]))
        shape = [1] * len(sizes)
        shape[first], shape[second] = sizes[first], sizes[second]
        return np.eye(sizes[first], sizes[second], dtype=np.bool_).reshape(shape)
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

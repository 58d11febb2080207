"""What is said of one token, or of two neighbours, as a table over their labels.

A table for token t is [previous label, label], with one row where the previous token does not matter. Such clauses
cost dynamic programming nothing: they are added to the scores of labels, or of transitions at one place.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ints
from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some, children

Bools = NDArray[np.bool_]

NOWHERE = (1 << 60, -1)  # the span of what speaks of no variable


def span(expression: Expr) -> tuple[int, int]:
    """The first and the last variable that it speaks of."""
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


@lru_cache(maxsize=4096)
def _is_one_of(labels: tuple[int, ...], n_labels: int, current: bool) -> Bools:
    mask = np.zeros(n_labels, dtype=np.bool_)
    mask[list(labels)] = True
    mask = mask[None, :] if current else mask[:, None]
    mask.flags.writeable = False
    return mask


@lru_cache(maxsize=4096)
def _is_not_one_of(labels: tuple[int, ...], n_labels: int) -> Ints:
    return _frozen((~_is_one_of(labels, n_labels, True)).astype(np.int64))


@lru_cache(maxsize=64)
def _is_not_same(n_labels: int) -> Ints:
    return _frozen((~_is_same(n_labels)).astype(np.int64))


def _frozen(table: Ints) -> Ints:
    table.flags.writeable = False
    return table


@lru_cache(maxsize=64)
def _is_same(n_labels: int) -> Bools:
    same = np.eye(n_labels, dtype=np.bool_)
    same.flags.writeable = False
    return same


def truth_table(expression: Expr, t: int, n_labels: int) -> Bools:
    """Whether it is true, by the labels of tokens t − 1 and t: [L or 1, L or 1]."""
    if isinstance(expression, OneOf):
        return _is_one_of(expression.labels, n_labels, expression.variable == t)
    if isinstance(expression, Same):
        return _is_same(n_labels)
    if isinstance(expression, Not):
        return ~truth_table(expression.part, t, n_labels)
    if isinstance(expression, (Every, Some)):
        table = truth_table(expression.parts[0], t, n_labels)
        for part in expression.parts[1:]:
            other = truth_table(part, t, n_labels)
            table = table & other if isinstance(expression, Every) else table | other
        return table
    if isinstance(expression, Between):
        total = total_table(expression, t, n_labels)
        low = -(1 << 60) if expression.low is None else expression.low
        high = 1 << 60 if expression.high is None else expression.high
        return (total >= low) & (total <= high)
    if isinstance(expression, KnownValue):
        return np.full((1, 1), bool(expression))
    raise TypeError(f"not an expression: {expression!r}")


def total_table(expression: Between, t: int, n_labels: int) -> Ints:
    """The weights of what is true."""
    total = np.zeros((1, 1), dtype=np.int64)
    for weight, part in expression.terms:
        total = total + weight * truth_table(part, t, n_labels)
    return total


def degree_table(expression: Expr, t: int, n_labels: int) -> Ints:
    """The degree of violation, by the labels of tokens t − 1 and t: [1 or L, L], with L rows where both matter.

    >>> degree_table(OneOf(3, (0, 2)), 3, 4)
    array([[0, 1, 0, 1]])
    """
    if isinstance(expression, OneOf):
        return _is_not_one_of(expression.labels, n_labels)
    if isinstance(expression, Same):
        return _is_not_same(n_labels)
    table = _degrees(expression, t, n_labels)
    rows, columns = table.shape
    return table if columns == n_labels else np.broadcast_to(table, (rows, n_labels))


def _degrees(expression: Expr, t: int, n_labels: int) -> Ints:
    if isinstance(expression, KnownValue):
        return np.full((1, 1), expression.degree, dtype=np.int64)
    if isinstance(expression, Every):
        return np.asarray(sum(_degrees(part, t, n_labels) for part in expression.parts), dtype=np.int64)
    if isinstance(expression, Between):
        total = total_table(expression, t, n_labels)
        below = np.zeros_like(total) if expression.low is None else expression.low - total
        above = np.zeros_like(total) if expression.high is None else total - expression.high
        return np.maximum(0, np.maximum(below, above))
    return (~truth_table(expression, t, n_labels)).astype(np.int64)

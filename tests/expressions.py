"""Random things to say of an output, and all outputs, for the laws about rules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from sidelight.inference.problem import RuledProblem
from sidelight.rules.columns import InputColumns
from sidelight.rules.expr import (
    FALSE,
    Expr,
    KnownValue,
    OneOf,
    Same,
    between,
    conjunction,
    disjunction,
    negation,
    total,
)
from sidelight.rules.lowering.rows import LinearRows

MOST = 5000  # assignments to auxiliary columns that are tried


@st.composite
def _leaves(draw: st.DrawFn, n_variables: int, n_labels: int, same: bool) -> Expr:
    pick = draw(st.integers(0, 9))
    if same and pick < 3 and n_variables > 1:
        first = draw(st.integers(0, n_variables - 2))
        adjacent = pick < 2
        second = first + 1 if adjacent else draw(st.integers(first + 1, n_variables - 1))
        return Same(first, second)
    variable = draw(st.integers(0, n_variables - 1))
    labels = draw(st.sets(st.integers(0, n_labels - 1), min_size=1, max_size=max(1, n_labels - 1)))
    return OneOf(variable, tuple(sorted(labels)))


@st.composite
def expressions(draw: st.DrawFn, n_variables: int, n_labels: int, depth: int = 3, same: bool = True) -> Expr:
    """Any expression over variables 0 … n−1 that all have the labels 0 … L−1; at times a known one.

    Without `same` no two variables are compared, so that they may have more labels than these.
    """
    sort = draw(st.integers(0, 11)) if depth else 0
    if sort < 3:
        return draw(_leaves(n_variables, n_labels, same))
    inner = expressions(n_variables, n_labels, depth - 1, same)
    if sort == 3:
        return negation(draw(inner))
    if sort < 8:
        parts = draw(st.lists(inner, min_size=1, max_size=3))
        if draw(st.integers(0, 11)) == 0:
            parts.append(FALSE)
        return conjunction(parts) if sort < 6 else disjunction(parts)
    weights = st.sampled_from([1, 1, 1, 2, -1, 3, -2])
    terms = [(draw(weights), part) for part in draw(st.lists(inner, min_size=1, max_size=4))]
    value = total(terms)
    least = sum(min(weight, 0) for weight, _ in value.terms)
    most = sum(max(weight, 0) for weight, _ in value.terms)
    low = draw(st.integers(least - 1, most + 1))
    high = draw(st.integers(least - 1, most + 1))
    shape = draw(st.integers(0, 3))
    if shape == 0:
        return between(value, low, None)
    if shape == 1:
        return between(value, None, high)
    return between(value, min(low, high), max(low, high) if shape == 2 else min(low, high))


@st.composite
def open_expressions(draw: st.DrawFn, n_variables: int, n_labels: int, depth: int = 3) -> Expr:
    """As `expressions`, never known."""
    return draw(expressions(n_variables, n_labels, depth).filter(lambda found: not isinstance(found, KnownValue)))


def outputs(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All outputs of variables with so many labels."""
    return itertools.product(*(range(size) for size in sizes))


def enumerated(problem: RuledProblem) -> tuple[tuple[int, ...], float]:
    """The best output by trying all."""
    best: tuple[int, ...] = ()
    value = -math.inf
    for labels in outputs(problem.sizes):
        worth = problem.value(labels)
        if worth > value:
            best, value = labels, worth
    return best, value


def structural(columns: InputColumns, labels: tuple[int, ...]) -> np.ndarray:
    """The columns of an output."""
    found = np.zeros(columns.count)
    for variable, label in enumerate(labels):
        found[columns.offsets[variable] + label] = 1
    for (first, second), place in columns.edges.items():
        found[place + labels[first] * columns.size(second) + labels[second]] = 1
    return found


def least_cost(rows: LinearRows, fixed: np.ndarray) -> float:
    """The least cost over auxiliary columns; infinite where none will do."""
    choices = [range(int(upper) + 1) for upper in rows.upper]
    assume(math.prod(len(choice) for choice in choices) <= MOST)
    best = math.inf
    tried = np.array(list(itertools.product(*choices)), float)  # [tries, A]
    points = np.hstack([np.tile(fixed, (len(tried), 1)), tried])
    legal = np.ones(len(points), bool)
    for r in range(len(rows.low)):
        entries = slice(rows.starts[r], rows.starts[r + 1])
        value = points[:, rows.columns[entries]] @ rows.weights[entries]
        legal &= (value >= rows.low[r] - 1e-9) & (value <= rows.high[r] + 1e-9)
    if legal.any():
        best = float((points[legal] @ rows.cost).min()) + rows.constant
    return best

"""The 0/1 columns of an output, and linear forms over them that are equivalent to expressions.

Variable v has a column for each of its labels; a pair of variables may have a column for each pair of labels (the
edges of a chain, or pairs that are scored together). A *form* is a whole number plus whole-number multiples of columns.
For one variable, or two variables with edge columns, every truth and every degree is a form: a sum over the labels or
pairs of labels. This keeps programs small: "a run of l begins at t" is z[t, l] − e[t−1, l, l].

Rules repeat the same condition at many places: "a run of l begins at t" for every t. The results for one place (a table
over its labels, a form over its columns) are cached under its *signature*, the expression up to the names of its
variables, and reused for all other places.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ints
from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some
from sidelight.rules.lowering.tables import degree_table, truth_table

Signature = tuple[Any, ...]


def signature(expression: Expr, seen: dict[int, int], most: int | None = None) -> Signature | None:
    """The expression with its variables numbered in `seen` in order of appearance; None if it has more than `most`.

    >>> seen = {}
    >>> signature(Not(OneOf(7, (1, 2))), seen) == signature(Not(OneOf(3, (1, 2))), {}), seen
    (True, {7: 0})
    """
    if isinstance(expression, OneOf):
        first = seen.setdefault(expression.variable, len(seen))
        return None if most is not None and len(seen) > most else (0, first, expression.labels)
    if isinstance(expression, Same):
        first = seen.setdefault(expression.first, len(seen))
        second = seen.setdefault(expression.second, len(seen))
        return None if most is not None and len(seen) > most else (1, first, second)
    if isinstance(expression, Not):
        inner = signature(expression.part, seen, most)
        return None if inner is None else (2, inner)
    if isinstance(expression, (Every, Some)):
        parts: list[Any] = [3 if isinstance(expression, Every) else 4]
        for part in expression.parts:
            inner = signature(part, seen, most)
            if inner is None:
                return None
            parts.append(inner)
        return tuple(parts)
    if isinstance(expression, Between):
        terms: list[Any] = [5, expression.low, expression.high]
        for weight, part in expression.terms:
            inner = signature(part, seen, most)
            if inner is None:
                return None
            terms.append((weight, inner))
        return tuple(terms)
    if isinstance(expression, KnownValue):
        return 6, expression.degree
    raise TypeError(f"not an expression: {expression!r}")


Known = tuple[tuple[tuple[int, int, int], ...], int]
Table = Callable[[Expr, Sequence[int], Sequence[int]], NDArray[Any]]
MOST_KNOWN = 8192
_KNOWN: dict[object, Known] = {}  # a cache: forms of local expressions by their signature


class ColumnForm:
    """constant + Σ weight · column."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[int, int] | None = None, constant: int = 0) -> None:
        self.terms: dict[int, int] = {} if terms is None else terms  # no weight is 0
        self.constant = constant

    def plus(self, other: ColumnForm, factor: int = 1) -> ColumnForm:
        """The sum of this form and a multiple of another."""
        total = ColumnForm(dict(self.terms), self.constant)
        total.add(other, factor)
        return total

    def add(self, other: ColumnForm, factor: int = 1) -> None:
        """Add a multiple of another to this one."""
        terms = self.terms
        for column, weight in other.terms.items():
            coefficient = terms.get(column, 0) + factor * weight
            if coefficient:
                terms[column] = coefficient
            else:
                terms.pop(column, None)
        self.constant += factor * other.constant

    def opposite(self) -> ColumnForm:
        """1 minus this form: the negation of a truth."""
        return ColumnForm({column: -weight for column, weight in self.terms.items()}, 1 - self.constant)

    def __repr__(self) -> str:
        return " + ".join([*(f"{weight}*c{column}" for column, weight in self.terms.items()), str(self.constant)])


@dataclass(frozen=True, slots=True)
class InputColumns:
    """The positions of the columns of variables and of pairs of variables."""

    offsets: tuple[int, ...]  # [n + 1] variable v has columns offsets[v] … offsets[v + 1] − 1
    # for v < w: the first of its size(v) · size(w) columns, ordered by the label of v first
    edges: Mapping[tuple[int, int], int]
    starts: tuple[int, ...]  # ascending: the first column of every variable and pair, and the number of columns

    @property
    def count(self) -> int:
        """The number of columns."""
        return self.starts[-1]

    def size(self, variable: int) -> int:
        """The number of labels of a variable."""
        return self.offsets[variable + 1] - self.offsets[variable]

    def bounds(self, form: ColumnForm) -> tuple[int, int]:
        """Bounds of a form, taking each variable and each pair separately."""
        blocks: dict[int, list[int]] = {}
        least = most = form.constant
        for column, weight in form.terms.items():
            if column >= self.count:  # an auxiliary column: 0 or 1
                least, most = least + min(weight, 0), most + max(weight, 0)
            else:
                blocks.setdefault(bisect_right(self.starts, column), []).append(weight)
        for block, weights in blocks.items():
            if len(weights) < self.starts[block] - self.starts[block - 1]:
                weights.append(0)
            least, most = least + min(weights), most + max(weights)
        return least, most


def columns_of(sizes: Sequence[int], pairs: Sequence[tuple[int, int]] = ()) -> InputColumns:
    """Columns of variables with these numbers of labels, and of pairs v < w of them.

    >>> columns_of([2, 3], [(0, 1)]).count
    11
    """
    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + size)
    starts = offsets[:]
    edges: dict[tuple[int, int], int] = {}
    for first, second in pairs:
        edges[first, second] = starts[-1]
        starts.append(starts[-1] + sizes[first] * sizes[second])
    return InputColumns(tuple(offsets), edges, tuple(starts))


def chain_columns(length: int, n_labels: int) -> InputColumns:
    """Columns of a chain: token by token, then edge by edge.

    >>> chain_columns(3, 2).edges
    {(0, 1): 6, (1, 2): 10}
    """
    return columns_of([n_labels] * length, [(t - 1, t) for t in range(1, length)])


def truth_form(expression: Expr, columns: InputColumns) -> ColumnForm | None:
    """A form that is 1 where the expression is true, else 0; None if it depends on more than the columns represent."""
    if isinstance(expression, OneOf):
        return _of_labels(expression.variable, expression.labels, columns)
    return _local_form(expression, columns, truth_table)


def degree_form(expression: Expr, columns: InputColumns) -> ColumnForm | None:
    """A form for the degree of violation; None if the expression depends on more than the columns represent."""
    if isinstance(expression, OneOf):
        return _of_labels(expression.variable, expression.labels, columns).opposite()
    return _local_form(expression, columns, degree_table)


def _local_form(expression: Expr, columns: InputColumns, table: Table) -> ColumnForm | None:
    seen: dict[int, int] = {}
    name = signature(expression, seen, 2)
    if name is None:
        return None
    scope = tuple(sorted(seen))
    places = [columns.offsets[variable] for variable in scope]
    if len(scope) == 2:
        place = columns.edges.get((scope[0], scope[1]))
        if place is None:
            return None
        places.append(place)
    sizes = tuple(columns.size(variable) for variable in scope)
    key = name, tuple(seen[variable] for variable in scope), sizes, table
    known = _KNOWN.get(key)
    if known is None:
        known = _shortest(table(expression, scope, sizes).astype(np.int64))
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = known
    cells, constant = known
    return ColumnForm({places[block] + cell: weight for block, cell, weight in cells}, constant)


def _of_labels(variable: int, labels: Sequence[int], columns: InputColumns) -> ColumnForm:
    first, size = columns.offsets[variable], columns.size(variable)
    if 2 * len(labels) <= size + 1:
        return ColumnForm({first + label: 1 for label in labels})
    others = set(range(size)).difference(labels)
    return ColumnForm({first + label: -1 for label in sorted(others)}, 1)


def _shortest(table: Ints) -> Known:
    """A table as a short list of (block, cell, weight) and a constant; blocks 0 and 1 are the variables, 2 is their
    pair.
    """
    if table.ndim == 0:
        return (), int(table)
    if table.ndim == 1:
        common = _commonest(table)
        return tuple((0, int(i), int(table[i] - common)) for i in np.flatnonzero(table != common)), common
    best: Known | None = None
    for axis in (0, 1):
        typical = np.array([_commonest(line) for line in (table if axis == 0 else table.T)], np.int64)
        common = _commonest(typical)
        cells = [(axis, int(i), int(typical[i] - common)) for i in np.flatnonzero(typical != common)]
        rest = table - (typical[:, None] if axis == 0 else typical[None, :])
        cells += [(2, int(cell), int(rest.flat[cell])) for cell in np.flatnonzero(rest)]
        if best is None or len(cells) < len(best[0]):
            best = tuple(cells), common
    assert best is not None
    return best


def _commonest(values: Ints) -> int:
    """The most frequent value; 0 in case of a tie."""
    distinct, counts = np.unique(values, return_counts=True)
    counts = 2 * counts + (distinct == 0)
    return int(distinct[np.argmax(counts)])

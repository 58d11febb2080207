"""Features of variables that are no sequence: attributes of each, and a table of weights for each type of pair.

A choice is a label of a kind, numbered kind by kind: K in all. One flat vector: threshold, a bias per choice, the
tables of pair types, sparse weights [A, K] last, so that new attributes append at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import list_of, mapping_of, whole_of
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.errors import DataError
from sidelight.features.counts import (
    Differences,
    RowRoom,
    SparseRows,
    add_entry,
    add_token,
    begin_row,
    end_row,
    filled_rows,
)
from sidelight.features.layout import LARGEST
from sidelight.features.rows import Rows, TokenFeatures, add_sparse, offsets_of, sparse_scores, taken


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables of N inputs, and the pairs of them that are scored together."""

    starts: Ints  # [N + 1] first variable of each input
    kinds: Ids  # [V]
    pair_starts: Ints  # [N + 1]
    pairs: Ids  # [P, 3] type, and the numbers of two variables within their input

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, lo: int, hi: int) -> Variables:
        """Those of the inputs lo..hi alone."""
        here = slice(int(self.starts[lo]), int(self.starts[hi]))
        both = slice(int(self.pair_starts[lo]), int(self.pair_starts[hi]))
        return Variables(
            self.starts[lo : hi + 1] - here.start,
            self.kinds[here],
            self.pair_starts[lo : hi + 1] - both.start,
            self.pairs[both],
        )

    def take(self, which: Ints) -> Variables:
        """Those of some of the inputs."""
        starts, variables = taken(self.starts, which)
        pair_starts, pairs = taken(self.pair_starts, which)
        return Variables(starts, self.kinds[variables], pair_starts, self.pairs[pairs])

    @property
    def places(self) -> tuple[Ints, Ints]:
        """The two variables of every pair, counted over all inputs. # [P], [P]"""
        first = np.repeat(self.starts[:-1], np.diff(self.pair_starts))
        return first + self.pairs[:, 1], first + self.pairs[:, 2]


@dataclass(frozen=True, slots=True)
class VariableRows:
    """Variables, and the attributes of each."""

    attributes: Rows
    variables: Variables
    called: tuple[tuple[tuple[str, Any], ...], ...]  # of each input: kind and key of every variable

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def starts(self) -> Ints:
        return self.variables.starts

    @property
    def lengths(self) -> Ints:
        return self.attributes.lengths

    @property
    def n_tokens(self) -> int:
        return self.attributes.n_tokens

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, to distinguish batches."""
        return (*self.attributes.arrays(), self.variables.kinds, self.variables.pair_starts, self.variables.pairs)

    def take(self, which: Ints | Sequence[int]) -> VariableRows:
        """Those of some of the inputs."""
        some = np.asarray(which, dtype=np.int64)
        called = tuple(self.called[i] for i in some.tolist())
        return VariableRows(self.attributes.take(which), self.variables.take(some), called)

    def tokens_of(self, which: Ints | Sequence[int]) -> Ints:
        """The numbers of the variables of some of the inputs, in order."""
        return self.attributes.tokens_of(which)


@dataclass(frozen=True)
class VariableLayout:
    """The positions of weights; `pairs` are the kinds of the two variables of each pair type."""

    kinds: tuple[int, ...]  # how many labels each has
    pairs: tuple[tuple[int, int], ...]
    n_attributes: int

    def __post_init__(self) -> None:
        if self.size > LARGEST:
            problem = f"{self.n_attributes:,} attributes times {self.n_labels} labels are more than {LARGEST:,} weights"
            raise DataError(problem, remedy="give fewer attributes")

    @classmethod
    def stored(cls, spec: Any, name: str) -> VariableLayout:
        """The layout that a file holds under a name; raises `ModelFileError` if it holds none."""
        fields = mapping_of(spec, name)
        sizes = [whole_of({"kinds": size}, "kinds", low=1, high=LARGEST) for size in list_of(fields, "kinds")]
        both = [list_of({"pairs": pair}, "pairs", count=2) for pair in list_of(fields, "pairs")]
        pairs = [[whole_of({"pairs": kind}, "pairs", high=len(sizes) - 1) for kind in pair] for pair in both]
        count = whole_of(fields, "n_attributes", high=LARGEST)
        return cls(tuple(sizes), tuple((one, other) for one, other in pairs), count)

    @property
    def n_labels(self) -> int:
        """K."""
        return sum(self.kinds)

    @cached_property
    def first(self) -> Ints:
        """The first choice of each kind, and K. # [kinds + 1]"""
        return offsets_of(self.kinds)

    @cached_property
    def tables_at(self) -> Ints:
        """The first weight of each pair type, and of the attributes. # [types + 1]"""
        return 1 + self.n_labels + offsets_of([self.kinds[one] * self.kinds[other] for one, other in self.pairs])

    @property
    def attributes_at(self) -> int:
        return int(self.tables_at[-1])

    @property
    def size(self) -> int:
        return self.attributes_at + self.n_attributes * self.n_labels

    def zeros(self) -> Floats:
        return np.zeros(self.size)

    def bias(self, weights: Floats) -> Floats:
        """A view of the weights of choices. # [K]"""
        return weights[1 : 1 + self.n_labels]

    def table(self, weights: Floats, number: int) -> Floats:
        """A view of the weights of a pair type. # [labels of the one kind, of the other]"""
        one, other = self.pairs[number]
        at = self.tables_at
        return weights[at[number] : at[number + 1]].reshape(self.kinds[one], self.kinds[other])

    def attribute_weights(self, weights: Floats) -> Floats:
        """A view of the sparse weights. # [A, K]"""
        return weights[self.attributes_at :].reshape(self.n_attributes, self.n_labels)

    def grown(self, n_attributes: int) -> VariableLayout:
        """The same layout with more attributes; old weights keep their positions."""
        return replace(self, n_attributes=n_attributes)


@dataclass(frozen=True, slots=True)
class VariableScores:
    """Scores of the choices of variables, and of pairs of choices by the type of a pair."""

    slots: Floats  # [V, K]
    tables: tuple[Floats, ...]  # [labels of the one kind, of the other] of each type

    def block(self, first: int, last: int) -> Floats:
        """A fresh array of the scores of variables first..last. # [last - first, K]"""
        return np.array(self.slots[first:last], dtype=np.float64, order="C")

    def raised(self, bonus: Floats) -> VariableScores:
        """The same with a bonus for every choice. # [V, K]"""
        return replace(self, slots=self.slots + bonus)


def variable_scores(rows: Rows, layout: VariableLayout, weights: Floats) -> VariableScores:
    """The scores of all parts of a batch under the weights."""
    slots = np.tile(layout.bias(weights), (rows.n_tokens, 1))
    sparse_scores(rows.indptr, rows.indices, rows.values, layout.attribute_weights(weights), 0, slots)
    return VariableScores(slots, tuple(layout.table(weights, k).copy() for k in range(len(layout.pairs))))


class Choices(NamedTuple):
    """The positions of the weights of variables and pairs, in the form for kernels."""

    n_choices: int  # K
    attributes_at: int
    pair_starts: Ints  # [N + 1]
    pairs: Ids  # [P, 3]
    places: Ints  # [types, 3] the first weight, the first choices of both kinds
    widths: Ints  # [types] labels of the other kind


def variable_differences(
    rows: Rows, variables: Variables, layout: VariableLayout, differences: Differences, *, n_jobs: int | None = 1
) -> SparseRows:
    """The rows wanted; outputs are choices [V]."""
    places = np.array([(layout.tables_at[k], *layout.first[list(pair)]) for k, pair in enumerate(layout.pairs)])
    widths = np.array([layout.kinds[other] for _, other in layout.pairs], dtype=np.int64)
    tables = variables.pair_starts, variables.pairs, places.reshape(-1, 3).astype(np.int64), widths
    choices = Choices(layout.n_labels, layout.attributes_at, *tables)
    entries = np.diff(rows.indptr[rows.starts]) + np.diff(rows.starts) + np.diff(variables.pair_starts)
    sides = 2 if len(differences.minus) else 1

    def fill(part: Differences, room: RowRoom) -> None:
        _fill(rows.starts, rows.tokens, choices, part, room)

    return filled_rows(differences, lambda part: 1 + sides * entries[part.which], fill, n_jobs=n_jobs)


def add_variable_parts(
    rows: Rows, layout: VariableLayout, slots: Floats, tables: tuple[Floats, ...], gradient: Floats
) -> None:
    """gradient += Σ belief · features, of choices [V, K] and of pairs of choices, summed by type: the adjoint."""
    layout.bias(gradient)[:] += slots.sum(axis=0)
    for number, table in enumerate(tables):
        layout.table(gradient, number)[:] += table
    add_sparse(rows.indptr, rows.indices, rows.values, 0, slots, layout.attribute_weights(gradient))


@kernel
def _fill(starts: Ints, tokens: TokenFeatures, choices: Choices, differences: Differences, room: RowRoom) -> None:
    for r, i in enumerate(differences.which):
        first, last, scale = starts[i], starts[i + 1], differences.scales[r]
        count = begin_row(room, differences.thresholds[r])
        count = _add_output(first, last, i, differences.plus, tokens, choices, scale, room, count)
        if differences.minus.shape[0] > 0:
            count = _add_output(first, last, i, differences.minus, tokens, choices, -scale, room, count)
        end_row(room, r, count)


@inner_kernel
def _add_output(
    first: int,
    last: int,
    i: int,
    output: Ids,
    tokens: TokenFeatures,
    choices: Choices,
    scale: float,
    room: RowRoom,
    count: int,
) -> int:
    """Append the features of the output of input i, whose variables are first..last."""
    pairs, places = choices.pairs, choices.places
    for v in range(first, last):
        choice = np.int64(output[v])
        count = add_entry(room, count, 1 + choice, scale)
        first_weight = choices.attributes_at + choice
        count = add_token(room, count, tokens, v, first_weight, first_weight, choices.n_choices, scale)
    for p in range(choices.pair_starts[i], choices.pair_starts[i + 1]):
        sort = pairs[p, 0]
        one = output[first + pairs[p, 1]] - places[sort, 1]
        other = output[first + pairs[p, 2]] - places[sort, 2]
        count = add_entry(room, count, places[sort, 0] + one * choices.widths[sort] + other, scale)
    return count

"""The linear program of a segmentation without rules; its columns for rules are those of a chain of token labels.

    z[t, k], e[t, i, j]    token t has label k; tokens t − 1 and t have labels i and j       (what rules speak of)
    u[t, d, l]             token t is the (d + 1)-th of a segment of label l
    a[t, d, l]             that segment ends with it
    b[t, e, l]             a segment of label l begins at token t, after an end of kind e

    Σ_l b[0, 0, l] = 1             u[t, 0, l] = Σ_e b[t, e, l]           u[t, d, l] = a[t, d, l] + u[t + 1, d + 1, l]
    Σ a[t, d, l] over what ends as e = Σ_l b[t + 1, e, l]

is a flow from the first token to the last, so its corners are the segmentations; z and e are sums of u and b. It takes
T M L columns, where one column for each segment and rows that say what it covers would take T M² L entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Ints
from sidelight.inference.highs import Program
from sidelight.inference.segment_lattice import SegmentLattice


class _Ties:
    """Rows Σ weight · column = right side, collected entry by entry."""

    def __init__(self) -> None:
        self.rows = 0
        self._row: list[Ints] = []
        self._column: list[Ints] = []
        self._weight: list[NDArray[np.float64]] = []

    def new(self, *shape: int) -> Ints:
        """So many rows, numbered. # [*shape]"""
        found = self.rows + np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        self.rows += found.size
        return found

    def add(self, row: Ints, column: Ints, weight: float = 1.0) -> None:
        """Put columns into rows; shapes are broadcast."""
        rows, columns = np.broadcast_arrays(row, column)
        self._row.append(rows.ravel())
        self._column.append(columns.ravel())
        self._weight.append(np.full(rows.size, weight))

    def sparse(self) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """Starts of rows, columns, weights."""
        row = np.concatenate(self._row)
        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(self.rows + 1)).astype(np.int64)
        return starts, np.concatenate(self._column)[order], np.concatenate(self._weight)[order]


def segment_program(chain: SegmentLattice) -> Program:
    """The program of a lattice of segmentations; what scores rule out is fixed at 0."""
    parts = chain.parts
    (length, most, size), kinds, labels = parts.totals.shape, parts.links.shape[1], chain.tokens.shape[1]
    shapes = (length, labels), (length - 1, labels, labels), (length, most, size), (length, most, size)
    counts = np.cumsum([0, *(int(np.prod(shape)) for shape in (*shapes, (length, kinds, size)))])
    z, e, u, a, b = (
        first + np.arange(last - first, dtype=np.int64).reshape(shape)
        for first, last, shape in zip(counts[:-1], counts[1:], (*shapes, (length, kinds, size)))
    )
    ties = _Ties()
    ties.add(ties.new(1), b[0, 0])
    begin = ties.new(length, size)
    ties.add(begin, u[:, 0])
    ties.add(begin[:, None], b, -1.0)
    on = ties.new(length, most, size)
    ties.add(on, u)
    ties.add(on, a, -1.0)
    ties.add(on[:-1, :-1], u[1:, 1:], -1.0)
    after = ties.new(length - 1, kinds)
    ties.add(after[:, parts.ends.T], a[:-1])
    ties.add(after[:, :, None], b[1:], -1.0)
    token = ties.new(length, labels)
    ties.add(token, z)
    ties.add(token[:, parts.first], u[:, 0], -1.0)
    ties.add(token[:, None, parts.inside], u[:, 1:], -1.0)
    pair = ties.new(length - 1, labels, labels)
    ties.add(pair, e)
    ties.add(pair[:, parts.reads[:, None], parts.first], b[1:], -1.0)
    if most > 1:
        ties.add(pair[:, parts.first, parts.inside], u[1:, 1], -1.0)
        ties.add(pair[:, None, parts.inside, parts.inside], u[1:, 2:], -1.0)
    gain = np.zeros(counts[-1])
    gain[a], gain[b] = parts.totals, parts.links
    gain[b[0, 1:]] = -np.inf  # at token 0 nothing has ended: one kind stands for that
    possible = gain > -np.inf
    right = np.zeros(ties.rows)
    right[0] = 1.0
    starts, columns, weights = ties.sparse()
    return Program(
        gain=np.where(possible, gain, 0.0),
        constant=-chain.constant,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < z.size,
        starts=starts,
        columns=columns,
        weights=weights,
        low=right,
        high=right,
    )

"""The linear programs of chains and of segmentations without rules.

Columns of a chain: z[t, l] of tokens, e[t, i, j] of neighbouring pairs, f[t, i, j, k] of triples (second order only),
tied by

    Σ_l z[0, l] = 1     Σ_j e[t, i, j] = z[t−1, i]     Σ_i e[t, i, j] = z[t, j]
                        Σ_k f[t, i, j, k] = e[t−1, i, j]     Σ_i f[t, i, j, k] = e[t, j, k]

whose vertices are the labelings, so only z (and the columns of rules) must be integers.

For a segmentation, the columns for rules are those of a chain of token labels:

    z[t, k], e[t, i, j]    token t has label k; tokens t − 1 and t have labels i and j       (what rules speak of)
    a[t, d, l]             a segment of d + 1 tokens and label l ends with token t
    b[t, e, l]             a segment of label l begins with token t, after an end of kind e

    Σ_l b[0, 0, l] = 1     Σ_e b[t, e, l] = Σ_d a[t + d, d, l]     Σ a[t, d, l] over what ends as e = Σ_l b[t + 1, e, l]

is a flow from the first token to the last, so its vertices are the segmentations. The cover of a token follows from the
cover of the previous token, minus the segments that end there, plus those that begin here:

    z[t, first] = Σ_e b[t, e, l]     z[t, inside] = z[t − 1, first] + z[t − 1, inside] − Σ_d a[t − 1, d, l]

(if first and inside are the same label, the sum of both), and likewise for pairs. This takes 3 entries for each column
a, whereas rows that list the segments over a token would take one entry per token of the segment.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.features.rows import offsets_of
from sidelight.inference.lattices.segment_lattice_kernels import SegmentParts
from sidelight.spaces.highs import LinearProgram


def chain_program(tokens: Floats, edges: Floats, triple: Floats | None = None) -> LinearProgram:
    """The program of a chain without rules; columns excluded by scores are fixed at 0.

    `tokens` [T, L] have the scores of the start and the end added; `edges` are [T, L, L], of which the first is not
    read, or [L, L] for all tokens alike; `triple` is [L, L, L].
    """
    length, size = tokens.shape
    nodes, pairs = length * size, max(length - 1, 0) * size * size
    triples = 0 if triple is None else max(length - 2, 0) * size**3
    gain = np.empty(nodes + pairs + triples)
    gain[:nodes] = tokens.ravel()
    gain[nodes : nodes + pairs].reshape(-1, size, size)[:] = edges[1:] if edges.ndim == 3 else edges
    if triple is not None:
        gain[nodes + pairs :].reshape(-1, size, size, size)[:] = triple
    possible = gain > -math.inf
    starts, columns, weights, low = _flow(length, size, triples > 0)
    return LinearProgram(
        gain=np.where(possible, gain, 0.0),
        constant=0.0,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < nodes,
        starts=starts,
        columns=columns,
        weights=weights,
        low=low,
        high=low,
    )


def _flow(length: int, size: int, triples: bool) -> tuple[Ints, Ints, Floats, Floats]:
    """The rows that tie columns together: starts, columns, weights, and what each sums to."""
    nodes = np.arange(length * size).reshape(length, size)
    edges = length * size + np.arange(max(length - 1, 0) * size * size).reshape(-1, size, size)
    blocks = [(nodes[:1], np.ones((1, size)))]
    if length > 1:
        blocks += _ties(edges, nodes[:-1], nodes[1:])
    if triples and length > 2:
        first = length * size + edges.size
        cubes = first + np.arange((length - 2) * size**3).reshape(-1, size, size, size)
        pairs = edges.reshape(len(edges), -1)
        blocks += _ties(cubes.reshape(len(cubes), size * size, size), pairs[:-1], None)
        blocks += _ties(cubes.reshape(len(cubes), size, size * size), None, pairs[1:])
    columns = np.concatenate([block.ravel() for block, _ in blocks]).astype(np.int64)
    weights = np.concatenate([weight.ravel() for _, weight in blocks]).astype(np.float64)
    sizes = np.concatenate([np.full(len(block), block.shape[1]) for block, _ in blocks])
    low = np.zeros(len(sizes))
    low[0] = 1.0
    return offsets_of(sizes), columns, weights, low


def _ties(joint: Ints, before: Ints | None, after: Ints | None) -> list[tuple[Ints, Floats]]:
    """Rows that say that sums of joint columns [K, A, B] over B are `before` [K, A], over A `after` [K, B]."""
    ties: list[tuple[Ints, Floats]] = []
    for single, sums in ((before, joint), (after, joint.transpose(0, 2, 1))):
        if single is not None:
            rows = np.concatenate([sums, single[:, :, None]], axis=2).reshape(-1, sums.shape[2] + 1)
            weights = np.ones(rows.shape)
            weights[:, -1] = -1.0
            ties.append((rows, weights))
    return ties


class _Ties:
    """Rows Σ weight · column = right side, collected entry by entry."""

    def __init__(self) -> None:
        self.rows = 0
        self._row: list[Ints] = []
        self._column: list[Ints] = []
        self._weight: list[NDArray[np.float64]] = []

    def new(self, *shape: int) -> Ints:
        """So many rows, numbered. # [*shape]"""
        rows = self.rows + np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        self.rows += rows.size
        return rows

    def add(self, row: Ints, column: Ints, weight: float = 1.0) -> None:
        """Put columns into rows; shapes are broadcast."""
        rows, columns = np.broadcast_arrays(row, column)
        self._row.append(rows.ravel())
        self._column.append(columns.ravel())
        self._weight.append(np.full(rows.size, weight))

    def sparse(self, n_columns: int) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """Starts of rows, columns, weights; entries at one place are summed."""
        places, which = np.unique(
            np.concatenate(self._row) * n_columns + np.concatenate(self._column), return_inverse=True
        )
        weights = np.bincount(which, np.concatenate(self._weight))
        places, weights = places[weights != 0.0], weights[weights != 0.0]
        starts = np.searchsorted(places, np.arange(self.rows + 1) * n_columns)
        return starts.astype(np.int64), places % n_columns, weights


def segment_program(parts: SegmentParts, labels: int, *, constant: float = 0.0) -> LinearProgram:
    """The program of segmentations with this number of token labels; columns excluded by scores are fixed at 0."""
    (length, most, size), kinds = parts.totals.shape, parts.links.shape[1]
    shapes = (length, labels), (length - 1, labels, labels), (length, most, size), (length, kinds, size)
    counts = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    z, e, a, b = (
        first + np.arange(last - first, dtype=np.int64).reshape(shape)
        for first, last, shape in zip(counts[:-1], counts[1:], shapes)
    )
    ties = _Ties()
    ties.add(ties.new(1), b[0, 0])
    begun = ties.new(length, size)
    ties.add(begun[:, None], b)
    for d in range(most):
        ties.add(begun[: max(length - d, 0)], a[d:, d], -1.0)
    after = ties.new(length - 1, kinds)
    ties.add(after[:, parts.ends.T], a[:-1])
    ties.add(after[:, :, None], b[1:], -1.0)
    token = ties.new(length, labels)
    ties.add(token, z)
    ties.add(token[:, None, parts.first], b, -1.0)
    for own in np.stack([parts.first, parts.inside], axis=1):
        before = z[:-1, np.unique(own)]
        ties.add(token[1:, own[1], None], before, -1.0)
    ties.add(token[1:, None, parts.inside], a[:-1])
    pair = ties.new(length - 1, labels, labels)
    ties.add(pair, e)
    ties.add(pair[:, parts.reads[:, None], parts.first], b[1:], -1.0)
    runs = parts.first == parts.inside
    run, other = parts.first[runs], ~runs
    ties.add(pair[:, run, run], z[1:, run], -1.0)  # both in one segment: all but those that begin here
    ties.add(pair[:, None, run, run], b[1:][:, :, runs])
    first, inside = parts.first[other], parts.inside[other]
    begins = pair[:, first, inside]  # the second token of a segment
    ties.add(begins, z[:-1, first], -1.0)
    ties.add(begins, a[:-1, 0][:, other])
    goes_on = pair[:, inside, inside]
    ties.add(goes_on, z[1:, inside], -1.0)
    ties.add(goes_on, e[:, first, inside])
    gain = np.zeros(counts[-1])
    gain[a], gain[b] = parts.totals, parts.links
    gain[b[0, 1:]] = -np.inf  # at token 0 nothing has ended: one kind stands for that
    possible = gain > -np.inf
    right = np.zeros(ties.rows)
    right[0] = 1.0
    starts, columns, weights = ties.sparse(len(gain))
    return LinearProgram(
        gain=np.where(possible, gain, 0.0),
        constant=constant,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < z.size,
        starts=starts,
        columns=columns,
        weights=weights,
        low=right,
        high=right,
    )

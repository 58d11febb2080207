"""The data and the weights of kernels that process examples one at a time.

Dense and sparse weights of tokens are adjacent in the flat vector, so both kinds of features are rows of one matrix of
token weights. Dense columns that are mostly zero (pixels) are stored as sparse entries: then the cost of a token is
proportional to its number of features, and the loops run over labels, which are contiguous.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import NO_BYTES, Bytes, Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.chain_scorer import ChainScorer
from sidelight.spaces import ChainSpace, Cost
from sidelight.spaces.chains.chain import closed_moves

FEW = 0.5  # dense columns with a smaller share of entries that are not zero are kept as sparse ones


class Examples(NamedTuple):
    """Sequences with their features, targets and costs, and what their outputs may be."""

    starts: Ints  # [N + 1]
    indptr: Ints  # [T + 1]
    indices: Ids  # [entries] row of the token weights
    values: Floats  # [entries], or [0] when every value is 1
    dense: Floats32  # [T, D] the first D rows of the token weights, or [T, 0]
    targets: Ids  # [T]
    costs: Floats  # [L, L] target, label
    token_weights: Floats  # [T], or [0] when every token counts once
    closed: Floats  # [L + 2, L] 0, or -inf where a transition, a start (row L) or an end (row L + 1) is not allowed
    admitted: Bytes  # [T, L], or [0, 0] when every label is


class ChainWeights(NamedTuple):
    """Views of one flat vector; those that the layout does not have are empty."""

    start: Floats  # [columns] or [0]
    end: Floats  # [L] or [0]
    transition: Floats  # [L, L] or [0, 0]
    tokens: Floats  # [D + A, columns]


def views_of(layout: Layout, weights: Floats) -> ChainWeights:
    """The parts of a flat vector, without copying it."""
    size = layout.n_labels if layout.chain else 0
    return ChainWeights(
        weights[layout.start_at : layout.end_at],
        weights[layout.end_at : layout.transition_at],
        weights[layout.transition_at : layout.second_at].reshape(size, size),
        weights[layout.dense_at :].reshape(layout.n_dense + layout.n_attributes, layout.columns),
    )


def no_weights(columns: int) -> ChainWeights:
    """Empty views, for sums that are not needed."""
    return ChainWeights(np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros((0, columns)))


def has_kernels(batch: Batch) -> bool:
    """Whether whole epochs over a batch can be one kernel: first-order chains and classes."""
    space = batch.space
    return isinstance(batch.scorer, ChainScorer) and isinstance(space, ChainSpace) and space.left_out is None


def examples_of(batch: Batch, cost: Cost) -> Examples:
    """The examples of a batch of first-order chains or classes; raises `ValueError` for other spaces."""
    space, scorer = batch.space, batch.scorer
    if not has_kernels(batch) or not isinstance(scorer, ChainScorer) or not isinstance(space, ChainSpace):
        raise ValueError("epochs in one kernel need a chain of order 1 without outputs to leave out")
    indptr, indices, values, dense = _entries(scorer.rows, scorer.layout.n_dense)
    admitted = NO_BYTES if space.admitted is None else space.admitted
    return Examples(
        batch.starts,
        indptr,
        indices,
        values,
        dense,
        np.ascontiguousarray(cost.targets),
        np.ascontiguousarray(cost.costs),
        np.ascontiguousarray(cost.token_weights),
        closed_moves(space.allowed, space.n_labels),
        admitted,
    )


def _entries(rows: Rows, n_dense: int) -> tuple[Ints, Ids, Floats, Floats32]:
    """Entries as rows of the token weights, with dense columns among them if they are mostly zero."""
    first = rows.indptr[0]
    indices = rows.indices[first : rows.indptr[-1]] + np.int32(n_dense)
    values = rows.values[first : rows.indptr[-1]] if len(rows.values) else rows.values
    indptr = rows.indptr - first
    if n_dense == 0 or np.count_nonzero(rows.dense) > FEW * rows.dense.size:
        return indptr, indices, values, np.ascontiguousarray(rows.dense)
    tokens, columns = np.nonzero(rows.dense)
    amounts = rows.dense[tokens, columns].astype(np.float64)
    counts = np.bincount(tokens, minlength=rows.n_tokens)
    ends = offsets_of(np.diff(indptr) + counts)
    at_dense = np.arange(len(tokens)) + (ends[:-1] - offsets_of(counts)[:-1])[tokens]
    of_token = np.repeat(np.arange(rows.n_tokens), np.diff(indptr))
    at_sparse = np.arange(len(indices)) + (ends[:-1] + counts - indptr[:-1])[of_token]
    all_indices = np.empty(int(ends[-1]), dtype=np.int32)
    all_indices[at_dense], all_indices[at_sparse] = columns, indices
    if len(values) == 0 and np.all(amounts == 1.0):
        all_values = np.empty(0)
    else:
        all_values = np.ones(int(ends[-1]))
        all_values[at_dense] = amounts
        if len(values):
            all_values[at_sparse] = values
    return ends, all_indices, all_values, np.empty((rows.n_tokens, 0), dtype=np.float32)


@inner_kernel
def score_tokens(data: Examples, weights: ChainWeights, i: int, which: Ints, count: int, out: Floats) -> None:
    """out[t, l]: the score of label l at `count` tokens t of example i, start and end weights included."""
    tokens, start, end = weights.tokens, weights.start, weights.end
    indptr, indices, values, dense = data.indptr, data.indices, data.values, data.dense
    first = data.starts[i]
    last = data.starts[i + 1] - first - 1
    columns = tokens.shape[1]
    size = out.shape[1]
    shift = size - columns
    valued = values.shape[0] > 0
    n_dense = dense.shape[1]
    for p in range(count):
        at = which[p]
        t = first + at
        for label in range(shift):
            out[at, label] = 0.0
        row = out[at, shift:]
        for label in range(columns):
            row[label] = 0.0
        k = indptr[t]
        until = indptr[t + 1]
        if valued:
            while k + 4 <= until:  # four rows at a time: a quarter of the reads and writes of `row`
                a, b, c, d = tokens[indices[k]], tokens[indices[k + 1]], tokens[indices[k + 2]], tokens[indices[k + 3]]
                x, y, z, u = values[k], values[k + 1], values[k + 2], values[k + 3]
                for label in range(columns):
                    row[label] += (x * a[label] + y * b[label]) + (z * c[label] + u * d[label])
                k += 4
            while k < until:
                a, x = tokens[indices[k]], values[k]
                for label in range(columns):
                    row[label] += x * a[label]
                k += 1
        else:
            while k + 4 <= until:
                a, b, c, d = tokens[indices[k]], tokens[indices[k + 1]], tokens[indices[k + 2]], tokens[indices[k + 3]]
                for label in range(columns):
                    row[label] += (a[label] + b[label]) + (c[label] + d[label])
                k += 4
            while k < until:
                a = tokens[indices[k]]
                for label in range(columns):
                    row[label] += a[label]
                k += 1
        j = 0
        while j + 4 <= n_dense:
            a, b, c, d = tokens[j], tokens[j + 1], tokens[j + 2], tokens[j + 3]
            x, y = np.float64(dense[t, j]), np.float64(dense[t, j + 1])
            z, u = np.float64(dense[t, j + 2]), np.float64(dense[t, j + 3])
            for label in range(columns):
                row[label] += (x * a[label] + y * b[label]) + (z * c[label] + u * d[label])
            j += 4
        while j < n_dense:
            a = tokens[j]
            x = np.float64(dense[t, j])
            for label in range(columns):
                row[label] += x * a[label]
            j += 1
        if at == 0:
            for label in range(start.shape[0]):
                row[label] += start[label]
        if at == last:
            for label in range(end.shape[0]):
                out[at, label] += end[label]


@inner_kernel
def add_tokens(data: Examples, weights: ChainWeights, i: int, which: Ints, count: int, amounts: Floats) -> None:
    """Add amounts[p, l] times the features of token which[p] to the weights of label l: the adjoint of the scores."""
    tokens, start, end = weights.tokens, weights.start, weights.end
    indptr, indices, values, dense = data.indptr, data.indices, data.values, data.dense
    first = data.starts[i]
    last = data.starts[i + 1] - first - 1
    columns = tokens.shape[1]
    size = amounts.shape[1]
    shift = size - columns
    valued = values.shape[0] > 0
    for p in range(count):
        at = which[p]
        t = first + at
        moved = False
        for label in range(size):
            moved |= amounts[p, label] != 0.0
        if not moved:
            continue
        k_first, k_last = indptr[t], indptr[t + 1]
        amount = amounts[p, shift:]
        if valued:
            for k in range(k_first, k_last):
                row, x = tokens[indices[k]], values[k]
                for label in range(columns):
                    row[label] += x * amount[label]
        else:
            for k in range(k_first, k_last):
                row = tokens[indices[k]]
                for label in range(columns):
                    row[label] += amount[label]
        for j in range(dense.shape[1]):
            row, x = tokens[j], np.float64(dense[t, j])
            for label in range(columns):
                row[label] += x * amount[label]
        if at == 0:
            for label in range(start.shape[0]):
                start[label] += amount[label]
        if at == last:
            for label in range(end.shape[0]):
                end[label] += amounts[p, label]


@inner_kernel
def clear_tokens(data: Examples, weights: ChainWeights, i: int, which: Ints, count: int) -> None:
    """Set the weights of all features of some tokens to zero, and the start and end weights."""
    tokens, indptr, indices = weights.tokens, data.indptr, data.indices
    first = data.starts[i]
    for p in range(count):
        t = first + which[p]
        for k in range(indptr[t], indptr[t + 1]):
            row = tokens[indices[k]]
            for label in range(row.shape[0]):
                row[label] = 0.0
    for j in range(data.dense.shape[1]):
        tokens[j, :] = 0.0
    weights.start[:] = 0.0
    weights.end[:] = 0.0

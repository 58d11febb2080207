"""Feature counts of labelings, the adjoint of the scores, as pooled sparse rows over the weight vector.

`difference_rows` gives scale · (Φ(x, plus) − Φ(x, minus)) + threshold · e_0 for each example asked for. A label of −1
stands for "no label": it has no features, so that one kernel serves differences of two labelings and counts of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of, taken
from sidelight.parallel import threads

ROWS_PER_SHARD = 512


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Rows with sorted, distinct indices."""

    indptr: Ints  # [R + 1]
    indices: Ids  # [entries]
    values: Floats  # [entries]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def take(self, which: Ints) -> SparseRows:
        """Some of the rows."""
        indptr, picked = taken(self.indptr, which)
        return SparseRows(indptr, self.indices[picked], self.values[picked])

    def dot(self, weights: Floats) -> Floats:
        """The inner product of every row with the weights. # [R]"""
        out = np.zeros(len(self))
        _dot(self.indptr, self.indices, self.values, weights, out)
        return out


def difference_rows(
    rows: Rows,
    layout: Layout,
    *,
    which: Ints,  # [R] sequences
    plus: Ids,  # [T]
    minus: Ids | None,  # [T]
    scales: Floats,  # [R]
    thresholds: Floats,  # [R]
    n_jobs: int | None = None,
) -> SparseRows:
    """scale · (Φ(x, plus) − Φ(x, minus)), and the threshold feature, for the sequences in `which`."""
    none = np.empty(0, dtype=np.int32) if minus is None else minus
    shape = np.array(
        [
            layout.n_labels,
            layout.columns,
            layout.bias,
            layout.chain,
            layout.start_at,
            layout.end_at,
            layout.transition_at,
            layout.dense_at,
            layout.emission_at,
            layout.second_at,
            layout.order,
        ],
        dtype=np.int64,
    )

    def run(first: int) -> SparseRows:
        part = slice(first, min(first + ROWS_PER_SHARD, len(which)))
        bounds = np.zeros(part.stop - part.start + 1, dtype=np.int64)
        _bounds(rows.starts, rows.indptr, rows.dense.shape[1], layout.order, which[part], plus, none, bounds)
        np.cumsum(bounds, out=bounds)
        indices = np.empty(bounds[-1], dtype=np.int32)
        values = np.empty(bounds[-1])
        indptr = np.zeros(part.stop - part.start + 1, dtype=np.int64)
        _fill(
            rows.starts,
            rows.indptr,
            rows.indices,
            rows.values,
            rows.dense,
            shape,
            which[part],
            plus,
            none,
            scales[part],
            thresholds[part],
            int(np.diff(bounds).max(initial=0)),
            indptr,
            indices,
            values,
        )
        return SparseRows(indptr, indices[: indptr[-1]].copy(), values[: indptr[-1]].copy())

    return stacked(threads(run, range(0, len(which), ROWS_PER_SHARD), n_jobs=n_jobs))


def stacked(parts: list[SparseRows]) -> SparseRows:
    """Rows of several pools, one after another."""
    if not parts:
        return SparseRows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))
    if len(parts) == 1:
        return parts[0]
    indptr = offsets_of(np.concatenate([np.diff(part.indptr) for part in parts]))
    indices = np.concatenate([part.indices for part in parts])
    return SparseRows(indptr, indices, np.concatenate([part.values for part in parts]))


@kernel
def sparse_dot(indices: Ids, values: Floats, weights: Floats) -> float:
    """The inner product of one sparse row with the weights."""
    total = 0.0
    for k in range(indices.shape[0]):
        total += values[k] * weights[indices[k]]
    return total


@kernel
def _dot(indptr: Ints, indices: Ids, values: Floats, weights: Floats, out: Floats) -> None:
    for i in range(out.shape[0]):
        row = slice(indptr[i], indptr[i + 1])
        out[i] = sparse_dot(indices[row], values[row], weights)


@kernel
def _bounds(
    starts: Ints, indptr: Ints, n_dense: int, order: int, which: Ints, plus: Ids, minus: Ids, bounds: Ints
) -> None:
    """bounds[i + 1]: at most so many entries in row i."""
    one = minus.shape[0] == 0
    for i in range(which.shape[0]):
        total = 2 * order * (starts[which[i] + 1] - starts[which[i]]) + 5
        for t in range(starts[which[i]], starts[which[i] + 1]):
            if one or plus[t] != minus[t]:
                total += (1 if one else 2) * (indptr[t + 1] - indptr[t] + n_dense)
        bounds[i + 1] = total


@inner_kernel
def sorting(keys: Ids) -> Ints:
    """The order in which keys do not fall, equal ones as they were: merges of sorted runs, twice as long each time.

    By hand, since NumPy's takes Numba a second to compile.
    """
    count = keys.shape[0]
    order, spare = np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(count):
        order[k] = k
    width = 1
    while width < count:
        for lo in range(0, count, 2 * width):
            i, middle = lo, min(lo + width, count)
            j, last = middle, min(lo + 2 * width, count)
            for k in range(lo, last):
                if i < middle and (j >= last or keys[order[i]] <= keys[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order


@inner_kernel
def pooled(keys: Ids, amounts: Floats, out_indices: Ids, out_values: Floats) -> int:
    """Write the sum of the amounts of every key, in the order of keys and without zeros; returns how many."""
    order = sorting(keys)
    size = 0
    k = 0
    while k < keys.shape[0]:
        key = keys[order[k]]
        total = 0.0
        while k < keys.shape[0] and keys[order[k]] == key:
            total += amounts[order[k]]
            k += 1
        if total != 0.0:
            out_indices[size] = key
            out_values[size] = total
            size += 1
    return size


@inner_kernel
def _add_path(
    first: int,
    last: int,
    labels: Ids,
    others: Ids,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    shape: Ints,
    scale: float,
    keys: Ids,
    amounts: Floats,
    count: int,
) -> int:
    """Append the features of a path, less those it shares with the other path."""
    n_labels, columns, bias, chain = shape[0], shape[1], shape[2], shape[3]
    start_at, end_at, transition_at, dense_at, emission_at = shape[4], shape[5], shape[6], shape[7], shape[8]
    second_at, order = shape[9], shape[10]
    shift = n_labels - columns
    valued = values.shape[0] > 0
    alone = others.shape[0] == 0
    for t in range(first, last):
        label = np.int64(labels[t])
        if label < 0:
            continue
        same = not alone and others[t] == labels[t]
        if chain != 0 and t > first and labels[t - 1] >= 0:
            pair = np.int64(labels[t - 1]) * n_labels + label
            shared = same and others[t - 1] == labels[t - 1]
            if not shared:
                keys[count] = transition_at + pair
                amounts[count] = scale
                count += 1
            if order == 2 and t > first + 1 and labels[t - 2] >= 0 and not (shared and others[t - 2] == labels[t - 2]):
                keys[count] = second_at + np.int64(labels[t - 2]) * n_labels * n_labels + pair
                amounts[count] = scale
                count += 1
        if same:
            continue
        if chain != 0 and t == last - 1:
            keys[count] = end_at + label
            amounts[count] = scale
            count += 1
        if label < shift:
            continue
        column = label - shift
        if bias != 0 and t == first:
            keys[count] = start_at + column
            amounts[count] = scale
            count += 1
        for k in range(indptr[t], indptr[t + 1]):
            keys[count] = emission_at + np.int64(indices[k]) * columns + column
            amounts[count] = scale * values[k] if valued else scale
            count += 1
        for k in range(dense.shape[1]):
            keys[count] = dense_at + k * columns + column
            amounts[count] = scale * np.float64(dense[t, k])
            count += 1
    return count


@kernel
def _fill(
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    shape: Ints,
    which: Ints,
    plus: Ids,
    minus: Ids,
    scales: Floats,
    thresholds: Floats,
    most: int,
    out_indptr: Ints,
    out_indices: Ids,
    out_values: Floats,
) -> None:
    keys = np.empty(most, np.int32)
    amounts = np.empty(most, np.float64)
    size = 0
    for i in range(which.shape[0]):
        first, last = starts[which[i]], starts[which[i] + 1]
        count = 0
        if thresholds[i] != 0.0:
            keys[0] = 0
            amounts[0] = thresholds[i]
            count = 1
        count = _add_path(
            first, last, plus, minus, indptr, indices, values, dense, shape, scales[i], keys, amounts, count
        )
        if minus.shape[0] > 0:
            count = _add_path(
                first, last, minus, plus, indptr, indices, values, dense, shape, -scales[i], keys, amounts, count
            )
        size += pooled(keys[:count], amounts, out_indices[size:], out_values[size:])
        out_indptr[i + 1] = size

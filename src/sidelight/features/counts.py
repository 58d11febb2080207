"""Feature counts of labelings, the adjoint of the scores, as pooled sparse rows over the weight vector.

`Differences` describes the requested rows; `difference_rows` computes them for chains, and `filled_rows` for any
structure with a kernel. A label of −1 means "no label": it has no features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, TokenFeatures, offsets_of, taken
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


class Differences(NamedTuple):
    """Which rows are wanted: scale · (Φ(x, plus) − Φ(x, minus)) + threshold · e_0, for some of the inputs."""

    which: Ints  # [R] inputs
    plus: Ids  # [T]
    minus: Ids  # [T], or [0] where there is nothing to take away
    scales: Floats  # [R]
    thresholds: Floats  # [R]

    @classmethod
    def of(
        cls, which: Ints, plus: Ids, minus: Ids | None, *, scales: Floats, thresholds: Floats | None = None
    ) -> Differences:
        """The differences of outputs; without `minus`, the counts of `plus`; without thresholds, none."""
        none = np.empty(0, dtype=np.int32) if minus is None else minus
        zeros = np.zeros(len(which)) if thresholds is None else thresholds
        return cls(np.asarray(which, dtype=np.int64), plus, none, scales, zeros)

    def part(self, lo: int, hi: int) -> Differences:
        """The rows lo..hi alone."""
        rows = slice(lo, hi)
        return self._replace(which=self.which[rows], scales=self.scales[rows], thresholds=self.thresholds[rows])


class RowRoom(NamedTuple):
    """Room for rows, and for the entries of one row before those of equal keys are added up."""

    keys: Ids
    amounts: Floats
    indptr: Ints  # [R + 1]
    indices: Ids
    values: Floats


def difference_rows(rows: Rows, layout: Layout, differences: Differences, *, n_jobs: int | None = None) -> SparseRows:
    """The rows wanted, of chains of labels; outputs are labels [T]."""
    shape = shape_of(layout)

    def most(part: Differences) -> Ints:
        bounds = np.zeros(len(part.which), dtype=np.int64)
        _bounds(rows.starts, rows.tokens, layout.order, part, bounds)
        return bounds

    def fill(part: Differences, room: RowRoom) -> None:
        _fill(rows.starts, rows.tokens, shape, part, room)

    return filled_rows(differences, most, fill, n_jobs=n_jobs)


def shape_of(layout: Layout) -> Ints:
    """A layout as `add_path` takes it. # [11]"""
    shape = [layout.n_labels, layout.columns, layout.bias, layout.chain, layout.start_at, layout.end_at]
    shape += [layout.transition_at, layout.dense_at, layout.emission_at, layout.second_at, layout.order]
    return np.array(shape, dtype=np.int64)


def filled_rows(
    differences: Differences,
    most: Callable[[Differences], Ints],
    fill: Callable[[Differences, RowRoom], None],
    *,
    n_jobs: int | None = 1,
) -> SparseRows:
    """Rows written by a kernel, in chunks; `most` is the maximum number of entries of each row."""

    def run(first: int) -> SparseRows:
        part = differences.part(first, first + ROWS_PER_SHARD)
        bounds = most(part)
        longest, entries = int(bounds.max(initial=0)), int(bounds.sum())
        of_one = np.empty(longest, dtype=np.int32), np.empty(longest)
        room = RowRoom(*of_one, np.zeros(len(bounds) + 1, np.int64), np.empty(entries, np.int32), np.empty(entries))
        fill(part, room)
        size = room.indptr[-1]
        return SparseRows(room.indptr, room.indices[:size].copy(), room.values[:size].copy())

    return stacked(threads(run, range(0, len(differences.which), ROWS_PER_SHARD), n_jobs=n_jobs))


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
def _bounds(starts: Ints, tokens: TokenFeatures, order: int, differences: Differences, bounds: Ints) -> None:
    """At most so many entries in each row. # [R]"""
    which, plus, minus = differences.which, differences.plus, differences.minus
    one = minus.shape[0] == 0
    for i in range(which.shape[0]):
        total = 2 * order * (starts[which[i] + 1] - starts[which[i]]) + 5
        for t in range(starts[which[i]], starts[which[i] + 1]):
            if one or plus[t] != minus[t]:
                total += (1 if one else 2) * (tokens.indptr[t + 1] - tokens.indptr[t] + tokens.dense.shape[1])
        bounds[i] = total


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
def sort(keys: Ids) -> None:
    """Put keys in order, where they are."""
    order, before = sorting(keys), np.empty(keys.shape[0], np.int32)
    for k in range(keys.shape[0]):
        before[k] = keys[k]
    for k in range(keys.shape[0]):
        keys[k] = before[order[k]]


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
def add_entry(room: RowRoom, count: int, key: Any, amount: float) -> int:
    """One more entry of the present row; returns how many it has now."""
    room.keys[count] = key
    room.amounts[count] = amount
    return count + 1


@inner_kernel
def begin_row(room: RowRoom, threshold: float) -> int:
    """Begin a row, with its threshold if there is one; returns how many entries it has."""
    room.keys[0], room.amounts[0] = 0, threshold
    return 1 if threshold != 0.0 else 0


@inner_kernel
def end_row(room: RowRoom, row: int, count: int) -> None:
    """Write the present row, the amounts of equal keys added up."""
    first = room.indptr[row]
    size = pooled(room.keys[:count], room.amounts, room.indices[first:], room.values[first:])
    room.indptr[row + 1] = first + size


@inner_kernel
def add_token(
    room: RowRoom, count: int, tokens: TokenFeatures, t: int, sparse_at: Any, dense_at: Any, columns: int, scale: float
) -> int:
    """The features of a token; attribute k has its weight at sparse_at + k · columns."""
    indptr, indices, values, dense = tokens
    valued = values.shape[0] > 0
    for k in range(indptr[t], indptr[t + 1]):
        amount = scale * values[k] if valued else scale
        count = add_entry(room, count, sparse_at + np.int64(indices[k]) * columns, amount)
    for k in range(dense.shape[1]):
        count = add_entry(room, count, dense_at + k * columns, scale * np.float64(dense[t, k]))
    return count


@inner_kernel
def add_path(
    first: int,
    labels: Ids,
    others: Ids,
    tokens: TokenFeatures,
    shape: Ints,
    scale: float,
    room: RowRoom,
    count: int,
) -> int:
    """Append the features of a path from token `first` on, less those it shares with the other path, or with none."""
    n_labels, columns, bias, chain = shape[0], shape[1], shape[2], shape[3]
    start_at, end_at, transition_at, dense_at, emission_at = shape[4], shape[5], shape[6], shape[7], shape[8]
    second_at, order = shape[9], shape[10]
    shift = n_labels - columns
    alone = others.shape[0] == 0
    last = labels.shape[0] - 1
    for t in range(last + 1):
        label = np.int64(labels[t])
        if label < 0:
            continue
        same = not alone and others[t] == labels[t]
        if chain != 0 and t > 0 and labels[t - 1] >= 0:
            pair = np.int64(labels[t - 1]) * n_labels + label
            shared = same and others[t - 1] == labels[t - 1]
            if not shared:
                count = add_entry(room, count, transition_at + pair, scale)
            if order == 2 and t > 1 and labels[t - 2] >= 0 and not (shared and others[t - 2] == labels[t - 2]):
                place = second_at + np.int64(labels[t - 2]) * n_labels * n_labels + pair
                count = add_entry(room, count, place, scale)
        if same:
            continue
        if chain != 0 and t == last:
            count = add_entry(room, count, end_at + label, scale)
        if label < shift:
            continue
        column = label - shift
        if bias != 0 and t == 0:
            count = add_entry(room, count, start_at + column, scale)
        count = add_token(room, count, tokens, first + t, emission_at + column, dense_at + column, columns, scale)
    return count


@kernel
def _fill(starts: Ints, tokens: TokenFeatures, shape: Ints, differences: Differences, room: RowRoom) -> None:
    plus, minus = differences.plus, differences.minus
    for r, i in enumerate(differences.which):
        first, scale = starts[i], differences.scales[r]
        one, other = plus[first : starts[i + 1]], minus[first : starts[i + 1]]
        count = begin_row(room, differences.thresholds[r])
        count = add_path(first, one, other, tokens, shape, scale, room, count)
        if minus.shape[0] > 0:
            count = add_path(first, other, one, tokens, shape, -scale, room, count)
        end_row(room, r, count)

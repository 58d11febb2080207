"""Feature counts of segmentations, the adjoint of their scores: of given ones as sparse rows, of expected ones in sum.

A segmentation is given by the label of the segment that covers each token, and by where segments begin.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.counts import ROWS_PER_SHARD, SparseRows, pooled, stacked
from sidelight.features.rows import Rows
from sidelight.features.segments.segment_rows import SegmentLayout, SegmentRows
from sidelight.parallel import threads


def segment_differences(
    rows: Rows,
    segments: SegmentRows,
    layout: SegmentLayout,
    *,
    which: Ints,  # [R] sequences
    plus: tuple[Ids, Bytes],  # labels [T], begins [T]
    minus: tuple[Ids, Bytes] | None,
    scales: Floats,  # [R]
    thresholds: Floats,  # [R]
    n_jobs: int | None = None,
) -> SparseRows:
    """scale · (Φ(x, plus) − Φ(x, minus)), and the threshold feature, for the sequences in `which`.

    Without `minus`, of the one segmentation.
    """
    other = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8)) if minus is None else minus
    tokens = layout.tokens
    places = [tokens.n_labels, tokens.bias, tokens.chain, tokens.start_at, tokens.end_at, tokens.transition_at]
    shape = np.array([*places, tokens.dense_at, tokens.emission_at, tokens.size, segments.max_length], dtype=np.int64)
    token_rows = rows.indptr, rows.indices, rows.values, rows.dense
    segment_rows = segments.indptr, segments.indices

    def run(first: int) -> SparseRows:
        part = slice(first, min(first + ROWS_PER_SHARD, len(which)))
        bounds = np.zeros(part.stop - part.start + 1, dtype=np.int64)
        numbers = rows.starts, rows.indptr, rows.dense.shape[1], segments.indptr, segments.max_length
        _bounds(*numbers, which[part], *plus, *other, bounds)
        most = int(bounds.max(initial=0))
        np.cumsum(bounds, out=bounds)
        indices, values = np.empty(bounds[-1], dtype=np.int32), np.empty(bounds[-1])
        indptr = np.zeros(len(bounds), dtype=np.int64)
        features = *token_rows, *segment_rows, shape
        chosen = which[part]
        amounts = scales[part], thresholds[part]
        _fill(rows.starts, *features, chosen, *plus, *other, *amounts, most, indptr, indices, values)
        return SparseRows(indptr, indices[: indptr[-1]].copy(), values[: indptr[-1]].copy())

    return stacked(threads(run, range(0, len(which), ROWS_PER_SHARD), n_jobs=n_jobs))


def add_expected(
    rows: Rows,
    segments: SegmentRows,
    layout: SegmentLayout,
    *,
    first: int,  # the first token that the expectations are of
    tokens: Floats,  # [tokens, L]
    lasts: Floats,  # [tokens, M, L] of segments, by last token and length − 1
    edges: tuple[Floats, Floats, Floats],  # transition [L, L], start [L], end [L]
    out: Floats,  # the whole weight vector's place
) -> None:
    """Add the expected feature counts of some neighbouring sequences."""
    chain = layout.tokens
    weights = layout.token_weights(out)
    transition, start, end = edges
    if chain.bias:
        weights[chain.start_at : chain.end_at] += start
    if chain.chain:
        weights[chain.end_at : chain.transition_at] += end
        weights[chain.transition_at : chain.transition_at + transition.size] += transition.ravel()
    _add_sparse(rows.indptr, rows.indices, rows.values, first, tokens, chain.attribute_weights(weights))
    if chain.n_dense:
        _add_dense(rows.dense[first : first + len(tokens)], tokens, chain.dense_weights(weights))
    flat = lasts.reshape(-1, chain.n_labels)
    target = layout.segment_weights(out)
    _add_sparse(segments.indptr, segments.indices, np.empty(0), first * segments.max_length, flat, target)


@kernel
def _add_sparse(indptr: Ints, indices: Ids, values: Floats, first: int, amounts: Floats, out: Floats) -> None:
    """out[attribute] += value · amounts[row], for every entry of the rows from `first` on."""
    valued = values.shape[0] > 0
    for r in range(amounts.shape[0]):
        amount = amounts[r]
        for k in range(indptr[first + r], indptr[first + r + 1]):
            target = out[indices[k]]
            value = values[k] if valued else 1.0
            for label in range(amount.shape[0]):
                target[label] += value * amount[label]


@kernel
def _add_dense(dense: Floats32, amounts: Floats, out: Floats) -> None:
    """out[d] += dense[t, d] · amounts[t], for every token."""
    for t in range(amounts.shape[0]):
        amount = amounts[t]
        for d in range(dense.shape[1]):
            value = np.float64(dense[t, d])
            target = out[d]
            for label in range(amount.shape[0]):
                target[label] += value * amount[label]


@kernel
def _bounds(
    starts: Ints,
    indptr: Ints,
    n_dense: int,
    segment_indptr: Ints,
    max_length: int,
    which: Ints,
    labels: Ids,
    begins: Bytes,
    other_labels: Ids,
    other_begins: Bytes,
    bounds: Ints,
) -> None:
    """bounds[i + 1]: at most so many entries in row i."""
    alone = other_labels.shape[0] == 0
    for i in range(which.shape[0]):
        first, last = starts[which[i]], starts[which[i] + 1]
        total = 1  # the threshold
        for path in range(1 if alone else 2):
            here = begins if path == 0 else other_begins
            total += 2  # the ends
            length = 0
            for t in range(first, last):
                length = 1 if here[t] != 0 else length + 1
                if here[t] != 0:
                    total += 1
                if alone or labels[t] != other_labels[t]:
                    total += indptr[t + 1] - indptr[t] + n_dense
                if t + 1 == last or here[t + 1] != 0:
                    row = t * max_length + length - 1
                    total += segment_indptr[row + 1] - segment_indptr[row]
        bounds[i + 1] = total


@inner_kernel
def _add_path(
    first: int,
    last: int,
    labels: Ids,
    begins: Bytes,
    others: Ids,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    segment_indptr: Ints,
    segment_indices: Ids,
    shape: Ints,
    scale: float,
    keys: Ids,
    amounts: Floats,
    count: int,
) -> int:
    """Append the features of a segmentation, less the token features it shares with the other one."""
    size, bias, chain, start_at, end_at, transition_at = shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]
    dense_at, emission_at, segment_at, max_length = shape[6], shape[7], shape[8], shape[9]
    began = count
    if bias != 0:
        keys[count] = start_at + labels[first]
        count += 1
    if chain != 0:
        keys[count] = end_at + labels[last - 1]
        count += 1
    length = 0
    for t in range(first, last):
        label = np.int64(labels[t])
        length = 1 if begins[t] != 0 else length + 1
        if chain != 0 and t > first and begins[t] != 0:
            keys[count] = transition_at + np.int64(labels[t - 1]) * size + label
            count += 1
        if t + 1 == last or begins[t + 1] != 0:
            row = t * max_length + length - 1
            for k in range(segment_indptr[row], segment_indptr[row + 1]):
                keys[count] = segment_at + np.int64(segment_indices[k]) * size + label
                count += 1
    amounts[began:count] = scale
    for t in range(first, last):
        label = np.int64(labels[t])
        if others.shape[0] > 0 and others[t] == labels[t]:
            continue
        for k in range(indptr[t], indptr[t + 1]):
            keys[count] = emission_at + np.int64(indices[k]) * size + label
            amounts[count] = scale * values[k] if values.shape[0] > 0 else scale
            count += 1
        for k in range(dense.shape[1]):
            keys[count] = dense_at + k * size + label
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
    segment_indptr: Ints,
    segment_indices: Ids,
    shape: Ints,
    which: Ints,
    labels: Ids,
    begins: Bytes,
    other_labels: Ids,
    other_begins: Bytes,
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
        token_rows = indptr, indices, values, dense, segment_indptr, segment_indices, shape
        count = 0
        if thresholds[i] != 0.0:
            keys[0] = 0
            amounts[0] = thresholds[i]
            count = 1
        count = _add_path(first, last, labels, begins, other_labels, *token_rows, scales[i], keys, amounts, count)
        if other_labels.shape[0] > 0:
            count = _add_path(
                first, last, other_labels, other_begins, labels, *token_rows, -scales[i], keys, amounts, count
            )
        size += pooled(keys[:count], amounts, out_indices[size:], out_values[size:])
        out_indptr[i + 1] = size

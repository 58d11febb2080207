"""Feature counts of segmentations, the adjoint of their scores: of given ones as sparse rows, of expected ones in sum.

A segmentation is given by the label of the segment that covers each token, and by where segments begin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
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
from sidelight.features.gradient import DENSE_PART, add_dense_part
from sidelight.features.rows import NO_VALUES, Rows, TokenFeatures, add_sparse
from sidelight.features.segments.segment_rows import SegmentLayout, SegmentRows, Segments


class SegmentFeatureRows(NamedTuple):
    """The features of tokens and of segments, as kernels take them."""

    starts: Ints  # [N + 1]
    tokens: TokenFeatures
    indptr: Ints  # [T · M + 1]
    indices: Ids
    longest: int  # M


def segment_differences(
    rows: Rows,
    segments: SegmentRows,
    layout: SegmentLayout,
    differences: Differences,
    plus: Segments,
    minus: Segments,  # or empty
    *,
    n_jobs: int | None = None,
) -> SparseRows:
    """The rows wanted, of these segmentations."""
    tokens = layout.tokens
    places = [tokens.n_labels, tokens.bias, tokens.chain, tokens.start_at, tokens.end_at, tokens.transition_at]
    shape = np.array([*places, tokens.dense_at, tokens.emission_at, tokens.size], dtype=np.int64)
    features = SegmentFeatureRows(rows.starts, rows.tokens, segments.indptr, segments.indices, segments.max_length)

    def most(part: Differences) -> Ints:
        bounds = np.zeros(len(part.which), dtype=np.int64)
        _bounds(features, part.which, plus, minus, bounds)
        return bounds

    def fill(part: Differences, room: RowRoom) -> None:
        _fill(features, shape, part, plus, minus, room)

    return filled_rows(differences, most, fill, n_jobs=n_jobs)


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
    add_sparse(rows.indptr, rows.indices, rows.values, first, tokens, chain.attribute_weights(weights))
    for lo in range(0, chain.n_dense, DENSE_PART):
        add_dense_part(rows.dense[first : first + len(tokens)], tokens, 0, chain.dense_weights(weights), lo)
    flat = lasts.reshape(-1, chain.n_labels)
    target = layout.segment_weights(out)
    add_sparse(segments.indptr, segments.indices, NO_VALUES, first * segments.max_length, flat, target)


@kernel
def _bounds(features: SegmentFeatureRows, which: Ints, plus: Segments, minus: Segments, bounds: Ints) -> None:
    """At most so many entries in each row. # [R]"""
    starts, tokens, indptr = features.starts, features.tokens, features.indptr
    alone = minus.labels.shape[0] == 0
    for i in range(which.shape[0]):
        first, last = starts[which[i]], starts[which[i] + 1]
        total = 1  # the threshold
        for path in range(1 if alone else 2):
            here = plus.begins if path == 0 else minus.begins
            total += 2  # the ends
            length = 0
            for t in range(first, last):
                length = 1 if here[t] != 0 else length + 1
                if here[t] != 0:
                    total += 1
                if alone or plus.labels[t] != minus.labels[t]:
                    total += tokens.indptr[t + 1] - tokens.indptr[t] + tokens.dense.shape[1]
                if t + 1 == last or here[t + 1] != 0:
                    row = t * features.longest + length - 1
                    total += indptr[row + 1] - indptr[row]
        bounds[i] = total


@inner_kernel
def _add_path(
    first: int,
    last: int,
    one: Segments,
    others: Ids,
    features: SegmentFeatureRows,
    shape: Ints,
    scale: float,
    room: RowRoom,
    count: int,
) -> int:
    """Append the features of a segmentation, less the token features it shares with the other one."""
    size, bias, chain, start_at, end_at, transition_at = shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]
    dense_at, emission_at, segment_at = shape[6], shape[7], shape[8]
    labels, begins = one
    if bias != 0:
        count = add_entry(room, count, start_at + labels[first], scale)
    if chain != 0:
        count = add_entry(room, count, end_at + labels[last - 1], scale)
    length = 0
    for t in range(first, last):
        label = np.int64(labels[t])
        length = 1 if begins[t] != 0 else length + 1
        if chain != 0 and t > first and begins[t] != 0:
            count = add_entry(room, count, transition_at + np.int64(labels[t - 1]) * size + label, scale)
        if t + 1 == last or begins[t + 1] != 0:
            row = t * features.longest + length - 1
            for k in range(features.indptr[row], features.indptr[row + 1]):
                place = segment_at + np.int64(features.indices[k]) * size + label
                count = add_entry(room, count, place, scale)
        if others.shape[0] == 0 or others[t] != labels[t]:
            count = add_token(room, count, features.tokens, t, emission_at + label, dense_at + label, size, scale)
    return count


@kernel
def _fill(
    features: SegmentFeatureRows, shape: Ints, differences: Differences, plus: Segments, minus: Segments, room: RowRoom
) -> None:
    for r, i in enumerate(differences.which):
        first, last, scale = features.starts[i], features.starts[i + 1], differences.scales[r]
        count = begin_row(room, differences.thresholds[r])
        count = _add_path(first, last, plus, minus.labels, features, shape, scale, room, count)
        if minus.labels.shape[0] > 0:
            count = _add_path(first, last, minus, plus.labels, features, shape, -scale, room, count)
        end_row(room, r, count)

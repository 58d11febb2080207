"""A weighted sum of feature differences, Σ_i scale_i (Φ(x_i, plus_i) − Φ(x_i, minus_i)), as one dense vector.

`features.counts` gives the differences one by one, with their entries sorted; where only their sum is wanted, counting
straight into the vector is several times faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, TokenFeatures


class PathWeights(NamedTuple):
    """Views of a weight vector, as kernels take it."""

    shift: int  # labels below it have no features
    begins: Floats  # [columns], or empty
    ends: Floats  # [L], or empty
    transitions: Floats  # [L, L], or empty
    second: Floats  # [L, L, L], or empty
    dense: Floats  # [D, columns]
    sparse: Floats  # [A, columns]


def summed_differences(rows: Rows, layout: Layout, plus: Ids, minus: Ids, scales: Floats) -> Floats:
    """Σ_i scale_i (Φ(x_i, plus_i) − Φ(x_i, minus_i)); labels are [T], scales [N]."""
    out = layout.zeros()
    views = PathWeights(
        layout.n_labels - layout.columns,
        out[layout.start_at : layout.end_at],
        out[layout.end_at : layout.transition_at],
        out[layout.transition_at : layout.second_at].reshape(-1, layout.n_labels),
        layout.second(out),
        layout.dense_weights(out),
        layout.attribute_weights(out),
    )
    _add_differences(rows.starts, rows.tokens, plus, minus, scales, views)
    return out


@kernel
def _add_differences(
    starts: Ints, tokens: TokenFeatures, plus: Ids, minus: Ids, scales: Floats, out: PathWeights
) -> None:
    indptr, indices, values, dense = tokens
    ends, transitions, second = out.ends, out.transitions, out.second
    chain = ends.shape[0] > 0
    valued = values.shape[0] > 0
    for i in range(scales.shape[0]):
        scale = scales[i]
        if scale == 0.0:
            continue
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            a, b = plus[t], minus[t]
            if chain and t > first and (a != b or plus[t - 1] != minus[t - 1]):
                transitions[plus[t - 1], a] += scale
                transitions[minus[t - 1], b] -= scale
            if second.shape[0] > 0 and t > first + 1:
                second[plus[t - 2], plus[t - 1], a] += scale
                second[minus[t - 2], minus[t - 1], b] -= scale
            if a == b:
                continue
            if chain and t == last - 1:
                ends[a] += scale
                ends[b] -= scale
            for label, amount in ((a, scale), (b, -scale)):
                if label < out.shift:
                    continue
                column = label - out.shift
                if t == first and out.begins.shape[0] > 0:
                    out.begins[column] += amount
                for k in range(indptr[t], indptr[t + 1]):
                    out.sparse[indices[k], column] += amount * values[k] if valued else amount
                for k in range(dense.shape[1]):
                    out.dense[k, column] += amount * np.float64(dense[t, k])

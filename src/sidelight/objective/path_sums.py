"""A weighted sum of feature differences, Σ_i scale_i (Φ(x_i, plus_i) − Φ(x_i, minus_i)), as one dense vector.

`features.counts` gives the differences one by one, with their entries sorted; where only their sum is wanted, counting
straight into the vector is several times faster.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows


def summed_differences(rows: Rows, layout: Layout, plus: Ids, minus: Ids, scales: Floats) -> Floats:
    """Σ_i scale_i (Φ(x_i, plus_i) − Φ(x_i, minus_i)); labels are [T], scales [N]."""
    out = layout.zeros()
    ends = out[layout.end_at : layout.transition_at]
    transitions = out[layout.transition_at : layout.second_at].reshape(-1, layout.n_labels)
    _add_differences(
        rows.starts,
        rows.indptr,
        rows.indices,
        rows.values,
        rows.dense,
        plus,
        minus,
        scales,
        layout.n_labels - layout.columns,
        out[layout.start_at : layout.end_at],
        ends,
        transitions,
        layout.second(out),
        layout.dense_weights(out),
        layout.attribute_weights(out),
    )
    return out


@kernel
def _add_differences(
    starts: Ints,
    indptr: Ints,
    indices: Ids,
    values: Floats,
    dense: Floats32,
    plus: Ids,
    minus: Ids,
    scales: Floats,
    shift: int,  # labels below it have no features
    begins: Floats,  # out [columns], or empty
    ends: Floats,  # out [L], or empty
    transitions: Floats,  # out [L, L], or empty
    second: Floats,  # out [L, L, L], or empty
    dense_out: Floats,  # out [D, columns]
    sparse_out: Floats,  # out [A, columns]
) -> None:
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
                if label < shift:
                    continue
                column = label - shift
                if t == first and begins.shape[0] > 0:
                    begins[column] += amount
                for k in range(indptr[t], indptr[t + 1]):
                    sparse_out[indices[k], column] += amount * values[k] if valued else amount
                for k in range(dense.shape[1]):
                    dense_out[k, column] += amount * np.float64(dense[t, k])

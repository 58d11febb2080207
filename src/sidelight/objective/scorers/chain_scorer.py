"""The features of chains and classes: rows of tokens, and the layout of their weights.

A weighted sum of feature differences, Σ_i scale_i (Φ(x_i, plus_i) − Φ(x_i, minus_i)), is one dense vector.
`features.counts` gives the differences one by one, with their entries sorted; where only their sum is wanted, counting
straight into the vector is several times faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.errors import Intractable
from sidelight.features.counts import Differences, SparseRows, difference_rows
from sidelight.features.layout import Layout
from sidelight.features.rows import LinearScores, Rows, TokenFeatures, scores
from sidelight.objective.batch import Batch, LinearFeatures
from sidelight.spaces import Transitions, space_of


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


@dataclass(frozen=True, slots=True)
class ChainScorer(LinearFeatures):
    """Token features, transitions between labels, first and last labels."""

    rows: Rows
    layout: Layout

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def is_binary(self) -> bool:
        return self.rows.is_binary

    @property
    def null_label(self) -> bool:
        return self.layout.null_label

    def part(self, lo: int, hi: int) -> ChainScorer:
        return replace(self, rows=self.rows.part(lo, hi))

    def take(self, which: Ints) -> ChainScorer:
        return replace(self, rows=self.rows.take(which))

    def scores(self, weights: Floats) -> LinearScores:
        return scores(self.rows, self.layout, weights)

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        return difference_rows(self.rows, self.layout, differences, n_jobs=n_jobs)

    def summed(self, plus: Ids, minus: Ids, scales: Floats) -> Floats:
        return summed_differences(self.rows, self.layout, plus, minus, scales)


def chain_batch(rows: Rows, layout: Layout, *, allowed: Transitions | None = None, n_jobs: int | None = None) -> Batch:
    """Inputs with all outputs of the layout's order that the allowed transitions leave."""
    space = space_of(rows.starts, layout.n_labels, order=layout.order, allowed=allowed)
    return Batch(ChainScorer(rows, layout), space, n_jobs)


def chain_of(batch: Batch) -> ChainScorer:
    """The features of a batch of chains; raises `Intractable` for other structures."""
    if not isinstance(batch.scorer, ChainScorer):
        raise Intractable("this is for chains of labels, and the outputs are of another structure")
    return batch.scorer

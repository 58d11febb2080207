"""The features of chains and classes: rows of tokens, and the layout of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.counts import Differences, SparseRows, difference_rows
from sidelight.features.layout import Layout
from sidelight.features.rows import LinearScores, Rows, scores
from sidelight.objective.batch import Batch
from sidelight.objective.path_sums import summed_differences
from sidelight.objective.scorers.linear import LinearFeatures
from sidelight.spaces import Transitions, space_of


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

    def counts(self, wanted: Differences, n_jobs: int | None) -> SparseRows:
        return difference_rows(self.rows, self.layout, wanted, n_jobs=n_jobs)

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

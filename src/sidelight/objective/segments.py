"""Margin terms over labelled segmentations.

With price C and power p, a term costs C · max(0, value)^p, or with the logistic loss C · log(1 + exp(value)), where
value is

    max_h  Δ(h, y) + w·Φ(x, h) − w·Φ(x, y)

over the segmentations h of x, and y the right one (or a completed one in its place). The cost Δ is a sum over tokens:
Hamming between the token labels, say. With BIO, the first token of a segment has another label than the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.features.counts import SparseRows
from sidelight.features.rows import Rows
from sidelight.features.segment_counts import segment_differences
from sidelight.features.segment_rows import LinearSegmentScores, SegmentLayout, SegmentRows, segment_scores
from sidelight.objective.batch_terms import BatchTerms
from sidelight.objective.cuts import Cuts, Terms, Worst
from sidelight.spaces.segments import BestSegments, SegmentCost, Segments, SegmentSpace


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """Inputs with the features of their tokens and segments, and the segmentations they may have."""

    rows: Rows
    segments: SegmentRows
    space: SegmentSpace
    layout: SegmentLayout
    n_jobs: int | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_binary(self) -> bool:
        """Every feature has value 1."""
        return len(self.rows.values) == 0 and self.rows.dense.shape[1] == 0

    def part(self, lo: int, hi: int) -> SegmentBatch:
        """The inputs lo..hi alone."""
        rows, segments = self.rows.part(lo, hi), self.segments.part(lo, hi)
        return replace(self, rows=rows, segments=segments, space=self.space.part(lo, hi))

    def take(self, which: Ints) -> SegmentBatch:
        """Some of the inputs."""
        rows, segments = self.rows.take(which), self.segments.take(which)
        return replace(self, rows=rows, segments=segments, space=self.space.take(which))

    def inside(self, admitted: Bytes, opening: Bytes) -> SegmentBatch:
        """The same inputs with less segmentations; see `SegmentSpace.inside`."""
        return replace(self, space=self.space.inside(admitted, opening))

    def scores(self, weights: Floats) -> LinearSegmentScores:
        """The scores of all parts under the weights."""
        return segment_scores(self.rows, self.segments, self.layout, weights)

    def best(self, weights: Floats, *, cost: SegmentCost | None = None) -> BestSegments:
        """The best segmentation of each input, with its cost added where one is given."""
        return self.space.best(self.scores(weights), cost=cost, n_jobs=self.n_jobs)

    def score(self, weights: Floats, found: Segments) -> Floats:
        """The score of a given segmentation of each input. # [N]"""
        return self.space.score(self.scores(weights), found, n_jobs=self.n_jobs)

    def differences(self, which: Ints, plus: Segments, minus: Segments | None, *, scales: Floats) -> SparseRows:
        """scale · (Φ(x, plus) − Φ(x, minus)) for some of the inputs."""
        features = self.rows, self.segments, self.layout
        return segment_differences(*features, which=which, plus=plus, minus=minus, scales=scales, n_jobs=self.n_jobs)


@dataclass(frozen=True, slots=True)
class SegmentTerms(BatchTerms):
    """max over segmentations of cost and score, against the score of a target."""

    batch: SegmentBatch
    cost: SegmentCost
    prices: Floats

    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""
        starts = self.batch.rows.starts
        cost = self.cost.part(int(starts[lo]), int(starts[hi]))
        return SegmentTerms(self.batch.part(lo, hi), cost, self.prices[lo:hi])

    def worst(self, weights: Floats) -> Worst:
        found = self.batch.best(weights, cost=self.cost)
        return Worst(found.values - found.targets, found.segments)

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        slopes = self.batch.differences(which, worst.outputs, self.cost.targets, scales=np.ones(len(which)))
        return Cuts(which, slopes, self.cost.of(self.batch.rows.starts, worst.outputs)[which])

    def with_targets(self, targets: Segments, tokens: Ids) -> SegmentTerms:
        """The same terms with other targets, given with their token labels."""
        return replace(self, cost=replace(self.cost, targets=targets, tokens=tokens))

"""The features of labelled segmentations: rows of tokens, rows of segments, and the layout of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.counts import SparseRows
from sidelight.features.rows import Rows
from sidelight.features.segments.segment_counts import segment_differences
from sidelight.features.segments.segment_rows import LinearSegmentScores, SegmentLayout, SegmentRows, segment_scores
from sidelight.objective.batch import Batch
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading


@dataclass(frozen=True, slots=True)
class SegmentScorer:
    """Features of tokens and segments, transitions between the labels of segments, first and last labels."""

    rows: Rows
    segments: SegmentRows
    layout: SegmentLayout
    reading: TokenReading

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def is_binary(self) -> bool:
        return self.rows.is_binary

    @property
    def null_label(self) -> bool:
        return False

    def part(self, lo: int, hi: int) -> SegmentScorer:
        return replace(self, rows=self.rows.part(lo, hi), segments=self.segments.part(lo, hi))

    def take(self, which: Ints) -> SegmentScorer:
        return replace(self, rows=self.rows.take(which), segments=self.segments.take(which))

    def scores(self, weights: Floats) -> LinearSegmentScores:
        return segment_scores(self.rows, self.segments, self.layout, weights)

    def differences(
        self,
        which: Ints,
        plus: Ids,
        minus: Ids | None,
        *,
        scales: Floats,
        thresholds: Floats | None = None,
        n_jobs: int | None = None,
    ) -> SparseRows:
        starts = self.rows.starts
        return segment_differences(
            self.rows,
            self.segments,
            self.layout,
            which=which,
            plus=self.reading.cut(starts, plus)[0],
            minus=None if minus is None else self.reading.cut(starts, minus)[0],
            scales=scales,
            thresholds=np.zeros(len(which)) if thresholds is None else thresholds,
            n_jobs=n_jobs,
        )

    def summed(self, plus: Ids, minus: Ids, scales: Floats) -> Floats:
        rows = self.differences(np.arange(len(scales)), plus, minus, scales=scales)
        out = np.zeros(self.size)
        np.add.at(out, rows.indices, rows.values)
        return out

    def curvature(self, prices: Floats, lengths: Ints, share: float) -> Floats:
        """Nothing is guessed. # [size]"""
        return np.zeros(self.size)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout: themselves."""
        return weights

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout: all of them."""
        return full


def segment_batch(
    rows: Rows,
    segments: SegmentRows,
    layout: SegmentLayout,
    reading: TokenReading,
    *,
    n_jobs: int | None = None,
) -> Batch:
    """Inputs with all segmentations whose segments are not too long."""
    space = SegmentSpace(rows.starts, reading, segments.max_length)
    return Batch(SegmentScorer(rows, segments, layout, reading), space, n_jobs)

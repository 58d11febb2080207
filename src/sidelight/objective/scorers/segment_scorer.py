"""The features of labelled segmentations: rows of tokens, rows of segments, and the layout of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import Rows
from sidelight.features.segments.segment_counts import segment_differences
from sidelight.features.segments.segment_rows import (
    LinearSegmentScores,
    SegmentLayout,
    SegmentRows,
    Segments,
    segment_scores,
)
from sidelight.objective.batch import Batch, LinearFeatures
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading


@dataclass(frozen=True, slots=True)
class SegmentScorer(LinearFeatures):
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

    def part(self, lo: int, hi: int) -> SegmentScorer:
        return replace(self, rows=self.rows.part(lo, hi), segments=self.segments.part(lo, hi))

    def take(self, which: Ints) -> SegmentScorer:
        return replace(self, rows=self.rows.take(which), segments=self.segments.take(which))

    def scores(self, weights: Floats) -> LinearSegmentScores:
        return segment_scores(self.rows, self.segments, self.layout, weights)

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        cut, empty = self.reading.cut, Segments(differences.minus, np.empty(0, np.uint8))
        plus = cut(self.rows.starts, differences.plus)[0]
        minus = cut(self.rows.starts, differences.minus)[0] if len(differences.minus) else empty
        return segment_differences(self.rows, self.segments, self.layout, differences, plus, minus, n_jobs=n_jobs)


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

"""From a batch of segmentations with scores and masks to the scores of one input at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.arrays import Floats
from sidelight.inference.problem import Clause, Solution
from sidelight.inference.segment_problem import SegmentProblem
from sidelight.spaces.segments.segment_space import SegmentScores, SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading


@dataclass(frozen=True, slots=True, eq=False)
class SharedSegmentScores:
    """What the segmentations of all inputs share; an input's own are the totals of its segments [T, M, L]."""

    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    reading: TokenReading

    def problem(self, own: Floats, clauses: tuple[Clause, ...] = ()) -> SegmentProblem:
        """The problem of an input."""
        return SegmentProblem(own, self.transition, self.start, self.end, self.reading, clauses)

    def plain(self, own: Sequence[Floats]) -> list[Solution | None]:
        """Nothing: one input after another is as quick."""
        return [None] * len(own)


@dataclass(frozen=True, slots=True)
class SegmentBatchScores:
    """Scores of a batch of segmentations, −inf where the space admits nothing."""

    scores: SegmentScores
    space: SegmentSpace

    @property
    def shared(self) -> SharedSegmentScores:
        """What all inputs share."""
        return SharedSegmentScores(*self.space.masked(self.scores), self.space.reading)

    def own(self, i: int) -> Floats:
        """The totals of the segments of input i. # [T, M, L]"""
        return self.space.totals(self.scores, i)

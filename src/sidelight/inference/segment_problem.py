"""One input's problem over labelled segmentations, under rules about the labels of its tokens.

A segmentation tiles the input with segments (Sarawagi and Cohen 2004). Rules speak of tokens, so an output is the token
labeling that it reads as (`spaces.token_reading`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.arrays import Floats
from sidelight.inference.problem import Clause, RuledProblem
from sidelight.spaces.segments.token_reading import TokenReading


@dataclass(frozen=True, slots=True, eq=False)
class SegmentProblem(RuledProblem):
    """Scores of the segmentations of one sequence, and the clauses about the labels of its tokens."""

    totals: Floats  # [T, M, L] of a segment by its last token, length − 1 and label, tokens and all
    transition: Floats  # [L, L] of a segment of label j after one of label i
    start: Floats  # [L]
    end: Floats  # [L]
    reading: TokenReading
    clauses: tuple[Clause, ...] = ()

    @property
    def length(self) -> int:
        return len(self.totals)

    @property
    def n_labels(self) -> int:
        return self.reading.n_labels

    def score(self, labels: Sequence[int]) -> float:
        segments = self.reading.segments(labels)
        if segments is None:
            return -math.inf
        total = float(self.start[segments[0][2]] + self.end[segments[-1][2]])
        for k, (first, last, label) in enumerate(segments):
            total += float(self.totals[last, last - first, label])
            if k:
                total += float(self.transition[segments[k - 1][2], label])
        return total

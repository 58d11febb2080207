"""One input's problem over labelled segmentations, under rules about the labels of its tokens.

A segmentation tiles the input with segments (Sarawagi and Cohen 2004). Rules speak of tokens, so it is read as token
labels: the first token of a segment l has the label first[l], the others inside[l] (B-X and I-X, say). Where both are
the same label, a segment is a run, or a piece of one: it may follow one of its own label only where that one is as long
as can be. So a token labeling is the reading of one segmentation at most, and an output is a token labeling here too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.arrays import Floats, Ids, Ints
from sidelight.inference.problem import Clause, Problem


@dataclass(frozen=True, slots=True, eq=False)
class TokenReading:
    """How segments read as token labels: K labels of tokens, L of segments."""

    first: Ids  # [L] the label of a segment's first token; no two segment labels share one
    inside: Ids  # [L] of the others
    segment_of: Ids  # [K]
    longest: Ints  # [L] the most tokens of a segment

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.segment_of)

    def segments(self, labels: Sequence[int]) -> list[tuple[int, int, int]] | None:
        """The segments (first token, last token, label) that token labels read as; None where there are none.

        >>> import numpy as np
        >>> two = np.array([0, 1], np.int32)
        >>> TokenReading(two, two, two, np.array([2, 1])).segments([0, 0, 0, 1])
        [(0, 1, 0), (2, 2, 0), (3, 3, 1)]
        """
        found: list[tuple[int, int, int]] = []
        for t, label in enumerate(labels):
            segment = int(self.segment_of[label])
            if found and found[-1][2] == segment and label == self.inside[segment]:
                begun = found[-1][0]
                if t - begun < self.longest[segment]:
                    found[-1] = begun, t, segment
                    continue
            if label != self.first[segment]:
                return None
            found.append((t, t, segment))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SegmentProblem(Problem):
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

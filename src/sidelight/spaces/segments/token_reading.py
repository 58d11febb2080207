"""Labelled segments as labels of tokens: one choice per token, as in other structures.

The first token of a segment l has the label first[l], the others inside[l] (B-X and I-X, say). If both are the same
label, a segment is a run of it, or a piece of a run: it may follow a segment of the same label only if that one has the
maximum length. So a token labeling corresponds to at most one segmentation, and outputs are token labelings here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.features.segments.segment_rows import Segments


@dataclass(frozen=True, slots=True, eq=False)
class TokenReading:
    """How segments read as token labels: K labels of tokens, L of segments.

    Either all labels have one reading (`runs`), or those that do are segments of one token.
    """

    first: Ids  # [L] the label of a segment's first token; no two segment labels share one
    inside: Ids  # [L] of the others
    segment_of: Ids  # [K]
    longest: Ints  # [L] the most tokens of a segment

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.segment_of)

    @property
    def n_segments(self) -> int:
        """L."""
        return len(self.first)

    @property
    def runs(self) -> bool:
        """Whether a segment is a run of one label, or a piece of one."""
        return bool(np.all(self.first == self.inside))

    def segments(self, labels: Sequence[int]) -> list[tuple[int, int, int]] | None:
        """The segments (first token, last token, label) that token labels read as; None if there are none.

        >>> two = np.array([0, 1], np.int32)
        >>> TokenReading(two, two, two, np.array([2, 1])).segments([0, 0, 0, 1])
        [(0, 1, 0), (2, 2, 0), (3, 3, 1)]
        """
        segments: list[tuple[int, int, int]] = []
        for t, label in enumerate(labels):
            segment = int(self.segment_of[label])
            if segments and segments[-1][2] == segment and label == self.inside[segment]:
                begun = segments[-1][0]
                if t - begun < self.longest[segment]:
                    segments[-1] = begun, t, segment
                    continue
            if label != self.first[segment]:
                return None
            segments.append((t, t, segment))
        return segments

    def cut(self, starts: Ints, labels: Ids) -> tuple[Segments, NDArray[np.bool_]]:
        """The segmentations that token labels [T] read as, and which sequences have one [N]; others have anything."""
        segments = self.segment_of[labels]
        if len(labels) == 0:
            return Segments(segments, np.zeros(0, dtype=np.uint8)), np.ones(len(starts) - 1, dtype=bool)
        one_label = (self.first == self.inside)[segments]
        new = np.append(True, labels[1:] != labels[:-1])
        loose = np.append(True, segments[1:] != segments[:-1])
        new[starts[:-1]] = loose[starts[:-1]] = True
        opens = labels == self.first[segments]
        begins = np.where(one_label, new, opens | loose)
        begins |= one_label & (_places(begins) % self.longest[segments] == 0)
        wrong = (_places(begins) >= self.longest[segments]) | (loose & ~opens)
        return Segments(segments, begins.astype(np.uint8)), np.add.reduceat(wrong.astype(np.int64), starts[:-1]) == 0

    def labels(self, segments: Segments) -> Ids:
        """The token labels of segmentations. # [T]"""
        return np.where(segments.begins != 0, self.first[segments.labels], self.inside[segments.labels]).astype(
            np.int32
        )

    def shares(self, covers: Floats, firsts: Floats) -> Floats:
        """Probabilities of token labels, from those of being covered by and of beginning a segment. # [T, K]"""
        out = np.zeros((len(covers), self.n_labels))
        for label, (first, inside) in enumerate(zip(self.first, self.inside)):
            if first == inside:
                out[:, first] = covers[:, label]
            else:
                out[:, first] = firsts[:, label]
                out[:, inside] = np.maximum(covers[:, label] - firsts[:, label], 0.0)
        return out


def _places(begins: NDArray[np.bool_]) -> Ints:
    """For each token, the distance to the last beginning. # [T]"""
    where = np.arange(len(begins), dtype=np.int64)
    return where - np.maximum.accumulate(np.where(begins, where, 0))

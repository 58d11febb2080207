"""Monotone alignments of two strings: pairs of segments that do not cross; other symbols are aligned with nothing.

`alignment_kernels` says how choices are numbered. With pairs of 1 × 1 symbols these are the one-to-one alignments that
do not cross.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.parallel import shards, threads
from sidelight.spaces.alignments import alignment_kernels as kernels
from sidelight.spaces.slot_sums import SummedSlotSpace


@dataclass(frozen=True)
class AlignmentSpace(SummedSlotSpace):
    """The alignments of a batch of pairs of strings."""

    rights: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [N] length of the right string
    longest: tuple[int, int] = (3, 3)  # most left and right symbols of a pair
    left_nulls: bool = True  # left symbols may have nothing
    right_nulls: bool = True

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        return replace(super().take(which), rights=self.rights[which])

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        choices, values = np.zeros(len(scores), dtype=np.int32), np.empty(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.best(self.starts, lo, hi, self.rights, scores, self._shape, choices, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return choices, values

    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        totals, beliefs = np.empty(len(self.starts) - 1), np.zeros_like(scores[: len(scores) if shares else 0])

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.sums(self.starts, lo, hi, self.rights, scores, self._shape, totals, beliefs)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return totals, beliefs

    @property
    def _shape(self) -> Ints:
        return np.array([*self.longest, self.left_nulls, self.right_nulls], dtype=np.int64)


def choices_of(longest: tuple[int, int], right: int) -> int:
    """The number of choices of a left symbol, for a right string of this length."""
    tall, wide = longest
    return 1 + right * wide * tall * (tall + 1) // 2

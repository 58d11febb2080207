"""Scores of alignments of two strings: hashed features of pairs of segments, for alignments and matchings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.features.counts import SparseRows
from sidelight.features.rows import taken
from sidelight.features.structured import pair_features as kernels
from sidelight.objective.scorers.linear import LinearFeatures
from sidelight.parallel import shards, threads
from sidelight.spaces.slot_sums import SlotBeliefs
from sidelight.spaces.slots import SlotScores


@dataclass(frozen=True, slots=True)
class PairScorer(LinearFeatures):
    """Symbols of both strings as hashes; features are made from them whenever they are wanted."""

    starts: Ints  # [N + 1] of left symbols
    ends: Ints  # [N + 1] of right symbols
    one: Keys  # [T]
    two: Keys  # [right symbols]
    n_labels: int  # K
    longest: tuple[int, int]  # most left and right symbols of a pair
    kind: int  # kernels.SEGMENTS or kernels.LETTERS
    right_nulls: bool
    bits: int
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        return (1 << self.bits) + 1

    @property
    def is_binary(self) -> bool:
        return self.kind == kernels.SEGMENTS

    def take(self, which: Ints) -> PairScorer:
        starts, lefts = taken(self.starts, which)
        ends, rights = taken(self.ends, which)
        return replace(self, starts=starts, ends=ends, one=self.one[lefts], two=self.two[rights])

    def scores(self, weights: Floats) -> SlotScores:
        scores, wide = np.zeros((len(self.one), self.n_labels)), np.asarray(weights, dtype=np.float64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.pair_scores(self.starts, self.ends, lo, hi, self.one, self.two, self._shape, wide, scores)

        threads(run, shards(self.starts), n_jobs=self.n_jobs)
        return SlotScores(scores)

    def counts(
        self, which: Ints, plus: Ids, minus: Ids | None, scales: Floats, thresholds: Floats, n_jobs: int | None
    ) -> SparseRows:
        symbols = np.diff(self.starts)[which] + np.diff(self.ends)[which]
        room = int(np.sum(1 + 2 * kernels.MOST * symbols))
        indptr, indices, values = np.zeros(len(which) + 1, np.int64), np.empty(room, np.int32), np.empty(room)
        kernels.pair_differences(
            self.starts,
            self.ends,
            self.one,
            self.two,
            self._shape,
            which,
            plus,
            np.zeros(0, np.int32) if minus is None else minus,
            scales,
            thresholds,
            indptr,
            indices,
            values,
        )
        return SparseRows(indptr, indices[: indptr[-1]].copy(), values[: indptr[-1]].copy())

    def add_gradient(self, weights: Floats, parts: SlotBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        kernels.add_pairs(self.starts, self.ends, self.one, self.two, self._shape, parts.slots, gradient)

    @property
    def _shape(self) -> Ints:
        return np.array([*self.longest, self.kind, self.right_nulls, self.bits], dtype=np.int64)

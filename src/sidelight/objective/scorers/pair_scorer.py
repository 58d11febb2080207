"""Scores of alignments of two strings: hashed features of pairs of segments, for alignments and matchings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import taken
from sidelight.features.structured import pair_features as kernels
from sidelight.objective.batch import LinearFeatures
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
            kernels.pair_scores(self._strings, lo, hi, wide, scores)

        threads(run, shards(self.starts), n_jobs=self.n_jobs)
        return SlotScores(scores)

    def counts(self, wanted: Differences, n_jobs: int | None) -> SparseRows:
        return kernels.pair_differences(self._strings, wanted)

    def add_gradient(self, weights: Floats, parts: SlotBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        kernels.add_pairs(self._strings, parts.slots, gradient)

    @property
    def _strings(self) -> kernels.Strings:
        what = *self.longest, self.kind, self.right_nulls, self.bits
        return kernels.Strings(self.starts, self.ends, self.one, self.two, *what)

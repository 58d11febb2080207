"""Scores of alignments of two strings: hashed features of pairs of segments, for alignments and matchings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints
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

    strings: kernels.Strings
    n_labels: int  # K
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        return (1 << self.strings.bits) + 1

    @property
    def is_binary(self) -> bool:
        return self.strings.kind == kernels.SEGMENTS

    def take(self, which: Ints) -> PairScorer:
        own = self.strings
        starts, lefts = taken(own.starts, which)
        ends, rights = taken(own.ends, which)
        return replace(self, strings=own._replace(starts=starts, ends=ends, one=own.one[lefts], two=own.two[rights]))

    def scores(self, weights: Floats) -> SlotScores:
        scores, wide = np.zeros((len(self.strings.one), self.n_labels)), np.asarray(weights, dtype=np.float64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.pair_scores(self.strings, lo, hi, wide, scores)

        threads(run, shards(self.strings.starts), n_jobs=self.n_jobs)
        return SlotScores(scores)

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        return kernels.pair_differences(self.strings, differences)

    def add_gradient(self, weights: Floats, parts: SlotBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        kernels.add_pairs(self.strings, parts.slots, gradient)

"""Scores of trees of heads: hashed features of every arc, for `spaces.tree_space`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.features.counts import Differences, SparseRows
from sidelight.features.rows import taken
from sidelight.features.structured import arc_features as kernels
from sidelight.objective.batch import LinearFeatures
from sidelight.parallel import shards, threads
from sidelight.spaces.slot_sums import SlotBeliefs
from sidelight.spaces.slots import SlotScores


@dataclass(frozen=True, slots=True)
class ArcScorer(LinearFeatures):
    """Tokens as hashes of their strings; features are made from them whenever they are wanted."""

    tokens: kernels.ArcTokens
    n_labels: int  # K = heads · relations
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        return (1 << self.tokens.bits) + 1

    @property
    def is_binary(self) -> bool:
        return True

    def take(self, which: Ints) -> ArcScorer:
        own = self.tokens
        starts, tokens = taken(own.starts, which)
        before = own.before[tokens]
        before = np.where(before < 0, before, before - tokens + np.arange(len(tokens)))
        some = own._replace(starts=starts, forms=own.forms[tokens], tags=own.tags[tokens], before=before)
        return replace(self, tokens=some)

    def scores(self, weights: Floats) -> SlotScores:
        scores = np.zeros((len(self.tokens.forms), self.n_labels))
        wide = np.asarray(weights, dtype=np.float64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.arc_scores(self.tokens, lo, hi, wide, scores)

        threads(run, shards(self.tokens.starts), n_jobs=self.n_jobs)
        return SlotScores(scores)

    def counts(self, differences: Differences, n_jobs: int | None) -> SparseRows:
        return kernels.tree_differences(self.tokens, differences)

    def add_gradient(self, weights: Floats, parts: SlotBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        kernels.add_arcs(self.tokens, parts.slots, gradient)

"""Scores of trees of heads: hashed features of every arc, for `spaces.tree_space`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
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

    starts: Ints  # [N + 1]
    forms: Keys  # [T]
    tags: Keys  # [T]
    before: Ints  # [T] the token before of the same tag, or −1
    n_labels: int  # K = heads · relations
    relations: int
    bits: int
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, starts: Ints, forms: Keys, tags: Keys, *, n_labels: int, relations: int, bits: int, n_jobs: int | None
    ) -> ArcScorer:
        """The scorer of sentences whose tokens have these hashes."""
        return cls(starts, forms, tags, kernels.tag_before(starts, tags), n_labels, relations, bits, n_jobs)

    @property
    def size(self) -> int:
        return (1 << self.bits) + 1

    @property
    def is_binary(self) -> bool:
        return True

    def take(self, which: Ints) -> ArcScorer:
        starts, tokens = taken(self.starts, which)
        before = self.before[tokens]
        before = np.where(before < 0, before, before - tokens + np.arange(len(tokens)))
        return replace(self, starts=starts, forms=self.forms[tokens], tags=self.tags[tokens], before=before)

    def scores(self, weights: Floats) -> SlotScores:
        scores = np.zeros((len(self.forms), self.n_labels))
        wide = np.asarray(weights, dtype=np.float64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            kernels.arc_scores(self._tokens, lo, hi, wide, scores)

        threads(run, shards(self.starts), n_jobs=self.n_jobs)
        return SlotScores(scores)

    def counts(self, wanted: Differences, n_jobs: int | None) -> SparseRows:
        return kernels.tree_differences(self._tokens, wanted)

    def add_gradient(self, weights: Floats, parts: SlotBeliefs, gradient: Floats) -> None:
        """gradient += expected features."""
        kernels.add_arcs(self._tokens, parts.slots, gradient)

    @property
    def _tokens(self) -> kernels.ArcTokens:
        return kernels.ArcTokens(self.starts, self.forms, self.tags, self.before, self.relations, self.bits)

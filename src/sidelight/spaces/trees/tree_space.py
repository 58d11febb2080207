"""Trees of heads: every token has a head, another token or the root, and none is above itself.

A slot is a token; its choice is head · R + relation, where head 0 is the root and head h the token h (counted from 1).
Projective trees have no arcs that cross (`eisner_kernels`), others any (`arborescence_kernels`). Relations are scored
with their arc, so the best (or the sum) of an arc's relations is found first and the tree among those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.parallel import shards, threads
from sidelight.spaces.slot_sums import SummedSlotSpace
from sidelight.spaces.trees import arborescence_kernels, eisner_kernels


@dataclass(frozen=True)
class TreeSpace(SummedSlotSpace):
    """The trees of a batch of sentences; choices beyond a sentence's own tokens are not there."""

    projective: bool = True
    single_root: bool = True  # exactly one token has the root as its head
    relations: int = 1  # R

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        arcs = scores if self.relations == 1 else np.ascontiguousarray(self._by_arc(scores).max(axis=2))
        heads, values = np.zeros(len(scores), dtype=np.int32), np.empty(len(self.starts) - 1)
        kernel = eisner_kernels.best if self.projective else arborescence_kernels.best

        def run(shard: tuple[int, int]) -> None:
            kernel(self.starts, *shard, arcs, self.single_root, heads, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        if self.relations == 1:
            return heads, values
        best = self._by_arc(scores)[np.arange(len(heads)), heads].argmax(axis=1)
        return np.asarray(heads * self.relations + best, dtype=np.int32), values

    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        labelled = self._by_arc(scores)
        arcs = labelled[:, :, 0] if self.relations == 1 else np.logaddexp.reduce(labelled, axis=2)
        arcs = np.ascontiguousarray(arcs)
        totals, beliefs = np.empty(len(self.starts) - 1), np.zeros_like(arcs[: len(arcs) if shares else 0])
        kernel = eisner_kernels.sums if self.projective else arborescence_kernels.sums

        def run(shard: tuple[int, int]) -> None:
            kernel(self.starts, *shard, arcs, self.single_root, totals, beliefs)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        if self.relations > 1 and shares:
            there = np.where(arcs > -np.inf, arcs, 0.0)[:, :, None]
            beliefs = (beliefs[:, :, None] * np.exp(labelled - there)).reshape(len(beliefs), self.n_labels)
        return totals, beliefs

    def _by_arc(self, scores: Floats) -> Floats:
        """# [T, heads, R]"""
        return scores.reshape(len(scores), self.n_labels // self.relations, self.relations)

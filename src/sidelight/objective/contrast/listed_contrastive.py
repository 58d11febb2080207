"""Contrastive estimation over chains of any order, with neighbours one by one.

The loss is that of `contrastive`. Each neighbour is an input of its own, made of the input's tokens with the features
they have, so that any space with sums will do; every token is scored as often as it stands in a neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ints
from sidelight.features.gradient import FullFeatures
from sidelight.features.rows import offsets_of
from sidelight.objective.batch import Batch
from sidelight.objective.contrast.contrastive import grouped_log_sums, shares_of
from sidelight.objective.contrast.neighbourhoods import Neighbours
from sidelight.objective.expected_features import add_log_sums
from sidelight.objective.scorers.chain_scorer import chain_batch, chain_of
from sidelight.spaces import Space, Transitions, sums


@dataclass(frozen=True, slots=True)
class ListedContrastiveTerms:
    """Inputs without gold labels against their neighbours."""

    features: FullFeatures
    space: Space  # of the inputs
    prices: Floats  # [N]
    ptr: Ints  # [N + 1] first neighbour of each input
    around: FullFeatures  # of the neighbours
    neighbours: Space
    admitted: Bytes | None = None  # [T, L] what is known of the input itself

    @classmethod
    def of(
        cls,
        batch: Batch,
        prices: Floats,
        listed: Neighbours,
        *,
        allowed: Transitions | None = None,
        dictionary: Bytes | None = None,
        admitted: Bytes | None = None,
    ) -> ListedContrastiveTerms:
        """Terms of a batch of chains; a `dictionary` [T, L] says what a token may be wherever it stands.

        Neighbours that have no labeling add nothing to a sum, and are left out.
        """
        scorer = chain_of(batch)
        rows = listed.rows(scorer.rows)
        space, near = batch.space, chain_batch(rows, scorer.layout, allowed=allowed).space
        if dictionary is not None:
            space, near = space.inside(dictionary), near.inside(np.ascontiguousarray(dictionary[listed.tokens]))
        there = near.feasible(n_jobs=batch.n_jobs)
        kept = np.flatnonzero(there)
        ptr = offsets_of(there.astype(np.int64))[listed.ptr]  # [N + 1]
        own = FullFeatures.of(scorer.rows, scorer.layout, n_jobs=batch.n_jobs)
        around = FullFeatures.of(rows.take(kept), scorer.layout, n_jobs=batch.n_jobs)
        return cls(own, space, prices, ptr, around, near.take(kept), admitted)

    def __len__(self) -> int:
        return len(self.prices)

    @property
    def known(self) -> Space:
        """The outputs of the inputs that are admitted."""
        return self.space if self.admitted is None else self.space.inside(self.admitted)

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log of the input's share in its neighbourhood. # [N]"""
        own = sums.log_sums(self.known, self.features.scores(weights), n_jobs=n_jobs)
        return grouped_log_sums(self.ptr, self._log_sums(weights, n_jobs)) - own

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """Nothing: no gold labels are known."""

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (features expected in the neighbourhood − those expected of what is admitted).

        Returns Σ price · loss.
        """
        values = self._log_sums(weights, n_jobs)
        totals = grouped_log_sums(self.ptr, values)
        shares = shares_of(self.ptr, values, totals, self.prices)
        add_log_sums(self.around, self.neighbours, shares, weights, gradient, n_jobs=n_jobs)
        own = add_log_sums(self.features, self.known, -self.prices, weights, gradient, n_jobs=n_jobs)
        return float(self.prices @ totals) + own

    def _log_sums(self, weights: Floats, n_jobs: int | None) -> Floats:
        """Of every neighbour. # [M]"""
        return sums.log_sums(self.neighbours, self.around.scores(weights), n_jobs=n_jobs)

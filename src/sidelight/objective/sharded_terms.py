"""Log-linear terms that are held in a place, shard by shard: their sums, which are all that a likelihood asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.objective.expected_features import WeightForm
from sidelight.parallel.place import Held


@dataclass(frozen=True, slots=True)
class ShardedTerms:
    """Terms of inputs that are held shard by shard; sums go along the fixed tree of the shards."""

    held: Held  # of `LogLinearTerms`
    features: WeightForm  # the form of their weights
    prices: Floats  # [N]

    def curvature(self, share: float) -> Floats:
        """A rough guess of what they add to the Hessian's diagonal. # [size]"""
        found: Floats = self.held.total(_curvature, share)
        return found

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """The loss of every input, without its price. # [N]"""
        return np.concatenate(self.held.each(_losses, weights, self.held.n_jobs))

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        gradient += self.held.total(_gold, self.held.n_jobs)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        value, slopes = self.held.total(_beliefs, weights, self.held.n_jobs)
        gradient += slopes
        return float(value)


def _curvature(terms: Any, share: float) -> Floats:
    found: Floats = terms.curvature(share)
    return found.copy()


def _losses(terms: Any, weights: Floats, n_jobs: int | None) -> Floats:
    found: Floats = terms.losses(weights, n_jobs=n_jobs)
    return found


def _gold(terms: Any, n_jobs: int | None) -> Floats:
    gradient = np.zeros(terms.features.size)
    terms.add_gold(gradient, n_jobs=n_jobs)
    return gradient


def _beliefs(terms: Any, weights: Floats, n_jobs: int | None) -> tuple[float, Floats]:
    gradient = np.zeros(terms.features.size)
    value = terms.add_beliefs(weights, gradient, n_jobs=n_jobs)
    return value, gradient

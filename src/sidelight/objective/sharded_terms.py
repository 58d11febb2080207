"""Log-linear terms that are held in a place, shard by shard: their sums, which are all that a likelihood asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.objective.expected_features import WeightForm
from sidelight.parallel.place import Held


class CurvedForm(Protocol):
    """A form of weights, whose curvature the shards know."""

    @property
    def size(self) -> int: ...

    def expand(self, weights: Floats) -> Floats: ...

    def shorten(self, full: Floats) -> Floats: ...


class Offsets(Protocol):
    """What is told of inputs that are elsewhere."""

    @property
    def starts(self) -> Ints:  # [N + 1]
        ...


@dataclass(frozen=True, slots=True)
class ShardedForm:
    """The form of the weights of terms that are elsewhere."""

    form: CurvedForm
    held: Held

    @property
    def size(self) -> int:
        return self.form.size

    def curvature(self, prices: Floats, lengths: Any, share: float) -> Floats:
        found: Floats = self.held.total(_curvature, share)
        return found

    def expand(self, weights: Floats) -> Floats:
        return self.form.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        return self.form.shorten(full)


@dataclass(frozen=True, slots=True)
class ShardedTerms:
    """Terms of inputs that are held shard by shard; sums go along the fixed tree of the shards."""

    held: Held  # of `LogLinearTerms`
    form: CurvedForm
    space: Offsets
    prices: Floats  # [N]

    @property
    def features(self) -> WeightForm:
        return ShardedForm(self.form, self.held)

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
    found: Floats = terms.features.curvature(terms.prices, np.diff(terms.space.starts), share)
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

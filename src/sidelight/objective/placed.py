"""Computations on workers that hold the inputs: best outputs of a batch, and sums of log-linear terms.

An output depends only on its own input, so any cut into shards gives the same bits. Shard k has the inputs k, k + S,
k + 2 S, …: so every block of terms has inputs in every shard, and all workers are busy. Workers return the outputs
themselves, four bytes per slot for any number of features; the driver makes cuts and sums from them. A likelihood needs
only sums of log-linear terms: these are added along the fixed tree of the shards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ints
from sidelight.features.rows import taken
from sidelight.objective.batch import Batch
from sidelight.objective.expected_features import WeightForm
from sidelight.parallel.place import Held, Place, pieces_of
from sidelight.spaces import AnyCost, Paths, Space


class Source:
    """All inputs of a batch; workers get them on first use."""

    def __init__(self, place: Place, batch: Batch, shards: int, before: Source | None = None) -> None:
        self.shards = shards
        self._place, self._batch, self._before = place, batch, before
        self._held: Held | None = None
        self._inside: dict[int, tuple[Bytes, PlacedBatch]] = {}  # by the identity of the admitted mask

    @property
    def held(self) -> Held:
        """Batches, one a shard."""
        if self._held is None:
            lots = [np.arange(k, len(self._batch), self.shards) for k in range(self.shards)]
            if self._before is None:
                self._held = self._place.hold([self._batch.take(lot) for lot in lots])
            else:  # workers already have the features
                self._held = self._before.held.derive(_within, own=[(self._batch.space.take(lot),) for lot in lots])
        return self._held

    def within(self, space: Space) -> PlacedBatch:
        """The same inputs with other outputs."""
        batch = self._batch.within(space)
        return _whole(batch, Source(self._place, batch, self.shards, self))

    def inside(self, admitted: Bytes) -> PlacedBatch:
        """The same inputs with the outputs that are admitted; made once."""
        known = self._inside.get(id(admitted))
        if known is None or known[0] is not admitted:
            known = self._inside[id(admitted)] = (admitted, self.within(self._batch.space.inside(admitted)))
        return known[1]


@dataclass(frozen=True, slots=True)
class PlacedBatch(Batch):
    """Some inputs of a source; their features and spaces are also here, for everything except best outputs."""

    source: Source | None = None
    which: Ints | None = None  # [N] their numbers in the source; None: all

    def here(self) -> Batch:
        return Batch(self.scorer, self.space, self.n_jobs)

    def part(self, lo: int, hi: int) -> Batch:
        return replace(
            self, scorer=self.scorer.part(lo, hi), space=self.space.part(lo, hi), which=self._numbers()[lo:hi]
        )

    def take(self, which: Ints) -> Batch:
        return replace(self, scorer=self.scorer.take(which), space=self.space.take(which), which=self._numbers()[which])

    def within(self, space: Space) -> Batch:
        if self.which is not None or self.source is None:
            return self.here().within(space)
        return self.source.within(space)

    def inside(self, admitted: Bytes | None) -> Batch:
        if admitted is None:
            return self
        if self.which is not None or self.source is None:
            return self.here().inside(admitted)
        return self.source.inside(admitted)

    def best(self, weights: Floats, *, cost: AnyCost | None = None, rng: np.random.Generator | None = None) -> Paths:
        """The best output of each input; ties are broken at random in this process alone."""
        if rng is not None or self.source is None or not len(self):
            return self.here().best(weights, cost=cost, rng=rng)
        held, count = self.source.held, self.source.shards
        numbers, starts = self._numbers(), self.starts
        places = [np.flatnonzero(numbers % count == k) for k in range(count)]
        slots = [taken(starts, place)[1] for place in places]
        own: list[tuple[Any, ...]] = [
            (_span(numbers[place] // count), None if cost is None else cost.take(mine))
            for place, mine in zip(places, slots)
        ]
        labels, values = np.empty(int(starts[-1]), dtype=np.int32), np.empty(len(self))
        targets = np.empty(0 if cost is None else len(self))
        for place, mine, answer in zip(places, slots, held.each(_best, weights, held.n_jobs, own=own)):
            if answer is not None:
                labels[mine], values[place] = answer.labels, answer.values
                if cost is not None:
                    targets[place] = answer.targets
        return Paths(labels, values, targets)

    def _numbers(self) -> Ints:
        return np.arange(len(self)) if self.which is None else self.which


def placed(batch: Batch, place: Place) -> Batch:
    """A batch in a place; unchanged if the place is this process, or if there is only one shard."""
    count = len(pieces_of(batch.starts, place.shard_tokens)) if place.remote else 1
    return batch if count <= 1 else _whole(batch, Source(place, batch, count))


def _whole(batch: Batch, source: Source) -> PlacedBatch:
    return PlacedBatch(batch.scorer, batch.space, batch.n_jobs, source)


def _span(numbers: Ints) -> Any:
    """Consecutive inputs as a pair (lo, hi), which gives a view instead of a copy."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1 and np.all(np.diff(numbers) == 1):
        return int(numbers[0]), int(numbers[-1]) + 1
    return numbers


def _within(batch: Batch, space: Space) -> Batch:
    return batch.within(space)


def _best(batch: Batch, weights: Floats, n_jobs: int | None, which: Any, cost: AnyCost | None) -> Paths | None:
    if not isinstance(which, tuple) and not len(which):
        return None
    some = batch.part(*which) if isinstance(which, tuple) else batch.take(which)
    return replace(some, n_jobs=n_jobs).best(weights, cost=cost)


@dataclass(frozen=True, slots=True)
class ShardedTerms:
    """Terms of inputs in shards; sums are added along the fixed tree of the shards."""

    held: Held  # of `LogLinearTerms`
    features: WeightForm  # the form of their weights
    prices: Floats  # [N]

    def curvature(self, share: float) -> Floats:
        """A rough estimate of their part of the Hessian's diagonal. # [size]"""
        total: Floats = self.held.total(_curvature, share)
        return total

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
    curvature: Floats = terms.curvature(share)
    return curvature.copy()


def _losses(terms: Any, weights: Floats, n_jobs: int | None) -> Floats:
    losses: Floats = terms.losses(weights, n_jobs=n_jobs)
    return losses


def _gold(terms: Any, n_jobs: int | None) -> Floats:
    gradient = np.zeros(terms.features.size)
    terms.add_gold(gradient, n_jobs=n_jobs)
    return gradient


def _beliefs(terms: Any, weights: Floats, n_jobs: int | None) -> tuple[float, Floats]:
    gradient = np.zeros(terms.features.size)
    value = terms.add_beliefs(weights, gradient, n_jobs=n_jobs)
    return value, gradient

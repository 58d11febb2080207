"""The outputs of a space in which at least one slot leaves its candidates, for any space.

They are the union, over slots, of the outputs with this slot outside; each of these is the space itself within a mask.
So the best of them is the best of as many runs as the longest input has slots, exact whatever the structure, and that
many times as slow. First-order chains have a dynamic program for it (`ChainSpace.outside`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import taken
from sidelight.spaces.chains.chain import AnyCost, Paths


class Maskable(Protocol):
    """The protocol that the space must have."""

    @property
    def starts(self) -> Ints: ...

    @property
    def n_labels(self) -> int: ...

    def inside(self, admitted: Bytes) -> Self: ...

    def part(self, lo: int, hi: int) -> Self: ...

    def take(self, which: Ints) -> Self: ...

    def best(self, scores: Any, *, cost: AnyCost | None = None, n_jobs: int | None = None) -> Paths: ...

    def score(self, scores: Any, labels: Ids, *, n_jobs: int | None = None) -> Floats: ...

    def admits(self, labels: Ids) -> Bytes: ...

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, slots=True)
class Outside:
    """The outputs of a space that leave the candidates of at least one slot; made by `of`."""

    space: Maskable
    candidates: Bytes  # [T, K]
    leaving: NDArray[np.bool_]  # [T] whether some output leaves them at this slot

    @classmethod
    def of(cls, space: Maskable, candidates: Bytes) -> Outside:
        """Looks once at every slot whether it can be left."""
        leaving = candidates.sum(axis=1) < space.n_labels
        for slots in _by_place(space.starts, leaving):
            mask = _clamped(candidates, slots)
            which = np.searchsorted(space.starts, slots, side="right") - 1
            leaving[slots] = space.inside(mask).feasible()[which]
        return cls(space, candidates, leaving)

    @property
    def starts(self) -> Ints:
        return self.space.starts

    @property
    def n_labels(self) -> int:
        return self.space.n_labels

    def inside(self, admitted: Bytes) -> Outside:
        """The outputs within per-slot sets."""
        return Outside.of(self.space.inside(admitted), self.candidates)

    def outside(self, admitted: Bytes) -> Outside:
        raise Intractable("outputs outside two sets of candidates are not looked for")

    def part(self, lo: int, hi: int) -> Outside:
        """The space of the inputs lo..hi."""
        here = slice(int(self.starts[lo]), int(self.starts[hi]))
        return Outside(self.space.part(lo, hi), self.candidates[here], self.leaving[here])

    def take(self, which: Ints) -> Outside:
        """The space of some of the inputs."""
        slots = taken(self.starts, which)[1]
        return Outside(self.space.take(which), self.candidates[slots], self.leaving[slots])

    def best(
        self,
        scores: Any,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best of them for each input, with its cost added where one is given; of equals the first slot's.

        Raises `Infeasible` for an input without any.
        """
        if rng is not None:
            raise Intractable("ties outside candidates are not broken at random; leave random_ties and restarts out")
        fits = self.feasible()
        if not fits.all():
            raise Infeasible(f"sequence {int(np.flatnonzero(~fits)[0])}: no output leaves its candidates")
        labels = np.empty(int(self.starts[-1]), dtype=np.int32)
        values = np.full(len(fits), -np.inf)
        targets = np.empty(0 if cost is None else len(fits))
        for slots in _by_place(self.starts, self.leaving):
            best = self.space.inside(_clamped(self.candidates, slots)).best(scores, cost=cost, n_jobs=n_jobs)
            which = np.searchsorted(self.starts, slots, side="right") - 1
            which = which[best.values[which] > values[which]]
            own = taken(self.starts, which)[1]
            values[which], labels[own] = best.values[which], best.labels[own]
            targets = best.targets
        return Paths(labels, values, targets)

    def score(self, scores: Any, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of given outputs. # [N]"""
        return self.space.score(scores, labels, n_jobs=n_jobs)

    def admits(self, labels: Ids) -> Bytes:
        """Whether each input's output is among them. # [N] of 0 and 1"""
        if not len(labels):
            return self.space.admits(labels)
        stays = self.candidates[np.arange(len(labels)), labels]
        leaves = (np.minimum.reduceat(stays, self.starts[:-1]) == 0).astype(np.uint8)
        return np.asarray(self.space.admits(labels) & leaves)

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Which inputs have any. # [N]"""
        if not len(self.leaving):
            return np.ones(len(self.starts) - 1, dtype=bool)
        return np.add.reduceat(self.leaving.astype(np.int64), self.starts[:-1]) > 0

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        raise Intractable("outputs outside candidates are not drawn at random")


def _by_place(starts: Ints, leaving: NDArray[np.bool_]) -> Iterator[Ints]:
    """The slots that may be left, in groups with at most one of each input."""
    where = np.flatnonzero(leaving)
    places = where - starts[np.searchsorted(starts, where, side="right") - 1]
    for place in np.unique(places):
        yield where[places == place]


def _clamped(candidates: Bytes, slots: Ints) -> Bytes:
    """A mask that is open but for these slots, which must leave their candidates. # [T, K]"""
    mask = np.ones(candidates.shape, dtype=np.uint8)
    mask[slots] = candidates[slots] == 0
    return mask

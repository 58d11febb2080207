"""The labelings of a batch of sequences under scores of three labels in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.parallel import shards, threads
from sidelight.spaces.chains import chain_kernels
from sidelight.spaces.chains.chain import AnyCost, ChainScores, ChainSpace, Paths, Transitions, check_feasible
from sidelight.spaces.second_order import second_order_kernels as kernels


class SecondOrderScores(ChainScores, Protocol):
    """Scores of a batch of chains whose parts are also three labels in a row."""

    @property
    def second(self) -> Floats:  # [L, L, L] before the previous, previous, label
        ...


@dataclass(frozen=True, slots=True)
class GivenSecondOrderScores:
    """Scores that a caller hands in as arrays."""

    tokens: Floats  # [T, L]
    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    second: Floats  # [L, L, L]

    def block(self, first: int, last: int) -> Floats:
        return np.array(self.tokens[first:last], dtype=np.float64, order="C")


@dataclass(frozen=True, slots=True)
class SecondOrderSpace:
    """The labelings of a `ChainSpace`, searched under second-order scores.

    Masks are those of the chain space, which also answers what does not depend on scores. The first two tokens of a
    sequence have first-order scores only. Time grows with the product of the numbers of candidate labels of three
    consecutive tokens, so it is candidate sets that make many labels affordable.
    """

    labelings: ChainSpace

    @property
    def starts(self) -> Ints:
        return self.labelings.starts

    @property
    def n_labels(self) -> int:
        return self.labelings.n_labels

    @property
    def allowed(self) -> Transitions | None:
        return self.labelings.allowed

    @property
    def admitted(self) -> Bytes | None:
        return self.labelings.admitted

    @property
    def left_out(self) -> Bytes | None:
        return self.labelings.left_out

    def inside(self, admitted: Bytes) -> SecondOrderSpace:
        """The labelings within per-token candidate sets."""
        return SecondOrderSpace(self.labelings.inside(admitted))

    def outside(self, admitted: Bytes) -> SecondOrderSpace:
        """The labelings in which at least one token leaves its candidate set."""
        return SecondOrderSpace(self.labelings.outside(admitted))

    def part(self, lo: int, hi: int) -> SecondOrderSpace:
        """The space of the sequences lo..hi alone, without copying masks."""
        return SecondOrderSpace(self.labelings.part(lo, hi))

    def take(self, which: Ints) -> SecondOrderSpace:
        """The space of some of the sequences."""
        return SecondOrderSpace(self.labelings.take(which))

    def admits(self, labels: Ids) -> Bytes:
        """Whether each sequence's labeling is in the space. # [N] of 0 and 1"""
        return self.labelings.admits(labels)

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether the masks leave each sequence any labeling. # [N]"""
        return self.labelings.feasible(n_jobs=n_jobs)

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """A labeling of each sequence, uniformly at random from the space. # [T]"""
        return self.labelings.random(rng, n_jobs=n_jobs)

    def best(
        self,
        scores: SecondOrderScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best labeling of each sequence, with its cost added where one is given.

        With `rng`, ties are broken uniformly at random. Raises `Infeasible` if the masks leave no labeling, and
        `Intractable` for random ties outside candidate sets.
        """
        if rng is not None and self.left_out is not None:
            raise Intractable("ties outside candidate sets are not broken at random; leave rng out")
        labels = np.empty(int(self.starts[-1]), dtype=np.int32)
        values = np.empty(len(self.starts) - 1)
        targets = np.empty(0 if cost is None else len(values))
        steps = self.masked(scores)
        seeds = None if rng is None else rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first = int(self.starts[lo])
            block = scores.block(first, int(self.starts[hi]))
            if cost is not None:
                self._path_scores(shard, block, scores, cost.targets, targets)
                cost.add_to(block, first)
            if self.admitted is not None:
                chain_kernels.close_labels(block, first, self.admitted)
            if self.left_out is not None:
                kernels.viterbi_outside(self.starts, lo, hi, block, *steps, self.left_out, labels, values)
            else:
                kernels.viterbi(self.starts, lo, hi, block, *steps, seeds, labels, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        check_feasible(values)
        return Paths(labels, values, targets)

    def score(self, scores: SecondOrderScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of a given labeling of each sequence. # [N]"""
        values = np.empty(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> None:
            block = scores.block(int(self.starts[shard[0]]), int(self.starts[shard[1]]))
            self._path_scores(shard, block, scores, labels, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return values

    def masked(self, scores: SecondOrderScores) -> tuple[Floats, Floats, Floats, Floats]:
        """Second-order, transition, start and end scores, -inf where they are not allowed."""
        if scores.second.shape != (self.n_labels,) * 3:
            raise ValueError(
                f"second-order scores have the shape {scores.second.shape}; give one of every three labels"
            )
        return scores.second, *self.labelings.masked(scores)

    def _path_scores(
        self, shard: tuple[int, int], block: Floats, scores: SecondOrderScores, labels: Ids, values: Floats
    ) -> None:
        edges = scores.transition, scores.start, scores.end
        chain_kernels.path_scores(self.starts, *shard, block, *edges, labels, values)
        kernels.add_second_order(self.starts, *shard, scores.second, labels, values)

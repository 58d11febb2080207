"""Spaces for structures with one operation: the best choices of an input's slots, given a score of each choice.

    score(y) = Σ_slots s[slot, y_slot]      over the y that the structure allows

Matchings, trees of heads and permutations are such structures. All other operations are derived from the best output:
costs and bonuses are added to scores; excluded choices have −inf; an output is in the space if it is the best when all
others are excluded; the best output outside candidates, and every further one of the k best (`lawler`), is the best of
one run per slot.

`SlotSpace` needs the best output of one input; `BatchedSlotSpace` needs those of a batch, for example from a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.rows import taken
from sidelight.spaces.chains.chain import AnyCost, Paths, check_feasible
from sidelight.spaces.lawler import k_best
from sidelight.spaces.outside import Outside


@dataclass(frozen=True, slots=True)
class SlotScores:
    """A score of each choice of each slot."""

    slots: Floats  # [T, K]

    def raised(self, bonus: Floats) -> SlotScores:
        """With a bonus of every choice. # bonus: [T, K]"""
        return SlotScores(self.slots + bonus)


@dataclass(frozen=True)
class BatchedSlotSpace(ABC):
    """The outputs of a batch; a subclass computes the best ones."""

    starts: Ints  # [N + 1] first slot of each input
    n_labels: int  # K, choices of a slot
    mask: Bytes | None = None  # [T, K] choices that there are

    @abstractmethod
    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        """The best choices of all inputs [T] and their scores [N], for scores [T, K] of which some are −inf.

        The score is −inf where every output has −inf; of equals any, but always the same.
        """

    def inside(self, admitted: Bytes) -> Self:
        """The outputs within candidate choices. # admitted: [T, K]"""
        both = admitted if self.mask is None else self.mask & admitted
        return replace(self, mask=np.ascontiguousarray(both, dtype=np.uint8))

    def outside(self, admitted: Bytes) -> Outside:
        """The outputs in which at least one slot leaves its candidates."""
        return Outside.of(self, admitted)

    def part(self, lo: int, hi: int) -> Self:
        """The space of the inputs lo..hi alone."""
        return self.take(np.arange(lo, hi))

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        starts, slots = taken(self.starts, which)
        return replace(self, starts=starts, mask=None if self.mask is None else self.mask[slots])

    def best(
        self,
        scores: SlotScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best output of each input, with its cost added where one is given.

        Raises `Infeasible` if an input has no output, and `Intractable` for random ties.
        """
        if rng is not None:
            name = type(self).__name__
            raise Intractable(f"the ties of a {name} are not broken at random; leave random_ties and restarts out")
        labels, values = self.best_each(self.block(scores, cost), n_jobs=n_jobs)
        check_feasible(values)
        return Paths(labels, values, np.empty(0) if cost is None else self.score(scores, cost.targets))

    def block(self, scores: SlotScores, cost: AnyCost | None = None) -> Floats:
        """Scores with their cost, −inf where the mask excludes a choice; not to be written to. # [T, K]"""
        if cost is None and self.mask is None:
            return scores.slots
        block = np.array(scores.slots, dtype=np.float64)
        if cost is not None:
            cost.add_to(block, 0)
        if self.mask is not None:
            block[self.mask == 0] = -np.inf
        return block

    def k_best(self, scores: SlotScores, k: int, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        """The k best outputs [k, T] and their scores [k, N]; labels -1 and score -inf if there are fewer."""
        return k_best(self.starts, self.block(scores), k, self._best_of_some, n_jobs=n_jobs)

    def _best_of_some(self, which: Ints, scores: Floats, n_jobs: int | None) -> tuple[Ids, Floats]:
        return self.take(which).best_each(scores, n_jobs=n_jobs)

    def score(self, scores: SlotScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of given choices of each input. # [N]"""
        own = scores.slots[np.arange(len(labels)), labels]
        inputs = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.bincount(inputs, own, minlength=len(self.starts) - 1).astype(np.float64)

    def admits(self, labels: Ids) -> Bytes:
        """Whether each input's choices are an output. # [N] of 0 and 1"""
        only = np.zeros((len(labels), self.n_labels), dtype=np.uint8)
        only[np.arange(len(labels)), labels] = 1
        return self.inside(only).feasible().astype(np.uint8)

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Which inputs have any output. # [N]"""
        return self.best_each(self.block(self.zero_scores()), n_jobs=n_jobs)[1] > -np.inf

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """The best output of each input under random scores: any may come, but not all equally often. # [T]"""
        return self.best(SlotScores(rng.normal(size=(int(self.starts[-1]), self.n_labels)))).labels

    def zero_scores(self) -> SlotScores:
        """Scores that prefer nothing."""
        return SlotScores(np.zeros((int(self.starts[-1]), self.n_labels)))


@dataclass(frozen=True)
class SlotSpace(BatchedSlotSpace):
    """The outputs of a batch; a subclass computes the best one of an input."""

    @abstractmethod
    def best_of(self, scores: Floats) -> Ids | None:
        """The best choices of an input's slots [slots], for scores [slots, K] of which some are −inf.

        None if every output has −inf; of equals any, but always the same.
        """

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        labels, values = np.zeros(len(scores), dtype=np.int32), np.full(len(self.starts) - 1, -np.inf)
        for i, (first, last) in enumerate(zip(self.starts[:-1].tolist(), self.starts[1:].tolist())):
            own = self.best_of(scores[first:last])
            if own is not None:
                labels[first:last] = own
                values[i] = scores[np.arange(first, last), own].sum()
        return labels, values

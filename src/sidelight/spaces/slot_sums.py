"""Sums over the outputs of structures whose score is a sum over slots, from log-sums and probabilities of choices.

A structure with sums (inside–outside, the matrix-tree theorem, a forward–backward pass) implements `sums_each`;
likelihoods, their gradients and samples are derived from it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.features.rows import taken
from sidelight.spaces.chains.chain import check_feasible
from sidelight.spaces.slots import BatchedSlotSpace, SlotScores


class SlotBeliefs(NamedTuple):
    """Beliefs about the outputs of a batch, each times a price."""

    log_sums: Floats  # [N]
    slots: Floats  # [T, K]


@dataclass(frozen=True)
class SummedSlotSpace(BatchedSlotSpace):
    """The outputs of a batch, with sums over them."""

    @abstractmethod
    def sums_each(self, scores: Floats, *, shares: bool, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """log Σ exp(score) of every input [N], −inf if it has no output, and p(slot has choice) [T, K].

        Scores are [T, K], some −inf; without `shares` the second may have no rows.
        """

    def log_sums(self, scores: SlotScores, *, n_jobs: int | None = None) -> Floats:
        """log Σ exp(score) of every input. # [N]"""
        sums = self.sums_each(self.block(scores), shares=False, n_jobs=n_jobs)[0]
        check_feasible(sums)
        return sums

    def beliefs(self, scores: SlotScores, *, prices: Floats | None = None, n_jobs: int | None = None) -> SlotBeliefs:
        """Probabilities of choices, times the price of each input."""
        totals, shares = self.sums_each(self.block(scores), shares=True, n_jobs=n_jobs)
        check_feasible(totals)
        if prices is not None:
            shares *= np.repeat(prices, np.diff(self.starts))[:, None]
        return SlotBeliefs(totals, shares)

    def marginals(self, scores: SlotScores, *, n_jobs: int | None = None) -> Floats:
        """p(y_t = choice). # [T, K]"""
        return self.beliefs(scores, n_jobs=n_jobs).slots

    def sample(self, scores: SlotScores, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """An output of every input, drawn exactly from p, one slot after another given those before. # [T]

        As many runs as the longest input has slots.
        """
        block, lengths = self.block(scores).copy(), np.diff(self.starts)
        check_feasible(self.sums_each(block, shares=False, n_jobs=n_jobs)[0])
        labels = np.zeros(len(block), dtype=np.int32)
        for place in range(int(lengths.max(initial=0))):
            which = np.flatnonzero(lengths > place)
            own = taken(self.starts, which)[1]
            shares = self.take(which).sums_each(block[own], shares=True, n_jobs=n_jobs)[1]
            slots = self.starts[which] + place
            here = shares[np.searchsorted(own, slots)]
            levels = np.cumsum(here, axis=1)
            drawn = (levels > rng.random(len(slots))[:, None] * levels[:, -1:]).argmax(axis=1)
            labels[slots] = drawn
            samples = block[slots, drawn]
            block[slots] = -np.inf
            block[slots, drawn] = samples
        return labels

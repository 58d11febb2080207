"""Stochastic gradient descent for a sum of losses and an L2 norm.

The problem:  min_w  ½ λ ‖w‖² + Σ_i C_i ℓ_i(w).  Divided by N times the mean price it is an average over inputs of
½ μ ‖w‖² + c_i ℓ_i(w), with μ = λ / Σ_i C_i and c_i of mean 1. One input at a time, in a fresh random order every epoch:

    w ← (1 − η_t μ) w − η_t c_i ∇ℓ_i(w),        η_t = 1 / (μ (t_0 + t))

(Bottou 2010, the rule of CRFsuite's trainer as well). t_0 sets the first step, which is found on a sample: starting
from 0.1, it is halved or doubled as long as one pass over the sample reaches a smaller objective of the sample. In any
case it is halved until a pass improves on the initial weights.

With high prices, μ is small and the steps shrink slowly: the weights oscillate around the minimum for many epochs.
Their average does not. It covers the weights since the last epoch whose number was a power of two, so between half of
all epochs and all of them (Rakhlin, Shamir and Sridharan 2012), sampled several times per epoch.

There is no stopping rule: after each epoch, the caller computes the objective of the weights and of the average, and
may halve the steps by a larger t_0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner

SAMPLE = 1000
FIRST = 0.1
TRIALS = 10
HALVINGS = 60  # maximum halvings of the first step
LOOKS = 16  # samples of the weights per epoch, for their average


class OnlineProblem(Protocol):
    """Losses that can be minimised one input at a time; w = scale · v."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """The size of v."""
        ...

    def order(self, rng: np.random.Generator) -> Ints:
        """All inputs in a random order; any order is allowed, but this one is fast to process."""
        ...

    def epoch(
        self, order: Ints, v: Floats, *, scale: float, clock: float, decay: float, move: bool = True
    ) -> tuple[float, float]:
        """Σ c_i ℓ_i, each before its step of size 1 / (decay · clock), and the scale afterwards."""
        ...


@dataclass(slots=True)
class Sgd:
    """The state of a run."""

    v: Floats
    decay: float  # μ
    scale: float = 1.0
    clock: float = 0.0  # t_0 + t; 0 before t_0 is known
    epochs: int = 0
    total: Floats = field(default_factory=lambda: np.zeros(0))  # Σ w over the samples since a power of two
    looks: int = 0

    @classmethod
    def fresh(cls, problem: OnlineProblem, start: Floats, *, decay: float) -> Sgd:
        """A run from v = start; `decay` is μ and must be positive."""
        if not decay > 0:
            raise ValueError(f"decay is {decay}; stochastic gradient descent needs an L2 norm")
        return cls(start.copy(), decay)

    def epoch(self, problem: OnlineProblem, rng: np.random.Generator) -> float:
        """One pass in random order; returns Σ c_i ℓ_i, each before its step."""
        if self.clock == 0.0:
            self.clock = 1.0 / (self.decay * self.calibrated(problem, rng))
        if self.epochs & (self.epochs - 1) == 0:
            self.total, self.looks = np.zeros(len(self.v)), 0
        loss = 0.0
        for part in np.array_split(problem.order(rng), min(LOOKS, len(problem))):
            met, self.scale = problem.epoch(part, self.v, scale=self.scale, clock=self.clock, decay=self.decay)
            loss += met
            self.clock += len(part)
            self.total += self.scale * self.v
            self.looks += 1
        self.epochs += 1
        return loss

    def halve(self) -> None:
        """Halve the steps from now on."""
        self.clock *= 2.0

    def average(self) -> Floats:
        """The average of the weights, as v at scale 1."""
        return self.total / self.looks if self.looks else self.scale * self.v

    def calibrated(self, problem: OnlineProblem, rng: np.random.Generator) -> float:
        """The first step η that is best in one pass over a sample."""
        sample = problem.order(rng)[:SAMPLE]
        still = self._objective(problem, sample, self.v, self.scale)
        tried = {FIRST: self._after(problem, sample, FIRST)}
        rate = FIRST
        while len(tried) < TRIALS:
            rate *= 2.0
            tried[rate] = self._after(problem, sample, rate)
            if not tried[rate] < tried[rate / 2.0]:
                break
        rate = FIRST
        for _ in range(HALVINGS):
            rate *= 0.5
            tried[rate] = self._after(problem, sample, rate)
            if not tried[rate] < tried[rate * 2.0] and min(tried.values()) < still:
                break
        return min(tried, key=lambda rate: tried[rate])

    def _after(self, problem: OnlineProblem, sample: Ints, rate: float) -> float:
        """The objective of the sample, per input, after one pass over it."""
        v = self.v.copy()
        _, scale = problem.epoch(sample, v, scale=self.scale, clock=1.0 / (self.decay * rate), decay=self.decay)
        return self._objective(problem, sample, v, scale)

    def _objective(self, problem: OnlineProblem, sample: Ints, v: Floats, scale: float) -> float:
        loss, _ = problem.epoch(sample, v, scale=scale, clock=1.0, decay=self.decay, move=False)
        value = 0.5 * self.decay * scale * scale * inner(v, v) + loss / len(sample)
        return value if np.isfinite(value) else np.inf

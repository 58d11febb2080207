"""Stochastic gradient descent for a sum of losses and an L2 norm.

The problem:  min_w  ½ λ ‖w‖² + Σ_i C_i ℓ_i(w).  Divided by N times the mean price it is an average over inputs of
½ μ ‖w‖² + c_i ℓ_i(w), with μ = λ / Σ_i C_i and c_i of mean 1. One input at a time, in a fresh random order every epoch:

    w ← (1 − η_t μ) w − η_t c_i ∇ℓ_i(w),        η_t = 1 / (μ (t_0 + t))

(Bottou 2010, the rule of CRFsuite's trainer as well). t_0 sets the first step, which is found on a sample: starting
from 0.1 it is halved or doubled as long as one pass over the sample leaves a smaller objective of the sample.

No stopping rule of its own: the caller reads the objective after each epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.kernels import inner

SAMPLE = 1000
FIRST = 0.1
TRIALS = 10


class OnlineProblem(Protocol):
    """Losses that can be descended one input at a time; w = scale · v."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """Of v."""
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

    @classmethod
    def fresh(cls, problem: OnlineProblem, start: Floats, *, decay: float) -> Sgd:
        """A run that begins at v = start; `decay` is μ and must be positive."""
        if not decay > 0:
            raise ValueError(f"decay is {decay}; stochastic gradient descent needs an L2 norm")
        return cls(start.copy(), decay)

    def epoch(self, problem: OnlineProblem, rng: np.random.Generator) -> float:
        """One pass in random order; returns Σ c_i ℓ_i as met on the way."""
        if self.clock == 0.0:
            self.clock = 1.0 / (self.decay * self.calibrated(problem, rng))
        order = rng.permutation(len(problem))
        loss, self.scale = problem.epoch(order, self.v, scale=self.scale, clock=self.clock, decay=self.decay)
        self.clock += len(problem)
        return loss

    def calibrated(self, problem: OnlineProblem, rng: np.random.Generator) -> float:
        """The first step η that does best in one pass over a sample."""
        sample = rng.permutation(len(problem))[:SAMPLE]
        tried = {FIRST: self._after(problem, sample, FIRST)}
        for factor in (2.0, 0.5):
            rate = FIRST
            while len(tried) < TRIALS:
                rate *= factor
                tried[rate] = self._after(problem, sample, rate)
                if not tried[rate] < tried[rate / factor]:
                    break
        return min(tried, key=lambda rate: tried[rate])

    def _after(self, problem: OnlineProblem, sample: Ints, rate: float) -> float:
        """The objective of the sample, per input, after one pass over it."""
        v = self.v.copy()
        clock = 1.0 / (self.decay * rate)
        _, scale = problem.epoch(sample, v, scale=self.scale, clock=clock, decay=self.decay)
        loss, _ = problem.epoch(sample, v, scale=scale, clock=clock, decay=self.decay, move=False)
        value = 0.5 * self.decay * scale * scale * inner(v, v) + loss / len(sample)
        return value if np.isfinite(value) else np.inf

"""Stochastic subgradient steps with step size 1 / (λ t).

The problem:  min_w P(w) = ½ ‖w‖² + Σ_i C_i max(0, v_i(w)),  or divided by Σ C, with λ = 1 / Σ C and N terms:

    min_w  ½ λ ‖w‖² + (1/N) Σ_i r_i max(0, v_i(w)),      r_i = N C_i / Σ C.

Step t = 1, 2, … looks at one term (each once an epoch, in random order) and goes

    w ← (1 − 1/t) w − r_i slope_i / (λ t)  if v_i(w) > 0,     w ← (1 − 1/t) w  otherwise

(Pegasos; Shalev-Shwartz, Singer, Srebro and Cotter 2011). So w = u / (λ t) where u = −Σ r_i slope_i over the steps that
were violated, and only u is moved. With `project` the weights are drawn back to the ball that must hold the optimum,
‖w‖² <= Σ C_i max Δ_i, for which u has one more factor.

The result is an average: of all weights, w_t with weight t ("weighted"; Lacoste-Julien, Schmidt and Bach 2012), of the
weights since the last epoch whose number was a power of two ("suffix"; between half of them and all; Rakhlin, Shamir
and Sridharan 2012), or the last weights ("last").

There is no dual here and so no gap: P is measured every `every` epochs, and training stops after a given number of
epochs, or when the best P has fallen by no more than tolerance · P in the last `patience` measurements. Averages other
than "weighted" are noisier and may seem to stand still sooner; with tolerance 0 only the number of epochs ends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Floats, Ints, Keys
from sidelight.kernels import GOLDEN, inner
from sidelight.objective.cuts import Terms, total_loss
from sidelight.objective.online_subgradient import Clock


class Epoch(Protocol):
    """An epoch of steps; `objective.online_subgradient.subgradient_epoch` with its first arguments given."""

    def __call__(
        self,
        *,
        order: Ints,
        vector: Floats,
        totals: Floats,
        clock: Clock,
        decay: float,
        radius: float,
        by_time: bool,
    ) -> Clock: ...


@dataclass(frozen=True, slots=True)
class SubgradientOptions:
    """Which weights are the result, and when to stop."""

    average: Literal["weighted", "suffix", "last"] = "weighted"
    project: bool = False
    every: int = 1
    patience: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.average not in ("weighted", "suffix", "last"):
            raise ValueError(f"average is {self.average!r}; give 'weighted', 'suffix' or 'last'")
        if self.every < 1 or self.patience < 1:
            raise ValueError("every and patience must be 1 or more")


class Progress(NamedTuple):
    """What one epoch reached; the primal is that of the result, where it was measured."""

    primal: float | None


@dataclass(slots=True)
class Subgradient:
    """The state of a run."""

    vector: Floats  # u
    totals: Floats
    options: SubgradientOptions
    decay: float  # λ
    radius: float
    random: Keys  # [1]
    best: Floats  # weights of the lowest primal value met
    clock: Clock = field(default_factory=Clock)
    rounds: int = 0
    best_primal: float = np.inf
    falls: Floats = field(default_factory=lambda: np.zeros(0))  # the best primal after each measurement

    @classmethod
    def fresh(cls, size: int, terms: Terms, options: SubgradientOptions) -> Subgradient:
        """A run that begins at zero; raises `ValueError` if all prices are 0."""
        price = float(terms.prices.sum())
        if not price > 0.0:
            raise ValueError("all prices are 0, so subgradient has nothing to learn from; give prices above 0")
        radius = np.inf
        if options.project:
            radius = float(np.sqrt(total_loss(terms.worst(np.zeros(size)).values, terms.prices, 1)))
        random = np.array([options.seed], dtype=np.uint64)
        return cls(np.zeros(size), np.zeros(size), options, 1.0 / price, radius, random, np.zeros(size))

    def weights(self) -> Floats:
        """The weights now."""
        return self.vector * (self.clock.shrink / (self.decay * max(self.clock.steps, 1.0)))

    def result(self) -> Floats:
        """The average that was asked for, or the weights now."""
        if self.options.average == "last" or self.clock.weight == 0.0:
            return self.weights()
        return (self.vector * self.clock.scales - self.totals) / self.clock.weight

    def round(self, epoch: Epoch, terms: Terms, *, measure: bool = False) -> Progress:
        """One epoch in random order, and where it is time, or asked for, a measurement."""
        if self.options.average == "suffix" and self.rounds & (self.rounds - 1) == 0:
            self.totals[:] = 0.0
            self.clock = self.clock._replace(scales=0.0, weight=0.0)
        self.random += GOLDEN
        self.clock = epoch(
            order=np.random.Generator(np.random.PCG64(int(self.random[0]))).permutation(len(terms)),
            vector=self.vector,
            totals=self.totals,
            clock=self.clock,
            decay=self.decay,
            radius=self.radius,
            by_time=self.options.average != "suffix",
        )
        self.rounds += 1
        if self.rounds % self.options.every and not measure:
            return Progress(None)
        weights = self.result()
        primal = 0.5 * inner(weights, weights) + total_loss(terms.worst(weights).values, terms.prices, 1)
        if primal < self.best_primal:
            self.best_primal = primal
            self.best[:] = weights
        self.falls = np.append(self.falls, self.best_primal)
        return Progress(primal)

    def finished(self, tolerance: float) -> bool:
        """Whether the primal has stopped to fall; never with tolerance 0."""
        if tolerance == 0 or len(self.falls) <= self.options.patience:
            return False
        return bool(self.falls[-1 - self.options.patience] - self.falls[-1] <= tolerance * abs(self.falls[-1]))

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that hold everything, for a checkpoint."""
        return {
            "vector": self.vector,
            "totals": self.totals,
            "random": self.random,
            "best": self.best,
            "falls": self.falls,
            "clock": np.array(self.clock),
            "numbers": np.array([self.rounds, self.best_primal]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up such arrays."""
        for name in ("vector", "totals", "random", "best", "falls"):
            setattr(self, name, arrays[name].copy())
        self.clock = Clock(*(float(number) for number in arrays["clock"]))
        self.rounds, self.best_primal = int(arrays["numbers"][0]), float(arrays["numbers"][1])


def rates_of(prices: Floats) -> Floats:
    """r: the prices, so scaled that their mean is 1."""
    return np.asarray(prices * (len(prices) / prices.sum()))

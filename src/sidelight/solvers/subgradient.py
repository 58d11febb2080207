"""Stochastic subgradient steps with step size 1 / (λ t).

The problem, for the hinge, its square or the logistic loss ℓ:  min_w P(w) = ½ ‖w‖² + Σ_i C_i ℓ(v_i(w)),  or divided
by Σ C, with λ = 1 / Σ C and N terms:

    min_w  ½ λ ‖w‖² + (1/N) Σ_i r_i ℓ(v_i(w)),      r_i = N C_i / Σ C.

Step t = 1, 2, … uses one term (each once per epoch, in random order):

    w ← (1 − 1/t) w − r_i g slope_i / (λ t)

where slope_i is the slope of the term's worst output. For the hinge, g is ℓ'(v_i(w)): 1 if it is violated, else 0
(Pegasos; Shalev-Shwartz, Singer, Srebro and Cotter 2011). For the other losses, the long first steps would overshoot,
the more the larger their gradients are. So their g is ℓ' at the weights after the step, where the output's violation is
v − g r_i ‖slope_i‖² / (λ t), with v the violation at (1 − 1/t) w: an implicit step (Kulis and Bartlett 2010).

So w = u / (λ t) where u = −Σ r_i g slope_i over the steps, and only u is updated. With `project`, the weights are
projected onto a ball that contains the optimum, ‖w‖² <= P(0) for the hinge and 2 P(0) for the others; for this, u has
one more factor.

The result is an average: of all weights, w_t with weight t ("weighted"; Lacoste-Julien, Schmidt and Bach 2012), of the
weights since the last epoch whose number was a power of two ("suffix"; between half of them and all; Rakhlin, Shamir
and Sridharan 2012), or the last weights ("last").

After complete epochs, the weights are a dual point too: the outputs of a term share the fraction a_i of its price,
where a_i is the mean of its g (times the factors of later projections). So

    D = (1 / (λ t)) Σ r_i g Δ_i over the steps  −  ½ ‖w‖²  −  Σ_i C_i ℓ*(a_i)

bounds P from below, and training stops when the lowest P so far is within tolerance · P of the highest D so far. Both
are measured every `every` epochs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.file_contents import array_like, array_of, whole_of
from sidelight.core.kernels import GOLDEN, inner
from sidelight.objective.cuts import LOGISTIC, Terms, conjugate_total, total_loss
from sidelight.objective.online.online_steps import Clock
from sidelight.solvers.duals.solver_round import GapSolver, PartialSolverRound


class SubgradientEpoch(Protocol):
    """An epoch of steps; `objective.online.online_steps.subgradient_epoch` with its first arguments given."""

    def __call__(
        self,
        *,
        order: Ints,
        vector: Floats,
        totals: Floats,
        shares: Floats,
        clock: Clock,
        decay: float,
        radius: float,
        by_time: bool,
        power: int,
    ) -> Clock: ...


@dataclass(frozen=True, slots=True)
class SubgradientOptions:
    """Which weights are the result, and when to stop."""

    average: Literal["weighted", "suffix", "last"] = "weighted"
    project: bool = False
    every: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.average not in ("weighted", "suffix", "last"):
            raise ValueError(f"average is {self.average!r}; give 'weighted', 'suffix' or 'last'")
        if self.every < 1:
            raise ValueError(f"every is {self.every}; give 1 or more")


@dataclass(slots=True)
class Subgradient(GapSolver):
    """The state of a run."""

    vector: Floats  # u
    totals: Floats
    shares: Floats  # [N] Σ g of each term, in units of u
    options: SubgradientOptions
    power: int  # of the loss, see `objective.cuts`
    decay: float  # λ
    radius: float
    random: Keys  # [1]
    best: Floats  # weights of the lowest primal value so far
    clock: Clock = field(default_factory=Clock)
    rounds: int = 0
    best_primal: float = np.inf
    best_dual: float = -np.inf

    @classmethod
    def fresh(cls, size: int, terms: Terms, options: SubgradientOptions, *, power: int = 1) -> Subgradient:
        """A run from zero weights; raises `ValueError` if all prices are 0."""
        price = float(terms.prices.sum())
        if not price > 0.0:
            raise ValueError("all prices are 0, so subgradient has nothing to learn from; give prices above 0")
        radius = np.inf
        if options.project:
            at_zero = total_loss(terms.worst(np.zeros(size)).values, terms.prices, power)
            radius = float(np.sqrt(at_zero if power == 1 else 2.0 * at_zero))
        return cls(
            vector=np.zeros(size),
            totals=np.zeros(size),
            shares=np.zeros(len(terms)),
            options=options,
            power=power,
            decay=1.0 / price,
            radius=radius,
            random=np.array([options.seed], dtype=np.uint64),
            best=np.zeros(size),
        )

    @property
    def scale(self) -> float:
        """w / u."""
        return self.clock.shrink / (self.decay * max(self.clock.steps, 1.0))

    def weights(self) -> Floats:
        """The current weights."""
        return self.vector * self.scale

    def result(self) -> Floats:
        """The selected average, or the current weights."""
        if self.options.average == "last" or self.clock.weight == 0.0:
            return self.weights()
        return (self.vector * self.clock.scales - self.totals) / self.clock.weight

    def round(self, epoch: SubgradientEpoch, terms: Terms, *, measure: bool = False) -> PartialSolverRound:
        """One epoch in random order and, if due or requested, a measurement."""
        if self.options.average == "suffix" and self.rounds & (self.rounds - 1) == 0:
            self.totals[:] = 0.0
            self.clock = self.clock._replace(scales=0.0, weight=0.0)
        self.random += GOLDEN
        self.clock = epoch(
            order=np.random.Generator(np.random.PCG64(int(self.random[0]))).permutation(len(terms)),
            vector=self.vector,
            totals=self.totals,
            shares=self.shares,
            clock=self.clock,
            decay=self.decay,
            radius=self.radius,
            by_time=self.options.average != "suffix",
            power=self.power,
        )
        self.rounds += 1
        if self.rounds % self.options.every and not measure:
            return PartialSolverRound(None, None)
        self.best_dual = max(self.best_dual, self._dual(terms.prices))
        weights = self.result()
        primal = 0.5 * inner(weights, weights) + total_loss(terms.worst(weights).values, terms.prices, self.power)
        if primal < self.best_primal:
            self.best_primal = primal
            self.best[:] = weights
        return PartialSolverRound(primal, self.best_dual)

    def _dual(self, prices: Floats) -> float:
        """The dual value of the current weights, after complete epochs."""
        weights = self.weights()
        paid = prices * self.shares * (self.clock.shrink * len(prices) / self.clock.steps)
        value = self.clock.offset * self.scale - 0.5 * inner(weights, weights)
        return value - conjugate_total(np.minimum(paid, prices) if self.power == LOGISTIC else paid, prices, self.power)

    @property
    def gap(self) -> float:
        """The difference between the lowest primal and the highest dual value so far."""
        return self.best_primal - self.best_dual

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        return {
            "vector": self.vector,
            "totals": self.totals,
            "shares": self.shares,
            "random": self.random,
            "best": self.best,
            "clock": np.array(self.clock),
            "numbers": np.array([self.rounds, self.best_primal, self.best_dual]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_terms: int) -> None:
        """Restore the state from such arrays, for a problem of the same size."""
        for name in ("vector", "totals", "shares", "random", "best"):
            setattr(self, name, array_like(arrays, name, getattr(self, name)))
        self.clock = Clock(*array_of(arrays, "clock", np.float64, [len(self.clock)], low=0.0).tolist())
        numbers = array_of(arrays, "numbers", np.float64, [3], finite=False)
        rounds, self.best_primal, self.best_dual = (float(number) for number in numbers)
        self.rounds = whole_of({"rounds": int(rounds) if np.isfinite(rounds) else -1}, "rounds")


def rates_of(prices: Floats) -> Floats:
    """r: the prices, scaled to mean 1."""
    return np.asarray(prices * (len(prices) / prices.sum()))

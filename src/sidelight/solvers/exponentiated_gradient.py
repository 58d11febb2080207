"""Exponentiated gradient on the dual of log-linear and max-margin learning.

The problem:  max_α D(α) over one distribution α_i per example; see `objective.duals` for D, for the primal P that
it bounds from below, and for the weights w(α). The step on a distribution is multiplicative,

    α_i'(y) ∝ α_i(y) exp(η / C_i · ∂D / ∂α_i(y)),

so it stays a distribution, and where D is smooth (log-loss) it converges linearly.

Online: one example after another in random order, with an update of w after each. Every example has its own step size,
which is halved until D rises, and then increased by a twentieth. Batch: all examples at once with one step size,
adapted in the same way. So D never falls. After every epoch, w(α), D(α) and P(w) are recomputed; P − D bounds the
distance of both from the optimum. Stops when the best P and D so far differ by at most tolerance · P. (Collins,
Globerson, Koo, Carreras and Bartlett 2008.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like, number_of
from sidelight.solvers.duals.solver_round import GapSolver, SolverRound

State = TypeVar("State")
Given = TypeVar("Given", contravariant=True)


class DualProblem(Protocol[Given]):
    """A dual problem; its variables, of any form, are kept in a state."""

    def __len__(self) -> int: ...

    def settled(self, potentials: Given) -> tuple[Floats, float]:
        """w(α) and D(α), recomputed."""
        ...

    def primal(self, weights: Floats) -> float:
        """P(w)."""
        ...

    def sweep(self, order: Ints, potentials: Given, weights: Floats) -> tuple[float, int]:
        """Visit the examples in this order; returns the increase of D, and the number of rejected trial steps."""
        ...


@dataclass(slots=True)
class ExponentiatedGradient(Generic[State], GapSolver):
    """The state of a run."""

    potentials: State
    weights: Floats  # w(α)
    dual: float
    best: Floats  # weights with the lowest primal so far
    best_primal: float

    @classmethod
    def fresh(cls, problem: DualProblem[State], potentials: State) -> ExponentiatedGradient[State]:
        """A run with initial distributions."""
        weights, dual = problem.settled(potentials)
        return cls(potentials, weights, dual, weights, problem.primal(weights))

    @property
    def gap(self) -> float:
        return self.best_primal - self.dual

    def epoch(self, problem: DualProblem[State], rng: np.random.Generator) -> SolverRound:
        """One pass over the examples."""
        problem.sweep(rng.permutation(len(problem)), self.potentials, self.weights)
        self.weights, self.dual = problem.settled(self.potentials)
        primal = problem.primal(self.weights)
        if primal < self.best_primal:
            self.best, self.best_primal = self.weights, primal
        return SolverRound(primal, self.dual)

    def state(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """The state without the potentials."""
        return {"dual": self.dual, "best_primal": self.best_primal}, {"weights": self.weights, "best": self.best}

    def resume(self, potentials: State, numbers: dict[str, Any], arrays: dict[str, Floats]) -> None:
        """Restore such a state."""
        self.potentials = potentials
        self.weights, self.best = (array_like(arrays, name, self.weights) for name in ("weights", "best"))
        self.dual, self.best_primal = (number_of(numbers, name, finite=False) for name in ("dual", "best_primal"))

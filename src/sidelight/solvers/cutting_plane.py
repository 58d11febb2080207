"""Cutting planes with dual coordinate descent, one slack per term.

The problem:  min_w P(w) = ½ ‖w‖² + Σ_i C_i max(0, v_i(w))^p  with v_i(w) = max over outputs of offset + slope · w.

A round finds the worst output of every term at the current weights (in parallel), adds those that are violated by more than ε
over the cuts a term has already, and sweeps the dual of the enlarged working set (`dual_coordinate`). The same inference gives
P(w), and the dual variables give a lower bound D, so every round knows its gap exactly:  D <= min P <= P(w).

Stops when P − D <= tolerance · P. The strategy, all terms first and then one solve, is Algorithm 14 and 16 of Chang's thesis
(2011), after Joachims, Finley and Yu (2009); the working set outlives the call, so that a later problem which shares terms
(the next J-LIS round) starts from where this one ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sidelight.arrays import Floats, Keys
from sidelight.objective.cuts import Terms, total_loss
from sidelight.solvers.dual_coordinate import dual_value, slacks, sweeps
from sidelight.solvers.working_set import WorkingSet

MOST_SWEEPS = 50
IDLE_ROUNDS = 30  # a cut without weight for so many rounds may be forgotten


@dataclass(frozen=True, slots=True)
class Progress:
    """What one round of cutting planes found and did."""

    primal: float  # P at the weights the round began with
    dual: float
    new_cuts: int
    working_set: int
    sweeps: int
    finished: bool  # the gap was small enough; nothing was changed

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(slots=True)
class CuttingPlane:
    """The state of a solver: weights, working set, random state, and the best weights met."""

    weights: Floats
    pool: WorkingSet
    random: Keys  # [1]
    power: int = 2
    best: Floats | None = None
    best_primal: float = field(default=np.inf)

    def round(self, terms: Terms, *, tolerance: float, violation: float = 0.0) -> Progress:
        """One round; see the module's text. `violation` is ε."""
        worst = terms.worst(self.weights)
        primal = 0.5 * float(self.weights @ self.weights) + total_loss(worst.values, terms.prices, self.power)
        dual = dual_value(self.pool, self.weights, terms.prices, self.power)
        if primal < self.best_primal:
            self.best_primal = primal
            if self.best is None:
                self.best = self.weights.copy()
            else:
                self.best[:] = self.weights
        gap = self.best_primal - dual
        if gap <= tolerance * max(abs(self.best_primal), 1e-12):
            return Progress(primal, dual, 0, len(self.pool), 0, True)
        known = slacks(self.pool, self.weights)
        margin = violation + 1e-9 * (1.0 + np.abs(worst.values))
        which = np.flatnonzero((worst.values > known + margin) & (terms.prices > 0))
        self.pool.forget_idle(IDLE_ROUNDS)
        if len(which):
            self.pool.add(terms.cuts(worst, which))
        enough = 0.02 * gap if len(which) else 1e-3 * tolerance * gap
        made, gained = sweeps(
            self.pool,
            self.weights,
            terms.prices,
            power=self.power,
            at_most=MOST_SWEEPS,
            enough=enough,
            state=self.random,
        )
        stuck = len(which) == 0 and gained <= 1e-14 * max(1.0, abs(self.best_primal))
        return Progress(primal, dual, len(which), len(self.pool), made, stuck)

    def settle(self) -> float:
        """Take the best weights met and return their objective."""
        assert self.best is not None
        self.weights[:] = self.best
        return self.best_primal

    def restart_best(self) -> None:
        """Forget the best weights: the problem has changed."""
        self.best = None
        self.best_primal = np.inf

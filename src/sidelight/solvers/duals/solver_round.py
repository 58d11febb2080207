"""The results of a round, and the stopping rule, of solvers with a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class SolverRound:
    """The results of one round of a solver, named as in a `Round`."""

    primal: float  # of the weights that the round evaluated
    dual: float
    new_cuts: int = 0
    working_set: int = 0
    sweeps: int = 0

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(frozen=True, slots=True)
class PartialSolverRound:
    """The same for solvers that do not measure in every round: None if they did not."""

    primal: float | None
    dual: float | None
    new_cuts: int = 0
    working_set: int = 0


class GapSolver:
    """A solver that ends when its duality gap is small enough."""

    __slots__ = ()

    def finished(self, tolerance: float) -> bool:
        """Whether the gap is known, and at most `tolerance` times the lowest primal value so far."""
        own: Any = self
        return bool(np.isfinite(own.gap)) and own.gap <= max(tolerance * abs(own.best_primal), 1e-12)

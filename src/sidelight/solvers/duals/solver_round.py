"""What solvers with a duality gap share: what a round reached, and when they are done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class SolverRound:
    """What one round of a solver reached, in the words of a `Round`."""

    primal: float  # of the weights that the round looked at
    dual: float
    new_cuts: int = 0
    working_set: int = 0
    sweeps: int = 0

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(frozen=True, slots=True)
class PartialSolverRound:
    """The same of solvers that do not measure in every round: None where they did not."""

    primal: float | None
    dual: float | None
    new_cuts: int = 0
    working_set: int = 0


class GapSolver:
    """A solver that ends where its duality gap is small enough."""

    __slots__ = ()

    def finished(self, tolerance: float) -> bool:
        """Whether the gap is known, and at most `tolerance` of the lowest primal value met."""
        own: Any = self
        return bool(np.isfinite(own.gap)) and own.gap <= max(tolerance * abs(own.best_primal), 1e-12)

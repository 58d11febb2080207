"""Minimises any sum of losses by AdaGrad, one epoch per round; ends with the weights of the lowest objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import part_of
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.solvers.adagrad import AdaGrad, GradientProblem


@dataclass(frozen=True, slots=True)
class DescentOptions:
    """When to stop, and how to step."""

    max_rounds: int = 50
    step: float = 0.1
    inputs: int = 8  # per step
    seed: int = 0


@dataclass(slots=True)
class DescentLearner(RoundByRound):
    """Epochs of AdaGrad."""

    KEEPS = ("objective", "best", "rng")

    problem: GradientProblem
    options: DescentOptions
    solver: AdaGrad
    best: Floats
    rng: np.random.Generator
    name: str = "descent"
    objective: float = np.inf

    @classmethod
    def fresh(cls, problem: GradientProblem, start: Floats, options: DescentOptions) -> DescentLearner:
        """A learner before its first epoch, at some weights."""
        solver = AdaGrad.fresh(start, step=options.step, inputs=options.inputs)
        return cls(problem, options, solver, start.copy(), np.random.default_rng(options.seed))

    @property
    def weights(self) -> Floats:
        """The weights of the lowest objective so far."""
        return self.best

    def step(self) -> Step:
        """One epoch."""
        self.solver.epoch(self.problem, self.rng)
        value = self.problem.value(self.solver.weights)
        if value < self.objective:
            self.objective = value
            self.best[:] = self.solver.weights
        return None, {"objective": float(self.objective), "primal": float(value)}

    def more_state(self) -> State:
        return {}, {f"solver.{name}": array for name, array in self.solver.state().items()}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.solver.restore(part_of(arrays, "solver."))

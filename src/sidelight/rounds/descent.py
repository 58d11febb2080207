"""Going down any sum of losses by AdaGrad, an epoch a round; the weights of the lowest objective are kept."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_like, flag_of, number_of, part_of, random_of, whole_of
from sidelight.core.records import Round
from sidelight.rounds.learner import RoundByRound, State
from sidelight.rounds.stopping import MAX_ROUNDS
from sidelight.solvers.adagrad import AdaGrad, GradientProblem


@dataclass(frozen=True, slots=True)
class DescentOptions:
    """How far to go."""

    max_rounds: int = 50
    step: float = 0.1
    inputs: int = 8  # looked at before a step
    seed: int = 0


@dataclass(slots=True)
class DescentLearner(RoundByRound):
    """Epochs of AdaGrad."""

    problem: GradientProblem
    options: DescentOptions
    solver: AdaGrad
    best: Floats
    rng: np.random.Generator
    name: str = "descent"
    objective: float = np.inf
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False

    @classmethod
    def fresh(cls, problem: GradientProblem, start: Floats, options: DescentOptions) -> DescentLearner:
        """A learner before its first epoch, at some weights."""
        solver = AdaGrad.fresh(start, step=options.step, inputs=options.inputs)
        return cls(problem, options, solver, start.copy(), np.random.default_rng(options.seed))

    @property
    def weights(self) -> Floats:
        """The weights of the lowest objective met."""
        return self.best

    def round(self) -> Round:
        """One epoch."""
        began = time.perf_counter()
        self.solver.epoch(self.problem, self.rng)
        value = self.problem.value(self.solver.weights)
        if value < self.objective:
            self.objective = value
            self.best[:] = self.solver.weights
        self.rounds += 1
        self.done = self.rounds >= self.options.max_rounds
        self.seconds += time.perf_counter() - began
        stopped = MAX_ROUNDS if self.done else None
        return Round(
            self.rounds,
            self.name,
            self.seconds,
            objective=float(self.objective),
            primal=float(value),
            last=self.done,
            stopped=stopped,
        )

    def has_result(self, record: Round) -> bool:
        """After every epoch."""
        return True

    def state(self) -> State:
        """Everything needed to go on."""
        values = {
            "name": self.name,
            "objective": float(self.objective),
            "rounds": self.rounds,
            "seconds": self.seconds,
            "done": self.done and self.rounds < self.options.max_rounds,
            "rng": self.rng.bit_generator.state,
        }
        return values, {"best": self.best, **{f"solver.{k}": v for k, v in self.solver.state().items()}}

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same problem and options."""
        values, arrays = state
        self.solver.restore(part_of(arrays, "solver."))
        self.best = array_like(arrays, "best", self.best)
        random_of(values, "rng", self.rng)
        self.objective = number_of(values, "objective", finite=False)
        self.rounds, self.seconds = whole_of(values, "rounds"), number_of(values, "seconds", low=0.0)
        self.done = flag_of(values, "done")

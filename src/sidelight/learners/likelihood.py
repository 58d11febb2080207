"""Learning by likelihood, one `Round` at a time: CRFs, CRFs from candidates, contrastive estimation.

A round is one iteration of L-BFGS (OWL-QN with `l1`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sidelight.arrays import Floats
from sidelight.learners.learner import State
from sidelight.records import Round
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions


class SmoothProblem(Protocol):
    """What L-BFGS minimises, and the form its weights have."""

    n_jobs: int | None

    @property
    def size(self) -> int: ...

    def expand(self, weights: Floats) -> Floats: ...

    def shorten(self, full: Floats) -> Floats: ...

    def curvature(self) -> Floats: ...

    def value_and_gradient(self, weights: Floats, gradient: Floats) -> float: ...


@dataclass(frozen=True, slots=True)
class LikelihoodOptions:
    """How to solve, and when to stop."""

    max_rounds: int = 100
    lbfgs: LbfgsOptions = field(default_factory=LbfgsOptions)


@dataclass(slots=True)
class LikelihoodLearner:
    """Minimises a smooth objective over weights."""

    problem: SmoothProblem
    options: LikelihoodOptions
    solver: Lbfgs
    name: str = "crf"
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False

    @classmethod
    def fresh(
        cls, problem: SmoothProblem, options: LikelihoodOptions, *, start: Floats | None = None, name: str = "crf"
    ) -> LikelihoodLearner:
        """A learner before its first round; `start` has the full layout, and is zero unless given."""
        weights = np.zeros(problem.size) if start is None else problem.shorten(start)
        scales = 1.0 / np.sqrt(problem.curvature())
        return cls(problem, options, Lbfgs.fresh(weights, options.lbfgs, scales=scales, n_jobs=problem.n_jobs), name)

    @property
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""
        return self.problem.expand(self.solver.weights)

    def finish(self) -> Floats:
        """The weights, for keeps."""
        return self.weights

    def run(self) -> Iterator[Round]:
        """Rounds until training ends."""
        while not self.done and self.rounds < self.options.max_rounds:
            yield self.round()

    def round(self) -> Round:
        """One iteration; the first one also evaluates the weights it starts from."""
        began = time.perf_counter()
        if self.rounds == 0:
            self.solver.step(self.problem.value_and_gradient)
        objective = self.solver.step(self.problem.value_and_gradient)
        self.rounds += 1
        self.done = bool(self.solver.stopped) or self.rounds >= self.options.max_rounds
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, self.name, self.seconds, objective=objective, last=self.done)

    def has_result(self, record: Round) -> bool:
        """Every iteration ends with weights that can be used."""
        return True

    def state(self) -> State:
        numbers, arrays = self.solver.state()
        values: dict[str, Any] = {
            "name": self.name,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "done": bool(self.solver.stopped),
            "solver": numbers,
        }
        return values, arrays

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same problem and options."""
        values, arrays = state
        self.solver = Lbfgs.restored(values["solver"], arrays, self.options.lbfgs, n_jobs=self.problem.n_jobs)
        self.name, self.rounds = values["name"], values["rounds"]
        self.seconds, self.done = values["seconds"], values["done"]

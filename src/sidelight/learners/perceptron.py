"""The averaged structured perceptron, an epoch at a time (Collins 2002; thesis Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.learners.learner import State
from sidelight.learners.stopping import MAX_ROUNDS, NO_MISTAKES
from sidelight.objective.batch import Batch
from sidelight.objective.online import perceptron_epoch
from sidelight.objective.plain_epochs import has_kernels, plain_perceptron_epoch
from sidelight.records import Round
from sidelight.solvers.perceptron import Perceptron
from sidelight.stored import array_like, flag_of, number_of, random_of, whole_of


@dataclass(slots=True)
class PerceptronLearner:
    """The averaged perceptron over inputs of any structure."""

    batch: Batch
    targets: Ids
    importance: Floats
    perceptron: Perceptron
    rng: np.random.Generator
    max_rounds: int
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False

    @property
    def weights(self) -> Floats:
        """The average of all weights so far."""
        return self.perceptron.average()

    def finish(self) -> Floats:
        """The average, for keeps: the learner is of no use afterwards."""
        return self.perceptron.turn_into_average()

    def run(self) -> Iterator[Round]:
        """Epochs until training ends."""
        while not self.done and self.rounds < self.max_rounds:
            yield self.round()

    def round(self) -> Round:
        """One epoch."""
        began = time.perf_counter()

        made = perceptron_epoch if has_kernels(self.batch) else plain_perceptron_epoch

        def epoch(*arguments: Any) -> tuple[int, float]:
            return made(self.batch, self.targets, self.importance, *arguments)

        mistakes = self.perceptron.epoch(epoch, len(self.batch), self.rng)
        self.rounds += 1
        stopped = NO_MISTAKES if mistakes == 0 else MAX_ROUNDS if self.rounds >= self.max_rounds else None
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, "perceptron", self.seconds, mistakes=mistakes, last=self.done, stopped=stopped)

    def has_result(self, record: Round) -> bool:
        """Every epoch ends with weights that can be used."""
        return True

    def state(self) -> State:
        values = {
            "name": "perceptron",
            "rounds": self.rounds,
            "seconds": self.seconds,
            "done": self.done and self.rounds < self.max_rounds,
            "clock": self.perceptron.clock,
            "rng": self.rng.bit_generator.state,
        }
        return values, {"weights": self.perceptron.weights, "totals": self.perceptron.totals}

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same data."""
        values, arrays = state
        fresh = self.perceptron
        weights, totals = array_like(arrays, "weights", fresh.weights), array_like(arrays, "totals", fresh.totals)
        self.perceptron = Perceptron(weights, totals, number_of(values, "clock", low=1.0))
        random_of(values, "rng", self.rng)
        self.rounds, self.seconds = whole_of(values, "rounds"), number_of(values, "seconds", low=0.0)
        self.done = flag_of(values, "done")

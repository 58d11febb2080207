"""The averaged structured perceptron, an epoch at a time (Collins 2002; thesis Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.file_contents import array_like, flag_of, number_of, random_of, whole_of
from sidelight.core.records import Round
from sidelight.learners.margin import MARGIN_KIN
from sidelight.objective.batch import Batch
from sidelight.objective.entries import has_kernels
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online import plain_epochs
from sidelight.objective.online.example_order import ExampleOrder
from sidelight.objective.online.online import perceptron_epoch
from sidelight.rounds.learner import Learner, Memory, State
from sidelight.rounds.stopping import MAX_ROUNDS, NO_MISTAKES
from sidelight.solvers.perceptron import Perceptron
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec
from sidelight.specs.fit_data import FitData

EPOCHS = 10


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptron(LearnerSpec):
    """The averaged structured perceptron on Gold (Collins 2002)."""

    name = "perceptron"
    heeds = frozenset({"rules_in_training"})
    kin = MARGIN_KIN
    minimises = "mistakes, online"
    inference = "argmax"
    stops = "epochs, or none wrong"
    no_partial_fit = ""
    compile_seconds = 4.0
    blocks = True

    def make(self, data: FitData) -> Learner:
        """A fresh perceptron, or one that goes on from the weights and the average of an earlier fit."""
        fresh = Perceptron.fresh(data.size)
        weights, memory = data.start, data.memory
        if data.go_on and memory is not None and weights is not None:
            fresh.weights[: len(memory.weights)] = memory.weights
            fresh = Perceptron.going_on(fresh.weights, weights, memory.clock)
        elif weights is not None:
            fresh.weights[:] = weights
        settings = data.settings
        rounds = 1 if data.go_on else EPOCHS if settings.max_rounds is None else settings.max_rounds
        rng = np.random.default_rng([settings.seed, int(fresh.clock)])
        gold = [_gold(data)] if data.stored is None else data.stored_of("gold").map(_gold)
        return PerceptronLearner(gold, fresh, rng, rounds)


def _gold(data: FitData) -> GoldBlock:
    which = data.encoded.of_kind("gold")
    targets = data.encoded.targets[data.rows.tokens_of(which)]
    return GoldBlock(data.batch(which), targets, data.encoded.weights[which])


@dataclass(frozen=True, slots=True)
class GoldBlock:
    """Inputs with the outputs that are right."""

    batch: Batch
    targets: Ids
    importance: Floats

    def epoch(self, order: Ints, weights: Floats32, totals: Floats, clock: float) -> tuple[int, float]:
        """One pass: in one kernel for chains of order 1 and classes, one example after another elsewhere."""
        if has_kernels(self.batch):
            return perceptron_epoch(self.batch, self.targets, self.importance, order, weights, totals, clock)
        size = self.batch.space.n_labels
        terms = TargetTerms(self.batch, Cost(self.targets, 1.0 - np.eye(size)), np.ones(len(self.batch)))
        return plain_epochs.perceptron_epoch(terms, self.importance, order, weights, totals, clock)


@dataclass(slots=True)
class PerceptronLearner:
    """The averaged perceptron over outputs of any structure, which lie in one block or in several."""

    gold: Sequence[GoldBlock]
    perceptron: Perceptron
    rng: np.random.Generator
    max_rounds: int
    rounds: int = 0
    seconds: float = 0.0
    done: bool = False
    examples: ExampleOrder = field(init=False)

    def __post_init__(self) -> None:
        self.examples = ExampleOrder.of([len(block.importance) for block in self.gold])

    @property
    def weights(self) -> Floats:
        """The average of all weights so far."""
        return self.perceptron.average()

    @property
    def memory(self) -> Memory:
        """The last weights and the clock."""
        return Memory(self.perceptron.weights, self.perceptron.clock)

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
        mistakes = self.perceptron.epoch(self._epoch, self.examples.shuffled(self.rng))
        self.rounds += 1
        stopped = NO_MISTAKES if mistakes == 0 else MAX_ROUNDS if self.rounds >= self.max_rounds else None
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, "perceptron", self.seconds, mistakes=mistakes, last=self.done, stopped=stopped)

    def _epoch(self, order: Ints, weights: Floats32, totals: Floats, clock: float) -> tuple[int, float]:
        """One pass, block after block."""
        mistakes = 0
        for number, own in self.examples.runs(order):
            found, clock = self.gold[number].epoch(own, weights, totals, clock)
            mistakes += found
        return mistakes, clock

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

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
from sidelight.parallel.place import Held
from sidelight.rounds.learner import Learner, Memory, State
from sidelight.rounds.stopping import MAX_ROUNDS, NO_MISTAKES
from sidelight.solvers.perceptron import Perceptron
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec, option
from sidelight.specs.fit_data import FitData

EPOCHS = 10


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptron(LearnerSpec):
    """The averaged structured perceptron on Gold (Collins 2002).

    With `shards` it is trained by iterative parameter mixing (McDonald, Hall and Mann 2010): the examples are so many
    shards, each of which makes an epoch of its own from the same weights, and the next epoch begins with the mean of
    what they came to. Where some weights separate the data by a margin γ and features are at most R long, the mistakes
    of all epochs, those of each shard divided by the number of shards, are at most R²/γ²: as without shards, so that
    epochs end. What it comes to depends on the number of shards, but not on who works on them.
    """

    name = "perceptron"
    heeds = frozenset({"rules_in_training"})
    kin = MARGIN_KIN
    minimises = "mistakes, online"
    inference = "argmax"
    stops = "epochs, or none wrong"
    no_partial_fit = ""
    compile_seconds = 4.0
    blocks = True

    shards: int | None = option(None, low=1)

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
        if self.shards is None:
            return PerceptronLearner(gold, fresh, rng, rounds)
        held = data.place.hold(gold[0].lots(self.shards))
        return MixedPerceptron(gold, fresh, rng, rounds, held=held, seed=settings.seed)

    def stays(self) -> str:
        mixed = "give it shards, which learn side by side and are mixed"
        return f"takes one example right after another; {mixed}" if self.shards is None else ""

    def needs_memory(self) -> str | None:
        return None if self.shards is None else "shards lie in memory; leave shards out, or train in memory"


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

    def lots(self, count: int) -> list[tuple[int, GoldBlock]]:
        """So many lots by their numbers k: the inputs k, k + count, k + 2 count, … together."""
        here, pieces = self.batch.here(), []
        for k in range(min(count, len(here))):
            lot = np.arange(k, len(here), count)
            pieces.append((k, GoldBlock(here.take(lot), self.targets[here.slots_of(lot)], self.importance[lot])))
        return pieces


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
        mistakes = self._pass()
        self.rounds += 1
        stopped = NO_MISTAKES if mistakes == 0 else MAX_ROUNDS if self.rounds >= self.max_rounds else None
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, "perceptron", self.seconds, mistakes=mistakes, last=self.done, stopped=stopped)

    def _pass(self) -> int:
        """Go through all examples; returns the number of mistakes."""
        return self.perceptron.epoch(self._epoch, self.examples.shuffled(self.rng))

    def _epoch(self, order: Ints, weights: Floats32, totals: Floats, clock: float) -> tuple[int, float]:
        """One pass, block after block."""
        mistakes = 0
        for number, own in self.examples.runs(order):
            wrong, clock = self.gold[number].epoch(own, weights, totals, clock)
            mistakes += wrong
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


@dataclass(slots=True)
class MixedPerceptron(PerceptronLearner):
    """The perceptron by iterative parameter mixing: epochs of shards, and their mean."""

    held: Held | None = None
    seed: int = 0

    def _pass(self) -> int:
        assert self.held is not None
        before = self.perceptron.average()
        shares = len(self.held), [self.seed, self.rounds]
        weights, average, mistakes = self.held.total(_epoch_of_shard, self.perceptron.weights, *shares)
        average = before + (average - before) / (self.rounds + 1.0)  # the mean of all epochs
        self.perceptron = Perceptron.going_on(weights.astype(np.float32), average, self.rounds + 1.0)
        return int(mistakes)


def _epoch_of_shard(
    piece: tuple[int, GoldBlock], weights: Floats32, count: int, seed: list[int]
) -> tuple[Floats, Floats, int]:
    """What a shard's epoch comes to, divided by the number of shards, and its mistakes."""
    number, gold = piece
    own = Perceptron.going_on(weights.copy(), weights.astype(np.float64), 1.0)
    order = np.random.default_rng([*seed, number]).permutation(len(gold.importance))
    mistakes = own.epoch(gold.epoch, order)
    return own.weights.astype(np.float64) / count, own.average() / count, mistakes

"""The averaged structured perceptron, an epoch at a time (Collins 2002; thesis Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids
from sidelight.core.file_contents import array_like, flag_of, number_of, random_of, whole_of
from sidelight.core.records import Round
from sidelight.learners.margin import MARGIN_KIN
from sidelight.objective.batch import Batch
from sidelight.objective.entries import has_kernels
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online import plain_epochs
from sidelight.objective.online.online import perceptron_epoch
from sidelight.parallel.place import Held
from sidelight.rounds.learner import Learner, Memory, State
from sidelight.rounds.stopping import MAX_ROUNDS, NO_MISTAKES
from sidelight.solvers.perceptron import Epoch, Perceptron
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

    shards: int | None = option(None, low=1)

    def make(self, data: FitData) -> Learner:
        """A fresh perceptron, or one that goes on from the weights and the average of an earlier fit."""
        gold = data.encoded.of_kind("gold")
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
        targets, importance = data.encoded.targets[data.rows.tokens_of(gold)], data.encoded.weights[gold]
        batch = data.batch(gold)
        plain = PerceptronLearner(batch, targets, importance, fresh, rng, rounds)
        if self.shards is None:
            return plain
        held = self._held(plain, data)
        return MixedPerceptron(batch, targets, importance, fresh, rng, rounds, held=held, seed=settings.seed)

    def stays(self) -> str:
        mixed = "give it shards, which learn side by side and are mixed"
        return f"takes one example right after another; {mixed}" if self.shards is None else ""

    def _held(self, plain: PerceptronLearner, data: FitData) -> Held:
        """The examples in shards: k, k + S, k + 2 S, … together."""
        assert self.shards is not None
        here, pieces = plain.batch.here(), []
        for k in range(min(self.shards, len(here))):
            lot = np.arange(k, len(here), self.shards)
            pieces.append((k, here.take(lot), plain.targets[here.slots_of(lot)], plain.importance[lot]))
        return data.place.hold(pieces)


@dataclass(slots=True)
class PerceptronLearner:
    """The averaged perceptron over outputs of any structure."""

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
        run = epoch_of(self.batch, self.targets, self.importance)
        return self.perceptron.epoch(run, len(self.batch), self.rng)

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
    piece: tuple[int, Batch, Ids, Floats], weights: Floats32, count: int, seed: list[int]
) -> tuple[Floats, Floats, int]:
    """What a shard's epoch comes to, divided by the number of shards, and its mistakes."""
    number, batch, targets, importance = piece
    own = Perceptron.going_on(weights.copy(), weights.astype(np.float64), 1.0)
    rng = np.random.default_rng([*seed, number])
    mistakes = own.epoch(epoch_of(batch, targets, importance), len(batch), rng)
    return own.weights.astype(np.float64) / count, own.average() / count, mistakes


def epoch_of(batch: Batch, targets: Ids, importance: Floats) -> Epoch:
    """An epoch in one kernel for chains of order 1 and classes, one example after another elsewhere."""
    if has_kernels(batch):
        return partial(perceptron_epoch, batch, targets, importance)
    terms = TargetTerms(batch, Cost(targets, 1.0 - np.eye(batch.space.n_labels)), np.ones(len(batch)))
    return partial(plain_epochs.perceptron_epoch, terms, importance)

"""The averaged structured perceptron, an epoch at a time (Collins 2002; thesis Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.file_contents import array_like, number_of
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.core.records import NO_MISTAKES
from sidelight.learners.margin import MARGIN_KIN
from sidelight.objective.batch import Batch
from sidelight.objective.entries import has_kernels
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online import plain_epochs
from sidelight.objective.online.example_order import ExampleOrder
from sidelight.objective.online.online import perceptron_epoch
from sidelight.parallel.place import Held
from sidelight.rounds.learner import Learner, Memory, RoundByRound, State, Step
from sidelight.solvers.perceptron import Perceptron
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec, option
from sidelight.specs.fit_data import FitData

EPOCHS = 10


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptron(LearnerSpec):
    """The averaged structured perceptron on Gold (Collins 2002).

    With `shards` it is trained by iterative parameter mixing (McDonald, Hall and Mann 2010). The examples are divided
    into that many shards. In every epoch each shard starts from the same weights and makes its own pass; the next epoch
    begins with the mean of the resulting weights. If some weights separate the data by a margin γ, and no feature
    vector is longer than R, then the mistakes of all epochs, divided by the number of shards, are at most R²/γ². This
    is the bound without shards, so training ends. The result depends on the number of shards, but not on which worker
    has them.
    """

    name = "perceptron"
    heeds = frozenset({"rules_in_training"})
    kin = MARGIN_KIN
    minimises = "mistakes, online"
    inference = "argmax"
    stops = "epochs, or no mistakes"
    no_partial_fit = ""
    compile_seconds = 4.0
    blocks = True

    shards: int | None = option(None, low=1)

    def make(self, data: FitData) -> Learner:
        """A fresh perceptron, or one that continues from the weights and the average of an earlier fit."""
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
        gold = [_gold(data)] if data.stored is None else data.stored.of("gold").map(_gold)
        if self.shards is None:
            return PerceptronLearner(gold, fresh, rng, rounds)
        if data.stored is None:
            held = data.place.hold(gold[0].lots(self.shards))
        else:
            runs = data.stored.held(data.place, "gold", lots=self.shards)
            held = runs.derive(_run, own=[(number,) for number in range(len(runs))])
        return MixedPerceptron(gold, fresh, rng, rounds, held=held, seed=settings.seed)

    def stays(self) -> str:
        mixed = "give it shards, which learn side by side and are mixed"
        return f"takes one example right after another; {mixed}" if self.shards is None else ""


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

    def lots(self, count: int) -> list[tuple[int, Sequence[GoldBlock]]]:
        """So many lots by their numbers k: the inputs k, k + count, k + 2 count, … together."""
        here = self.batch.here()
        pieces: list[tuple[int, Sequence[GoldBlock]]] = []
        for k in range(min(count, len(here))):
            lot = np.arange(k, len(here), count)
            pieces.append((k, [GoldBlock(here.take(lot), self.targets[here.slots_of(lot)], self.importance[lot])]))
        return pieces


def _over_blocks(
    gold: Sequence[GoldBlock], examples: ExampleOrder, order: Ints, weights: Floats32, totals: Floats, clock: float
) -> tuple[int, float]:
    """One pass, block after block."""
    mistakes = 0
    for number, own in examples.runs(order):
        wrong, clock = gold[number].epoch(own, weights, totals, clock)
        mistakes += wrong
    return mistakes, clock


@dataclass(slots=True)
class PerceptronLearner(RoundByRound):
    """The averaged perceptron over outputs of any structure, which lie in one block or in several."""

    KEEPS = ("rng",)
    name = "perceptron"

    gold: Sequence[GoldBlock]
    perceptron: Perceptron
    rng: np.random.Generator
    max_rounds: int
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
        """The final average; the learner is unusable afterwards."""
        return self.perceptron.turn_into_average()

    def limit(self) -> int:
        return self.max_rounds

    def step(self) -> Step:
        """One epoch."""
        mistakes = self._pass()
        return None if mistakes else NO_MISTAKES, {"mistakes": mistakes}

    def _pass(self) -> int:
        """Go through all examples; returns the number of mistakes."""
        return self.perceptron.epoch(self._epoch, self.examples.shuffled(self.rng))

    def _epoch(self, order: Ints, weights: Floats32, totals: Floats, clock: float) -> tuple[int, float]:
        """One pass, block after block."""
        return _over_blocks(self.gold, self.examples, order, weights, totals, clock)

    def more_state(self) -> State:
        return {"clock": self.perceptron.clock}, {"weights": self.perceptron.weights, "totals": self.perceptron.totals}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        fresh = self.perceptron
        weights, totals = array_like(arrays, "weights", fresh.weights), array_like(arrays, "totals", fresh.totals)
        self.perceptron = Perceptron(weights, totals, number_of(values, "clock", low=1.0))


@dataclass(slots=True)
class MixedPerceptron(PerceptronLearner):
    """The perceptron by iterative parameter mixing: epochs of shards, and their mean."""

    held: Held | None = None
    seed: int = 0

    def _pass(self) -> int:
        assert self.held is not None
        before = self.perceptron.average()
        shares = len(self.held), [self.seed, self.rounds - 1]
        weights, average, mistakes = self.held.total(_epoch_of_shard, self.perceptron.weights, *shares)
        average = before + (average - before) / self.rounds  # the mean of all epochs
        self.perceptron = Perceptron.going_on(weights.astype(np.float32), average, float(self.rounds))
        return int(mistakes)


def _run(blocks: OneAtATime[FitData], number: int) -> tuple[int, Sequence[GoldBlock]]:
    return number, blocks.map(_gold)


def _epoch_of_shard(
    piece: tuple[int, Sequence[GoldBlock]], weights: Floats32, count: int, seed: list[int]
) -> tuple[Floats, Floats, int]:
    """The result of a shard's epoch, divided by the number of shards, and its mistakes."""
    number, gold = piece
    own = Perceptron.going_on(weights.copy(), weights.astype(np.float64), 1.0)
    examples = ExampleOrder.of([len(block.importance) for block in gold])
    order = examples.shuffled(np.random.default_rng([*seed, number]))
    mistakes = own.epoch(partial(_over_blocks, gold, examples), order)
    return own.weights.astype(np.float64) / count, own.average() / count, mistakes

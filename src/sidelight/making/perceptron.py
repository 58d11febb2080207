"""The averaged perceptron from Gold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.arrays import Floats, Floats32
from sidelight.learners.perceptron import PerceptronLearner
from sidelight.making.given import Given
from sidelight.solvers.perceptron import Perceptron

EPOCHS = 10


class PerceptronMemory(NamedTuple):
    """The last weights of a perceptron, and its clock."""

    weights: Floats32
    clock: float


def make(given: Given, memory: PerceptronMemory | None) -> PerceptronLearner:
    """A fresh perceptron, or one that goes on from the weights and the average of an earlier fit."""
    given.only(("gold",))
    gold = given.encoded.of_kind("gold")
    fresh = Perceptron.fresh(given.size)
    weights: Floats | None = given.start
    if given.go_on and memory is not None and weights is not None:
        fresh.weights[: len(memory.weights)] = memory.weights
        fresh = Perceptron.going_on(fresh.weights, weights, memory.clock)
    elif weights is not None:
        fresh.weights[:] = weights
    settings = given.settings
    rounds = 1 if given.go_on else EPOCHS if settings.max_rounds is None else settings.max_rounds
    rng = np.random.default_rng([settings.seed, int(fresh.clock)])
    targets = given.encoded.targets[given.rows.tokens_of(gold)]
    return PerceptronLearner(given.batch(gold), targets, given.encoded.weights[gold], fresh, rng, rounds)

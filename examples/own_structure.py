"""A structure that the library lacks, in thirty lines: choose exactly k of n items."""

from dataclasses import dataclass

import numpy as np

import sidelight as sl
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.spaces.slots import SlotSpace
from sidelight.testing import check_examples


@dataclass(frozen=True)
class ExactlyK(SlotSpace):
    """Slots are things; choice 1 takes one, and k of them are taken."""

    k: int = 1

    def best_of(self, scores):  # [things, 2] -> the choice of each
        if np.isneginf(scores).all(axis=1).any():  # a thing that may neither be taken nor left
            return None
        taken = np.argsort(scores[:, 0] - scores[:, 1], kind="stable")[: self.k]
        choices = np.zeros(len(scores), dtype=np.int32)
        choices[taken] = 1
        return choices if np.isfinite(scores[np.arange(len(scores)), choices]).all() else None


class Choice:
    """Inputs are lists of things with numbers as features; outputs are the things that are chosen."""

    def __init__(self, k):
        self.k, self.names = k, FeatureNames()

    def batch(self, xs):
        scorer = self.names.scorer([[[{}, thing] for thing in x] for x in xs], 2)
        return Batch(scorer, ExactlyK(scorer.starts, 2, np.ones((scorer.starts[-1], 2), dtype=np.uint8), self.k))

    def encode(self, x, y):
        return np.array([i in y for i in range(len(x))], dtype=np.int32)

    def decode(self, x, choices):
        return [i for i, taken in enumerate(choices) if taken]


rng = np.random.default_rng(5)
X = [[{"news": float(a), "long": float(b)} for a, b in rng.normal(size=(6, 2))] for _ in range(120)]
y = [sorted(np.argsort([one["long"] - 3 * one["news"] + 0.3 * rng.normal() for one in x])[:2].tolist()) for x in X]

print("laws checked over", check_examples(Choice(2), X[:2], y[:2]).outputs, "outputs")
model = sl.Predictor(Choice(2)).fit(X[:20], y[:20])
found = model.predict(X[20:])
print("two of six chosen, both right:", sum(a == b for a, b in zip(found, y[20:])), "of 100")
print("the two best choices:", [output for output, _ in model.k_best(X[20:21], 2)[0]])

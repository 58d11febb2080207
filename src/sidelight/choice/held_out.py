"""Scores of plans on held-out Gold, with standard errors.

Every held-out sentence has the counts (right, predicted, gold) of its spans or of its tokens; for tokens the last two
are equal. The score is F = 2 Σ right / (Σ predicted + Σ gold); for tokens this is accuracy. Its standard error, and
that of a difference on the same sentences, follows from the delta method: the influence of sentence i is (2 right_i − F
(predicted_i + gold_i)) / (Σ predicted + Σ gold), and sentences are independent. A sentence held out several times, by
repeated folds, counts once, with the means of its counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.evaluate.gold_folds import GoldFolds
from sidelight.evaluate.spans import span_counts
from sidelight.evidence import Gold

Counted = Callable[[Sequence[Any], Sequence[Gold]], Floats]  # outputs for Gold: right, predicted, gold [N, 3]
FOLDS = 5
FEWEST = 4  # labelled inputs below which nothing is held out
REPEATS = ((30, 3), (100, 2))  # (maximum labelled inputs, how often each is held out)


class Block(NamedTuple):
    """One fold: the held-out Gold, by its number among the Gold."""

    number: int
    held_out: list[int]


def blocks(count: int, seed: int) -> list[Block]:
    """Folds of `count` labelled inputs: the more inputs, the fewer folds; none if there are too few inputs.

    >>> [block.held_out for block in blocks(200, 0)][0][:3], len(blocks(20, 0)), len(blocks(3, 0))
    ([7, 27, 28], 15, 0)
    """
    if count < FEWEST:
        return []
    repeats = next((times for most, times in REPEATS if count <= most), 1)
    folds = GoldFolds(min(FOLDS, count), seed, repeats).split(range(count), y=())
    return [Block(number, held_out.tolist()) for number, (_, held_out) in enumerate(folds)]


def label_counts(metric: str, *, sequences: bool) -> Counted:
    """The function that counts outputs of labels for a metric."""

    def counted(guesses: Sequence[Any], held_out: Sequence[Gold]) -> Floats:
        right = [piece.y for piece in held_out]
        if metric == "span_f1":
            return span_counts(guesses, right).astype(np.float64)
        pairs = zip(guesses, right) if sequences else (([guess], [truth]) for guess, truth in zip(guesses, right))
        rows = [(sum(a == b for a, b in zip(guess, truth)), len(truth), len(truth)) for guess, truth in pairs]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 3)

    return counted


@dataclass(slots=True)
class HeldOut:
    """The results of one plan on held-out Gold, fold by fold."""

    folds: dict[int, tuple[list[int], Floats]] = field(default_factory=dict)  # fold: sentences, counts [n, 3]
    seconds: float = 0.0
    failure: str | None = None  # why the plan cannot be used

    def means(self, among: Iterable[int]) -> Floats:
        """The mean counts of every sentence held out in these folds. # [M, 3]"""
        total: dict[int, Floats] = {}
        times: dict[int, int] = {}
        for fold in among:
            for sentence, counts in zip(*self.folds[fold]):
                total[sentence] = total.get(sentence, 0.0) + counts
                times[sentence] = times.get(sentence, 0) + 1
        return np.array([total[i] / times[i] for i in sorted(total)]).reshape(len(total), 3)

    def score(self) -> tuple[float, float]:
        """F and its standard error."""
        return score_of(self.means(self.folds))

    def ahead_of(self, other: HeldOut) -> tuple[float, float]:
        """The lead over another plan on common folds, and its standard error."""
        both = sorted(self.folds.keys() & other.folds.keys())
        return difference(self.means(both), other.means(both))


def score_of(counts: Floats) -> tuple[float, float]:
    """F of counts [N, 3], and its standard error.

    >>> score_of(np.array([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]]))[0]
    0.75
    """
    value, influence = _influence(counts)
    return value, _error(influence)


def difference(a: Floats, b: Floats) -> tuple[float, float]:
    """The lead of counts a [N, 3] over b on the same sentences, and its standard error.

    >>> ahead, error = difference(np.array([[2.0, 2.0, 2.0]] * 4), np.array([[1.0, 2.0, 2.0]] * 4))
    >>> ahead, error
    (0.5, 0.0)
    """
    (value_a, influence_a), (value_b, influence_b) = _influence(a), _influence(b)
    return value_a - value_b, _error(influence_a - influence_b)


def _influence(counts: Floats) -> tuple[float, Floats]:
    total = counts[:, 1] + counts[:, 2]
    whole = float(total.sum())
    if whole == 0.0:
        return 0.0, np.zeros(len(counts))
    value = 2.0 * float(counts[:, 0].sum()) / whole
    return value, np.asarray((2.0 * counts[:, 0] - value * total) / whole)


def _error(influence: Floats) -> float:
    count = len(influence)
    if count < 2:
        return 0.0
    centred = influence - influence.mean()
    return float(np.sqrt(count / (count - 1) * (centred @ centred)))

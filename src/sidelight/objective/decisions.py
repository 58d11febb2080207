"""Binary decisions by a structure: an input is good if and only if it has a good structure (thesis ch. 5).

    f(x) = w₀ + max over h of w·Φ(x, h) / κ(x)          good where f(x) >= 0

    ½ ‖w‖² + Σ_i C_i ℓ(1 − z_i f(x_i))                  Eq. 5.3, without the second C that is printed there

κ(x) is the size of the input (`structure.sizes_of`), and w₀ the weight of the constant feature; chapter 5 has neither,
chapter 6 has both, and without them every bad input costs at least one. With fixed structures of good inputs, the
objective is convex (Eq. 5.4): the terms of `margin`, solved with a cache of earlier structures of bad inputs. With
fixed structures of all inputs, it is an ordinary SVM, which Algorithm 12 and the two-stage baseline solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import DataError
from sidelight.features.counts import stacked
from sidelight.objective.batch import Batch
from sidelight.objective.completion import LatentProblem, Positive, latent_problem
from sidelight.objective.cuts import losses_of
from sidelight.objective.margin import NegativeTerms, PositiveTerms, TargetTerms, positive_terms
from sidelight.objective.structure import PlainStructure, sizes_of
from sidelight.spaces import Cost


@dataclass(frozen=True, slots=True)
class Decisions:
    """Good and bad inputs of a structure, with the price of each."""

    good: Positive
    bad: NegativeTerms

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.good.batch.scorer.size

    def problem(self) -> LatentProblem:
        """Eq. 5.3 as a problem of margins with nothing but companions."""
        batch = self.good.batch.part(0, 0)
        nothing = TargetTerms(batch, Cost(np.zeros(0, np.int32), np.zeros((1, 1))), np.zeros(0))
        return latent_problem(nothing, negative=self.bad, positive=self.good)

    def values(self, weights: Floats) -> Floats:
        """1 − z f(x), of good inputs and then of bad ones. # [N]"""
        good = self.good.batch.best(weights).values / self.good.sizes + weights[0]
        return np.concatenate([1.0 - good, self.bad.worst(weights).values])

    def objective(self, weights: Floats, *, power: int) -> float:
        """Eq. 5.3 at some weights."""
        prices = np.concatenate([self.good.prices, self.bad.prices])
        return 0.5 * float(weights @ weights) + float(prices @ losses_of(self.values(weights), power))

    def held(self, weights: Floats) -> PositiveTerms:
        """The ordinary SVM over the best structures under some weights: one cut for each good, then each bad input."""
        good = positive_terms(self.good.batch, self._best(self.good.batch, weights), self.good.sizes, self.good.prices)
        flipped = positive_terms(self.bad.batch, self._best(self.bad.batch, weights), self.bad.sizes, self.bad.prices)
        against = replace(flipped.slopes, values=-flipped.slopes.values)
        charged = 2.0 - flipped.offsets  # the charge changes sides too
        return PositiveTerms(
            stacked([good.slopes, against]),
            np.concatenate([good.offsets, charged]),
            np.concatenate([good.prices, flipped.prices]),
        )

    @staticmethod
    def _best(batch: Batch, weights: Floats) -> Ids:
        return batch.best(weights).labels


def decisions(
    structure: PlainStructure[Any, Any],
    xs: Sequence[Any],
    zs: Sequence[Any],
    *,
    C: float = 1.0,
    weights: Floats | None = None,
) -> Decisions:
    """Inputs with answers +1 or −1; raises `DataError` for other answers, and where all are the same.

    Prices are C times the weight of each input.
    """
    answers = np.asarray(zs)
    if len(answers) != len(xs):
        raise DataError(f"{len(xs)} inputs have {len(answers)} answers", remedy="give one answer for each input")
    strange = [z for z in answers.tolist() if z not in (1, -1)]
    if strange:
        raise DataError(f"an answer is {strange[0]!r}", remedy="give +1 for good inputs and -1 for bad ones")
    if not (np.any(answers > 0) and np.any(answers < 0)):
        raise DataError("all answers are the same", remedy="give inputs that are good, and some that are bad")
    good, bad = np.flatnonzero(answers > 0), np.flatnonzero(answers < 0)
    prices = C * (np.ones(len(xs)) if weights is None else np.asarray(weights, dtype=np.float64))
    inputs = [xs[i] for i in [*good, *bad]]
    every = structure.batch(inputs)  # one batch, so that all share the features
    sizes = sizes_of(structure, inputs, every)
    count = len(good)
    return Decisions(
        Positive(every.part(0, count), sizes[:count], prices[good]),
        NegativeTerms(every.part(count, len(every)), sizes[count:], prices[bad]),
    )

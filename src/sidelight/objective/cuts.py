"""Supporting hyperplanes: all that a margin solver knows about an objective.

A term of the objective is ℓ(max over outputs of offset + slope · w). Each output gives a cut

    term's argument  >=  offset + slope · w,        with equality for the output that attains the maximum at w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.features.counts import SparseRows


@dataclass(frozen=True, slots=True)
class Cuts:
    """Several cuts: row k belongs to the term `terms[k]`."""

    terms: Ints  # [R]
    slopes: SparseRows  # [R]
    offsets: Floats  # [R]


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest offset + slope · w of every term at some weights, and what attains it."""

    values: Floats  # [N]
    outputs: Any


class Terms(Protocol):
    """Terms that can name their most violated cuts."""

    @property
    def prices(self) -> Floats:  # [N] what one unit of loss costs
        ...

    def __len__(self) -> int: ...

    def parts(self) -> list[tuple[int, Terms]]:
        """Blocks of terms, each with the number of its first, that a solver may treat one after another."""
        ...

    def worst(self, weights: Floats) -> Worst:
        """The maximum of every term's argument."""
        ...

    def cuts(self, worst: Worst, which: Ints) -> Cuts:
        """The cuts that attain it, for some of the terms."""
        ...


LOGISTIC = 0  # the power that represents log(1 + exp(value))
POWERS = {"squared_hinge": 2, "hinge": 1, "logistic": LOGISTIC}  # by the names of losses


def losses_of(values: Floats, power: int) -> Floats:
    """max(0, value)^power, power 1 for the hinge and 2 for its square; for `LOGISTIC` log(1 + exp(value)). # [N]

    >>> losses_of(np.array([0.0, -1.0]), LOGISTIC).round(3)
    array([0.693, 0.313])
    """
    if power == LOGISTIC:
        return np.logaddexp(0.0, values)
    positive = np.maximum(values, 0.0)
    return positive if power == 1 else positive * positive


def total_loss(values: Floats, prices: Floats, power: int) -> float:
    """Σ price · loss.

    >>> total_loss(np.array([2.0, -1.0]), np.array([1.0, 1.0]), 2)
    4.0
    """
    return float(np.sum(prices * losses_of(values, power)))


def conjugate_total(sums: Floats, prices: Floats, power: int) -> float:
    """Σ C ℓ*(s / C): the difference between the dual objective of the hinge and this one, if the cuts of a term have
    total weight s.

    The conjugate ℓ*(a) is 0 for the hinge, a²/4 for its square, a log a + (1 − a) log(1 − a) for the logistic loss.

    >>> conjugate_total(np.array([1.0, 0.0]), np.array([2.0, 0.0]), 2)
    0.125
    """
    if power == 1:
        return 0.0
    priced = prices > 0
    shares = sums[priced] / prices[priced]
    if power == 2:
        return float(np.sum(prices[priced] * shares**2 / 4.0))
    rest = 1.0 - shares
    logs = np.log(np.where(shares > 0, shares, 1.0)), np.log(np.where(rest > 0, rest, 1.0))
    return float(np.sum(prices[priced] * (shares * logs[0] + rest * logs[1])))


NEWTON_STEPS = 100  # of `logistic_slope` at most; some ten are usual


@inner_kernel
def logistic_slope(value: float, bend: float, start: float) -> float:
    """The slope of log(1 + exp x) after an implicit gradient step.

    The loss's slope is σ(x) = 1 / (1 + exp −x), and the step goes from `value` to the x that solves

        x = value − bend · σ(x)

    by Newton's method in a bracket, sought from `start`; the difference of the sides has a slope of at least 1. `bend`
    is not negative. Gives σ(x) of the solution.
    """
    low, high = value - bend, value
    x = min(max(start, low), high)
    for _ in range(NEWTON_STEPS):
        share = _share(x)
        off = value - bend * share - x
        if off > 0.0:
            low = x
        else:
            high = x
        if abs(off) <= 1e-14 * (1.0 + abs(x)):
            break
        step = off / (1.0 + bend * share * (1.0 - share))
        x = x + step if low < x + step < high else 0.5 * (low + high)
    return _share(x)


@inner_kernel
def _share(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0

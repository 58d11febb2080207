"""The averaged structured perceptron.

There is no objective: on every mistake, Φ(x, y) − Φ(x, ŷ) is added to the weights, where ŷ is the best output under the
current weights. The result is the average of the weights over all examples and epochs (Collins 2002; Freund and
Schapire 1999): the mean of the N + 1 vectors before the first and after each of N examples (Chang's thesis, Algorithms
2 and 3, prints another divisor).

Stops after the given number of epochs, or after one without a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ints

Epoch = Callable[[Ints, Floats32, Floats, float], tuple[int, float]]  # order, weights, totals, clock -> mistakes, clock


@dataclass(slots=True)
class Perceptron:
    """Weights, the sums for their average, and the number of examples seen plus one."""

    weights: Floats32
    totals: Floats
    clock: float = 1.0

    @classmethod
    def fresh(cls, size: int) -> Perceptron:
        return cls(np.zeros(size, dtype=np.float32), np.zeros(size))

    def epoch(self, run: Epoch, order: Ints) -> int:
        """One pass; returns the number of mistakes."""
        mistakes, self.clock = run(order, self.weights, self.totals, self.clock)
        return mistakes

    def average(self) -> Floats:
        """The average of all weights so far."""
        average = self.totals / -self.clock
        average += self.weights
        return average

    def turn_into_average(self) -> Floats:
        """The average of all weights, in the memory of the totals; this object is unusable afterwards."""
        average, self.totals = self.totals, np.zeros(0)
        average /= -self.clock
        average += self.weights
        return average

    @classmethod
    def going_on(cls, weights: Floats32, average: Floats, clock: float) -> Perceptron:
        """The perceptron with these weights and this average, to continue training."""
        totals = weights - average
        totals *= clock
        return cls(weights, totals, clock)

"""LCLR, learning over constrained latent representations (Chang et al. 2010; thesis Algorithms 10 to 12).

Binary labels alone are given; the structure that a decision rests on is latent. `lclr_learner` completes good inputs,
solves the convex problem that this leaves by cutting planes, with a cache of bad inputs' structures that outlives the
problem, and so on: the margin learner with companions alone, from given first weights. The objective never rises.

`HeldLearner` takes the structures of good and bad inputs alike, trains an ordinary SVM on them, and so on (Algorithm
12): nothing guarantees that its objective falls. With one round it is the two-stage baseline Alignment+Learning, whose
decisions rest on the structures that the first weights find, in training and later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_like
from sidelight.core.records import MAX_ROUNDS
from sidelight.objective.decisions import Decisions
from sidelight.objective.margin import PositiveTerms
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rounds.margin import MarginLearner, MarginOptions
from sidelight.solvers.cutting_plane import CuttingPlane

MAX_SVM_ROUNDS = 1000
METHODS = LCLR, APPROXIMATE, TWO_STAGE = "lclr", "lclr_approximate", "two_stage"


def lclr_learner(data: Decisions, start: Floats, options: MarginOptions | None = None) -> MarginLearner:
    """Algorithms 10 and 11, before the first round; good inputs are first completed with `start`."""
    return MarginLearner.fresh(
        data.problem(), options or MarginOptions(), size=data.size, start=_checked(start, data.size), name=LCLR
    )


@dataclass(slots=True)
class HeldLearner(RoundByRound):
    """Algorithm 12, or with `max_rounds` 1 the second of two stages."""

    data: Decisions
    options: MarginOptions
    now: Floats
    first: Floats  # which find the structures of two stages for good
    name: str = APPROXIMATE

    @classmethod
    def fresh(cls, data: Decisions, start: Floats, options: MarginOptions, *, name: str = APPROXIMATE) -> HeldLearner:
        """A learner before its first round, whose structures `start` finds."""
        first = _checked(start, data.size)
        return cls(data, options, first, first, name)

    @property
    def weights(self) -> Floats:
        """Those of the last SVM, however good they are."""
        return self.now

    @property
    def finding(self) -> Floats | None:
        """The weights that find structures, where the others only judge them."""
        return self.first if self.name == TWO_STAGE else None

    def step(self) -> Step:
        """One SVM; its record has the objective of Eq. 5.3, where structures are not held."""
        terms, before = self.data.held(self.now), self.now
        self.now, gap = solved(terms, self.data.size, self.options)
        objective = self.data.objective(self.now, power=self.options.power)
        figures = {"completion": self.rounds, "objective": objective, "gap": gap}
        return MAX_ROUNDS if np.array_equal(before, self.now) else None, figures

    def more_state(self) -> State:
        return {}, {"weights": self.now}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.now = array_like(arrays, "weights", self.now)


def solved(terms: PositiveTerms, size: int, options: MarginOptions) -> tuple[Floats, float]:
    """The weights of an SVM over terms with one cut each, and the duality gap."""
    solver = CuttingPlane.fresh(size, len(terms), power=options.power, seed=options.seed)
    solver.pool.add(terms.cuts(terms.worst(solver.weights), np.arange(len(terms))))
    for _ in range(MAX_SVM_ROUNDS):
        solver.round(terms, violation=options.violation, tolerance=options.tolerance)
        if solver.finished(options.tolerance):
            break
    return solver.best.copy(), solver.gap


def _checked(start: Floats, size: int) -> Floats:
    if start.shape != (size,) or not np.all(np.isfinite(start)):
        raise ValueError(f"first weights have the shape {start.shape}, or are not finite; give {size:,} numbers")
    return np.array(start, dtype=np.float64)

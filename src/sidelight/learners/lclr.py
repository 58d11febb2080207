"""LCLR, learning over constrained latent representations (Chang et al. 2010; thesis Algorithms 10 to 12).

The only evidence is companion answers; the structure behind a decision is latent. `lclr_learner` alternates two steps:
it completes good inputs, and solves the resulting convex problem by cutting planes, with a cache of bad inputs'
structures that is kept between problems. This is the margin learner with companions alone, from given initial weights.
The objective (`objective.decisions`) never rises.

`HeldLearner` finds the structures of both good and bad inputs, trains an ordinary SVM on them, and repeats (Algorithm
12); its objective need not fall. With one round it is the two-stage baseline Alignment+Learning, whose decisions use
the structures found by the initial weights, in training and in prediction.

Learning begins with the initial weights of the structure, if it has any (`objective.structure.first_weights_of`), or
with those of an earlier fit. It runs from the two-stage weights and from the initial weights themselves, and selects
the result with the lower objective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_like
from sidelight.core.records import MAX_ROUNDS
from sidelight.errors import DataError
from sidelight.learners.margin import MarginLearner, MarginOptions, options_of, problem_of
from sidelight.objective.decisions import Decisions
from sidelight.objective.margin import PositiveTerms
from sidelight.objective.structure import first_weights_of
from sidelight.rounds import Learner
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rounds.restarts import Restarts
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData

MAX_SVM_ROUNDS = 1000
METHODS = LCLR, APPROXIMATE, TWO_STAGE = "lclr", "lclr_approximate", "two_stage"
STARTS = 2  # the weights of two stages, and the first ones


@dataclass(frozen=True, kw_only=True)
class Lclr(LearnerSpec):
    """LCLR: yes/no decisions by the best structure of an input (Chang, Goldwasser, Roth and Srikumar 2010).

    It learns from companion answers alone. `judge` gives decisions, and `predict` the structures behind them. The
    method "lclr_approximate" (thesis Algorithm 12) fixes the structures of good and of bad inputs in each of `repeats`
    rounds; the objective may rise. With "two_stage" (Alignment+Learning), structures are always the best ones under the
    initial weights, in training and in prediction.
    """

    name = "lclr"
    takes = ("companion",)
    needs = frozenset({Need.BEST})
    heeds = frozenset({"loss", "prices"})
    minimises = "½‖w‖² + C2 Σ loss on companion answers, by the best structure of each input"
    inference = "argmax"
    stops = "relative decrease, or no change, between completions"
    alone = ""
    compile_seconds = 6.0

    method: str = option(LCLR, among=METHODS)
    repeats: int = option(10, low=1)

    def make(self, data: FitData) -> Learner:
        decisions, options = _decisions(data), options_of(data)
        start = _start(data)
        if self.method != LCLR:
            rounds = 1 if self.method == TWO_STAGE else self.repeats
            return HeldLearner.fresh(decisions, start, replace(options, max_rounds=rounds), name=self.method)

        def one(number: int) -> Learner:
            if number:
                return lclr_learner(decisions, start, options)
            second = HeldLearner.fresh(decisions, start, replace(options, max_rounds=1), name=TWO_STAGE)
            second.round()
            return lclr_learner(decisions, second.weights, options)

        return Restarts(one, range(STARTS), n_jobs=1)


def _decisions(data: FitData) -> Decisions:
    """Good and bad inputs; raises `DataError` if there are none of one sort."""
    problem = problem_of(data)
    for terms, what in ((problem.positive, "good"), (problem.negative, "bad")):
        if not len(terms.prices):
            raise DataError(f"no {what} inputs", remedy="give inputs that are good, and some that are bad")
    return Decisions(problem.positive, problem.negative)


def _start(data: FitData) -> Floats:
    weights = first_weights_of(getattr(data.structure, "plain", None)) if data.start is None else data.start
    return np.zeros(data.size) if weights is None else weights


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
        """The weights of the last SVM, whatever their objective."""
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

"""LCLR as a learner of any structure: decisions rest on the best structure of an input, and answers are all there is.

The loops are in `rounds.lclr`, the objective in `objective.decisions`. Learning begins with the first weights of the
structure, if it has any (`objective.structure.first_weights_of`), or with those of a fit before; it runs from the
weights of two stages and from these themselves, and keeps what ends with the lower objective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.errors import DataError
from sidelight.learners.margin import options_of, problem_of
from sidelight.objective.decisions import Decisions
from sidelight.objective.structure import first_weights_of
from sidelight.rounds import Learner
from sidelight.rounds.lclr import LCLR, METHODS, TWO_STAGE, HeldLearner, lclr_learner
from sidelight.rounds.restarts import Restarts
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData

STARTS = 2  # the weights of two stages, and the first ones


@dataclass(frozen=True, kw_only=True)
class Lclr(LearnerSpec):
    """LCLR: yes or no, by the best structure that an input has (Chang, Goldwasser, Roth and Srikumar 2010).

    It learns from companion answers alone. `judge` gives decisions, and `predict` the structures behind them. The
    method "lclr_approximate" (thesis Algorithm 12) fixes the structures of good and of bad inputs in each of `repeats`
    rounds; the objective may rise. With "two_stage" (Alignment+Learning), structures are always the best ones under the
    first weights, in training and later.
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
    """Good and bad inputs; raises `DataError` where there are none of one sort."""
    problem = problem_of(data)
    for terms, what in ((problem.positive, "good"), (problem.negative, "bad")):
        if not len(terms.prices):
            raise DataError(f"no {what} inputs", remedy="give inputs that are good, and some that are bad")
    return Decisions(problem.positive, problem.negative)


def _start(data: FitData) -> Floats:
    weights = first_weights_of(getattr(data.structure, "plain", None)) if data.start is None else data.start
    return np.zeros(data.size) if weights is None else weights

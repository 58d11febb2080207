"""CRFs: from Gold, and from whatever says which labels a token may have.

Gold whose labels have several hidden states admits all of these: a CRF with hidden states (Quattoni et al. 2007;
Morency, Quattoni and Darrell 2007), which is no longer convex.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.arrays import Ints
from sidelight.errors import DataError, Intractable
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.making.given import Given
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.second_order_likelihood import second_order_problem
from sidelight.recipe_kinds import LogLinear
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.spaces import ChainSpace
from sidelight.spaces.second_order import SecondOrderSpace

MOST_ROUNDS = 1000
USUAL_TOLERANCE = 0.01  # with which L-BFGS has its usual precision
START = 0.1  # standard deviation of the first weights where labels have several states


def make(given: Given, recipe: LogLinear) -> LikelihoodLearner:
    """The learner for `crf` and `partial_crf`."""
    given.only(("gold",) if recipe.gold_only else ("gold", "partial", "candidates", "unlabeled"))
    given.single_tokens()
    given.whole(recipe.name)
    settings = given.settings
    if given.layout.order == 2 and recipe.solver != "lbfgs":
        raise Intractable(f"the solver {recipe.solver} is for chains of order 1; use lbfgs")
    problem_of = second_order_problem if given.layout.order == 2 else likelihood_problem
    problem = problem_of(_inputs(given), given.layout, support=recipe.support, l2=1.0, n_jobs=settings.n_jobs)
    options = LikelihoodOptions(
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        lbfgs_options(settings.tolerance, l1=recipe.l1),
        recipe.solver,
        settings.tolerance if recipe.solver == "sgd" else settings.tolerance / 10,
        seed=settings.seed,
    )
    start = given.start
    if start is None and given.labels.hidden:  # at zero the states of a label are equals, and would stay so
        start = np.random.default_rng(settings.seed).normal(scale=START, size=given.layout.size)
    return LikelihoodLearner.fresh(problem, options, start=start, name=recipe.name)


def lbfgs_options(tolerance: float, *, l1: float = 0.0) -> LbfgsOptions:
    """L-BFGS knows no gap: it ends where the fall over ten rounds or the gradient is a thousandth of the tolerance."""
    share = tolerance / USUAL_TOLERANCE
    usual = LbfgsOptions(l1=l1)
    return replace(usual, epsilon=share * usual.epsilon, delta=share * usual.delta)


def _inputs(given: Given) -> list[Labelled]:
    """Gold, and what has candidates; unlabelled inputs have nothing to say to a likelihood."""
    encoded, prices = given.encoded, given.prices()
    found = []
    gold, hidden = encoded.gold()
    if len(gold):
        targets = encoded.targets[given.rows.tokens_of(gold)]
        found.append(Labelled(given.rows.take(gold), _space(given, gold), prices[gold], targets=targets))
    partly = np.concatenate([hidden, encoded.of_kind("partial", "candidates")])
    if len(partly) and encoded.admitted is not None:
        admitted = encoded.admitted[given.rows.tokens_of(partly)]
        found.append(Labelled(given.rows.take(partly), _space(given, partly), prices[partly], admitted=admitted))
    if not found:
        raise DataError("no input has any label", remedy="give some Gold, Partial or Candidates")
    return found


def _space(given: Given, which: Ints) -> ChainSpace | SecondOrderSpace:
    space = given.batch(which).space
    assert isinstance(space, (ChainSpace, SecondOrderSpace))
    return space

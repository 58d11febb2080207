"""The structural SVM by solvers other than dual coordinate descent; MIRA, passive–aggressive learning and AROW."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.learners import Learner
from sidelight.learners.convex import ConvexLearner, ConvexOptions
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.learners.online import OnlineLearner
from sidelight.making.given import Given
from sidelight.objective.cuts import POWERS
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import TargetTerms
from sidelight.recipe_kinds import ConvexMargins, OnlineMargins
from sidelight.spaces import Cost

MOST_ROUNDS = 1000
EPOCHS = 10


def make(given: Given, recipe: ConvexMargins) -> Learner:
    """The learner for `structural_svm` with a solver of choice."""
    given.only(("gold",))
    settings = given.settings
    if given.go_on or given.start is not None:
        raise ValueError(
            f"the solver {recipe.solver} begins at zero; use dual_coordinate for partial_fit and warm_start"
        )
    if settings.loss != "hinge" and (recipe.solver != "n_slack_qp" or settings.loss == "logistic"):
        remedy = "give loss='hinge' (--loss hinge on the command line), or use dual_coordinate"
        raise ValueError(f"the solver {recipe.solver} minimises the hinge, and the loss is {settings.loss}; {remedy}")
    most = MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds
    if recipe.solver == "exponentiated_gradient":
        return _exponentiated_gradient(given, recipe, most)
    options = ConvexOptions(
        solver=recipe.solver,
        power=POWERS[settings.loss],
        tolerance=settings.tolerance,
        violation=settings.violation,
        max_rounds=most,
        one_slack=recipe.one_slack,
        frank_wolfe=replace(recipe.frank_wolfe, seed=settings.seed),
        subgradient=replace(recipe.subgradient, seed=settings.seed),
    )
    return ConvexLearner.fresh(_terms(given), options, name=recipe.name)


def make_online(given: Given, recipe: OnlineMargins) -> OnlineLearner:
    """The learner for `mira`, `passive_aggressive` and `arow`."""
    given.only(("gold",))
    if given.go_on:
        raise ValueError(f"{recipe.name} has no partial_fit; use the perceptron, or fit with warm_start")
    terms = _terms(given)
    assert isinstance(terms.cost, Cost)
    settings = given.settings
    return OnlineLearner.fresh(
        terms.batch,
        terms.cost,
        given.encoded.weights,
        recipe.options,
        max_rounds=EPOCHS if settings.max_rounds is None else settings.max_rounds,
        seed=settings.seed,
        start=given.start,
    )


def _terms(given: Given) -> TargetTerms:
    everything = np.arange(len(given.rows))
    return TargetTerms(given.batch(everything), Cost(given.encoded.targets, given.costs()), given.prices())


def _exponentiated_gradient(given: Given, recipe: ConvexMargins, most: int) -> LikelihoodLearner:
    terms = _terms(given)
    shown = Labelled(terms.batch, terms.prices, targets=given.encoded.targets)
    problem = likelihood_problem([shown], support="all", n_jobs=given.settings.n_jobs)
    options = LikelihoodOptions(most, solver="eg", tolerance=given.settings.tolerance, seed=given.settings.seed)
    return LikelihoodLearner.fresh(problem, options, costs=given.costs(), name=recipe.name)

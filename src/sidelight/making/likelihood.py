"""CRFs: from Gold, from whatever says which labels a token may have, and from what is estimated beside the weights.

Gold whose labels have several hidden states admits all of these: a CRF with hidden states (Quattoni et al. 2007;
Morency, Quattoni and Darrell 2007), which is no longer convex.

Which weights exist with support "seen": the pairs of attribute and label that some labeling of the data has. That is
the gold label for tokens of Gold, and every admitted label elsewhere. Inputs of price 0 show nothing, nor do companion
inputs, which may have any label: their answers say something of the weights that exist, so that at a price of nearly
nothing they leave the model of the other evidence as it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import DataError
from sidelight.learners import Learner
from sidelight.learners.latent_likelihood import LatentLikelihoodLearner, LatentOptions
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.making import believed, voted
from sidelight.making.given import Given
from sidelight.making.latent_groups import Plan
from sidelight.objective.companion_likelihood import Answers
from sidelight.objective.likelihood import Labelled, form_of, likelihood_problem
from sidelight.recipe_kinds import Believed, LogLinear
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.structures.segment_structure import SegmentStructure

MOST_ROUNDS = 1000
MEMORY = 10  # steps that L-BFGS remembers, over segments
STEPS = 200  # iterations of L-BFGS between two estimates of something latent, at most
USUAL_TOLERANCE = 0.01  # with which L-BFGS has its usual precision
START = 0.1  # standard deviation of the first weights where labels have several states
PLANS = (believed.plan, voted.plan)  # of groups with something latent


def make(given: Given, recipe: LogLinear | Believed) -> Learner:
    """The learner for `crf`, `partial_crf`, and `posterior_regularization` over one of them."""
    base = recipe.base if isinstance(recipe, Believed) else recipe
    alone = base.gold_only and base is recipe
    given.only(("gold",) if alone else ("gold", "partial", "candidates", "companion", "unlabeled", "votes"))
    given.single_tokens()
    given.whole(recipe.name)
    plans = [found for plan in PLANS if (found := plan(given, recipe)) is not None]
    inputs, companions = _inputs(given, recipe), _companions(given)
    if isinstance(recipe, Believed) and not (inputs and (plans or companions)):
        raise DataError("there is no Gold, or nothing else", remedy="give labelled inputs, and inputs without labels")
    if not inputs and not plans:
        raise DataError("no input has any label", remedy="give some Gold, Partial or Candidates")
    if companions and base.solver == "eg":
        raise ValueError("the solver eg knows no companion answers; use lbfgs or sgd")
    if plans:
        start = given.start
        if start is None and not inputs:  # answers alone say nothing of labels: groups are estimated first
            start = np.zeros(given.size)
        return _latent(given, recipe, base, inputs + companions, plans, start)
    return _smooth(given, replace(base, name=recipe.name), inputs + companions)


def _smooth(given: Given, recipe: LogLinear, inputs: list[Labelled]) -> LikelihoodLearner:
    """Nothing is latent but labels: one problem."""
    settings = given.settings
    problem = likelihood_problem(inputs, support=recipe.support, l2=1.0, n_jobs=settings.n_jobs)
    options = LikelihoodOptions(
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        _lbfgs_of(given, l1=recipe.l1),
        recipe.solver,
        settings.tolerance if recipe.solver == "sgd" else settings.tolerance / 10,
        seed=settings.seed,
    )
    start = given.start
    if start is None and given.labels.hidden:  # at zero the states of a label are equals, and would stay so
        start = np.random.default_rng(settings.seed).normal(scale=START, size=given.size)
    return LikelihoodLearner.fresh(problem, options, start=start, name=recipe.name)


def _latent(
    given: Given,
    recipe: LogLinear | Believed,
    base: LogLinear,
    inputs: list[Labelled],
    plans: list[Plan],
    start: Floats | None,
) -> LatentLikelihoodLearner:
    """Problem after problem, and estimates between them."""
    settings = given.settings
    if base.solver != "lbfgs":
        raise ValueError(f"{recipe.name} solves problem after problem by L-BFGS, and the solver is {base.solver}")
    shown = [part.shown() for part in inputs] + [one for plan in plans for one in plan.shown]
    scorer = given.batch(np.zeros(0, dtype=np.int64)).scorer
    form = form_of(scorer, shown, support=base.support, n_jobs=settings.n_jobs)
    most = recipe.iterations if isinstance(recipe, Believed) else settings.completions
    options = LatentOptions(
        most if settings.max_rounds is None else min(most, settings.max_rounds),
        settings.fall,
        LikelihoodOptions(STEPS, _lbfgs_of(given, l1=base.l1)),
    )
    return LatentLikelihoodLearner.fresh(
        form,
        [form.terms(part) for part in inputs],
        [plan.make(form) for plan in plans],
        options,
        start=start,
        name=recipe.name,
        n_jobs=settings.n_jobs,
    )


def _lbfgs_of(given: Given, *, l1: float) -> LbfgsOptions:
    """As is usual; over segments it ends by a bound of the gap, where there is one."""
    if isinstance(given.structure, SegmentStructure) and l1 == 0.0:
        return LbfgsOptions(memory=MEMORY, epsilon=0.0, delta=0.0, gap=given.settings.tolerance)
    return lbfgs_options(given.settings.tolerance, l1=l1)


def lbfgs_options(tolerance: float, *, l1: float = 0.0) -> LbfgsOptions:
    """L-BFGS knows no gap: it ends where the fall over ten rounds or the gradient is a thousandth of the tolerance."""
    share = tolerance / USUAL_TOLERANCE
    usual = LbfgsOptions(l1=l1)
    return replace(usual, epsilon=share * usual.epsilon, delta=share * usual.delta)


def _inputs(given: Given, recipe: LogLinear | Believed) -> list[Labelled]:
    """Gold, and what has candidates unless it is believed; unlabelled inputs have nothing to say to a likelihood."""
    encoded, prices = given.encoded, given.prices()
    found = []
    gold, hidden = encoded.gold()
    if len(gold):
        targets = encoded.targets[given.rows.tokens_of(gold)]
        found.append(Labelled(given.batch(gold), prices[gold], targets=targets))
    partly = np.concatenate([hidden, encoded.of_kind("partial", "candidates")])
    if len(partly) and encoded.admitted is not None and not isinstance(recipe, Believed):
        admitted = encoded.admitted[given.rows.tokens_of(partly)]
        found.append(Labelled(given.batch(partly), prices[partly], admitted=admitted))
    return found


def _companions(given: Given) -> list[Labelled]:
    """Companion answers, where there are any."""
    encoded, which = given.encoded, given.encoded.of_kind("companion")
    if not len(which):
        return []
    batch = given.batch(which)
    if encoded.admitted is not None and not np.all(admitted := encoded.admitted[given.rows.tokens_of(which)]):
        batch = batch.inside(admitted)
    answers = Answers(encoded.answers[which].astype(np.float64), given.sizes()[which])
    return [Labelled(batch, given.prices()[which], answers=answers)]

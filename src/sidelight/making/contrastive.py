"""Contrastive estimation from Unlabeled, Candidates and Partial inputs, with CRF terms for Gold beside it.

What candidates say is a dictionary: it limits the labels of a token in the input and in all its neighbours. Partial
labels are what is known of the input itself: they count above the line alone.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Ints
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.making.given import Given
from sidelight.making.likelihood import lbfgs_options
from sidelight.objective.contrastive import ContrastiveTerms, Listed, Neighbourhood, Swaps
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms, LogLinearTerms
from sidelight.objective.neighbourhoods import Neighbours
from sidelight.recipe_kinds import Contrastive
from sidelight.spaces import ChainSpace

MOST_ROUNDS = 200


def make(given: Given, recipe: Contrastive) -> LikelihoodLearner:
    """The learner for `contrastive`."""
    given.only(("gold", "partial", "candidates", "unlabeled"))
    given.whole(recipe.name)
    settings, encoded = given.settings, given.encoded
    given.single_tokens()
    if given.labels.hidden or given.layout.order == 2:
        raise Intractable("contrastive estimation is for chains of order 1 and labels of one state")
    prices = given.prices()
    terms: list[LogLinearTerms] = []
    for kind in ("candidates", "partial", "unlabeled"):
        which = encoded.of_kind(kind)
        if not len(which):
            continue
        space = _space(given, which)
        admitted = None if encoded.admitted is None else encoded.admitted[given.rows.tokens_of(which)]
        if kind == "candidates" and admitted is not None:
            space = space.inside(admitted)
        rows = given.chain()[0].take(which)
        terms.append(
            ContrastiveTerms(
                FullFeatures.of(rows, given.layout, n_jobs=settings.n_jobs),
                space,
                prices[which],
                _neighbourhood(space.starts, recipe, settings.seed),
                admitted=admitted if kind == "partial" else None,
            )
        )
    gold = encoded.of_kind("gold")
    if not terms:
        raise DataError(
            "contrastive estimation learns from inputs without full labels, and all are Gold",
            remedy="add Unlabeled, Partial or Candidates, or use crf",
        )
    if len(gold):
        rows = given.chain()[0].take(gold)
        features = FullFeatures.of(rows, given.layout, n_jobs=settings.n_jobs)
        targets = encoded.targets[given.rows.tokens_of(gold)]
        terms.append(LikelihoodTerms(features, _space(given, gold), prices[gold], targets=targets))
    problem = LikelihoodProblem(terms, l2=1.0, n_jobs=settings.n_jobs)
    most = MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds
    start = given.start
    if start is None and not len(gold):  # at zero all labels are equals, which is a stationary point
        start = np.random.default_rng(settings.seed).normal(scale=recipe.start, size=given.layout.size)
    options = LikelihoodOptions(most, lbfgs_options(settings.tolerance))
    return LikelihoodLearner.fresh(problem, options, start=start, name=recipe.name)


def _neighbourhood(starts: Ints, recipe: Contrastive, seed: int) -> Neighbourhood:
    if recipe.neighbours == "swaps":
        return Swaps()
    rng = np.random.default_rng([seed, 1])
    return Listed(Neighbours.of(starts, recipe.neighbours, copies=recipe.copies, rng=rng))


def _space(given: Given, which: Ints) -> ChainSpace:
    space = given.batch(which).space
    assert isinstance(space, ChainSpace)
    return space

"""Contrastive estimation from Unlabeled, Candidates and Partial inputs, with CRF terms for Gold beside it.

What candidates say is a dictionary: it limits the labels of a token in the input and in all its neighbours. Partial
labels are what is known of the input itself: they count above the line alone.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Ints
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.making.given import Given
from sidelight.making.likelihood import lbfgs_options
from sidelight.objective.chain_scorer import chain_of
from sidelight.objective.contrastive import ContrastiveTerms, Listed, Swaps
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms, LogLinearTerms
from sidelight.objective.listed_contrastive import ListedContrastiveTerms
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
    if given.labels.hidden:
        raise Intractable("contrastive estimation is for labels of one state; leave states out")
    prices = given.prices()
    terms: list[LogLinearTerms] = []
    for kind in ("candidates", "partial", "unlabeled"):
        which = encoded.of_kind(kind)
        if not len(which):
            continue
        admitted = None if encoded.admitted is None else encoded.admitted[given.rows.tokens_of(which)]
        dictionary, known = (
            (admitted, None) if kind == "candidates" else (None, admitted if kind == "partial" else None)
        )
        terms.append(_terms(given, recipe, which, dictionary, known))
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
        terms.append(LikelihoodTerms(features, given.batch(gold).space, prices[gold], targets=targets))
    problem = LikelihoodProblem(terms, l2=1.0, n_jobs=settings.n_jobs)
    most = MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds
    start = given.start
    if start is None and not len(gold):  # at zero all labels are equals, which is a stationary point
        start = np.random.default_rng(settings.seed).normal(scale=recipe.start, size=given.layout.size)
    options = LikelihoodOptions(most, lbfgs_options(settings.tolerance))
    return LikelihoodLearner.fresh(problem, options, start=start, name=recipe.name)


def _terms(
    given: Given, recipe: Contrastive, which: Ints, dictionary: Bytes | None, known: Bytes | None
) -> LogLinearTerms:
    """Some inputs, with what their tokens may be anywhere, and what is known of the inputs themselves."""
    batch, prices, seed = given.batch(which), given.prices()[which], given.settings.seed
    if isinstance(batch.space, ChainSpace):
        features = FullFeatures.of(chain_of(batch).rows, given.layout, n_jobs=given.settings.n_jobs)
        space = batch.space if dictionary is None else batch.space.inside(dictionary)
        around = Swaps() if recipe.neighbours == "swaps" else Listed(_listed(batch.starts, recipe, seed))
        return ContrastiveTerms(features, space, prices, around, admitted=known)
    if recipe.neighbours == "swaps":
        raise Intractable("neighbours 'swaps' are summed over chains of order 1; give neighbours='transpose'")
    return ListedContrastiveTerms.of(
        batch,
        prices,
        _listed(batch.starts, recipe, seed),
        allowed=given.allowed,
        dictionary=dictionary,
        admitted=known,
    )


def _listed(starts: Ints, recipe: Contrastive, seed: int) -> Neighbours:
    rng = np.random.default_rng([seed, 1])
    return Neighbours.of(starts, recipe.neighbours, copies=recipe.copies, rng=rng)

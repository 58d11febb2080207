"""CRFs by posterior regularisation: Gold is known, everything else believed under rules.

Which weights exist follows the base as in `crf` and `partial_crf`: with support "seen" these are the pairs of attribute
and label that some labeling of the data has. That is the gold label for tokens of Gold, and for believed tokens every
label that they are admitted: any one for Unlabeled, since the rules may come to believe it. Inputs of price 0 show
nothing.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Ints
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.support import Shown, Support
from sidelight.features.supported import SupportedFeatures
from sidelight.generative.completion import Free
from sidelight.learners.believed import BelievedLearner, BelievedOptions, Pool
from sidelight.learners.likelihood import LikelihoodOptions
from sidelight.making import ruled
from sidelight.making.given import Given
from sidelight.making.hmm import to_complete
from sidelight.making.likelihood import lbfgs_options
from sidelight.objective.likelihood import LikelihoodTerms, WeightedFeatures
from sidelight.recipe_kinds import Believed
from sidelight.spaces import ChainSpace

STEPS = 200  # iterations of L-BFGS in one M-step, at most


def make(given: Given, recipe: Believed) -> BelievedLearner:
    """The learner for `posterior_regularization` over a CRF."""
    given.only(("gold", "partial", "candidates", "unlabeled"))
    settings = given.settings
    if given.go_on:
        raise ValueError(f"{recipe.name} has no partial_fit; use fit")
    if recipe.base.l1 > 0 or recipe.base.solver != "lbfgs":
        raise ValueError("posterior regularisation solves by L-BFGS with an L2 norm; leave l1 and solver out")
    gold, rest = given.encoded.of_kind("gold"), to_complete(given)
    if not len(gold) or not len(rest):
        raise DataError("there is no Gold, or nothing else", remedy="give labelled inputs, and inputs without labels")
    space, pool_space = given.batch(gold).space, given.batch(rest).space
    if not isinstance(space, ChainSpace) or not isinstance(pool_space, ChainSpace):
        raise Intractable("a CRF has order 1; leave order out")
    prices, rows = given.prices(), given.rows
    targets = given.encoded.targets[rows.tokens_of(gold)]
    support = _seen(given, gold, rest) if recipe.base.support == "seen" else None

    def features(which: Ints) -> WeightedFeatures:
        taken = rows.take(which)
        if support is None:
            return FullFeatures.of(taken, given.layout, n_jobs=settings.n_jobs)
        return SupportedFeatures.of(taken, support, n_jobs=settings.n_jobs)

    known = LikelihoodTerms(features(gold), space, prices[gold], targets=targets)
    admitted = pool_space
    if given.encoded.admitted is not None:
        admitted = pool_space.inside(given.encoded.admitted[rows.tokens_of(rest)])
    pool = Pool(features(rest), pool_space, admitted, np.ascontiguousarray(prices[rest]))
    completion = ruled.completion(given, beta=None, gamma=recipe.gamma)
    options = BelievedOptions(
        recipe.gamma,
        recipe.iterations if settings.max_rounds is None else min(recipe.iterations, settings.max_rounds),
        settings.fall,
        LikelihoodOptions(STEPS, lbfgs_options(settings.tolerance)),
    )
    return BelievedLearner(
        known, pool, Free() if completion is None else completion, options, recipe.name, settings.n_jobs
    )


def _seen(given: Given, gold: Ints, rest: Ints) -> Support:
    """The pairs that gold labels, and labels that may be believed, show."""
    prices, encoded = given.prices(), given.encoded
    gold, rest = gold[prices[gold] > 0], rest[prices[rest] > 0]
    rows = given.rows
    if encoded.admitted is None:
        admitted: Bytes = np.ones((int(rows.lengths[rest].sum()), given.layout.n_labels), dtype=np.uint8)
    else:
        admitted = encoded.admitted[rows.tokens_of(rest)]
    shown = [Shown(rows.take(gold), targets=encoded.targets[rows.tokens_of(gold)])]
    if len(rest):
        shown.append(Shown(rows.take(rest), admitted=admitted))
    return Support.seen(given.layout, shown)

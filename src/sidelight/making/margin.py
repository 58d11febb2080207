"""Structural SVM, J-LIS and latent margin learning: Gold, companion answers, and what is to be completed.

Gold whose labels have several states is completed within these; it keeps its price. Since the cost of an output counts
labels, the best states minimise its term exactly (Yu and Joachims 2009).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.arrays import NO_FLOATS, Ints
from sidelight.learners import Learner
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.learners.restarts import Restarts
from sidelight.making.given import Given
from sidelight.objective.batch import Batch
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.cuts import POWERS
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.recipe_kinds import LatentMargins
from sidelight.spaces import Cost

KINDS = ("gold", "partial", "candidates", "unlabeled")  # all but companion answers
MOST_ROUNDS = 1000


def options_of(given: Given) -> MarginOptions:
    """The settings that concern margin learners."""
    settings = given.settings
    return MarginOptions(
        POWERS[settings.loss],
        settings.tolerance,
        settings.violation,
        settings.fall,
        settings.completions,
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        settings.random_ties,
        settings.seed,
        random_start=given.labels.hidden,
    )


def problem_of(given: Given) -> LatentProblem:
    """The four groups of terms."""
    given.only((*KINDS, "companion"))
    encoded, rows = given.encoded, given.rows
    costs, prices, sizes = given.costs(), given.prices(), given.sizes()
    gold, hidden = encoded.gold()
    latent = np.concatenate([hidden, encoded.of_kind("partial", "candidates", "unlabeled")])
    negative = np.flatnonzero(encoded.answers == -1)
    positive = np.flatnonzero(encoded.answers == 1)
    gold_cost = Cost(encoded.targets[rows.tokens_of(gold)], costs, NO_FLOATS)
    latent_tokens = rows.tokens_of(latent)
    latent_cost = Cost(np.zeros(len(latent_tokens), dtype=np.int32), costs, NO_FLOATS)
    admitted = None if encoded.admitted is None else encoded.admitted[latent_tokens]
    given.single_tokens()

    def limited(which: Ints) -> Batch:
        batch = given.batch(which)
        admitted = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(which)]
        return batch if admitted is None or np.all(admitted) else batch.inside(admitted)

    return LatentProblem(
        TargetTerms(given.batch(gold), gold_cost, prices[gold]),
        Latent(TargetTerms(given.batch(latent), latent_cost, prices[latent]), admitted, len(hidden)),
        NegativeTerms(limited(negative), sizes[negative], prices[negative]),
        Positive(limited(positive), sizes[positive], prices[positive]),
    )


def make(given: Given, recipe: LatentMargins) -> Learner:
    """The learner for `jlis` and its special cases."""
    if not recipe.answers:
        given.only(KINDS)
    if recipe.restarts > 1:
        if given.start is not None:
            remedy = "leave restarts at 1 for partial_fit" if given.go_on else "leave warm_start out"
            raise ValueError(f"restarts begin at random, not from earlier weights; {remedy}")
        alone = replace(given, settings=replace(given.settings, n_jobs=1))  # each run on one thread, runs abreast
        problem, options, size = problem_of(alone), options_of(given), given.size

        def one(seed: int) -> MarginLearner:
            return MarginLearner.fresh(
                problem, replace(options, random_ties=True, seed=seed), size=size, name=recipe.name
            )

        return Restarts(one, range(options.seed, options.seed + recipe.restarts), n_jobs=given.settings.n_jobs)
    return MarginLearner.fresh(
        problem_of(given),
        options_of(given),
        size=given.size,
        start=given.start,
        origin=given.start if given.go_on else None,
        name=given.settings.recipe.name,
    )

"""Naive Bayes from Gold."""

from __future__ import annotations

import numpy as np

from sidelight.errors import DataError
from sidelight.learners.naive_bayes import NaiveBayesLearner, TokenCounts
from sidelight.making.given import Given
from sidelight.making.single_tokens import GoldTokens
from sidelight.recipe_kinds import NaiveBayes


def make(given: Given, recipe: NaiveBayes) -> NaiveBayesLearner:
    """The learner for `naive_bayes`; the weights of evidence count, its price does not."""
    if not given.layout.bias:
        raise ValueError("naive_bayes keeps its prior in the bias; give bias=True")
    tokens, options = GoldTokens.of(given), recipe.options
    binary = options.events == "bernoulli"
    counts = TokenCounts.of(tokens.rows, tokens.labels, tokens.weights, given.layout, binary=binary)
    unseen = np.flatnonzero(counts.labels == 0)
    if options.prior and len(unseen):
        label = given.labels.names[int(unseen[0])]
        raise DataError(
            f"no Gold with a weight above 0 has the label {label!r}",
            remedy="leave it out of labels, or give prior=False",
        )
    return NaiveBayesLearner(counts, given.layout, options)

"""Binary SVMs from Gold, one per class."""

from __future__ import annotations

from sidelight.learners.one_against_rest import BinaryOptions, BinaryProblems, OneAgainstRestLearner
from sidelight.making import margin
from sidelight.making.given import Given
from sidelight.making.single_tokens import GoldTokens


def make(given: Given) -> OneAgainstRestLearner:
    """The learner for `one_against_rest`."""
    tokens, options = GoldTokens.of(given), margin.options_of(given)
    return OneAgainstRestLearner.fresh(
        BinaryProblems(tokens.rows, tokens.labels, tokens.prices, given.layout, given.settings.n_jobs),
        BinaryOptions(options.power, options.tolerance, options.max_rounds, seed=options.seed),
    )

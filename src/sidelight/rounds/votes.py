"""Inputs that functions vote on: the tagger and the trust in each function, learned from one likelihood.

The part of such inputs in the objective of `latent_likelihood` is

    Σ C (−log Σ_y p_w(y | x) P_ρ(votes | y)) − Σ C log P_ρ(votes of Gold's inputs | gold) − log prior(ρ)

with P_ρ and its prior as in `objective.trust`. For a given ρ it is the term of a partially labelled CRF whose admitted
labelings are soft (`LikelihoodTerms.bonus`); for given weights a step of EM improves ρ. Where there are no weights yet,
all labels are equally probable, and EM goes by the agreement of votes alone (Dawid and Skene 1979).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.kernels import inner
from sidelight.objective.expected_features import Weighted
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.objective.votes.trust import (
    Trust,
    TrustOptions,
    counts_of,
    estimated,
    log_likelihood,
    log_odds,
    penalty,
)
from sidelight.rounds.learner import State
from sidelight.spaces import Space, sums
from sidelight.voting.votes import EncodedVotes

STEPS = 3  # of EM between two problems: each costs as much as one iteration of L-BFGS


@dataclass(slots=True)
class VotedGroup:
    """Inputs with votes: a `LatentGroup`."""

    features: Weighted
    space: Space
    prices: Floats  # [N]
    votes: EncodedVotes
    known: Floats  # [S, 2] right and wrong votes on Gold's inputs
    trust: Trust
    options: TrustOptions
    n_jobs: int | None = None

    @classmethod
    def fresh(
        cls,
        features: Weighted,
        space: Space,
        prices: Floats,
        votes: EncodedVotes,
        *,
        known: Floats,
        options: TrustOptions,
        n_jobs: int | None = None,
    ) -> VotedGroup:
        """A group that trusts its voters as the prior and Gold say."""
        trust = Trust.beforehand(votes.function_of, len(votes.functions), options)
        trust = estimated(trust, known, votes.function_of, options)
        return cls(features, space, prices, votes, known, trust, options, n_jobs)

    def refresh(self, weights: Floats) -> tuple[LikelihoodTerms]:
        """Estimate how far voters are to be trusted; the terms of a CRF with their votes."""
        for _ in range(STEPS):
            counts = self.counts(weights)
            self.trust = estimated(self.trust, counts, self.votes.function_of, self.options)
        return (self._terms(),)

    def value(self, weights: Floats) -> float:
        """Σ price · loss − log prior, with the trust of the moment: the next `refresh` only lowers it."""
        lost = inner(self.prices, self._terms().losses(weights, n_jobs=self.n_jobs))
        return lost - log_likelihood(self.trust, self.known) + penalty(self.trust, self.votes.function_of, self.options)

    def counts(self, weights: Floats) -> Floats:
        """Expected counts at these weights, with those of Gold, without the prior's. # [S, 2]"""
        space, scores = sums.raised(self.space, self.features.scores(weights), self._odds())
        shares = sums.token_marginals(space, scores, n_jobs=self.n_jobs)
        shares *= np.repeat(self.prices, np.diff(self.space.starts))[:, None]
        return counts_of(self.votes, shares) + self.known

    def state(self) -> State:
        return {}, {"symbols": self.trust.symbols, "functions": self.trust.functions}

    def resume(self, state: State) -> None:
        self.trust = Trust(state[1]["symbols"].copy(), state[1]["functions"].copy())

    def _odds(self) -> Floats:
        return log_odds(self.votes, self.trust)

    def _terms(self) -> LikelihoodTerms:
        return LikelihoodTerms(self.features, self.space, self.prices, bonus=self._odds())

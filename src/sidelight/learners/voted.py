"""Inputs that functions vote on: the tagger and the trust in each function, learned from one likelihood.

The part of such inputs in the objective of `latent_likelihood` is

    Σ C (−log Σ_y p_w(y | x) P_θ(votes | y)) − log P_θ(votes of Gold's inputs | gold) − log prior(θ)

with P_θ and its prior as in `objective.trust`. For a given θ it is the term of a partially labelled CRF whose admitted
labelings are soft (`LikelihoodTerms.bonus`); for given weights a step of EM improves θ. Where there are no weights yet,
EM begins with votes and the frequency of labels alone (Dawid and Skene 1979), and the first problem is to follow what
it comes to believe: at zero weights all labels are equally probable, and a likelihood would go where silence leads it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats
from sidelight.kernels import inner
from sidelight.learners.learner import State
from sidelight.objective.believed import BelievedTerms
from sidelight.objective.likelihood import LikelihoodTerms, WeightedFeatures
from sidelight.objective.trust import (
    Trust,
    TrustOptions,
    VoteCounts,
    counts_of,
    log_density,
    log_odds,
    trust_of,
)
from sidelight.spaces.chain import ChainScores, ChainSpace
from sidelight.spaces.chain_sums import Beliefs, RaisedScores, beliefs
from sidelight.structures.encoded_votes import EncodedVotes

STEPS = 3  # of EM between two problems: each costs as much as one iteration of L-BFGS
FIRST_STEPS = 20  # before the first one, where there are no weights


@dataclass(slots=True)
class VotedGroup:
    """Inputs with votes: a `LatentGroup`."""

    features: WeightedFeatures
    space: ChainSpace
    prices: Floats  # [N]
    votes: EncodedVotes
    frequent: Floats  # [L] how frequent labels are, at a guess
    prior: VoteCounts
    known: VoteCounts  # of the votes on Gold's inputs
    trust: Trust
    options: TrustOptions
    n_jobs: int | None = None

    @classmethod
    def fresh(
        cls,
        features: WeightedFeatures,
        space: ChainSpace,
        prices: Floats,
        votes: EncodedVotes,
        *,
        frequent: Floats,
        prior: VoteCounts,
        known: VoteCounts,
        options: TrustOptions,
        n_jobs: int | None = None,
    ) -> VotedGroup:
        """A group that trusts its voters as the prior and Gold say."""
        trust = trust_of(prior + known, votes.function_of, options)
        return cls(features, space, prices, votes, frequent, prior, known, trust, options, n_jobs)

    def refresh(self, weights: Floats) -> tuple[LikelihoodTerms | BelievedTerms]:
        """Estimate how far voters are to be trusted; the terms of a CRF with their votes."""
        if not np.any(weights):
            found = self._first_beliefs()
            parts = found.tokens, found.start, found.end, found.transitions
            return (BelievedTerms(self.features, self.space, self.prices, *parts),)
        scores = self.features.scores(weights)
        for _ in range(STEPS):
            self._estimate(self._beliefs(scores))
        return (self._terms(),)

    def value(self, weights: Floats) -> float:
        """Σ price · loss − log prior, with the trust of the moment: the next `refresh` only lowers it."""
        lost = inner(self.prices, self._terms().losses(weights, n_jobs=self.n_jobs))
        return lost - log_density(self.trust, self.prior + self.known, self.options)

    def counts(self, weights: Floats) -> VoteCounts:
        """Expected counts at these weights, with those of Gold, without the prior's."""
        return self._counted(self._beliefs(self.features.scores(weights))) + self.known

    def state(self) -> State:
        return {}, {"trust.votes": self.trust.votes, "trust.silent": self.trust.silent}

    def resume(self, state: State) -> None:
        arrays = state[1]
        self.trust = Trust(arrays["trust.votes"].copy(), arrays["trust.silent"].copy())

    def _odds(self) -> Floats:
        return log_odds(self.votes, np.diff(self.space.starts), self.trust, self.options)

    def _terms(self) -> LikelihoodTerms:
        return LikelihoodTerms(self.features, self.space, self.prices, bonus=self._odds())

    def _beliefs(self, scores: ChainScores) -> Beliefs:
        return beliefs(self.space, RaisedScores(scores, self._odds()), prices=self.prices, n_jobs=self.n_jobs)

    def _counted(self, found: Beliefs) -> VoteCounts:
        return counts_of(self.votes, np.diff(self.space.starts), found.tokens)

    def _estimate(self, found: Beliefs) -> None:
        counts = self._counted(found) + self.known + self.prior
        self.trust = trust_of(counts, self.votes.function_of, self.options)

    def _first_beliefs(self) -> Beliefs:
        """What votes and the frequency of labels come to."""
        frequent = self.frequent
        plain = self.space.zero_scores()
        shape = int(self.space.starts[-1]), len(frequent)
        found = self._beliefs(RaisedScores(plain, np.broadcast_to(np.log(frequent), shape)))
        for _ in range(FIRST_STEPS):
            self._estimate(found)
            total = found.tokens.sum(axis=0) + self.prior.votes.sum(axis=0) + 1e-3
            frequent = total / total.sum()
            found = self._beliefs(RaisedScores(plain, np.broadcast_to(np.log(frequent), shape)))
        return found

"""Inputs that functions vote on: the tagger and the trust in each function, learned from one likelihood.

The part of such inputs in the objective of `latent_likelihood` is

    Σ C (−log Σ_y p_w(y | x) P_ρ(votes | y)) − Σ C log P_ρ(votes of Gold's inputs | gold) − log prior(ρ)

with P_ρ and its prior as in `objective.trust`. For a given ρ it is the term of a partially labelled CRF whose admitted
labelings are soft (`LikelihoodTerms.bonus`); for given weights a step of EM improves ρ. Where there are no weights yet,
EM begins with votes and the frequency of labels alone (Dawid and Skene 1979), and the first problem is to follow what
it comes to believe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats
from sidelight.kernels import inner
from sidelight.learners.learner import State
from sidelight.objective.believed import BelievedTerms
from sidelight.objective.expected_features import WeightedFeatures
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.objective.trust import counts_of, log_odds, trust_of
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
    prior: Floats  # [S, 2] counts of right and wrong votes
    known: Floats  # [S, 2] of the votes on Gold's inputs
    trust: Floats  # [S, 2] log ρ, log (1 − ρ)
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
        prior: Floats,
        known: Floats,
        n_jobs: int | None = None,
    ) -> VotedGroup:
        """A group that trusts its voters as the prior and Gold say."""
        return cls(features, space, prices, votes, frequent, prior, known, trust_of(prior + known), n_jobs)

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
        return lost - float(((self.prior + self.known) * self.trust).sum())

    def counts(self, weights: Floats) -> Floats:
        """Expected counts at these weights, with those of Gold, without the prior's. # [S, 2]"""
        return counts_of(self.votes, self._beliefs(self.features.scores(weights)).tokens) + self.known

    def state(self) -> State:
        return {}, {"trust": self.trust}

    def resume(self, state: State) -> None:
        self.trust = state[1]["trust"].copy()

    def _odds(self) -> Floats:
        return log_odds(self.votes, self.trust)

    def _terms(self) -> LikelihoodTerms:
        return LikelihoodTerms(self.features, self.space, self.prices, bonus=self._odds())

    def _beliefs(self, scores: ChainScores) -> Beliefs:
        return beliefs(self.space, RaisedScores(scores, self._odds()), prices=self.prices, n_jobs=self.n_jobs)

    def _estimate(self, found: Beliefs) -> None:
        self.trust = trust_of(counts_of(self.votes, found.tokens) + self.known + self.prior)

    def _first_beliefs(self) -> Beliefs:
        """What votes and the frequency of labels come to."""
        shape = int(self.space.starts[-1]), len(self.frequent)
        plain = RaisedScores(self.space.zero_scores(), np.broadcast_to(np.log(self.frequent), shape))
        for _ in range(FIRST_STEPS):
            self._estimate(self._beliefs(plain))
        return self._beliefs(plain)

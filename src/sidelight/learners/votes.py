"""Inputs with votes: the tagger and the reliability of each function, learned from one likelihood.

The part of such inputs in the objective of `latent_likelihood` is

    Σ C (−log Σ_y p_w(y | x) P_ρ(votes | y)) − Σ C log P_ρ(votes of Gold's inputs | gold) − log prior(ρ)

with P_ρ and its prior as in `objective.trust`. For a given ρ it is the term of a partially labelled CRF whose
admitted labelings are soft (`LikelihoodTerms.bonus`); for given weights a step of EM improves ρ. Before there are
weights, all labels are equally probable, and EM uses only the agreement of votes (Dawid and Skene 1979).

An input that is also Gold adds nothing to the likelihood of its labels; its votes are counted with certainty. With
support "seen", a token adds weights for the labels that it has votes for, or for all labels if it has no votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner
from sidelight.describe import content_key
from sidelight.objective.batch import Batch
from sidelight.objective.expected_features import Weighted
from sidelight.objective.likelihood import Form, Labelled, LikelihoodTerms, LogLinearTerms
from sidelight.objective.placed import ShardedTerms
from sidelight.objective.trust import (
    Trust,
    TrustOptions,
    add_votes,
    counts_of,
    estimated,
    log_likelihood,
    log_odds,
    penalty,
)
from sidelight.parallel.place import Held
from sidelight.rounds import Learner
from sidelight.rounds.latent_likelihood import LatentLikelihoodLearner, LatentPlan
from sidelight.rounds.learner import State
from sidelight.spaces import Space, sums
from sidelight.specs.fit_data import FitData
from sidelight.voting.table import Reliability
from sidelight.voting.votes import EncodedVotes


def plan(data: FitData, trust: TrustOptions) -> LatentPlan | None:
    """The inputs with votes, if there are any."""
    votes = data.encoded.votes
    if votes is None:
        return None
    prices = data.prices()
    pool, tried, right = _matched(data)
    if not len(pool):
        return None
    known = trust.gold * _known(data, tried, right, prices)
    own = votes.take(data.rows.tokens_of(pool))
    batch = data.batch(pool)

    def make(form: Form) -> VotedGroup:
        whole = batch.here(), np.ascontiguousarray(prices[pool]), own
        if form.place is None or not (lots := form.lots(batch)):
            return VotedGroup.fresh(VotedInputs.of(whole, form), own, known=known, options=trust)
        held = form.place.hold([_part(*whole, lo, hi) for lo, hi in lots])
        held = held.derive(VotedInputs.of, form.there(held))
        return VotedGroup.fresh(ShardedVotes(held, form, whole[1]), own, known=known, options=trust)

    shown = Labelled(batch, prices[pool], admitted=_voted_for(own, int(batch.starts[-1]), len(data.labels)))
    return LatentPlan((shown.shown(),), make)


def reliabilities_of(data: FitData, learner: Learner) -> list[Reliability]:
    """The learner's estimate of how often each function's votes for a label are right."""
    votes = data.encoded.votes
    if votes is None or not isinstance(learner, LatentLikelihoodLearner):
        return []
    reliabilities = []
    for group in learner.groups:
        if isinstance(group, VotedGroup):
            counts = group.counts(learner.short)
            for s, labels in enumerate(votes.symbols):
                right, wrong = counts[s].tolist()
                text = " or ".join(map(str, labels))
                reliabilities.append(Reliability(votes.functions[votes.function_of[s]], text, right + wrong, right))
    return reliabilities


def _matched(data: FitData) -> tuple[Ints, Ints, Ints]:
    """Inputs with votes alone, those that are Gold as well, and the Gold that each of these is."""
    voted, gold = data.encoded.of_kind("votes"), data.encoded.of_kind("gold")
    labelled: dict[object, int] = {}
    for i in gold.tolist():
        labelled.setdefault(content_key(data.evidence[i].x), i)
    right = [labelled.get(content_key(data.evidence[i].x), -1) for i in voted.tolist()] if labelled else []
    partners = np.array(right, dtype=np.int64) if labelled else np.full(len(voted), -1, dtype=np.int64)
    return voted[partners < 0], voted[partners >= 0], partners[partners >= 0]


def _known(data: FitData, tried: Ints, right: Ints, prices: Floats) -> Floats:
    """The votes on inputs that are Gold, counted by their gold labels (evenly by the states of these). # [S, 2]"""
    votes, rows = data.encoded.votes, data.rows
    assert votes is not None
    tokens = rows.tokens_of(right)
    certain = np.zeros((len(tokens), len(data.labels)))
    if data.labels.hidden and data.encoded.admitted is not None:
        certain += data.encoded.admitted[tokens]
        certain /= certain.sum(axis=1, keepdims=True)
    else:
        certain[np.arange(len(tokens)), data.encoded.targets[tokens]] = 1.0
    certain *= np.repeat(prices[tried], rows.lengths[tried])[:, None]
    return counts_of(votes.take(rows.tokens_of(tried)), certain)


def _voted_for(votes: EncodedVotes, tokens: int, labels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The labels with votes at each token, or all. # [T, L]"""
    counts = np.zeros((tokens, labels))
    add_votes(votes.starts, votes.votes, votes.admits.astype(np.float64), counts)
    counts[np.diff(votes.starts) == 0] = 1.0
    return (counts > 0).astype(np.uint8)


STEPS = 3  # of EM between two problems: each costs as much as one iteration of L-BFGS


Voters = tuple[Batch, Floats, EncodedVotes]  # inputs, their prices, and the votes on them


def _part(batch: Batch, prices: Floats, votes: EncodedVotes, lo: int, hi: int) -> Voters:
    """The inputs lo..hi alone."""
    return batch.part(lo, hi), prices[lo:hi], votes.take(np.arange(batch.starts[lo], batch.starts[hi]))


@dataclass(frozen=True, slots=True)
class VotedInputs:
    """Inputs with votes: all of a group, or those of a shard."""

    features: Weighted
    space: Space
    prices: Floats  # [N]
    votes: EncodedVotes
    n_jobs: int | None

    @classmethod
    def of(cls, voters: Voters, form: Form) -> VotedInputs:
        """With features in a form."""
        batch, prices, votes = voters
        return cls(form.features(batch), batch.space, prices, votes, form.n_jobs)

    def counts(self, weights: Floats, trust: Trust) -> Floats:
        """How often each vote is expected to be right, and wrong. # [S, 2]"""
        odds = log_odds(self.votes, trust)
        space, scores = sums.raised(self.space, self.features.scores(weights), odds)
        shares = sums.token_marginals(space, scores, n_jobs=self.n_jobs)
        shares *= np.repeat(self.prices, np.diff(self.space.starts))[:, None]
        return counts_of(self.votes, shares)

    def terms(self, trust: Trust) -> LogLinearTerms:
        """The terms of a CRF with these votes."""
        return LikelihoodTerms(self.features, self.space, self.prices, bonus=log_odds(self.votes, trust))


@dataclass(frozen=True, slots=True)
class ShardedVotes:
    """The same for inputs in shards."""

    held: Held  # of `VotedInputs`
    form: Form
    prices: Floats  # [N]

    def counts(self, weights: Floats, trust: Trust) -> Floats:
        """See `VotedInputs`."""
        found: Floats = self.held.total(VotedInputs.counts, weights, trust)
        return found

    def terms(self, trust: Trust) -> LogLinearTerms:
        """See `VotedInputs`."""
        return ShardedTerms(self.held.derive(VotedInputs.terms, trust), self.form, self.prices)


@dataclass(slots=True)
class VotedGroup:
    """Inputs with votes: a `LatentGroup`."""

    inputs: VotedInputs | ShardedVotes
    function_of: Ints  # [S]
    known: Floats  # [S, 2] right and wrong votes on Gold's inputs
    trust: Trust
    options: TrustOptions

    @classmethod
    def fresh(
        cls, inputs: VotedInputs | ShardedVotes, votes: EncodedVotes, *, known: Floats, options: TrustOptions
    ) -> VotedGroup:
        """A group whose initial trust comes from the prior and Gold."""
        trust = Trust.beforehand(votes.function_of, len(votes.functions), options)
        return cls(inputs, votes.function_of, known, estimated(trust, known, votes.function_of, options), options)

    def refresh(self, weights: Floats) -> tuple[LogLinearTerms]:
        """Estimate how far voters are to be trusted; the terms of a CRF with their votes."""
        for _ in range(STEPS):
            self.trust = estimated(self.trust, self.counts(weights), self.function_of, self.options)
        return (self.inputs.terms(self.trust),)

    def value(self, weights: Floats) -> float:
        """Σ price · loss − log prior, with the trust of the moment: the next `refresh` only lowers it."""
        inputs = self.inputs
        n_jobs = inputs.n_jobs if isinstance(inputs, VotedInputs) else None
        lost = inner(inputs.prices, inputs.terms(self.trust).losses(weights, n_jobs=n_jobs))
        return lost - log_likelihood(self.trust, self.known) + penalty(self.trust, self.function_of, self.options)

    def counts(self, weights: Floats) -> Floats:
        """Expected counts at these weights, with those of Gold, without the prior's. # [S, 2]"""
        return self.inputs.counts(weights, self.trust) + self.known

    def state(self) -> State:
        return {}, {"symbols": self.trust.symbols, "functions": self.trust.functions}

    def resume(self, state: State) -> None:
        shares = {"low": np.nextafter(0.0, 1.0), "high": np.nextafter(1.0, 0.0)}
        symbols = array_of(state[1], "symbols", np.float64, self.trust.symbols.shape, **shares)
        self.trust = Trust(symbols, array_of(state[1], "functions", np.float64, self.trust.functions.shape, **shares))

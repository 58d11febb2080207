"""Contrastive estimation from Unlabeled, Candidates and Partial inputs, with CRF terms for Gold beside it.

What candidates say is a dictionary: it limits the labels of a token in the input and in all its neighbours. Partial
labels are what is known of the input itself: they count above the line alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Bytes, Ints
from sidelight.errors import DataError
from sidelight.features.gradient import FullFeatures
from sidelight.learners.likelihood import lbfgs_options
from sidelight.objective.contrastive import (
    KINDS,
    ContrastiveTerms,
    Listed,
    ListedContrastiveTerms,
    Neighbours,
    Swaps,
)
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms, LogLinearTerms
from sidelight.objective.scorers.chain_scorer import chain_of
from sidelight.rounds import Learner
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.spaces import ChainSpace
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData

MOST_ROUNDS = 200
COPIES = 10  # of an input, shuffled


@dataclass(frozen=True, kw_only=True)
class Contrastive(LearnerSpec):
    """Contrastive estimation: probability moves to inputs from their neighbours (Smith and Eisner 2005).

    `neighbours` are "swaps" (any adjacent pairs swapped, no token twice), "transpose" (one pair), "delete" (one token),
    "delete_or_transpose", or "shuffle" (`copies` shuffled inputs, 10 by default). `start` is the spread of the
    initial weights if there is no Gold.
    """

    name = "contrastive"
    takes = ("unlabeled", "candidates", "partial", "gold")
    needs = frozenset({Need.SUMS, Need.NEIGHBOURS})
    heeds = frozenset({"prices"})
    minimises = "½‖w‖² + C Σ −log p(x | its neighbourhood)"
    inference = "marginal, of the input and of its neighbours"
    stops = "relative decrease over ten rounds, or the gradient"
    compile_seconds = 28.0

    neighbours: str = option("swaps", among=KINDS)
    copies: int | None = option(None, low=1, goes_with=("neighbours", ("shuffle",)))
    start: float = option(0.01, above=0)

    def needed(self) -> Mapping[Need, str]:
        more = {Need.SWAPS: "give neighbours='transpose'"} if self.neighbours == "swaps" else {}
        return {**super().needed(), **more}

    def make(self, data: FitData) -> Learner:
        settings, encoded = data.settings, data.encoded
        prices = data.prices()
        terms: list[LogLinearTerms] = []
        for kind in ("candidates", "partial", "unlabeled"):
            which = encoded.of_kind(kind)
            if not len(which):
                continue
            admitted = None if encoded.admitted is None else encoded.admitted[data.rows.tokens_of(which)]
            dictionary = admitted if kind == "candidates" else None
            terms.append(_terms(data, self, which, dictionary, admitted if kind == "partial" else None))
        gold = encoded.of_kind("gold")
        if not terms:
            raise DataError(
                "contrastive estimation learns from inputs without full labels, and all are Gold",
                remedy="add Unlabeled, Partial or Candidates, or use crf",
            )
        if len(gold):
            rows = data.chain()[0].take(gold)
            features = FullFeatures.of(rows, data.layout, n_jobs=settings.n_jobs)
            targets = encoded.targets[data.rows.tokens_of(gold)]
            terms.append(LikelihoodTerms(features, data.batch(gold).space, prices[gold], targets=targets))
        problem = LikelihoodProblem(terms, l2=1.0, n_jobs=settings.n_jobs)
        most = MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds
        start = data.start
        if start is None and not len(gold):  # at zero all labels are equals, which is a stationary point
            start = np.random.default_rng(settings.seed).normal(scale=self.start, size=data.layout.size)
        options = LikelihoodOptions(most, lbfgs_options(settings.tolerance))
        return LikelihoodLearner.fresh(problem, options, start=start, name=self.name)


def _terms(
    data: FitData, own: Contrastive, which: Ints, dictionary: Bytes | None, known: Bytes | None
) -> LogLinearTerms:
    """Some inputs, with what their tokens may be anywhere, and what is known of the inputs themselves."""
    batch, prices, seed = data.batch(which), data.prices()[which], data.settings.seed
    if isinstance(batch.space, ChainSpace):
        features = FullFeatures.of(chain_of(batch).rows, data.layout, n_jobs=data.settings.n_jobs)
        space = batch.space if dictionary is None else batch.space.inside(dictionary)
        around = Swaps() if own.neighbours == "swaps" else Listed(_listed(batch.starts, own, seed))
        return ContrastiveTerms(features, space, prices, around, admitted=known)
    return ListedContrastiveTerms.of(
        batch,
        prices,
        _listed(batch.starts, own, seed),
        allowed=data.allowed,
        dictionary=dictionary,
        admitted=known,
    )


def _listed(starts: Ints, own: Contrastive, seed: int) -> Neighbours:
    rng = np.random.default_rng([seed, 1])
    return Neighbours.of(starts, own.neighbours, copies=COPIES if own.copies is None else own.copies, rng=rng)

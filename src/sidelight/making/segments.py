"""The learners of segments: from inputs, what is known of their segmentations, and prices, to weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.learners import Learner
from sidelight.learners.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.batch import Batch
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, likelihood_problem
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.recipe_kinds import SemiMarkov
from sidelight.records import Callback
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.spaces import Cost

MEMORY = 10  # steps that L-BFGS remembers


@dataclass(frozen=True, slots=True)
class KnownSegments:
    """Inputs that have a segmentation, and inputs that have what they admit."""

    batch: Batch  # all N of them, with all their segmentations
    prices: Floats  # [N]
    gold: Ints  # those that have a segmentation
    targets: Ids  # [T] token labels, read at the tokens of `gold`
    rest: Ints  # the others
    mask: Bytes | None  # [T of the others, K] token labels that they admit

    @classmethod
    def all_gold(cls, batch: Batch, targets: Ids, prices: Floats) -> KnownSegments:
        """Inputs that all have a segmentation."""
        none = np.zeros(0, dtype=np.int64)
        return cls(batch, prices, np.arange(len(batch), dtype=np.int64), targets, none, None)


def learn(base: SemiMarkov, known: KnownSegments, *, options: MarginOptions, report: Callback) -> Floats:
    """The weights of `semi_crf` or `semi_svm`."""
    if base.name == "semi_crf":
        usual = LikelihoodOptions(options.max_rounds, semi_markov_options(options.tolerance))
        learner: Learner = LikelihoodLearner.fresh(_likelihood(known), usual, name=base.name)
    else:
        learner = MarginLearner.fresh(_margins(known), options, size=known.batch.scorer.size, name=base.name)
    for record in learner.run():
        report(record)
    return learner.finish()


def semi_markov_options(tolerance: float) -> LbfgsOptions:
    """L-BFGS that stops by a bound of how far it is from the least value."""
    return LbfgsOptions(memory=MEMORY, epsilon=0.0, delta=0.0, gap=tolerance)


def _likelihood(known: KnownSegments) -> LikelihoodProblem:
    batch, gold, rest = known.batch, known.gold, known.rest
    inputs = []
    if len(gold):
        targets = known.targets[batch.slots_of(gold)]
        inputs.append(Labelled(batch.take(gold), known.prices[gold], targets=targets))
    if len(rest):
        inputs.append(Labelled(batch.take(rest), known.prices[rest], admitted=known.mask))
    return likelihood_problem(inputs, n_jobs=batch.n_jobs)


def _margins(known: KnownSegments) -> LatentProblem:
    batch, gold, rest = known.batch, known.gold, known.rest
    costs = 1.0 - np.eye(batch.space.n_labels)
    right = TargetTerms(batch.take(gold), Cost(known.targets[batch.slots_of(gold)], costs), known.prices[gold])
    blank = Cost(np.zeros(len(batch.slots_of(rest)), dtype=np.int32), costs)
    latent = Latent(TargetTerms(batch.take(rest), blank, known.prices[rest]), known.mask)
    nothing, none = batch.take(np.zeros(0, dtype=np.int64)), np.zeros(0)
    return LatentProblem(right, latent, NegativeTerms(nothing, none, none), Positive(nothing, none, none))

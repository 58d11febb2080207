"""Structural SVM, J-LIS and latent margin learning: Gold, companion answers, and what is to be completed.

Gold whose labels have several states is completed within these; it keeps its price. Since the cost of an output counts
labels, the best states minimise its term exactly (Yu and Joachims 2009). The loop is in `rounds.margin`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import NO_FLOATS, Bytes, Floats, Ints
from sidelight.objective.batch import Batch
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.cuts import POWERS
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.rounds import Learner
from sidelight.rounds.margin import MarginLearner, MarginOptions
from sidelight.rounds.restarts import Restarts
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed

LABELS = ("gold", "partial", "candidates", "unlabeled")  # kinds of evidence: all but companion answers and votes
MARGIN_KIN = {"partial": "latent_svm or cllp", "candidates": "latent_svm or cllp", "unlabeled": "transductive_svm"}
MOST_ROUNDS = 1000
BEST_ALONE: frozenset[Heed] = frozenset({"cost", "loss", "prices", "rules_in_training"})
COMPLETING: frozenset[Heed] = BEST_ALONE | {"states"}
COMPLETED = "relative decrease, or no change, between completions; duality gap with Gold alone"


@dataclass(frozen=True, kw_only=True)
class MarginSpec(LearnerSpec):
    """What learners of margins with completion share."""

    heeds = COMPLETING
    inference = "loss-augmented, argmax"
    stops = COMPLETED
    no_partial_fit = ""
    sums_losses = True
    alone = ""
    compile_seconds = 6.0

    def make(self, data: FitData) -> Learner:
        return margin_learner(data, options_of(data))


@dataclass(frozen=True, kw_only=True)
class RestartedSpec(MarginSpec):
    """Those that can be begun several times."""

    restarts: int = option(1, low=1)  # runs with different seeds and random ties; the lowest objective is kept

    def needed(self) -> Mapping[Need, str]:
        more = {Need.TIES: "leave restarts at 1"} if self.restarts > 1 else {}
        return {**super().needed(), **more}

    def make(self, data: FitData) -> Learner:
        if self.restarts == 1:
            return super().make(data)
        if data.start is not None:
            remedy = "leave restarts at 1 for partial_fit" if data.go_on else "leave warm_start out"
            raise ValueError(f"restarts begin at random, not from earlier weights; {remedy}")
        alone = replace(data, settings=replace(data.settings, n_jobs=1))  # each run on one thread, runs abreast
        problem, options, size = problem_of(alone), options_of(data), data.size

        def one(seed: int) -> MarginLearner:
            own = replace(options, random_ties=True, seed=seed)
            return MarginLearner.fresh(problem, own, size=size, name=self.name)

        n_jobs = 1 if data.place.remote else data.settings.n_jobs  # the workers are busy with one run
        return Restarts(one, range(options.seed, options.seed + self.restarts), n_jobs=n_jobs)


@dataclass(frozen=True, kw_only=True)
class Jlis(RestartedSpec):
    """J-LIS: margin learning from every kind of evidence (Chang, Srikumar, Goldwasser and Roth 2010).

    `restarts` is for learning without Gold (thesis 6.5.4): so many runs, with ties broken at random, are made on all
    cores, and the run with the lowest objective is kept. Restart r, counted from 0, has the seed `seed` + r. So two
    estimators whose seeds differ by less than `restarts` share runs; if they should differ, choose seeds further apart.
    """

    name = "jlis"
    takes = ("gold", "partial", "candidates", "companion", "unlabeled")
    minimises = "½‖w‖² + C1 Σ margin loss on Gold and completed outputs + C2 Σ loss on companion answers"


@dataclass(frozen=True, kw_only=True)
class LatentSvm(RestartedSpec):
    """The latent structural SVM: labels with hidden states, partial and candidate labels (Yu and Joachims 2009).

    The objective is that of jlis without companion answers. Training begins with random hidden states (`states` of the
    estimators) and ends in a local optimum; of several `restarts`, seeded as those of `jlis`, the one with the lowest
    objective is kept. `open_slots` is about slots whose label the evidence leaves open. If "completed", they have a
    cost like all others, measured against the completion. If "latent", no label costs anything there: only what is
    known can be wrong, and an open slot takes whatever label helps with the rest.
    """

    name = "latent_svm"
    takes = LABELS
    minimises = "½‖w‖² + C Σ margin between the best output of all and the best admitted one"
    plain = "structural_svm"
    beside = ("partial", "candidates")

    open_slots: str = option("completed", among=("completed", "latent"))


@dataclass(frozen=True, kw_only=True)
class TransductiveSvm(MarginSpec):
    """The transductive structural SVM: unlabelled inputs are completed with a margin (Zien et al. 2007).

    The objective is that of jlis without companion answers. With `anneal`, completed outputs have their full price only
    after so many completions; each completion before that has half the price of the next (after Joachims 1999).
    """

    name = "transductive_svm"
    takes = ("gold", "unlabeled", "partial", "candidates")
    minimises = "½‖w‖² + C Σ margin loss on Gold + C_u Σ margin loss on completed outputs"
    plain = "structural_svm"

    anneal: int = option(0, low=0)

    def make(self, data: FitData) -> Learner:
        options = options_of(data)
        if self.anneal >= options.max_completions:
            limits = f"anneal is {self.anneal} and max_completions {options.max_completions}"
            raise ValueError(f"{limits}; the full price comes too late")
        return margin_learner(data, replace(options, anneal=self.anneal))


@dataclass(frozen=True, kw_only=True)
class SemiSvm(MarginSpec):
    """The semi-Markov model with margins instead of likelihood; a learner of `SegmentTagger`.

    `max_length` as for `semi_crf`. It is `latent_svm` over segments.
    """

    name = "semi_svm"
    takes = LABELS
    minimises = "½‖w‖² + C Σ margin loss over segmentations"
    inference = "loss-augmented over segmentations"
    needs = frozenset({Need.BEST, Need.SEGMENTS})
    sums_losses = False
    compile_seconds = 12.0

    max_length: int | None = option(None, low=1)  # the most tokens of a segment

    def needed(self) -> Mapping[Need, str]:
        return {**super().needed(), Need.SEGMENTS: f"use SegmentTagger(learner={self.name!r})"}

    @property
    def longest(self) -> int | None:
        return self.max_length


def options_of(data: FitData) -> MarginOptions:
    """The settings that concern margin learners."""
    settings = data.settings
    return MarginOptions(
        POWERS[settings.loss],
        settings.tolerance,
        settings.violation,
        settings.fall,
        settings.completions,
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        settings.random_ties,
        settings.seed,
        random_start=data.labels.hidden,
    )


def problem_of(data: FitData) -> LatentProblem:
    """The four groups of terms."""
    encoded, rows = data.encoded, data.rows
    costs, prices, sizes = data.costs(), data.prices(), data.sizes()
    gold, hidden = encoded.gold()
    latent = np.concatenate([hidden, encoded.of_kind("partial", "candidates", "unlabeled")])
    negative = np.flatnonzero(encoded.answers == -1)
    positive = np.flatnonzero(encoded.answers == 1)
    gold_cost = Cost(encoded.targets[rows.tokens_of(gold)], costs, NO_FLOATS)
    latent_tokens = rows.tokens_of(latent)
    admitted = None if encoded.admitted is None else encoded.admitted[latent_tokens]
    nothing_known = np.zeros(len(latent_tokens), dtype=np.int32)
    latent_cost = Cost(nothing_known, costs, _known(data, latent_tokens, admitted))

    def limited(which: Ints) -> Batch:
        batch = data.batch(which)
        admitted = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(which)]
        return batch if admitted is None or np.all(admitted) else batch.inside(admitted)

    return LatentProblem(
        TargetTerms(data.batch(gold), gold_cost, prices[gold]),
        Latent(TargetTerms(data.batch(latent), latent_cost, prices[latent]), admitted, len(hidden)),
        NegativeTerms(limited(negative), sizes[negative], prices[negative]),
        Positive(limited(positive), sizes[positive], prices[positive]),
    )


def _known(data: FitData, tokens: Ints, admitted: Bytes | None) -> Floats:
    """1 where a slot's label is known, 0 where it is open; empty where open slots are charged as completed. # [T]"""
    learner = data.settings.learner
    if not isinstance(learner, LatentSvm) or learner.open_slots == "completed":
        return NO_FLOATS
    if admitted is None:
        return np.zeros(len(tokens))
    of_label = np.zeros((admitted.shape[1], len(data.labels.classes)))  # [states, labels]
    of_label[np.arange(len(of_label)), data.labels.label_of] = 1.0
    labels = np.count_nonzero(admitted @ of_label, axis=1)
    return np.asarray(labels == 1, dtype=np.float64)


def margin_learner(data: FitData, options: MarginOptions) -> MarginLearner:
    """The loop of completion and solving, from zero or from the weights of an earlier fit."""
    return MarginLearner.fresh(
        problem_of(data),
        options,
        size=data.size,
        start=data.start,
        origin=data.start if data.go_on else None,
        name=data.settings.learner.name,
    )

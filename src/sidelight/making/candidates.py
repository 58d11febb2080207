"""CLLP and MMS from any mixture of labels, and the baseline that picks labels from candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.arrays import NO_FLOATS, Bytes, Ids, Ints
from sidelight.learners.candidates import CandidateLearner
from sidelight.learners.margin import MarginLearner
from sidelight.making import margin
from sidelight.making.given import Given
from sidelight.objective.candidates import CandidateProblem, inside_of
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.recipe_kinds import CandidateMargins, Picked
from sidelight.spaces import Cost
from sidelight.spaces.parts import Parts

KINDS = ("gold", "partial", "candidates", "unlabeled")


def admitted_of(given: Given) -> Bytes:
    """What each token may be: Gold one label (or its states), the others what they admit. # [T, L]"""
    encoded = given.encoded
    tokens, labels = int(given.rows.starts[-1]), len(given.labels)
    admitted = np.ones((tokens, labels), np.uint8) if encoded.admitted is None else encoded.admitted.copy()
    if given.labels.hidden:  # then Gold is a mask as well
        return admitted
    gold = given.rows.tokens_of(encoded.of_kind("gold"))
    admitted[gold] = 0
    admitted[gold, encoded.targets[gold]] = 1
    return admitted


def make(given: Given, recipe: CandidateMargins) -> CandidateLearner:
    """CLLP or MMS; C2 is the price of an input's kind, C1 that price times the recipe's `inside`."""
    given.only(KINDS)
    given.whole(recipe.name)
    everything = np.arange(len(given.rows))
    prices = given.prices()
    admitted = admitted_of(given)
    problem = CandidateProblem.of(
        given.batch(everything),
        Parts.of(admitted, given.encoded.chunks) if given.encoded.chunks else admitted,
        costs=given.costs(),
        prices=(recipe.inside * prices, prices),
        margins=recipe.margins,
        charge=recipe.charge,
    )
    options = replace(recipe.options, seed=given.settings.seed)
    if given.settings.max_rounds is not None:
        options = replace(options, max_rounds=given.settings.max_rounds)
    return CandidateLearner.fresh(
        problem,
        options,
        size=given.layout.size,
        initial=_initial(given, problem),
        start=given.start,
        name=recipe.name,
    )


def make_naive(given: Given, recipe: Picked) -> MarginLearner:
    """A structural SVM on one labeling of every input, drawn at random from its candidates (or as given)."""
    given.only(KINDS)
    given.whole(recipe.name)
    batch = given.batch(np.arange(len(given.rows)))
    admitted = admitted_of(given)
    chunks = given.encoded.chunks
    space = inside_of(batch.space, Parts.of(admitted, chunks) if chunks else admitted)
    labels = space.random(np.random.default_rng(given.settings.seed), n_jobs=given.settings.n_jobs)
    started = given.encoded.initial >= 0
    labels = np.where(started, given.encoded.initial, labels).astype(np.int32)
    return svm_on(given, np.arange(len(given.rows)), labels)


def _initial(given: Given, problem: CandidateProblem) -> Ids | None:
    """Given initial labels, with random candidates where there are none."""
    initial = given.encoded.initial
    if not np.any(initial >= 0):
        return None
    rng = np.random.default_rng(given.settings.seed)
    labels = problem.random(rng)
    if given.labels.hidden:  # any state of the label to begin with
        of = given.labels.label_of
        initial = np.where(initial >= 0, initial + rng.integers(0, np.bincount(of)[of[initial]]), -1)
    return np.where(initial >= 0, initial, labels).astype(np.int32)


def svm_on(given: Given, which: Ints, labels: Ids) -> MarginLearner:
    """A structural SVM on labelings of some inputs, each of which may come several times."""
    none = np.zeros(0, dtype=np.int64)
    costs, nothing = given.costs(), np.zeros(0)
    empty = given.batch(none)
    no_cost = Cost(np.zeros(0, dtype=np.int32), costs, NO_FLOATS)
    problem = LatentProblem(
        TargetTerms(given.batch(which), Cost(labels, costs, NO_FLOATS), given.prices()[which]),
        Latent(TargetTerms(empty, no_cost, nothing), None),
        NegativeTerms(empty, nothing, nothing),
        Positive(empty, nothing, nothing),
    )
    options = margin.options_of(given)
    return MarginLearner.fresh(
        problem, options, size=given.layout.size, start=given.start, name=given.settings.recipe.name
    )

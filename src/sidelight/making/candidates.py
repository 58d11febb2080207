"""CLLP and MMS from any mixture of labels, and the baselines that turn candidates into Gold."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sidelight.arrays import NO_FLOATS, Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.learners.candidates import CandidateLearner
from sidelight.learners.margin import MarginLearner
from sidelight.making import margin
from sidelight.making.given import Given
from sidelight.objective.candidates import CandidateProblem, inside_of
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.recipe_kinds import AllLabelings, CandidateMargins, Picked
from sidelight.spaces import Cost
from sidelight.spaces.parts import Parts

KINDS = ("gold", "partial", "candidates", "unlabeled")
TOKENS_PER_SECOND = 40_000  # of a rough training run of the structural SVM, for the warning alone


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
    return _svm(given, np.arange(len(given.rows)), labels, given.prices())


def make_all_labelings(given: Given, recipe: AllLabelings) -> MarginLearner:
    """A structural SVM on every candidate labeling of every input; raises `Intractable` where they are too many."""
    given.only(KINDS)
    given.whole(recipe.name)
    if given.encoded.chunks:
        raise Intractable("cl_svm takes candidates of single tokens; use cllp for chunks")
    admitted = admitted_of(given)
    starts = given.rows.starts
    sizes = np.add.reduceat(np.log(admitted.sum(axis=1)), starts[:-1])
    counts = np.exp(np.minimum(sizes, 40.0))
    copies, tokens = float(np.sum(counts)), float(np.sum(counts * given.rows.lengths))
    if copies > recipe.at_most:
        raise Intractable(
            f"cl_svm would train on {copies:,.0f} labelings of {len(given.rows):,} inputs; use cllp instead"
        )
    if copies > 10 * len(given.rows):
        warnings.warn(
            f"cl_svm trains on {copies:,.0f} labelings with {tokens:,.0f} tokens, at a guess "
            f"{tokens / TOKENS_PER_SECOND:,.0f} seconds or more; Ctrl-C stops it, cllp needs no copies",
            stacklevel=2,
        )
    which, labels = expanded(starts, admitted)
    return _svm(given, which, labels, given.prices()[which])


def expanded(starts: Ints, admitted: Bytes) -> tuple[Ints, Ids]:
    """Every labeling of the product sets: which input each copy is of, and its labels one after another.

    >>> which, labels = expanded(np.array([0, 2]), np.array([[1, 1], [0, 1]], dtype=np.uint8))
    >>> which.tolist(), labels.tolist()
    ([0, 0], [0, 1, 1, 1])
    """
    which, labels = [], []
    for i, (first, last) in enumerate(pairwise(starts)):
        options = [np.flatnonzero(row) for row in admitted[first:last]]
        inner = np.cumprod([1, *(len(found) for found in options[::-1])])[::-1]  # labelings of the tokens from t on
        paths = np.empty((inner[0], len(options)), dtype=np.int32)
        for t, found in enumerate(options):
            paths[:, t] = np.tile(np.repeat(found, inner[t + 1]), inner[0] // inner[t])
        which.append(np.full(len(paths), i, dtype=np.int64))
        labels.append(paths.ravel())
    return np.concatenate(which), np.concatenate(labels)


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


def _svm(given: Given, which: Ints, labels: Ids, prices: Floats) -> MarginLearner:
    none = np.zeros(0, dtype=np.int64)
    costs, nothing = given.costs(), np.zeros(0)
    empty = given.batch(none)
    no_cost = Cost(np.zeros(0, dtype=np.int32), costs, NO_FLOATS)
    problem = LatentProblem(
        TargetTerms(given.batch(which), Cost(labels, costs, NO_FLOATS), prices),
        Latent(TargetTerms(empty, no_cost, nothing), None),
        NegativeTerms(empty, nothing, nothing),
        Positive(empty, nothing, nothing),
    )
    options = margin.options_of(given)
    return MarginLearner.fresh(
        problem, options, size=given.layout.size, start=given.start, name=given.settings.recipe.name
    )

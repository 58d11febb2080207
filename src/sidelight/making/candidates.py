"""CLLP and MMS from any mixture of labels, and the baseline that picks labels from candidates.

All of them begin with an output of each input, within its candidates: the initial labels that are given, and where
these leave something open (or there are none) the best output under a partially labelled CRF, or one at random. Beside
Gold, what that CRF learns from other inputs counts less: it sums over all they admit, and drifts where that is much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.arrays import NO_FLOATS, Bytes, Floats, Ids, Ints
from sidelight.checks import whole
from sidelight.data.checks import trouble
from sidelight.errors import Intractable
from sidelight.evidence import Candidates
from sidelight.learners.candidates import CandidateLearner, CandidateOptions
from sidelight.learners.margin import MarginLearner
from sidelight.making import likelihood, margin
from sidelight.making.given import Given
from sidelight.objective.candidates import CandidateProblem, inside_of
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.recipe_kinds import CandidateMargins, Initial, LogLinear, Picked
from sidelight.settings import Settings
from sidelight.spaces import Cost, Space
from sidelight.spaces.parts import Labelings, Parts

KINDS = ("gold", "partial", "candidates", "unlabeled")
SHARE = 0.1  # of its price that an input other than Gold has in the CRF that is begun with, beside Gold
START = LogLinear("partial_crf", gold_only=False, l1=0.0, support="seen", solver="lbfgs")
USUAL = {"tolerance": 0.01, "violation": 1e-3, "random_ties": False}  # the defaults of estimators, refused or its own


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
    _check_costs_are_used(given, recipe)
    everything = np.arange(len(given.rows))
    prices = given.prices()
    if recipe.total is not None:
        prices *= recipe.total / len(prices)
    admitted = admitted_of(given)
    problem = CandidateProblem.of(
        given.batch(everything),
        Parts.of(admitted, given.encoded.chunks) if given.encoded.chunks else admitted,
        costs=given.costs(),
        prices=(recipe.inside * prices, prices),
        margins=recipe.margins,
        charge=recipe.charge,
    )
    fresh = given.start is None
    return CandidateLearner.fresh(
        problem,
        options_of(given.settings, recipe),
        size=given.size,
        initial=begun(given, problem.batch.space, recipe.initial) if fresh or _has_initial(given) else None,
        start=given.start,
        name=recipe.name,
    )


def options_of(settings: Settings, recipe: CandidateMargins) -> CandidateOptions:
    """The recipe's options, with what the estimator was asked for; raises ValueError for what means nothing to it."""
    name, options = recipe.name, replace(recipe.options, seed=settings.seed)
    asked = [setting for setting, usual in USUAL.items() if getattr(settings, setting) != usual]
    if "tolerance" in asked:
        problem = f"{name} solves to a precision of its own, and tolerance is {settings.tolerance}"
        raise ValueError(f"{problem}; leave it out, or set the learner's threshold")
    if "random_ties" in asked:
        raise ValueError(f"{name} takes the first of outputs that tie, and random_ties is set; leave it out")
    if "violation" in asked and options.solver == "two_slack":
        problem = f"{name} by two_slack adds cuts until it is precise, and violation is {settings.violation}"
        raise ValueError(f"{problem}; leave it out, or set the learner's solver to 'dual_coordinate'")
    if settings.max_completions is not None:
        given, own = whole("max_completions", settings.max_completions, least=1), options.max_completions
        if own not in (given, CandidateOptions().max_completions):
            raise ValueError(f"max_completions is {given}, and {own} among {name}'s options; give one of them")
        options = replace(options, max_completions=given)
    if "violation" in asked:
        options = replace(options, violation=settings.violation)
    if settings.decrease is not None:
        options = replace(options, decrease=settings.decrease)
    return options if settings.max_rounds is None else replace(options, max_rounds=settings.max_rounds)


def _check_costs_are_used(given: Given, recipe: CandidateMargins) -> None:
    if recipe.margins == "mms" and recipe.charge == "candidates":
        for name, value in (("cost", given.settings.cost), ("class_weight", given.settings.class_weight)):
            if value is not None:
                raise ValueError(
                    f"mms counts parts outside their candidates, and knows no cost; leave {name} out, "
                    "or set the learner's charge to 'completion'"
                )


def make_naive(given: Given, recipe: Picked) -> MarginLearner:
    """A structural SVM on one labeling of every input, drawn at random from its candidates (or as given)."""
    given.only(KINDS)
    given.whole(recipe.name)
    space = _space(given, admitted_of(given), given.encoded.chunks)
    return svm_on(given, np.arange(len(given.rows)), begun(given, space, recipe.initial))


def begun(given: Given, space: Space, initial: Initial) -> Ids:
    """An output of each input to begin with, by a CRF or at random, with the initial labels that are given. # [T]

    `space` has the outputs within candidates. Raises `DataError` where initial labels are no output of it.
    """
    rng, n_jobs = np.random.default_rng(given.settings.seed), given.settings.n_jobs
    begins = _with_initial(given, space)
    if initial == "random":
        return begins.random(rng, n_jobs=n_jobs)
    batch = replace(given.batch(np.arange(len(given.rows))), space=begins)
    try:
        return batch.best(crf_weights(given)).labels
    except Intractable as error:
        name = given.settings.recipe.name
        raise Intractable(f"{name} begins with a CRF: {error}, or give it initial='random'") from None


def crf_weights(given: Given) -> Floats:
    """The weights of the partially labelled CRF of all that has labels; beside Gold the rest counts by `SHARE`."""
    encoded = given.encoded
    gold = encoded.of_kind("gold")
    if np.any(given.prices()[gold] > 0):
        weights = encoded.weights * SHARE
        weights[gold] = encoded.weights[gold]
        encoded = replace(encoded, weights=weights)
    evidence = given.evidence
    if encoded.chunks:  # each token by itself
        admitted = Parts.of(admitted_of(given), encoded.chunks).admitted
        evidence = [replace(piece, chunks=()) if isinstance(piece, Candidates) else piece for piece in evidence]
        encoded = replace(encoded, admitted=admitted, chunks=[])
    settings = replace(given.settings, max_rounds=None)
    learner = likelihood.make(replace(given, settings=settings, evidence=evidence, encoded=encoded), START)
    for _ in learner.run():
        pass
    return learner.finish()


def _has_initial(given: Given) -> bool:
    return bool(np.any(given.encoded.initial >= 0))


def _with_initial(given: Given, space: Space) -> Space:
    """The outputs of a space that have the initial labels; raises `DataError` where an input has none."""
    if not _has_initial(given):
        return space
    rng, n_jobs = np.random.default_rng(given.settings.seed), given.settings.n_jobs
    found = _begun_space(given)
    wrong = np.flatnonzero(~found.feasible(n_jobs=n_jobs))
    if len(wrong):
        space.random(rng, n_jobs=n_jobs)  # raises `Infeasible` where the fault is not with the initial labels
        i = int(wrong[0])
        problem = "no output within the candidates and the allowed transitions has the initial labels"
        raise trouble(given.evidence[i], i, problem=problem, remedy="begin with labels of one output, or with None")
    return found


def _begun_space(given: Given) -> Space:
    """The outputs within candidates that have the initial labels; of a label with several states, all of them."""
    initial, of = given.encoded.initial, given.labels.label_of
    started = np.flatnonzero(initial >= 0)
    admitted = admitted_of(given)
    admitted[started] &= of[initial[started], None] == of
    chunks = []
    for first, rows in given.encoded.chunks:
        guess = initial[first : first + rows.shape[1]]
        fits = np.all((guess < 0) | (of[rows] == of[guess]), axis=1)
        chunks.append(Labelings(first, rows[fits]))
    return _space(given, admitted, chunks)


def _space(given: Given, admitted: Bytes, chunks: Sequence[Labelings]) -> Space:
    """The outputs of all inputs within candidates."""
    return inside_of(given.batch(np.arange(len(given.rows))).space, Parts.of(admitted, chunks) if chunks else admitted)


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
    return MarginLearner.fresh(problem, options, size=given.size, start=given.start, name=given.settings.recipe.name)

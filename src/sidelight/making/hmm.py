"""HMMs: supervised, and by EM from any mixture of labels.

Gold is counted; what is Partial, Candidates or Unlabeled is completed within what it admits, and so is Gold where a
label has several hidden states. An input counts as often as its weight says, times the price of its kind where one is
given: without given prices, all kinds count alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.generative.completion import Completion, Free
from sidelight.generative.em import EmProblem, Inputs
from sidelight.generative.emissions import Emissions
from sidelight.generative.hmm import Hmm
from sidelight.generative.hmm_starts import Start
from sidelight.learners.hmm import HmmLearner
from sidelight.making.given import Given
from sidelight.recipe_kinds import Generative

KINDS = ("gold", "partial", "candidates", "unlabeled")


def make(given: Given, recipe: Generative, *, completion: Completion | None = None) -> HmmLearner:
    """The learner for `hmm`, `em`, `hard_em` and `unified_em`.

    A `completion` other than `Free` is asked for all inputs that are not counted, in the order of the evidence
    (`to_complete`).
    """
    _check(given, recipe)
    emissions, symbols = Emissions.of(given.chain()[0], rare=recipe.rare)
    weights = multiplicities(given)
    completed = to_complete(given)
    inputs = _inputs(given, completed, symbols, weights, emissions.size)
    counted = np.setdiff1d(np.arange(len(given.rows)), completed)
    gold = None
    if len(counted):
        labelled = _inputs(given, counted, symbols, weights, emissions.size)
        gold = labelled.counts_of_labels(given.encoded.targets[given.rows.tokens_of(counted)])
    beta = _beta(given, recipe) if len(counted) and len(completed) else recipe.beta
    if gold is None and beta is not None:
        lacking = "the states of its labels are hidden" if given.labels.hidden else "there is no Gold"
        raise DataError(f"beta weighs the model of Gold, and {lacking}", remedy=f"give {recipe.name} a beta of none")
    mixing = beta, given.settings.n_jobs, recipe.mix_logs
    problem = EmProblem(emissions, gold, inputs, recipe.smoothing, *mixing)
    options = replace(recipe.options, decrease=given.settings.fall)
    if given.settings.max_rounds is not None:
        options = replace(options, iterations=min(options.iterations, given.settings.max_rounds))
    hmm = _start(given, recipe, problem, completed)
    return HmmLearner(
        problem, given.layout, options, hmm, recipe.name, completion=Free() if completion is None else completion
    )


def _beta(given: Given, recipe: Generative) -> float | None:
    """The recipe's beta, or the one beside inputs without any labels and without a price."""
    if recipe.beta is not None or recipe.beta_if_unlabeled is None:
        return recipe.beta
    unlabelled = set(given.encoded.kinds) <= {"gold", "unlabeled"} and "unlabeled" not in (given.settings.prices or {})
    return recipe.beta_if_unlabeled if unlabelled else None


def to_complete(given: Given) -> Ints:
    """The inputs that an E-step completes, by their places in the evidence."""
    hidden = given.encoded.gold()[1]
    return np.sort(np.concatenate([hidden, given.encoded.of_kind("partial", "candidates", "unlabeled")]))


def multiplicities(given: Given) -> Floats:
    """How often each input counts. # [N]"""
    prices = given.settings.prices or {}
    return np.asarray(given.encoded.weights * np.array([prices.get(kind, 1.0) for kind in given.encoded.kinds]))


def _check(given: Given, recipe: Generative) -> None:
    """Refuse what an HMM cannot learn from, or has no place for."""
    given.only(("gold",) if not recipe.options.iterations else KINDS)
    settings, layout = given.settings, given.layout
    if not settings.sequences:
        asked = settings.recipe.name
        other = "the learner naive_bayes" if asked == recipe.name else f"recipes.{asked}(base='crf')"
        raise ValueError(f"{recipe.name} labels sequences, and these inputs are single; use {other}")
    if given.go_on and not recipe.options.iterations:
        raise ValueError(f"{recipe.name} has no partial_fit; fit it on all evidence at once")
    given.whole(recipe.name)
    given.single_tokens()
    if not layout.bias:
        raise ValueError(f"{recipe.name} keeps its first probabilities in the start weights; give bias=True")
    if not layout.chain:
        raise DataError("an HMM has transitions, and the features have none", remedy="use features.emissions()")


def _inputs(given: Given, which: Ints, symbols: Ids, weights: Floats, size: int) -> Inputs:
    tokens = given.rows.tokens_of(which)
    space = given.batch(which).space
    masks: Bytes | None = given.encoded.admitted
    if masks is not None:
        space = space.inside(masks[tokens])
    return Inputs.of(symbols[tokens], space, weights[which], size=size)


def _start(given: Given, recipe: Generative, problem: EmProblem, completed: Ints) -> Hmm:
    """Parameters of an earlier fit, or what the recipe names; Gold is the first choice where none is named."""
    if given.start is not None:
        return Hmm.of_weights(given.start, given.layout, problem.emissions, ends=recipe.smoothing.ends)
    if not recipe.options.iterations or not len(completed):
        if problem.gold is None:
            raise DataError("nothing to learn from", remedy="give some evidence with labels")
        return problem.estimate(None)
    name = recipe.start
    if name is None:
        name = "uniform" if problem.gold is None else "gold"
    initial = given.encoded.initial[given.rows.tokens_of(completed)]
    return Start(problem, initial, recipe.noise, np.random.default_rng(given.settings.seed)).named(name)

"""Learning with rules: which inputs are completed under which rules, and the learners that do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.data.checks import trouble
from sidelight.errors import DataError, Intractable
from sidelight.evidence import Unlabeled
from sidelight.inference.batches import batch_scores
from sidelight.inference.choose import check_method
from sidelight.inference.ruled import Ruled
from sidelight.learners import Learner
from sidelight.learners.driven import DrivenLearner
from sidelight.making.given import Given
from sidelight.making.hmm import to_complete
from sidelight.recipe_kinds import Driven, learns_from_rules
from sidelight.settings import price_when_completed
from sidelight.structures.encoding import Encoded

MakeLearner = Callable[[Given], Learner]


def check_rules_are_used(given: Given) -> None:
    """Raise `DataError` at the first input with rules of its own, where the learner would not look at them."""
    recipe = given.settings.recipe
    if learns_from_rules(recipe):
        return
    for i, piece in enumerate(given.evidence):
        if given.encoded.kinds[i] == "unlabeled" and isinstance(piece, Unlabeled) and piece.rules:
            names = ", ".join(rule.name for rule in piece.rules)
            problem = f"the learner {recipe.name} does not look at the rules of an input ({names})"
            remedy = "use codl, posterior_regularization or unified_em, or give the rules to predict"
            raise trouble(piece, i, problem=problem, remedy=remedy)


def completion(given: Given, *, beta: float | None, gamma: float) -> Ruled | None:
    """How the E-steps of an HMM complete, or None where there are no rules.

    Raises `Intractable` where beliefs (gamma 0 and more) are asked for in second order.
    """
    inputs = given.ruled_inputs(to_complete(given))
    if not inputs.rules:
        return None
    if given.layout.order == 2 and gamma >= 0.0:
        name = given.settings.recipe.name
        problem = f"{name} has rules and a gamma of {gamma:g}, and beliefs under rules are for chains of first order"
        raise Intractable(f"{problem}; use codl over an HMM, a gamma of -inf, or leave order out")
    return Ruled(inputs, given.gold_penalties(inputs), beta, check_method(given.settings.inference))


def make_driven(given: Given, recipe: Driven, make: MakeLearner) -> DrivenLearner:
    """The learner for `codl` over a base that is not an HMM."""
    given.only(("gold", "partial", "candidates", "unlabeled"))
    if given.go_on:
        raise ValueError(f"{recipe.name} has no partial_fit; use fit")
    given.single_tokens()
    gold, rest = given.encoded.of_kind("gold"), to_complete(given)
    if not len(gold):
        remedy = "give some labelled inputs"
        raise DataError(f"{recipe.name} begins with a model of Gold, and there is none", remedy=remedy)
    inputs = given.ruled_inputs(rest)
    tokens = given.rows.tokens_of(rest)
    batch = given.batch(rest)
    if given.encoded.admitted is not None:
        batch = batch.inside(given.encoded.admitted[tokens])
    method = check_method(given.settings.inference)
    kinds, known = given.encoded.kinds, max(given.settings.price("gold"), 1e-300)
    shares = [price_when_completed(given.settings.prices, kinds[i]) / known for i in rest]
    first = given.gold_penalties(inputs)

    def learn(labels: Ids | None) -> Floats:
        if labels is None:
            part = _as_gold(given, gold, given.encoded.targets[given.rows.tokens_of(gold)], recipe, 1.0)
        elif recipe.beta is not None:
            part = _as_gold(given, rest, labels, recipe, 1.0)
        else:
            both = np.concatenate([gold, rest])
            targets = np.concatenate([given.encoded.targets[given.rows.tokens_of(gold)], labels])
            part = _as_gold(given, both, targets, recipe, np.array([1.0] * len(gold) + shares))
        learner = make(part)
        for _ in learner.run():
            pass
        return learner.finish()

    def complete(weights: Floats, penalties: Sequence[float]) -> Ids:
        scores = batch_scores(batch.scores(weights), batch.space)
        solutions = inputs.solutions(scores, penalties, method=method)
        return np.array([label for solution in solutions for label in solution.labels], dtype=np.int32)

    def count(labels: Ids | None) -> list[float]:
        return first if labels is None else inputs.counted(labels, batch.space.starts)

    size = given.size
    return DrivenLearner(
        learn, complete, count, inputs, batch.space.starts, recipe.cycles, recipe.beta, size, recipe.name
    )


def _as_gold(given: Given, which: Ints, targets: Ids, recipe: Driven, shares: Any) -> Given:
    """Some inputs with all their labels, for the base."""
    rows = given.rows.take(which)
    encoded = Encoded(
        ["gold"] * len(which),
        given.encoded.weights[which] * shares,
        np.zeros(len(which), dtype=np.int64),
        targets.astype(np.int32),
        None,
        rows.starts,
        np.full(rows.n_tokens, -1, dtype=np.int32),
        [],
    )
    settings = replace(given.settings, learner=recipe.base, checkpoint=None, rules=())
    evidence = [given.evidence[i] for i in which.tolist()]
    return replace(given, settings=settings, evidence=evidence, rows=rows, encoded=encoded, start=None)

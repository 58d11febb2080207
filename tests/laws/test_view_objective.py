"""What a view's learner would minimise on given examples, against enumeration of all outputs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from sidelight import Classifier, Gold, Tagger, features, recipes
from sidelight.view_objective import view_objective

WORDS, LABELS = ["a", "b", "c"], ["X", "Y", "Z"]


def drawn_examples(rng, *, sequences, count=3):
    found = []
    for _ in range(count):
        words = rng.choice(WORDS, int(rng.integers(1, 4))).tolist()
        y = [str(label) for label in rng.choice(LABELS, len(words))] if sequences else str(rng.choice(LABELS))
        found.append(Gold(words, y, weight=float(rng.choice([0.3, 1.0, 2.0]))))
    return found


def by_hand(estimator, examples):
    """½‖w‖² and the priced losses, output by output; scores are those of the k best."""
    weights, gold = estimator.model_.weights, (estimator.prices or {"gold": 1.0})["gold"]
    recipe = recipes.recipe_of(estimator.learner)
    sequences = isinstance(estimator, Tagger)
    total = 0.5 * np.sum(weights**2)
    if recipe.name == "crf":
        total += recipe.l1 * np.abs(weights).sum()
    for example in examples:
        every = product(LABELS, repeat=len(example.x)) if sequences else ((label,) for label in LABELS)
        ranked = estimator.k_best([example.x], 3 ** len(example.x) if sequences else 3)[0]
        score = {tuple(y) if sequences else (y,): value for y, value in ranked}
        right = tuple(example.y) if sequences else (example.y,)
        weigh = estimator.class_weight or dict.fromkeys(LABELS, 1.0)
        if recipe.name == "crf":
            loss = logsumexp(list(score.values())) - score[right]
        else:
            cost = {y: sum(weigh[a] * (a != b) for a, b in zip(right, y)) for y in every}
            loss = max(cost[y] + score[y] for y in score) - score[right]
            if estimator.loss == "logistic":
                loss = np.log1p(np.exp(loss))
            else:
                loss = max(0.0, loss) ** (1 if estimator.loss == "hinge" else 2)
        total += gold * example.weight * loss
    return total


KINDS = {
    "squared": {},
    "hinge": {"loss": "hinge", "prices": {"gold": 0.7}},
    "logistic": {"loss": "logistic", "prices": {"gold": 0.7}},
    "weighted": {"class_weight": {"X": 2.0, "Y": 1.0, "Z": 0.5}},
    "crf": {"learner": "crf", "prices": {"gold": 0.4}},
    "sparse": {"learner": recipes.crf(l1=0.3)},
    "frank_wolfe": {"learner": recipes.structural_svm(solver="frank_wolfe"), "loss": "hinge"},
}


@law(40)
@given(generators(), st.sampled_from(sorted(KINDS)), st.sampled_from(["first order", "second order", "classes"]))
def test_it_is_what_the_losses_of_all_outputs_add_up_to(rng, kind, task):
    settings = {**KINDS[kind], "labels": LABELS, "max_rounds": 1, "n_jobs": 1}
    sequences = task != "classes"
    if sequences:
        order = 2 if task == "second order" and kind != "frank_wolfe" else 1
        estimator = Tagger(**{"learner": "jlis", **settings}, order=order, features=features.words())
    else:
        estimator = Classifier(**{"learner": "jlis", **settings})
    all_words = Gold(WORDS, LABELS if sequences else "X")
    estimator.fit([all_words, *drawn_examples(rng, sequences=sequences)])
    weights = rng.normal(size=len(estimator.model_.weights))
    estimator.model_ = replace(estimator.model_, weights=weights)
    examples = drawn_examples(rng, sequences=sequences)
    own = estimator._settings()
    assert view_objective(estimator.model_, own, examples) == pytest.approx(by_hand(estimator, examples), rel=1e-9)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("sequences", [True, False])
def test_it_is_the_objective_that_the_learner_reports(kind, sequences):
    """On the examples that were learned, at the weights that were learned."""
    examples = drawn_examples(np.random.default_rng(5), sequences=sequences, count=20)
    settings = {"learner": "jlis", **KINDS[kind], "labels": LABELS, "n_jobs": 1, "tolerance": 1e-4}
    fitted = (Tagger if sequences else Classifier)(**settings).fit(examples)
    own = fitted._settings()
    found = view_objective(fitted.model_, own, examples)
    assert found == pytest.approx(fitted.rounds_[-1].objective, rel=1e-6)
    moved = replace(fitted.model_, weights=1.1 * fitted.model_.weights)
    assert view_objective(moved, own, examples) > found


def test_which_learners_have_one():
    having = {name for name, learner in recipes.LEARNERS.items() if learner.sums_losses}
    assert {"jlis", "structural_svm", "latent_svm", "crf", "partial_crf"} <= having
    assert not having & {"perceptron", "naive_bayes", "hmm", "em", "one_against_rest", "mira", "contrastive"}

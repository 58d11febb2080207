"""One against the rest is LinearSVC's, and the joint problem is Crammer and Singer's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from sidelight import Classifier, DataError, Tagger, features, gold, unlabeled
from sidelight.training import Training

LinearSVC = pytest.importorskip("sklearn.svm").LinearSVC

EXACT = {"learner": "one_against_rest", "tolerance": 1e-9, "n_jobs": 1}


def problem(rng: np.random.Generator, classes: int, count: int = 60, width: int = 5):
    centres = rng.normal(size=(classes, width))
    ys = np.concatenate([np.arange(classes), rng.integers(0, classes, count - classes)])
    return (centres[ys] + 0.7 * rng.normal(size=(count, width))).astype(np.float32).astype(float), ys


def columns_of(model):
    """Features' weights and constants, a row per class."""
    layout = model.layout
    weights = np.concatenate([layout.dense_weights(model.weights), layout.attribute_weights(model.weights)])
    constants = layout.start(model.weights)[layout.n_labels - layout.columns :]
    return weights.T, constants


def objective(xs, ys, coefficients, constants, prices, *, power: int) -> float:
    total = 0.0
    for label, (row, constant) in enumerate(zip(coefficients, constants)):
        sign = np.where(ys == (label if len(coefficients) > 1 else 1), 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - sign * (xs @ row + constant))
        total += 0.5 * (row @ row + constant**2) + np.sum(prices * slack**power)
    return total


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(("classes", "bias"), [(2, True), (3, True), (3, False), (11, True)])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_objective_and_predictions_are_those_of_linear_svc(loss, classes, bias, kind):
    xs, ys = problem(np.random.default_rng(classes), classes)
    price, power = 0.7, 2 if loss == "squared_hinge" else 1
    ours = Classifier(**EXACT, loss=loss, bias=bias, prices={"gold": price}).fit(kind(xs), ys)
    theirs = LinearSVC(loss=loss, C=price, dual=True, fit_intercept=bias, tol=1e-8, max_iter=1_000_000).fit(xs, ys)
    coefficients, constants = columns_of(ours.model_)
    np.testing.assert_allclose(coefficients, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(constants, np.broadcast_to(theirs.intercept_, constants.shape), atol=2e-3)
    mine = objective(xs, ys, coefficients, constants, price, power=power)
    other = objective(xs, ys, theirs.coef_, np.broadcast_to(theirs.intercept_, constants.shape), price, power=power)
    assert mine == pytest.approx(other, rel=1e-4)
    last = ours.rounds_[-1]
    assert last.objective == pytest.approx(mine, rel=1e-7)
    assert 0.0 <= last.gap <= 1e-9 * last.objective
    assert last.stopped == "the duality gap is small enough"
    decisions = theirs.decision_function(xs).reshape(len(ys), -1)
    ahead = np.abs(decisions[:, 0]) if classes == 2 else np.diff(np.sort(decisions, axis=1)[:, -2:])[:, 0]
    clear = ahead > 1e-2  # a class with few examples may have weights near 0, and then inputs tie
    assert clear.mean() > (0.5 if classes > 3 else 0.95)
    assert (np.array(ours.predict(kind(xs))) == theirs.predict(xs))[clear].all()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_logistic_loss_has_the_minimum_of_a_generic_solver(classes):
    xs, ys = problem(np.random.default_rng(classes), classes)
    ours = Classifier(**EXACT, loss="logistic", prices={"gold": 0.7}).fit(xs, ys)
    total = 0.0
    wide = np.column_stack([xs, np.ones(len(xs))])
    for label in range(classes) if classes > 2 else [1]:
        sign = np.where(ys == label, 1.0, -1.0)

        def binary(weights, sign=sign):
            margins = 1.0 - sign * (wide @ weights)
            slopes = -0.7 * sign / (1.0 + np.exp(-margins))
            return 0.5 * weights @ weights + 0.7 * np.logaddexp(0.0, margins).sum(), weights + slopes @ wide

        total += minimize(binary, np.zeros(wide.shape[1]), jac=True, tol=1e-12).fun
    last = ours.rounds_[-1]
    assert last.objective == pytest.approx(total, rel=1e-7)
    assert last.dual <= total + 1e-9 and last.stopped == "the duality gap is small enough"


@law(15)
@given(generators(), st.integers(2, 3), st.sampled_from([1, 2]))
def test_each_class_is_a_quadratic_program(rng, classes, power):
    xs, ys = problem(rng, classes, count=12, width=3)
    weights = rng.uniform(0.1, 2.0, len(ys))
    loss = "hinge" if power == 1 else "squared_hinge"
    ours = Classifier(**EXACT, loss=loss).fit(xs, ys, sample_weight=weights)
    with_one = np.hstack([xs, np.ones((len(ys), 1))])
    total = 0.0
    for label in [1] if classes == 2 else range(classes):
        sign = np.where(ys == label, 1.0, -1.0)
        value, _ = optimum(-sign[:, None] * with_one, np.ones(len(ys)), np.arange(len(ys)), weights, power=power)
        total += value
    assert ours.rounds_[-1].objective == pytest.approx(total, rel=1e-6)
    assert ours.rounds_[-1].dual <= total * (1 + 1e-9)


def test_a_tagger_is_the_classifier_of_its_tokens():
    rng = np.random.default_rng(3)
    xs = [[f"w{k}" for k in rng.integers(0, 9, rng.integers(1, 6))] for _ in range(40)]
    ys = [["XYZ"[(int(word[1:]) // 3 + int(rng.random() < 0.3)) % 3] for word in x] for x in xs]
    tagger = Tagger(**EXACT, features=features.attributes()).fit([[[word] for word in x] for x in xs], ys)
    tokens, labels = [[word] for x in xs for word in x], [label for y in ys for label in y]
    alone = Classifier(**EXACT).fit(tokens, labels)
    assert tagger.rounds_[-1].objective == pytest.approx(alone.rounds_[-1].objective, rel=1e-7)
    guesses = [label for y in tagger.predict([[[word] for word in x] for x in xs]) for label in y]
    assert guesses == alone.predict(tokens)


def test_the_joint_problem_is_that_of_crammer_and_singer():
    """What structural_svm solves on classes; another optimum than one against the rest."""
    xs, ys = problem(np.random.default_rng(8), 4)
    settings = {"loss": "hinge", "prices": {"gold": 0.5}, "n_jobs": 1, "tolerance": 1e-7, "violation": 0.0}
    joint = Classifier(learner="structural_svm", **settings).fit(xs, ys)
    theirs = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-8, max_iter=1_000_000).fit(xs, ys)
    scores = np.hstack([xs, np.ones((len(ys), 1))]) @ np.vstack([theirs.coef_.T, theirs.intercept_])
    margins = scores - scores[np.arange(len(ys)), ys][:, None] + (np.arange(4) != ys[:, None])
    norm = np.sum(theirs.coef_**2) + np.sum(theirs.intercept_**2)
    assert joint.rounds_[-1].objective == pytest.approx(0.5 * norm + 0.5 * margins.max(1).sum(), rel=1e-4)
    coefficients, constants = columns_of(joint.model_)
    np.testing.assert_allclose(coefficients, theirs.coef_, atol=2e-2)
    np.testing.assert_allclose(constants, theirs.intercept_, atol=2e-2)
    assert joint.predict(xs) == theirs.predict(xs).tolist()
    rest = Classifier(**{**EXACT, **settings, "learner": "one_against_rest"}).fit(xs, ys)
    assert np.abs(rest.model_.weights - joint.model_.weights).max() > 0.05


def test_rounds_threads_and_resuming():
    xs, ys = problem(np.random.default_rng(1), 20, count=120)
    estimator = Classifier(learner="one_against_rest", tolerance=1e-4, n_jobs=1)
    whole = Training(estimator._settings(), gold(xs_of(xs), ys.tolist()))
    rounds, states = [], []
    for record in whole.rounds():
        values, arrays = whole.learner.state()
        rounds.append(replace(record, seconds=0.0))
        states.append((json.dumps(values), {name: array.copy() for name, array in arrays.items()}))
    assert [record.last for record in rounds] == [False, False, True]
    values = [record.objective for record in rounds]
    assert values == sorted(values, reverse=True)
    threaded = Classifier(learner="one_against_rest", tolerance=1e-4, n_jobs=2).fit(gold(xs_of(xs), ys.tolist()))
    np.testing.assert_array_equal(threaded.model_.weights, whole.learner.weights)
    for place in range(3):
        again = Training(estimator._settings(), gold(xs_of(xs), ys.tolist()))
        again.learner.resume((json.loads(states[place][0]), states[place][1]))
        assert [replace(record, seconds=0.0) for record in again.rounds()] == rounds[place + 1 :]
        np.testing.assert_array_equal(again.learner.finish(), whole.learner.finish())
    short = Classifier(learner="one_against_rest", max_rounds=1, n_jobs=1).fit(gold(xs_of(xs), ys.tolist()))
    assert short.rounds_[-1].stopped == "max_rounds"
    learner = Training(estimator._settings(), gold(xs_of(xs), ys.tolist())).learner
    learner.options = replace(learner.options, tolerance=0.0)
    learner.problems = replace(learner.problems, most_sweeps=1)
    assert list(learner.run())[-1].stopped == "1 sweeps"


def xs_of(xs):
    return [{f"f{k}": float(value) for k, value in enumerate(x)} for x in xs]


def test_what_is_refused():
    xs, ys = np.array([[1.0, 0.0], [0.0, 2.0]]), ["a", "b"]
    with pytest.raises(ValueError, match="class_weight"):
        Classifier(**EXACT, class_weight={"a": 2.0}).fit(xs, ys)
    with pytest.raises(ValueError, match="no cost"):
        Classifier(**EXACT, cost={("a", "b"): 2.0}).fit(xs, ys)
    with pytest.raises(DataError, match="learns from Gold only"):
        Classifier(**EXACT).fit([*gold([["a"]], ["x"]), *unlabeled([["b"]])])
    with pytest.raises(ValueError, match="one_against_rest has no partial_fit; fit it on all evidence at once"):
        Classifier(**EXACT).fit(xs, ys).partial_fit(xs, ys)

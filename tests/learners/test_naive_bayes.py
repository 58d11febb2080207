"""Naive Bayes as a linear model is scikit-learn's, and Bayes' rule by hand."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from sidelight import Classifier, DataError, Matrix, Tagger, features, gold, recipes, unlabeled
from sidelight.features.rows import scores as linear_scores

bayes = pytest.importorskip("sklearn.naive_bayes")

THEIRS = {"multinomial": bayes.MultinomialNB, "bernoulli": bayes.BernoulliNB}


def problem(rng: np.random.Generator, events: str, classes: int, count: int = 40, width: int = 8):
    ys = np.concatenate([np.arange(classes), rng.integers(0, classes, count - classes)])
    rates = rng.gamma(1.0, size=(classes, width))
    xs = rng.poisson(rates[ys]).astype(float)
    return (xs > 0).astype(float) if events == "bernoulli" else xs, ys


def scores_of(estimator, xs) -> np.ndarray:
    """The score of every class, up to a constant per input."""
    batch = estimator.model_.batch(xs)
    part = linear_scores(batch.scorer.rows, batch.scorer.layout, estimator.model_.weights)
    return part.block(0, batch.scorer.rows.n_tokens) + part.start


@law(40)
@given(
    generators(),
    st.sampled_from(["multinomial", "bernoulli"]),
    st.integers(2, 4),
    st.sampled_from([0.01, 1.0, 3.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([np.asarray, csr_matrix]),
)
def test_equal_to_scikit_learn(rng, events, classes, smoothing, prior, weighted, kind):
    xs, ys = problem(rng, events, classes)
    new, _ = problem(rng, events, classes, count=60)
    weights = rng.uniform(0.2, 3.0, len(ys)) if weighted else None
    recipe = recipes.naive_bayes(events=events, smoothing=smoothing, prior=prior)
    ours = Classifier(learner=recipe, n_jobs=1).fit(kind(xs), ys, sample_weight=weights)
    theirs = THEIRS[events](alpha=smoothing, fit_prior=prior).fit(xs, ys, sample_weight=weights)
    expected = theirs.predict_joint_log_proba(new)
    found = scores_of(ours, kind(new))
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], rtol=1e-6, atol=1e-6)
    if classes > 2:  # the scores themselves are the joint log-probabilities
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    clear = np.diff(np.sort(expected, axis=1)[:, -2:], axis=1)[:, 0] > 1e-6
    assert (np.array(ours.predict(kind(new))) == theirs.predict(new))[clear].all()
    assert clear.mean() > 0.8


def test_two_classes_have_the_difference():
    xs, ys = problem(np.random.default_rng(3), "multinomial", 2)
    found = Classifier(learner="naive_bayes", n_jobs=1).fit(csr_matrix(xs), ys).model_
    theirs = bayes.MultinomialNB().fit(xs, ys)
    assert found.layout.null_label
    assert found.weights[1] == pytest.approx(np.diff(theirs.class_log_prior_)[0])
    difference = theirs.feature_log_prob_[1] - theirs.feature_log_prob_[0]
    np.testing.assert_allclose(found.layout.attribute_weights(found.weights)[:, 0], difference)


def test_words_with_repetitions_are_counts():
    xs = [["sun", "sun", "sky"], ["sky"], ["moon", "dark"], ["dark", "dark", "sun"]]
    ys = ["day", "day", "night", "night"]
    found = Classifier(learner="naive_bayes", n_jobs=1).fit(xs, ys)
    names = sorted({word for x in xs for word in x})
    counts = np.array([[x.count(name) for name in names] for x in xs])
    theirs = bayes.MultinomialNB().fit(counts, ys)
    assert found.predict(xs) == theirs.predict(counts).tolist()
    with pytest.raises(DataError, match="0 or 1, and some are not"):
        Classifier(learner=recipes.naive_bayes(events="bernoulli"), n_jobs=1).fit(xs, ys)
    assert found.rounds_[-1].stopped == "solved in closed form"
    assert len(found.rounds_) == 1


def test_sparse_and_dense_features_together_are_one_set():
    rng = np.random.default_rng(1)
    xs, ys = problem(rng, "multinomial", 3)
    both = Matrix(csr_matrix(xs[:, :3]), dense=xs[:, 3:], lengths=np.ones(len(ys), dtype=int))
    found = Classifier(learner="naive_bayes", n_jobs=1).fit(gold(both, ys.tolist()))
    assert found.predict(both) == bayes.MultinomialNB().fit(xs, ys).predict(xs).tolist()


@pytest.mark.parametrize("events", ["multinomial", "bernoulli"])
def test_a_tagger_labels_every_token_by_itself(events):
    rng = np.random.default_rng(4)
    words = [f"w{k}" for k in range(9)]
    xs = [[words[k] for k in rng.integers(0, 9, rng.integers(1, 7))] for _ in range(50)]
    ys = [["XYZ"[(int(word[1:]) // 3 + int(rng.random() < 0.3)) % 3] for word in x] for x in xs]
    recipe = recipes.naive_bayes(events=events)
    tagger = Tagger(learner=recipe, features=features.window(), n_jobs=1).fit(xs, ys)
    model = tagger.model_
    rows = model.prepare(xs)
    table = np.zeros((rows.n_tokens, model.layout.n_attributes))
    for t in range(rows.n_tokens):
        np.add.at(table[t], rows.indices[rows.indptr[t] : rows.indptr[t + 1]], 1.0)
    flat = [label for y in ys for label in y]
    theirs = THEIRS[events]().fit(table, flat)
    assert [label for y in tagger.predict(xs) for label in y] == theirs.predict(table).tolist()


def test_a_checkpoint_and_a_file(tmp_path):
    xs, ys = problem(np.random.default_rng(3), "multinomial", 3)
    path = tmp_path / "check"
    one = Classifier(learner="naive_bayes", n_jobs=1, checkpoint=path).fit(csr_matrix(xs), ys)
    again = Classifier(learner="naive_bayes", n_jobs=1, checkpoint=path).fit(csr_matrix(xs), ys)
    assert again.rounds_ == one.rounds_
    np.testing.assert_array_equal(again.model_.weights, one.model_.weights)


def test_what_is_refused():
    xs, ys = np.array([[1.0, 0.0], [0.0, 2.0]]), ["a", "b"]
    fresh = {"learner": "naive_bayes", "n_jobs": 1}
    with pytest.raises(DataError, match="some are negative"):
        Classifier(**fresh).fit(-xs, ys)
    with pytest.raises(DataError, match="no Gold with a weight above 0 has the label 'c'"):
        Classifier(**fresh, labels=["a", "b", "c"]).fit(xs, ys)
    even = recipes.naive_bayes(prior=False)
    assert Classifier(learner=even, labels=["a", "b", "c"], n_jobs=1).fit(xs, ys).predict(xs) == ys
    with pytest.raises(ValueError, match="bias=True"):
        Classifier(**fresh, bias=False).fit(xs, ys)
    with pytest.raises(ValueError, match="class_weight"):
        Classifier(**fresh, class_weight="balanced").fit(xs, ys)
    with pytest.raises(DataError, match="learns from Gold only"):
        Classifier(**fresh).fit([*gold([["a"]], ["x"]), *unlabeled([["b"]])])
    with pytest.raises(ValueError, match="naive_bayes has no partial_fit; fit it on all evidence at once"):
        Classifier(**fresh).fit(xs, ys).partial_fit(xs, ys)
    plain = features.parse_templates("U00:%x[0,0]")
    with pytest.raises(DataError, match="add a B template"):
        Tagger(**fresh, features=plain).fit([["on", "off"]], [["X", "Y"]])
    for options in ({"smoothing": 0.0}, {"events": "poisson"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} is"):
            recipes.naive_bayes(**options)

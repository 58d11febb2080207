"""Taggers and classifiers as scikit-learn knows estimators."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from sidelight import (
    Candidates,
    Classifier,
    Companion,
    DataError,
    Gold,
    Matrix,
    NotFitted,
    Partial,
    Round,
    Tagger,
    Unlabeled,
    features,
    gold,
)

WORDS = ["on", "off", "light", "dark", "dim", "sun"]


def corpus(count: int, seed: int = 0, noise: float = 0.1):
    rng = np.random.default_rng(seed)
    xs = [[WORDS[i] for i in rng.integers(0, 6, rng.integers(1, 7))] for _ in range(count)]
    ys = [["XYZ"[(WORDS.index(word) + int(rng.random() < noise)) % 3] for word in x] for x in xs]
    return xs, ys


XS, YS = corpus(60)


def tagger(**settings) -> Tagger:
    return Tagger(**{"learner": "jlis", "features": features.words(), "n_jobs": 1, **settings})


def test_parameters_clone_and_repr():
    one = tagger(prices={"gold": 2.0}, seed=3, loss="hinge")
    params = one.get_params()
    assert params["prices"] == {"gold": 2.0}
    assert set(params) >= {"features", "learner", "loss", "tolerance", "n_jobs", "seed", "callbacks", "checkpoint"}
    other = clone(one)
    assert other is not one
    assert other.get_params() == params
    assert repr(other) == repr(one)
    assert "prices={'gold': 2.0}" in repr(one)
    assert "tolerance" not in repr(one)
    assert repr(Classifier()) == "Classifier()"
    assert other.set_params(seed=4, prices__companion=0.5) is other
    assert other.seed == 4
    assert other.prices == {"gold": 2.0, "companion": 0.5}
    assert one.prices == {"gold": 2.0}
    with pytest.raises(ValueError, match="unknown parameter 'pirces'"):
        one.set_params(pirces={})
    with pytest.raises(TypeError):
        Tagger(features.words())
    fitted = one.fit(XS, YS)
    assert fitted is one
    assert not hasattr(clone(one), "model_")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"learner": "magic"}, "learner is 'magic'"),
        ({"loss": "log"}, "loss is 'log'"),
        ({"scheme": "IOBES"}, "scheme is"),
        ({"prices": {"golden": 1.0}}, "prices has 'golden'"),
        ({"prices": {"gold": -1.0}}, "the price of gold is -1.0"),
        ({"prices": {"gold": float("nan")}}, "the price of gold is nan"),
        ({"tolerance": -1}, "tolerance is -1"),
        ({"violation": float("nan")}, "violation is nan"),
        ({"max_rounds": 0}, "max_rounds is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"class_weight": "even"}, "class_weight is 'even'"),
        ({"cost": {("X", "X"): 1.0}}, "a right label has a cost"),
        ({"cost": {("X", "Y"): -1.0}}, "the cost of .* is -1.0; give a number that is not negative"),
        ({"cost": {("X", "Q"): 1.0}}, "unknown label"),
        ({"class_weight": {"Q": 1.0}}, "unknown label 'Q'"),
    ],
)
def test_parameters_are_checked_when_fit_begins(settings, problem):
    estimator = tagger(**settings)
    with pytest.raises(ValueError, match=problem):
        estimator.fit(XS, YS)


def test_not_fitted():
    for act in ("predict", "prepare", "judge"):
        with pytest.raises(NotFitted, match="call fit first"):
            getattr(tagger(), act)([["on"]])
    with pytest.raises(NotFitted):
        tagger().classes_  # noqa: B018
    with pytest.raises(NotFitted):
        tagger().save("nowhere")


def test_grid_search_over_prices():
    grid = {"prices": [{"gold": 1e-6}, {"gold": 1.0}], "loss": ["hinge", "squared_hinge"]}
    search = GridSearchCV(tagger(), grid, cv=3).fit(XS, YS)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert search.best_score_ > 0.8
    assert len(search.predict(XS[:2])) == 2
    evidence = [*gold(XS, YS), *(Companion(x, 1) for x in XS[:10])]
    order = np.random.default_rng(0).permutation(len(evidence))
    mixed = [evidence[i] for i in order]
    search = GridSearchCV(tagger(max_rounds=10), {"prices": grid["prices"]}, cv=2, error_score="raise").fit(mixed)
    assert search.best_score_ > 0.8


def test_cross_validation_and_scores():
    found = cross_val_score(tagger(), XS, YS, cv=3)
    assert found.shape == (3,)
    assert found.min() > 0.6
    rows = np.random.default_rng(0).normal(size=(60, 4))
    labels = np.where(rows[:, 0] > 0, "p", "n")
    assert cross_val_score(Classifier(n_jobs=1), rows, labels, cv=3).min() > 0.6
    assert cross_val_score(Classifier(n_jobs=1), csr_matrix(rows), labels, cv=3).min() > 0.6
    fitted = tagger().fit(XS, YS)
    guesses = fitted.predict(XS)
    right = sum(a == b for x, y in zip(guesses, YS) for a, b in zip(x, y))
    assert fitted.score(XS, YS) == right / sum(map(len, YS))
    assert fitted.score([*gold(XS, YS), Unlabeled(["on"])]) == fitted.score(XS, YS)
    only = np.zeros(len(XS))
    only[3] = 2.0
    assert fitted.score(XS, YS, sample_weight=only) == fitted.score(XS[3:4], YS[3:4])
    with pytest.raises(DataError, match="nothing to score"):
        fitted.score([Unlabeled(["on"])])


EXACT = {"tolerance": 1e-9, "violation": 0.0, "prices": {"gold": 0.03}}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weight_two_is_the_example_twice(loss):
    xs, ys = corpus(12, seed=4)
    weights = np.ones(12)
    weights[[2, 5]] = 2.0
    weights[7] = 0.0
    heavy = tagger(loss=loss, **EXACT).fit(xs, ys, sample_weight=weights)
    kept = [i for i in range(12) if i != 7]
    twice = tagger(loss=loss, labels=heavy.classes_, **EXACT).fit(
        [*xs, xs[2], xs[5], xs[7]],
        [*ys, ys[2], ys[5], ys[7]],
        sample_weight=[*(float(i in kept) for i in range(12)), 1, 1, 0],
    )
    np.testing.assert_allclose(heavy.model_.weights, twice.model_.weights, atol=1e-3)
    even = tagger(loss=loss, **EXACT).fit(xs, ys)
    assert np.abs(even.model_.weights - heavy.model_.weights).max() > 1e-2
    with pytest.raises(ValueError, match="evidence has its own weights"):
        tagger().fit(gold(xs, ys), sample_weight=weights)
    with pytest.raises(ValueError, match="3 weights for 12 inputs"):
        tagger().fit(xs, ys, sample_weight=[1, 2, 3])


def test_class_weights_and_costs_multiply_the_cost_of_a_label():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(90, 2)) + 0.3
    labels = np.where(rows[:, 0] + rng.normal(size=90) > 1.0, "rare", "usual").tolist()
    count = labels.count("rare")
    assert count < 30
    settings = {"n_jobs": 1, "loss": "hinge", **EXACT, "prices": {"gold": 1.0}}
    plain = Classifier(**settings).fit(rows, labels)
    heavy = Classifier(class_weight={"rare": 8.0}, **settings).fit(rows, labels)
    costly = Classifier(cost={("rare", "usual"): 8.0}, **settings).fit(rows, labels)
    np.testing.assert_array_equal(heavy.model_.weights, costly.model_.weights)
    assert heavy.predict(rows).count("rare") > plain.predict(rows).count("rare")
    balanced = Classifier(class_weight="balanced", **settings).fit(rows, labels)
    share = {"rare": 90 / (2 * count), "usual": 90 / (2 * (90 - count))}
    by_hand = Classifier(class_weight=share, **settings).fit(rows, labels)
    np.testing.assert_array_equal(balanced.model_.weights, by_hand.model_.weights)
    assert np.any(balanced.model_.weights != plain.model_.weights)


def test_more_than_two_classes():
    rng = np.random.default_rng(0)
    centres = np.array([[3, 0], [0, 3], [-3, -3], [3, 3]])
    numbers = rng.integers(0, 4, 120)
    rows = centres[numbers] + rng.normal(size=(120, 2))
    found = Classifier(n_jobs=1).fit(rows, numbers)
    assert found.classes_ == [0, 1, 2, 3]
    assert found.score(rows, numbers) > 0.9
    assert not found.model_.layout.null_label
    assert not found.model_.layout.chain
    assert isinstance(found.predict(rows[:1]), list)


@pytest.mark.parametrize(("count", "states"), [(2, None), (3, None), (3, 2)])
def test_probabilities_of_classes_as_scikit_learn_has_them(count, states):
    rng = np.random.default_rng(count)
    labels = [f"c{k}" for k in rng.integers(0, count, 60)]
    xs = [{label: 1.0, f"noise{rng.integers(5)}": 1.0} for label in labels]
    learner = "crf" if states is None else "latent_svm"
    found = Classifier(learner=learner, states=states, n_jobs=1).fit(xs, labels)
    shares, scores = found.predict_proba(xs[:9]), found.decision_function(xs[:9])
    marginals = [list(row.values()) for row in found.predict_marginals(xs[:9])]
    np.testing.assert_allclose(shares, marginals, atol=1e-12)
    np.testing.assert_allclose(np.log(shares), found.predict_log_proba(xs[:9]), atol=1e-12)
    if count == 2:
        np.testing.assert_allclose(scores, np.log(shares[:, 1] / shares[:, 0]), atol=1e-9)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], np.log(shares / shares[:, :1]), atol=1e-9)
    if states is None:
        assert [found.classes_[k] for k in shares.argmax(1)] == found.predict(xs[:9])
        losses = cross_val_score(clone(found), xs, labels, scoring="neg_log_loss", cv=2)
        assert np.all(losses < 0)
    assert found.predict_proba([]).shape == (0, count)


def test_callbacks_and_rounds():
    seen: list[Round] = []
    fitted = tagger(callbacks=[seen.append]).fit(XS, YS)
    assert seen == fitted.rounds_
    assert all(isinstance(record, Round) for record in seen)
    assert [record.last for record in seen] == [False] * (len(seen) - 1) + [True]
    assert seen[-1].gap <= 0.01 * seen[-1].objective
    assert set(seen[0].as_dict()) >= {"number", "learner", "objective", "primal", "dual", "gap", "seconds"}
    few = tagger(max_rounds=2, tolerance=0.0).fit(XS, YS)
    assert len(few.rounds_) == 2
    epochs = tagger(learner="perceptron", max_rounds=4).fit(XS, YS).rounds_
    assert [record.learner for record in epochs] == ["perceptron"] * 4
    assert all(record.mistakes > 0 for record in epochs)
    easy = tagger(learner="perceptron").fit([["on"], ["off"]], [["X"], ["Y"]])
    assert easy.rounds_[-1].mistakes == 0
    assert len(easy.rounds_) < 10


@pytest.mark.parametrize("learner", ["jlis", "perceptron"])
def test_the_same_seed_gives_the_same_bits(learner):
    found = [tagger(learner=learner, seed=s, max_rounds=3).fit(XS, YS).model_.weights for s in (1, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.any(found[0] != found[2])


def test_features_are_chosen_by_the_input():
    assert tagger(features=None).fit(XS, YS).model_.extractor.name(0).startswith("U00")
    assert tagger(features=None).fit([[{"a": 1.0}]], [["X"]]).model_.extractor.name(0) == "a"
    assert tagger(features=None).fit([[("a", "b")]], [["X"]]).predict([[("a", "c")]]) == [["X"]]
    words = Classifier(n_jobs=1).fit([["good", "film"], ["bad", "film"]], [1, 0])
    assert words.predict([["good"], ["bad", "bad"]]) == [1, 0]


def test_labels_given_up_front():
    fitted = tagger(labels=["Z", "Y", "X", "W"]).fit(XS, YS)
    assert fitted.classes_ == ["Z", "Y", "X", "W"]
    with pytest.raises(DataError, match=r"evidence 0 \(Gold\), token 0: unknown label 'Z'"):
        tagger(labels=["X"]).fit([Gold(["on"], ["Z"])])
    with pytest.raises(DataError, match="unknown label 'Q'"):
        tagger(labels=["X"]).fit([Candidates(["on"], [{"X", "Q"}])])
    with pytest.raises(DataError, match="unknown label 'Q'"):
        tagger(labels=["X"]).fit([Partial(["on"], ["Q"])])
    with pytest.raises(ValueError, match="listed twice"):
        tagger(labels=["X", "X"]).fit([["on"]], [["X"]])


def test_evidence_that_cannot_be_used():
    for bad in (
        [],
        [Gold([], [])],
        [Gold(["on"], ["X", "Y"])],
        [Companion(["on"], 0)],
        [Gold(["on"], ["X"], weight=-1)],
    ):
        with pytest.raises(DataError):
            tagger().fit(bad)
    with pytest.raises(DataError, match="evidence 0 is a list"):
        tagger().fit([["on"]])
    with pytest.raises(DataError, match="input 1 has no tokens"):
        tagger().fit(XS, YS).predict([["on"], []])


@pytest.mark.parametrize("kind", ["templates", "hashing", "attributes", "matrix", "classes"])
def test_nothing_predicts_nothing(kind):
    settings = {"n_jobs": 1, "max_rounds": 2}
    fitted = {
        "templates": lambda: Tagger(**settings).fit(XS, YS),
        "hashing": lambda: Tagger(features=features.words(hash_bits=8), **settings).fit(XS, YS),
        "attributes": lambda: Tagger(**settings).fit([[{"a": 1.0}]], [["X"]]),
        "matrix": lambda: Tagger(**settings).fit(Matrix(dense=np.eye(2), lengths=[2]), [["X", "Y"]]),
        "classes": lambda: Classifier(**settings).fit([{"a": 1.0}, {"b": 1.0}], [0, 1]),
    }[kind]()
    assert fitted.predict([]) == []


def test_prepared_rows_predict_the_same():
    fitted = tagger().fit(XS, YS)
    rows = fitted.prepare(XS)
    assert fitted.predict(rows) == fitted.predict(XS)
    np.testing.assert_array_equal(fitted.judge(rows), fitted.judge(XS))


def test_bio_is_never_broken():
    labels = ["B-A", "B-B", "I-A", "I-B", "O"]
    xs = [["on", "off", "dim"], ["dim"], ["sun", "light", "dark", "on"]]
    ys = [["B-A", "I-A", "O"], ["O"], ["B-B", "I-B", "I-B", "B-A"]]
    fitted = tagger(scheme="BIO", labels=labels).fit(xs, ys)
    rng = np.random.default_rng(0)
    many = [[WORDS[i] for i in rng.integers(0, 6, rng.integers(1, 8))] for _ in range(200)]
    weights = fitted.model_.weights
    for scale in (1.0, 1e6, 1e-12):
        weights[:] = scale * rng.normal(size=len(weights))
        for output in fitted.predict(many):
            for before, label in zip(["O", *output], output):
                assert label[0] != "I" or before in ("B" + label[1:], label)
    for bad, token, said in (
        (["I-A", "O", "O"], 0, "I-A begins it"),
        (["B-A", "I-B", "O"], 1, "I-B after B-A"),
        (["O", "O", "I-A"], 2, "I-A after O"),
    ):
        with pytest.raises(DataError, match=rf"evidence 1 \(Gold\), token {token}: .* not allowed: {said}"):
            tagger(scheme="BIO", labels=labels).fit([Gold(xs[1], ["O"]), Gold(xs[0], bad)])
    with pytest.raises(DataError, match="'X' is not a BIO label"):
        tagger(scheme="BIO").fit([["on"]], [["X"]])
    perceptron = tagger(scheme="BIO", labels=labels, learner="perceptron").fit(xs, ys)
    assert perceptron.predict(xs) == ys


def test_allowed_pairs():
    pairs = [("X", "Y"), ("Y", "X")]
    fitted = tagger(allowed=pairs).fit([["on", "off", "on"]] * 3, [["X", "Y", "X"]] * 3)
    fitted.model_.weights[:] = np.random.default_rng(0).normal(size=len(fitted.model_.weights))
    for output in fitted.predict([["on"] * n for n in range(1, 8)]):
        assert all(a != b for a, b in itertools.pairwise(output))
    with pytest.raises(DataError, match="not allowed"):
        tagger(allowed=pairs).fit([["on", "off"]] * 2, [["X", "Y"], ["X", "X"]])
    with pytest.raises(DataError, match="unknown label 'Q'"):
        tagger(allowed=[("X", "Q")]).fit([["on"]], [["X"]])


@pytest.mark.parametrize("learner", ["jlis", "perceptron"])
def test_a_sentence_of_a_hundred_thousand_tokens(learner):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 6, 100_000)
    x = [WORDS[i] for i in numbers]
    y = ["XYZ"[i % 3] for i in numbers]
    fitted = tagger(learner=learner, max_rounds=3).fit([x, x[:10]], [y, y[:10]])
    assert len(fitted.predict([x])[0]) == 100_000
    assert fitted.score([x], [y]) > (0.99 if learner == "jlis" else 0.5)  # a perceptron makes six steps here


# partial_fit and warm_start


@pytest.mark.parametrize("learner", ["jlis", "perceptron"])
def test_partial_fit_goes_on_and_grows(learner):
    first, second = XS[:30], [["moon", *x] for x in XS[30:]]
    later = [["Z", *y] for y in YS[30:]]
    estimator = tagger(learner=learner).partial_fit(first, YS[:30])
    names = [estimator.model_.extractor.name(k) for k in range(estimator.model_.layout.n_attributes)]
    weights = estimator.model_.weights.copy()
    estimator.partial_fit(second, later)
    layout = estimator.model_.layout
    assert layout.n_attributes == len(names) + 1
    assert [estimator.model_.extractor.name(k) for k in range(len(names))] == names
    assert estimator.model_.extractor.name(len(names)) == "U01:moon"
    assert np.any(layout.attribute_weights(estimator.model_.weights)[-1] != 0)
    assert np.any(estimator.model_.weights[: len(weights)] != weights)
    assert estimator.predict([["moon"]]) == [["Z"]]
    if learner == "perceptron":
        assert len(estimator.rounds_) == 1
    with pytest.raises(DataError, match="unknown label 'NEW'"):
        estimator.partial_fit([["on"]], [["NEW"]])
    open_labels = tagger(learner=learner, labels=["X", "Y", "Z", "NEW"]).partial_fit(first, YS[:30])
    for _ in range(20):
        open_labels.partial_fit([["comet"]] * 30, [["NEW"]] * 30)
    assert open_labels.predict([["comet"]]) == [["NEW"]]
    frozen = tagger(learner=learner, freeze_vocabulary=True).partial_fit(first, YS[:30])
    size = frozen.model_.layout.size
    frozen.partial_fit(second, later)
    assert frozen.model_.layout.size == size


def test_margin_partial_fit_stays_where_nothing_is_lost():
    """The new evidence costs nothing at the present weights, so they are the optimum."""
    settings = {"prices": {"gold": 100.0}, "tolerance": 1e-6, "violation": 0.0}
    estimator = tagger(**settings).fit([["on"], ["off"]], [["X"], ["Y"]])
    weights = estimator.model_.weights.copy() * 1.5
    estimator.model_.weights[:] = weights
    estimator.partial_fit([["on"]], [["X"]])
    np.testing.assert_allclose(estimator.model_.weights, weights, atol=1e-9)
    assert len(estimator.rounds_) < 10
    estimator.partial_fit([["on"]], [["Y"]])
    assert np.abs(estimator.model_.weights - weights).max() > 0.1
    assert estimator.predict([["on"]]) == [["Y"]]


def test_perceptron_partial_fit_is_one_more_epoch():
    """Epochs one by one over the same data keep the average going; only the order of examples differs."""
    by_epochs = tagger(learner="perceptron", max_rounds=1).fit(XS, YS)
    for _ in range(3):
        by_epochs.partial_fit(XS, YS)
    assert by_epochs._perceptron.clock == 1 + 4 * len(XS)
    assert by_epochs.score(XS, YS) > 0.8


@pytest.mark.parametrize("learner", ["jlis", "perceptron"])
def test_a_refused_partial_fit_leaves_the_model_as_it_was(learner):
    estimator = tagger(learner=learner).fit(XS, YS)
    with pytest.raises(DataError, match="unknown label"):
        estimator.partial_fit([["brand", "new", "words"]], [["X", "NEW", "X"]])
    assert estimator.model_.extractor.n_attributes == estimator.model_.layout.n_attributes


@pytest.mark.parametrize("way", ["partial_fit", "warm_start", "interrupted"])
def test_an_earlier_model_keeps_working(way):
    def stop(record):
        raise KeyboardInterrupt

    estimator = tagger(warm_start=True).fit(XS, YS)
    model = estimator.model_
    if way == "partial_fit":
        estimator.partial_fit([["brand", "new"]], [["X", "Y"]])
    elif way == "warm_start":
        estimator.fit([["brand", "new"]], [["X", "Y"]])
    else:
        estimator.set_params(callbacks=[stop])
        with pytest.raises(KeyboardInterrupt):
            estimator.fit([["brand", "new"]], [["X", "Y"]])
        assert estimator.model_ is model
    assert model.extractor.n_attributes == model.layout.n_attributes


def test_warm_start_keeps_the_vocabulary():
    estimator = tagger(warm_start=True).fit(XS, YS)
    size = estimator.model_.layout.n_attributes
    estimator.fit([["moon"]], [["X"]])
    assert estimator.model_.layout.n_attributes == size + 1
    assert estimator.classes_ == ["X", "Y", "Z"]
    cold = tagger().fit(XS, YS)
    cold.fit([["moon"]], [["X"]])
    assert cold.classes_ == ["X"]


@pytest.mark.parametrize("evidence", ["gold", "companion"])
def test_warm_start_begins_from_the_weights_before(evidence):
    """The objective is of the best weights so far, so it begins no higher than where the fit before ended."""
    pieces = gold(XS, YS) if evidence == "gold" else [*gold(XS[:5], YS[:5]), *(Companion(x, 1) for x in XS[5:])]
    pieces = pieces if evidence == "gold" else [*pieces, *(Companion(x[::-1], -1) for x in XS[20:])]
    estimator = tagger(warm_start=True, tolerance=1e-4).fit(pieces)
    ended = estimator.rounds_[-1].objective
    estimator.fit(pieces)
    assert estimator.rounds_[0].objective <= ended * (1 + 1e-9)


def test_judge_uses_the_size_of_training():
    pieces = [
        *gold(XS[:10], YS[:10]),
        *(Companion(x, 1) for x in XS[10:30]),
        *(Companion(x[::-1], -1) for x in XS[30:]),
    ]
    estimator = tagger(size=lambda x: 10.0 * len(x) ** 2, max_rounds=20).fit(pieces)
    model = estimator.model_
    scores = model.paths(XS).values
    expected = scores / np.array([10.0 * len(x) ** 2 for x in XS]) + model.weights[0]
    np.testing.assert_allclose(estimator.judge(XS), expected)

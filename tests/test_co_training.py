"""Two views that teach each other beat each of them alone, and say when they have nothing more to say."""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import pytest
from drawing import labelings, law, plain_scores, seeds, values_of
from hypothesis import given
from sklearn.base import clone

from sidelight import Classifier, DataError, Gold, ModelFileError, NotFitted, Tagger, Unlabeled, features
from sidelight.estimators.co_training import CoRound, CoTraining
from sidelight.rules import gallery
from sidelight.view_objective import view_objective

VIEWS = (itemgetter(0), itemgetter(1))


def two_views(seed: int, count: int, classes: str = "pq", *, words: int = 60, noise: float = 0.15):
    """Inputs of two lists of words, independent given the class, each with words of its class and some of others."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        y = i % len(classes)
        x = []
        for view in "ab":
            of = np.where(rng.random(4) < noise, rng.integers(0, len(classes), 4), y)
            x.append([f"{view}{c}.{w}" for c, w in zip(of, rng.integers(0, words, 4))])
        found.append((tuple(x), classes[y]))
    return found


def evidence_of(labelled, pool):
    return [*(Gold(x, y) for x, y in labelled), *(Unlabeled(x) for x, _ in pool)]


def pair(**options) -> CoTraining:
    return CoTraining(Classifier(n_jobs=1), Classifier(n_jobs=1), **{"views": VIEWS, **options})


@pytest.mark.parametrize("classes", ["pq", "pqr"])
def test_both_views_beat_themselves_alone(classes):
    gains, together = [], []
    for seed in range(3):
        data = two_views(seed, 700, classes)
        labelled, pool, test = data[:12], data[12:400], data[400:]
        xs, ys = [x for x, _ in test], [y for _, y in test]
        alone = [
            Classifier(learner="jlis", n_jobs=1).fit([x[v] for x, _ in labelled], [y for _, y in labelled])
            for v in (0, 1)
        ]
        before = [one.score([x[v] for x in xs], ys) for v, one in enumerate(alone)]
        both = pair().fit(evidence_of(labelled, pool))
        after = [both.score(xs, ys, view=view) for view in ("first", "second")]
        gains += [b - a for a, b in zip(before, after)]
        together.append(both.score(xs, ys) - max(after))
        assert both.rounds_[-1].agreement > both.rounds_[0].agreement
    assert min(gains) > 0.0
    assert np.mean(gains) > 0.1
    assert np.mean(together) > 0.0  # the sum of the scores knows more than either


def two_columns(seed: int, count: int, *, words: int = 30, noise: float = 0.05):
    """Sequences of runs of labels; either column of a token tells its label, from words of that label."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        y = np.repeat(rng.permutation(3), rng.integers(1, 4, 3))[: rng.integers(1, 10)]
        of = [np.where(rng.random(len(y)) < noise, rng.integers(0, 3, len(y)), y) for _ in "ab"]
        xs.append([(f"a{i}.{rng.integers(words)}", f"b{j}.{rng.integers(words)}") for i, j in zip(*of)])
        ys.append(["XYZ"[k] for k in y])
    return xs, ys


def test_taggers_with_different_features():
    gains = []
    for seed in range(2):
        xs, ys = two_columns(seed, 350)
        few, test = slice(0, 20), slice(200, 350)
        makers = [features.parse_templates(f"U00:%x[0,{column}]\nB") for column in (0, 1)]
        taggers = [Tagger(features=made, n_jobs=1) for made in makers]
        before = [one.fit(xs[few], ys[few]).score(xs[test], ys[test]) for one in taggers]
        both = CoTraining(*taggers).fit(xs[:200], [*ys[few], *[None] * 180])
        after = [both.score(xs[test], ys[test], view=view) for view in ("first", "second")]
        gains += [b - a for a, b in zip(before, after)]
        assert both.score(xs[test], ys[test]) > np.mean(after)
        assert both.score([Gold(x, y) for x, y in zip(xs[test], ys[test])]) == both.score(xs[test], ys[test])
        assert all(len(y) == len(x) for x, y in zip(xs[:5], both.predict(xs[:5])))
    assert min(gains) > 0.05


@law(15)
@given(seeds)
def test_predictions_are_the_best_of_the_sum_of_scores(seed):
    rng = np.random.default_rng(seed)
    xs = [[(f"a{i}", f"b{j}") for i, j in rng.integers(0, 4, (rng.integers(1, 5), 2))] for _ in range(12)]
    ys = [["XYZ"[rng.integers(3)] for _ in x] for x in xs]
    orders = int(rng.integers(1, 3)), 1
    makers = [features.parse_templates(f"U00:%x[0,{column}]\nB") for column in (0, 1)]
    allowed = [
        ("X", "X"),
        ("X", "Y"),
        ("Y", "X"),
        ("Y", "Z"),
        ("Z", "Z"),
        ("Z", "X"),
        ("X", "Z"),
        ("Y", "Y"),
        ("Z", "Y"),
    ]
    taggers = [Tagger(features=made, order=order, n_jobs=1, allowed=allowed) for made, order in zip(makers, orders)]
    measure = "output" if orders[0] == 2 else "tokens"
    both = CoTraining(*taggers, max_rounds=2, measure=measure).fit(xs, [*ys[:6], *[None] * 6])
    models = both.first_.model_, both.second_.model_
    rows = [model.prepare(xs) for model in models]
    starts = rows[0].starts
    parts = [plain_scores(row, model.layout, model.weights) for row, model in zip(rows, models)]
    for i, guess in enumerate(both.predict(xs)):
        first, last = int(starts[i]), int(starts[i + 1])
        paths = labelings(3, last - first)
        values = sum(values_of(part, first, paths) for part in parts)
        for model in models:
            if model.layout.order == 2:
                second = model.layout.second(model.weights)
                values = values + second[paths[:, :-2], paths[:, 1:-1], paths[:, 2:]].sum(1)
        got = [both.classes_.index(label) for label in guess]
        assert values[np.all(paths == got, axis=1)][0] == pytest.approx(values.max(), rel=1e-9, abs=1e-9)


def test_a_scheme_of_either_view_holds_for_both():
    xs = [[("a", "b"), ("c", "d")], [("c", "b"), ("a", "d")], [("a", "d"), ("c", "b")]]
    ys = [["B-X", "I-X"], ["O", "B-X"], None]
    makers = [features.parse_templates(f"U00:%x[0,{column}]\nB") for column in (0, 1)]
    for schemes in (("BIO", None), (None, "BIO"), ("BIO", "BIO")):
        both = CoTraining(*(Tagger(features=made, scheme=s, n_jobs=1) for made, s in zip(makers, schemes))).fit(xs, ys)
        for y in both.predict([[("c", "d")] * 3, [("c", "d"), ("a", "b")]]):
            assert all(now != "I-X" or before in ("B-X", "I-X") for before, now in zip([None, *y], y))


def test_each_teaches_the_other_what_it_is_surest_of():
    data = two_views(5, 212)
    told: list[CoRound] = []
    both = pair(share=0.2, max_rounds=2, callbacks=[told.append]).fit(evidence_of(data[:12], data[12:]))
    assert told == both.rounds_
    assert [record.number for record in told] == [1, 2]
    assert (told[0].from_first, told[0].from_second) == (0, 0)
    alone = [
        Classifier(learner="jlis", n_jobs=1).fit([x[v] for x, _ in data[:12]], [y for _, y in data[:12]])
        for v in (0, 1)
    ]
    predicted = [one.predict([x[v] for x, _ in data[12:]]) for v, one in enumerate(alone)]
    expected = [sum(int(np.ceil(0.2 * labels.count(name))) for name in set(labels)) for labels in predicted]
    assert [told[1].from_first, told[1].from_second] == expected
    assert told[0].agreement == np.mean([a == b for a, b in zip(*predicted)])


def test_why_it_stops():
    data = two_views(1, 200)
    evidence = evidence_of(data[:12], data[12:])
    silent = pair(confidence=1e9).fit(evidence).rounds_
    assert len(silent) == 1
    assert silent[0].stopped == "neither view has labels to give"
    assert pair(max_rounds=3).fit(evidence).rounds_[-1].stopped == "max_rounds"
    everything = pair(share=1.0, max_rounds=50, patience=50).fit(evidence).rounds_
    assert everything[-1].stopped == "neither view has labels to give"
    assert (everything[-1].from_first, everything[-1].from_second) == (188, 188)
    stubborn = pair(share=0.02, max_rounds=50, patience=1, weight=0.0).fit(evidence).rounds_
    assert stubborn[-1].stopped == "the joint objective no longer improves"
    assert [record.last for record in stubborn] == [False] * (len(stubborn) - 1) + [True]
    counting = [Classifier(learner="perceptron", n_jobs=1) for _ in VIEWS]
    without = CoTraining(*counting, views=VIEWS, share=0.02, max_rounds=50, patience=1, weight=0.0).fit(evidence)
    assert without.rounds_[-1].stopped == "the agreement no longer improves"
    assert all(record.objective is None for record in without.rounds_)


@pytest.mark.parametrize("learner", ["jlis", "crf"])
def test_the_objective_is_what_both_would_minimise_with_all_labels_of_the_other(learner):
    data = two_views(6, 80, "pqr", noise=0.3)
    labelled, pool = [Gold(x, y, weight=1.5) for x, y in data[:9]], [x for x, _ in data[9:]]
    found: list[float] = []

    def check(record: CoRound) -> None:
        views = both.first_, both.second_
        guesses = [one.predict([x[v] for x in pool]) for v, one in enumerate(views)]
        total = 0.0
        for v, one in enumerate(views):
            examples = [Gold(piece.x[v], piece.y, weight=1.5) for piece in labelled]
            examples += [Gold(x[v], y, weight=0.2) for x, y in zip(pool, guesses[1 - v])]
            total += view_objective(one.model_, one._settings(), examples)
        assert record.objective == pytest.approx(total, rel=1e-12)
        found.append(total)

    both = CoTraining(*(Classifier(learner=learner, n_jobs=1) for _ in VIEWS), views=VIEWS, weight=0.2)
    both.set_params(callbacks=[check]).fit([*labelled, *(Unlabeled(x) for x in pool)])
    assert len(found) == len(both.rounds_) > 3
    assert min(found) < 0.9 * found[0]


def test_the_pair_with_the_lowest_objective_is_kept():
    data = two_views(2, 160, "pqr", noise=0.7)
    pairs = []
    both = pair(share=0.05, patience=2)
    both.callbacks = [lambda record: pairs.append((both.first_.model_.weights, both.second_.model_.weights))]
    both.fit(evidence_of(data[:9], data[9:]))
    objectives = [record.objective for record in both.rounds_]
    best = int(np.argmin(objectives))
    assert both.rounds_[-1].stopped == "the joint objective no longer improves"
    assert best == len(objectives) - 3  # two rounds did not improve it
    np.testing.assert_array_equal(both.first_.model_.weights, pairs[best][0])
    np.testing.assert_array_equal(both.second_.model_.weights, pairs[best][1])
    assert np.any(pairs[best][0] != pairs[-1][0])


def test_without_an_objective_the_pair_that_agreed_most_is_kept():
    data = two_views(2, 160, "pqr", noise=0.4)
    counting = [Classifier(learner="perceptron", n_jobs=1) for _ in VIEWS]
    both = CoTraining(*counting, views=VIEWS, share=0.05, patience=2).fit(evidence_of(data[:9], data[9:]))
    pool = [x for x, _ in data[9:]]
    first, second = (both.predict(pool, view=view) for view in ("first", "second"))
    agreement = np.mean([a == b for a, b in zip(first, second)])
    assert agreement == pytest.approx(max(record.agreement for record in both.rounds_))


def test_a_file_has_both_models_and_the_rounds(tmp_path):
    data = two_views(3, 60, "pqr")
    path = tmp_path / "pair.model"
    fitted = pair(max_rounds=3).fit(evidence_of(data[:9], data[9:]))
    fitted.save(path)
    loaded = CoTraining.load(path, views=VIEWS)
    xs = [x for x, _ in data]
    for view in (None, "first", "second"):
        assert loaded.predict(xs, view=view) == fitted.predict(xs, view=view)
    assert loaded.rounds_ == fitted.rounds_
    assert loaded.classes_ == fitted.classes_
    assert isinstance(loaded.first, Classifier)
    assert loaded.score(xs, [y for _, y in data]) == fitted.score(xs, [y for _, y in data])
    again = tmp_path / "again.model"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    loaded.fit(evidence_of(data[:9], data[9:]))  # an estimator like any other


def test_files_of_taggers_keep_their_order_and_scheme(tmp_path):
    xs = [[("a", "b"), ("c", "d")], [("c", "b"), ("a", "d")], [("a", "d"), ("c", "b")]]
    ys = [["B-X", "I-X"], ["O", "B-X"], None]
    makers = [features.parse_templates(f"U00:%x[0,{column}]\nB") for column in (0, 1)]
    options = [{"order": 2, "scheme": "BIO"}, {"learner": "crf"}]
    taggers = [Tagger(features=made, n_jobs=1, **own) for made, own in zip(makers, options)]
    fitted = CoTraining(*taggers, measure="output").fit(xs, ys)
    fitted.save(tmp_path / "taggers.model")
    loaded = CoTraining.load(tmp_path / "taggers.model")
    asked = [[("c", "d")] * 3, [("c", "d"), ("a", "b")], *xs]
    for view in (None, "first", "second"):
        assert loaded.predict(asked, view=view) == fitted.predict(asked, view=view)
    assert (loaded.first.order, loaded.second.learner) == (2, "crf")


def test_files_that_are_refused(tmp_path):
    data = two_views(3, 30)
    with pytest.raises(NotFitted, match="call fit first"):
        pair().save(tmp_path / "none.model")
    assert not (tmp_path / "none.model").exists()
    fitted = pair(max_rounds=1).fit(evidence_of(data[:6], data[6:]))
    fitted.save(tmp_path / "pair.model")
    fitted.first_.save(tmp_path / "one.model")
    with pytest.raises(DataError, match="the models see views of inputs; give the functions again"):
        CoTraining.load(tmp_path / "pair.model")
    with pytest.raises(ModelFileError, match=r"a sidelight model, not a sidelight pair of models; Tagger\.load"):
        CoTraining.load(tmp_path / "one.model")
    with pytest.raises(ModelFileError, match=r"pair of models, not a sidelight model; CoTraining\.load reads it"):
        Classifier.load(tmp_path / "pair.model")
    with pytest.raises(ModelFileError, match="no such file"):
        CoTraining.load(tmp_path / "nothing.model")
    plain = CoTraining(Classifier(n_jobs=1), Classifier(n_jobs=1), max_rounds=1)
    plain.fit([{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], ["p", "q", None]).save(tmp_path / "plain.model")
    with pytest.raises(DataError, match="trained without views; leave views out"):
        CoTraining.load(tmp_path / "plain.model", views=VIEWS)


def test_parameters_and_clone():
    both = pair(share=0.3)
    assert both.get_params(deep=False).keys() == {
        "first", "second", "views", "share", "measure", "confidence", "weight", "max_rounds", "patience", "callbacks",
        "verbose",
    }  # fmt: skip
    assert both.get_params()["first__loss"] == "squared_hinge"
    both.set_params(second__loss="hinge", patience=2)
    other = clone(both)
    assert other is not both
    assert other.second is not both.second
    assert (other.second.loss, other.first.loss, other.patience, other.share) == ("hinge", "squared_hinge", 2, 0.3)
    assert "share=0.3" in repr(other)
    assert "measure" not in repr(other)
    with pytest.raises(ValueError, match="unknown parameter 'thrid'"):
        both.set_params(thrid__loss="hinge")
    with pytest.raises(NotFitted, match="call fit first"):
        both.predict([])
    data = two_views(1, 40)
    fitted = both.fit(evidence_of(data[:6], data[6:]))
    assert not hasattr(both.first, "model_")
    assert fitted.classes_ == ["p", "q"]
    assert fitted.predict([]) == []


def test_the_same_bits_again():
    data = two_views(3, 120)
    one, other = (pair().fit(evidence_of(data[:12], data[12:])) for _ in range(2))
    np.testing.assert_array_equal(one.first_.model_.weights, other.first_.model_.weights)
    assert [record.agreement for record in one.rounds_] == [record.agreement for record in other.rounds_]


def test_what_is_refused():
    data = two_views(1, 20)
    evidence = evidence_of(data[:6], data[6:])
    with pytest.raises(DataError, match="nothing is unlabelled"):
        pair().fit(evidence[:6])
    ruled = [*evidence, Unlabeled(data[0][0], rules=(gallery.at_most(1, "p"),))]
    with pytest.raises(DataError, match=r"evidence 20 .*co-training does not look at the rules of an input"):
        pair().fit(ruled)
    with pytest.raises(DataError, match="nothing is labelled"):
        pair().fit(evidence[6:])
    with pytest.raises(ValueError, match="two Taggers or two Classifiers"):
        CoTraining(Tagger(), Classifier()).fit(evidence)
    with pytest.raises(ValueError, match="leave states out"):
        CoTraining(Classifier(n_jobs=1, states=2), Classifier(n_jobs=1), views=VIEWS).fit(evidence)
    with pytest.raises(DataError, match="different labels"):
        CoTraining(Classifier(n_jobs=1), Classifier(labels=["q", "p"], n_jobs=1), views=VIEWS).fit(evidence)
    for options in (
        {"share": 0.0},
        {"confidence": -1.0},
        {"weight": float("nan")},
        {"max_rounds": 0},
        {"measure": "x"},
    ):
        with pytest.raises(ValueError, match=f"{next(iter(options))} is"):
            pair(**options).fit(evidence)
    with pytest.raises(ValueError, match="2 inputs but 1 outputs"):
        pair().fit([data[0][0], data[1][0]], ["p"])
    with pytest.raises(ValueError, match="view is 'third'"):
        pair().fit(evidence).predict([], view="third")

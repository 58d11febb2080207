"""Two views that teach each other beat each of them alone, and say when they have nothing more to say."""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import pytest
from drawing import labelings, law, plain_scores, seeds, values_of
from hypothesis import given
from sklearn.base import clone

from sidelight import Classifier, DataError, Gold, NotFitted, Tagger, Unlabeled, features
from sidelight.co_training import CoRound, CoTraining

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
        alone = [Classifier(n_jobs=1).fit([x[v] for x, _ in labelled], [y for _, y in labelled]) for v in (0, 1)]
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
    alone = [Classifier(n_jobs=1).fit([x[v] for x, _ in data[:12]], [y for _, y in data[:12]]) for v in (0, 1)]
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
    assert stubborn[-1].stopped == "the agreement no longer improves"
    assert [record.last for record in stubborn] == [False] * (len(stubborn) - 1) + [True]


def test_the_pair_that_agreed_most_is_kept():
    data = two_views(2, 160, "pqr", noise=0.4)
    both = pair(share=0.05, patience=2).fit(evidence_of(data[:9], data[9:]))
    pool = [x for x, _ in data[9:]]
    first, second = (both.predict(pool, view=view) for view in ("first", "second"))
    agreement = np.mean([a == b for a, b in zip(first, second)])
    assert agreement == pytest.approx(max(record.agreement for record in both.rounds_))


def test_parameters_and_clone():
    both = pair(share=0.3)
    assert both.get_params(deep=False).keys() == {
        "first", "second", "views", "share", "measure", "confidence", "weight", "max_rounds", "patience", "callbacks"
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

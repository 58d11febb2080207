"""HMMs and EM as learners of `Tagger`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sidelight import (
    Candidates,
    Classifier,
    Companion,
    DataError,
    Gold,
    Infeasible,
    Partial,
    Tagger,
    Unlabeled,
    features,
    gold,
    load_model,
    recipes,
    unlabeled,
)
from sidelight.generative.hmm_starts import STARTS

XS = [["the", "dog", "runs"], ["the", "cat"], ["dog", "runs"]]
YS = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
PLAIN = {"emission": "none", "transition": "none"}


def weight_of(tagger: Tagger, attribute: str, label: str) -> float:
    model = tagger.model_
    names = [model.extractor.name(a) for a in range(model.layout.n_attributes)]
    return float(model.layout.attribute_weights(model.weights)[names.index(attribute), model.labels.number[label]])


def corpus(rng: np.random.Generator, count: int, *, length: int = 8) -> tuple[list, list]:
    """Sequences of an HMM with three labels and twelve words; a label has four words that it prefers."""
    move = np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    xs, ys = [], []
    for _ in range(count):
        y = [int(rng.integers(0, 3))]
        while len(y) < length:
            y.append(int(rng.choice(3, p=move[y[-1]])))
        words = [int(rng.integers(0, 4)) + 4 * (k if rng.random() < 0.8 else int(rng.integers(0, 3))) for k in y]
        xs.append([f"w{word}" for word in words])
        ys.append(["ABC"[k] for k in y])
    return xs, ys


def test_supervised_probabilities_are_shares_of_counts():
    tagger = Tagger(learner=recipes.hmm(**PLAIN), n_jobs=1).fit(XS, YS)
    model = tagger.model_
    number, layout = model.labels.number, model.layout
    start, transition = np.exp(layout.start(model.weights)), np.exp(layout.transition(model.weights))
    assert start[number["D"]] == pytest.approx(2 / 3) and start[number["N"]] == pytest.approx(1 / 3)
    assert transition[number["D"], number["N"]] == pytest.approx(1.0)
    assert transition[number["N"], number["V"]] == pytest.approx(1.0)
    assert np.all(layout.end(model.weights) == 0.0)
    dog = weight_of(tagger, "U00:bias", "N") + weight_of(tagger, "U02:dog", "N")
    assert math.exp(dog) == pytest.approx(2 / 3)
    expected = sum(
        map(math.log, (2 / 3, 2 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3))
    )  # starts, dog twice and cat; the rest is 1
    assert tagger.rounds_[0].objective == pytest.approx(-expected)
    assert tagger.rounds_[0].stopped == "solved in closed form"


def test_weights_of_evidence_count():
    evidence = [Gold(["a"], ["X"], weight=3.0), Gold(["b"], ["Y"])]
    tagger = Tagger(learner=recipes.hmm(**PLAIN)).fit(evidence)
    assert np.exp(tagger.model_.layout.start(tagger.model_.weights)) == pytest.approx([0.75, 0.25])
    tagger = Tagger(learner=recipes.hmm(**PLAIN), prices={"gold": 2.0}).fit(evidence)
    assert np.exp(tagger.model_.layout.start(tagger.model_.weights)) == pytest.approx([0.75, 0.25])


def test_ends_are_modelled_on_request():
    tagger = Tagger(learner=recipes.hmm(**PLAIN, ends=True)).fit(XS, YS)
    model = tagger.model_
    stop = np.exp(model.layout.end(model.weights))
    number = model.labels.number
    assert stop[number["N"]] == pytest.approx(1 / 3) and stop[number["V"]] == pytest.approx(1.0)
    assert np.exp(model.layout.transition(model.weights))[number["N"], number["V"]] == pytest.approx(2 / 3)


def test_second_order_counts_three_labels_in_a_row():
    tagger = Tagger(learner=recipes.hmm(**PLAIN), order=2).fit([["a"] * 4], [["X", "X", "Y", "X"]])
    layout, weights = tagger.model_.layout, tagger.model_.weights
    both = np.exp(layout.second(weights) + layout.transition(weights))
    x, y = 0, 1
    assert both[x, x, y] == pytest.approx(1.0) and both[x, y, x] == pytest.approx(1.0)
    assert np.exp(layout.transition(weights))[x, x] == pytest.approx(1.0)


def test_an_unknown_word_has_the_share_of_smoothing():
    tagger = Tagger(learner=recipes.hmm(emission="mass", emission_amount=2.0, vocabulary=10)).fit(XS, YS)
    # N was counted 3 times; 4 words are known, and 6 of the 10 words are unknown
    assert math.exp(weight_of(tagger, "U00:bias", "N")) == pytest.approx((2.0 * 6 / 10) / (3 + 2.0))
    assert tagger.predict([["the", "zebra", "runs"]]) == [["D", "N", "V"]]
    reserved = Tagger(learner=recipes.hmm(emission="additive", emission_amount=1.0, reserve=0.25)).fit(XS, YS)
    assert all(math.exp(weight_of(reserved, "U00:bias", label)) == pytest.approx(0.25) for label in "DNV")


def test_rare_words_teach_what_unknown_words_are():
    xs = [["the", "walking"], ["the", "singing"], ["the", "quickly"], ["the", "sadly"]] * 1
    ys = [["D", "V"], ["D", "V"], ["D", "R"], ["D", "R"]]
    tagger = Tagger(learner=recipes.hmm(rare=1, emission_amount=1.0), features=features.emissions(classes="ending2"))
    tagger.fit(xs, ys)
    assert tagger.predict([["the", "jumping"], ["the", "badly"]]) == [["D", "V"], ["D", "R"]]
    assert weight_of(tagger, "U02:walking", "V") == 0.0
    with pytest.raises(DataError, match="rare"):
        Tagger(learner="hmm", features=features.emissions(classes="ending2")).fit(xs, ys)


def test_everything_a_model_can_do(tmp_path):
    tagger = Tagger(learner=recipes.em(iterations=3)).fit([*gold(XS, YS), *unlabeled(XS)])
    best = tagger.predict(XS)
    tagger.save(tmp_path / "m.sidelight")
    again = load_model(tmp_path / "m.sidelight")
    assert again.predict(XS) == best and again.about["learner"] == "em"
    np.testing.assert_array_equal(again.weights, tagger.model_.weights)
    assert tagger.k_best(XS, 2)[0][0][0] == best[0]
    marginals = tagger.predict_marginals(XS)[0][0]
    assert sum(marginals.values()) == pytest.approx(1.0)
    assert tagger.sample(XS, seed=1) == tagger.sample(XS, seed=1)


def test_completion_stays_within_what_is_admitted():
    """The word of an input occurs nowhere else, so what it may be is all that its probabilities can say."""
    evidence = [
        *gold(XS, YS),
        Candidates(["the", "blick"], [["D"], ["N", "V"]]),
        Partial(["dax", "runs"], ["N", None]),
        Unlabeled(["the", "dog"]),
    ]
    for learner in (recipes.em(**PLAIN, start="uniform"), recipes.hard_em(**PLAIN, start="uniform")):
        tagger = Tagger(learner=learner).fit(evidence)
        assert weight_of(tagger, "U00:bias", "D") + weight_of(tagger, "U02:blick", "D") == pytest.approx(-1000.0)
        for label in "DV":
            assert weight_of(tagger, "U00:bias", label) + weight_of(tagger, "U02:dax", label) == pytest.approx(-1000.0)


def test_em_learns_what_a_dictionary_leaves_open():
    xs, ys = corpus(np.random.default_rng(0), 150)
    may = {f"w{k}": {"ABC"[k // 4], "ABC"[(k // 4 + k % 2) % 3]} for k in range(12)}
    evidence = [Candidates(x, [may[word] for word in x]) for x in xs]
    small = {"emission_amount": 1.0, "vocabulary": 0}
    tagger = Tagger(learner=recipes.em(**small), labels="ABC").fit(evidence)
    assert tagger.score(xs, ys) > 0.75
    assert tagger.rounds_[-1].objective < tagger.rounds_[0].objective


@pytest.mark.parametrize("name", STARTS)
def test_every_start_begins_em(name):
    rng = np.random.default_rng(1)
    xs, ys = corpus(rng, 20)
    initial = [["A" if "A" in options else options[0] for options in _sets(x)] for x in xs]
    evidence = [Candidates(x, _sets(x), initial=guess) for x, guess in zip(xs, initial)]
    if name == "gold":
        evidence += gold(xs[:3], ys[:3])
    learner = recipes.em(start=name, iterations=4, emission="additive", emission_amount=0.1, vocabulary=0)
    for order in (1, 2):
        tagger = Tagger(learner=learner, labels="ABC", order=order, seed=3).fit(evidence)
        twin = Tagger(learner=learner, labels="ABC", order=order, seed=3, n_jobs=2).fit(evidence)
        np.testing.assert_array_equal(tagger.model_.weights, twin.model_.weights)
        assert 1 <= len(tagger.rounds_) <= 4


def _sets(x):
    return [sorted({"ABC"[int(w[1:]) // 4], "ABC"[(int(w[1:]) // 4 + 1) % 3]}) for w in x]


def test_em_first_begins_where_em_ended():
    xs, _ = corpus(np.random.default_rng(1), 20)
    evidence = [Candidates(x, _sets(x)) for x in xs]
    first = [
        Tagger(learner=recipes.em(start=name), labels="ABC").fit(evidence).rounds_[0] for name in ("uniform", "em")
    ]
    assert first[1].objective < first[0].objective


def test_labels_to_begin_with_are_begun_with():
    either = ["X", "Y"]
    evidence = [Candidates(["a", "a"], [either] * 2, initial=["X", "X"]), Candidates(["b"], [either], initial=["Y"])]
    tagger = Tagger(learner=recipes.hard_em(start="labels", **PLAIN)).fit(evidence)
    assert tagger.predict([["a", "a"], ["b"]]) == [["X", "X"], ["Y"]]
    assert tagger.rounds_[-1].stopped == "a completion changes nothing" and len(tagger.rounds_) == 1


@pytest.mark.parametrize(
    ("start", "message"),
    [("gold", "there is none"), ("labels", "labels to begin with"), ("emission", "dictionary entry")],
)
def test_a_start_without_what_it_needs_is_refused(start, message):
    with pytest.raises(DataError, match=message):
        Tagger(learner=recipes.em(start=start), labels="XY").fit(unlabeled([["a", "b"]]))


def test_beta_is_the_share_of_the_supervised_model():
    xs, ys = corpus(np.random.default_rng(2), 30)
    evidence = [*gold(xs[:5], ys[:5]), *unlabeled(xs[5:])]
    words = {"features": features.emissions(), "labels": "ABC"}
    alone = Tagger(learner=recipes.em(beta=1.0), **words).fit(evidence)
    smooth = {"emission_amount": 250.0}
    hmm = Tagger(learner=recipes.em(iterations=1, beta=1.0, **smooth), **words).fit(evidence)
    np.testing.assert_allclose(alone.model_.weights, hmm.model_.weights)
    shares = (0.0, 0.5, 1.0)
    half = [Tagger(learner=recipes.hard_em(iterations=1, beta=b), **words).fit(evidence).model_ for b in shares]
    transitions = [np.exp(model.layout.transition(model.weights)) for model in half]
    np.testing.assert_allclose(transitions[1], (transitions[0] + transitions[2]) / 2, rtol=1e-9)
    with pytest.raises(DataError, match="beta"):
        Tagger(learner=recipes.em(beta=0.9), labels="XY").fit(unlabeled([["a"]]))


def test_threads_do_not_matter():
    xs, ys = corpus(np.random.default_rng(3), 700)
    evidence = [*gold(xs[:20], ys[:20]), *unlabeled(xs[20:])]  # more than one shard
    for gamma in (1.0, 0.4, 0.0):
        learner = recipes.unified_em(gamma=gamma, iterations=3)
        one, two = (Tagger(learner=learner, n_jobs=jobs).fit(evidence).model_.weights for jobs in (1, 3))
        np.testing.assert_array_equal(one, two)


def test_a_fit_that_stops_goes_on_to_the_same_bits(tmp_path):
    xs, ys = corpus(np.random.default_rng(4), 60)
    evidence = [*gold(xs[:5], ys[:5]), *unlabeled(xs[5:])]
    learner = recipes.unified_em(gamma=0.8, anneal_from=2.0, anneal_steps=3, iterations=6, ends=True)

    class Stop(Exception):
        pass

    def stop(record):
        if record.number == 4:
            raise Stop

    for order in (1, 2):
        path = tmp_path / f"checkpoint {order}"
        whole = Tagger(learner=learner, order=order).fit(evidence)
        with pytest.raises(Stop):
            Tagger(learner=learner, order=order, checkpoint=path, callbacks=[stop]).fit(evidence)
        rest = Tagger(learner=learner, order=order, checkpoint=path).fit(evidence)
        assert [record.number for record in rest.rounds_] == [5, 6]
        np.testing.assert_array_equal(whole.model_.weights, rest.model_.weights)


def test_a_warm_start_begins_with_the_parameters_of_the_fit_before():
    xs, ys = corpus(np.random.default_rng(5), 40)
    smooth = {"emission_amount": 1.0, "vocabulary": 0, "transition_amount": 0.1}
    tagger = Tagger(learner=recipes.hmm(**smooth), warm_start=True).fit(gold(xs[:10], ys[:10]))
    tagger.set_params(learner=recipes.em(iterations=1, **smooth)).fit(unlabeled(xs[:10]))
    fresh = Tagger(learner=recipes.em(iterations=1, start="gold", beta=0.0, **smooth))
    fresh.fit([*gold(xs[:10], ys[:10]), *unlabeled(xs[:10])])
    np.testing.assert_allclose(tagger.model_.weights, fresh.model_.weights, rtol=1e-9, atol=1e-9)


def test_a_warm_start_may_begin_to_model_ends():
    tagger = Tagger(learner=recipes.hmm(), warm_start=True).fit(XS, YS)
    tagger.set_params(learner=recipes.em(iterations=2, ends=True)).fit(unlabeled(XS))
    assert np.all(np.isfinite(tagger.model_.weights)) and np.all(tagger.model_.layout.end(tagger.model_.weights) < 0.0)


def test_labels_with_hidden_states_learn_what_one_state_cannot():
    """X has two kinds of words that never mix in a sequence; with one state X emits any of them anywhere."""
    xs = [["a", "b", "a", "b"]] * 5 + [["c", "d", "c", "d"]] * 5
    ys = [["X"] * 4] * 10
    smooth = {"emission": "additive", "emission_amount": 0.01, "vocabulary": 0}
    learner = recipes.em(start="uniform", noise=1.0, iterations=60, **smooth)
    one = Tagger(learner=learner, labels=["X", "Y"]).fit(gold(xs, ys))
    two = Tagger(learner=learner, labels=["X", "Y"], states={"X": 2}).fit(gold(xs, ys))
    assert two.rounds_[-1].objective < one.rounds_[-1].objective - 20
    assert two.predict(xs) == ys


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="emissions"):
        Tagger(learner="hmm", features=features.window()).fit(XS, YS)
    with pytest.raises(DataError, match="Gold only"):
        Tagger(learner="hmm", labels="DNV").fit(unlabeled(XS))
    with pytest.raises(DataError, match="learns from"):
        Tagger(learner="em", labels="DNV").fit([Companion(XS[0], 1)])
    with pytest.raises(ValueError, match="naive_bayes"):
        Classifier(learner="hmm", features=features.attributes()).fit([{"a": 1.0}], ["x"])
    with pytest.raises(ValueError, match="bias"):
        Tagger(learner="hmm", bias=False).fit(XS, YS)
    with pytest.raises(ValueError, match="partial_fit"):
        Tagger(learner="hmm").fit(XS, YS).partial_fit(XS, YS)
    with pytest.raises(Infeasible, match="probability 0"):
        Tagger(learner=recipes.em(**PLAIN)).fit([*gold(XS, YS), Unlabeled(["zebra"])])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": math.nan}, "gamma"),
        ({"anneal_from": 0.0}, "anneal_from"),
        ({"anneal_from": 2.0, "anneal_steps": 0}, "anneal_steps"),
        ({"anneal_from": 2.0, "schedule": "steep"}, "schedule"),
        ({"gamma": 0.0, "anneal_from": 2.0, "schedule": "geometric"}, "geometric"),
        ({"iterations": 0}, "iterations"),
        ({"start": "nowhere"}, "start"),
        ({"noise": -1.0}, "noise"),
        ({"beta": 2.0}, "beta"),
        ({"emission": "wishful"}, "emission is"),
        ({"emission": "uniform", "emission_amount": 2.0}, "at most 1"),
        ({"transition_amount": -1.0}, "not negative"),
        ({"rare": -1}, "rare"),
        ({"reserve": 1.0}, "reserve"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        recipes.unified_em(**options)


def test_beside_inputs_without_labels_em_keeps_to_golds_model():
    """By default; with candidates, or a price, counts are added."""
    words = {"features": features.emissions(), "n_jobs": 1}

    def weights(learner, more, **settings):
        return Tagger(learner=learner, **words, **settings).fit([*gold(XS[:2], YS[:2]), *more]).model_.weights

    pool, open_labels = unlabeled(XS), [Candidates(x, [None] * len(x)) for x in XS]
    np.testing.assert_array_equal(weights("em", pool), weights(recipes.em(beta=0.9), pool))
    added = recipes.em(beta=None)
    assert not np.array_equal(weights("em", pool), weights(added, pool))
    np.testing.assert_array_equal(weights("em", open_labels), weights(added, open_labels))
    price = {"prices": {"unlabeled": 0.5}}
    np.testing.assert_array_equal(weights("em", pool, **price), weights(added, pool, **price))
    with pytest.raises(ValueError, match="beta is 'much'; give a number from 0 to 1 or 'auto'"):
        recipes.em(beta="much")

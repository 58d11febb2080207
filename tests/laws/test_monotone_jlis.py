"""Laws of learning with completed outputs: the joint objective never rises, and it is what it says it is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import costs_of, labelings, law, members_of, plain_scores, seeds, values_of
from hypothesis import given
from hypothesis import strategies as st

from sidelight import (
    Candidates,
    Classifier,
    Companion,
    DataError,
    Gold,
    Partial,
    Tagger,
    Unlabeled,
    companion,
    features,
    gold,
)
from sidelight.objective.cuts import losses_of
from sidelight.training import Training

LABELS = ["A", "B", "C"]
WORDS = ["on", "off", "light", "dark", "dim"]
KINDS = ("gold", "partial", "candidates", "unlabeled", "good", "bad")


def piece(rng: np.random.Generator, kind: str):
    """One piece of evidence over a short random sentence; labels depend on words, with some noise."""
    x = [WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 5))]
    y = [LABELS[WORDS.index(word) % 3] if rng.random() < 0.8 else LABELS[rng.integers(3)] for word in x]
    weight = float(rng.uniform(0.5, 2.0))
    if kind == "gold":
        return Gold(x, y, weight=weight)
    if kind == "partial":
        return Partial(x, [label if rng.random() < 0.5 else None for label in y], weight=weight)
    if kind == "candidates":
        sets = [None if rng.random() < 0.2 else {label, LABELS[rng.integers(3)]} for label in y]
        return Candidates(x, sets, weight=weight)
    if kind == "unlabeled":
        return Unlabeled(x, weight=weight)
    return Companion(x, 1 if kind == "good" else -1, weight=weight)


def evidence_of(seed: int, counts: dict[str, int]):
    rng = np.random.default_rng(seed)
    pieces = [piece(rng, kind) for kind, count in counts.items() for _ in range(count)]
    return [pieces[i] for i in rng.permutation(len(pieces))]


def trained(tagger: Tagger, evidence):
    """A training that has ended, with all it knows, and its rounds."""
    training = Training(tagger._settings(), list(evidence))
    return training, list(training.rounds())


def check_monotone(rounds, first: int = 1) -> None:
    """From the first completion on; before it, Gold alone is another problem."""
    values = [record.objective for record in rounds if record.completion >= first]
    for before, after in itertools.pairwise(values):
        assert after <= before + 1e-9 * max(1.0, abs(before))
    for record in rounds:
        assert record.primal >= record.dual - 1e-9
        assert record.objective <= record.primal + 1e-12
    assert [record.number for record in rounds] == list(range(1, len(rounds) + 1))
    assert [record.last for record in rounds] == [False] * (len(rounds) - 1) + [True]


def joint_objective(training: Training, evidence) -> float:
    """Q(w, ŷ) by its formula and by enumeration of every output."""
    learner, labels = training.learner, training.labels
    weights, power = learner.weights, learner.options.power
    scores = plain_scores(training.rows, training.structure.layout, weights)
    starts = training.rows.starts
    latent = iter(
        _split(learner.completion.latent, training.encoded.of_kind("partial", "candidates", "unlabeled"), starts)
    )
    good = iter(_split(learner.completion.positive, np.flatnonzero(training.encoded.answers == 1), starts))
    space = learner.problem.gold.batch.space
    total = 0.5 * float(weights @ weights)
    for i, one in enumerate(evidence):
        first, last = int(starts[i]), int(starts[i + 1])
        paths = labelings(len(labels), last - first)
        paths = paths[members_of(replace(space, admitted=None), first, paths)]
        values = values_of(scores, first, paths)
        price = one.weight * training.settings.price(one.kind)
        if isinstance(one, Companion):
            best = values.max() if one.z == -1 else -values_of(scores, first, next(good)[None])[0]
            value = 1.0 + best / (last - first) + (weights[0] if one.z == -1 else -weights[0])
        else:
            target = labels.encode(one.y) if isinstance(one, Gold) else next(latent)
            values = values + costs_of(_hamming(target, len(labels)), 0, paths)
            value = values.max() - values_of(scores, first, target[None])[0]
        total += price * float(losses_of(np.array([value]), power)[0])
    return total


def _hamming(target, size):
    from sidelight.spaces import Cost

    return Cost(target, 1.0 - np.eye(size))


def _split(flat, which, starts):
    lengths = (starts[1:] - starts[:-1])[which]
    return [] if flat is None else np.split(flat, np.cumsum(lengths)[:-1])


def check_completion(training: Training, evidence) -> None:
    """Completed outputs obey labels, candidates and transitions."""
    learner, labels, starts = training.learner, training.labels, training.rows.starts
    which = training.encoded.of_kind("partial", "candidates", "unlabeled")
    for i, output in zip(which, _split(learner.completion.latent, which, starts)):
        one = evidence[i]
        assert len(output) == starts[i + 1] - starts[i]
        for known, number in zip(getattr(one, "y", [None] * len(output)), output):
            name = labels.names[number]
            if isinstance(one, Partial):
                assert known in (None, name)
            elif isinstance(one, Candidates):
                assert known is None or name in known


@law(40)
@given(
    seeds, st.tuples(*[st.integers(0, 3)] * 6), st.sampled_from(["squared_hinge", "hinge", "logistic"]), st.booleans()
)
def test_mixed_evidence_is_monotone_honest_and_admitted(seed, counts, loss, random_ties):
    evidence = evidence_of(seed, dict(zip(KINDS, counts)))
    if not evidence:
        return
    prices = {"gold": 1.0, "partial": 0.7, "candidates": 0.5, "unlabeled": 0.2, "companion": 0.8}
    tagger = Tagger(
        learner="jlis",
        features=features.words(),
        labels=LABELS,
        loss=loss,
        prices=prices,
        random_ties=random_ties,
        max_rounds=120,
        n_jobs=1,
    )
    training, rounds = trained(tagger, evidence)
    latent = any(not isinstance(one, Gold) and not (isinstance(one, Companion) and one.z == -1) for one in evidence)
    check_monotone(rounds, first=1 if latent else 0)
    check_completion(training, evidence)
    if rounds[-1].completion > 0 or not latent:
        assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
def test_jlis_falls_through_several_completions(loss):
    """The laws above are not empty: completions do change outputs, and they do lower the objective."""
    evidence = evidence_of(3, {"gold": 3, "good": 25, "bad": 25, "candidates": 10})
    settings = {
        "features": features.words(),
        "loss": loss,
        "tolerance": 1e-3,
        "prices": {"companion": 5.0},
        "n_jobs": 1,
    }
    training, rounds = trained(Tagger(**{"learner": "jlis", **settings}), evidence)
    check_monotone(rounds)
    assert rounds[-1].completion >= 3
    assert sum(record.changed > 0 for record in rounds) >= 2
    assert rounds[-1].objective < next(record.objective for record in rounds if record.completion == 1) - 1e-3
    assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)
    assert rounds[-1].gap <= 1e-3 * rounds[-1].objective * (1 + 1e-9)


def test_allowed_transitions_hold_in_every_completion():
    labels = ["B-X", "I-X", "O"]
    rng = np.random.default_rng(0)
    sentences = [[WORDS[i] for i in rng.integers(0, 5, rng.integers(2, 5))] for _ in range(20)]
    evidence = [Gold(["on", "off", "dim"], ["B-X", "I-X", "O"])]
    evidence += [Unlabeled(x) for x in sentences[:8]] + [Companion(x, 1) for x in sentences[8:14]]
    evidence += [Companion(x, -1) for x in sentences[14:]]
    tagger = Tagger(learner="jlis", features=features.words(), scheme="BIO", labels=labels, n_jobs=1)
    training, rounds = trained(tagger, evidence)
    check_monotone(rounds)
    completion, problem = training.learner.completion, training.learner.problem
    assert np.all(problem.latent.terms.batch.space.admits(completion.latent))
    assert np.all(problem.positive.batch.space.admits(completion.positive))
    assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)


def test_without_companions_it_is_the_structural_svm():
    evidence = evidence_of(1, {"gold": 30})
    one = Tagger(learner="jlis", features=features.words(), n_jobs=1).fit(evidence)
    other = Tagger(features=features.words(), learner="structural_svm", n_jobs=1).fit(evidence)
    np.testing.assert_array_equal(one.model_.weights, other.model_.weights)
    assert [r.objective for r in one.rounds_] == [r.objective for r in other.rounds_]
    assert {r.completion for r in one.rounds_} == {0}
    with pytest.raises(DataError, match="Gold only"):
        Tagger(learner="structural_svm").fit([*evidence, Companion(["on"], 1)])


def test_companions_alone_are_legal():
    evidence = evidence_of(2, {"good": 15, "bad": 15})
    training, rounds = trained(Tagger(learner="jlis", features=features.words(), labels=LABELS, n_jobs=1), evidence)
    check_monotone(rounds)
    assert {record.completion for record in rounds} >= {1}
    assert rounds[0].completion == 1
    assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)
    with pytest.raises(DataError, match="names no label"):
        Tagger(learner="jlis").fit(evidence)


def test_companions_change_what_is_learned():
    golds = evidence_of(1, {"gold": 5})
    alone = Tagger(learner="jlis", features=features.words(), n_jobs=1).fit(golds)
    both = Tagger(learner="jlis", features=features.words(), n_jobs=1).fit(
        [*golds, *evidence_of(2, {"good": 10, "bad": 10})]
    )
    assert alone.model_.weights[0] == 0.0
    assert both.model_.weights[0] != 0.0
    free = Tagger(
        learner="jlis", features=features.words(), prices={"companion": 0.0}, tolerance=1e-7, violation=0.0, n_jobs=1
    )
    free.fit([*golds, *evidence_of(2, {"good": 10, "bad": 10})])
    exact = Tagger(learner="jlis", features=features.words(), tolerance=1e-7, violation=0.0, n_jobs=1).fit(golds)
    names = {exact.model_.extractor.name(i): i for i in range(exact.model_.layout.n_attributes)}
    for i in range(free.model_.layout.n_attributes):
        row = free.model_.layout.attribute_weights(free.model_.weights)[i]
        known = names.get(free.model_.extractor.name(i))
        expected = 0.0 if known is None else exact.model_.layout.attribute_weights(exact.model_.weights)[known]
        np.testing.assert_allclose(row, expected, atol=1e-2)


def test_judge_is_the_companion_decision():
    evidence = evidence_of(4, {"gold": 4, "good": 15, "bad": 15})
    training, _ = trained(Tagger(learner="jlis", features=features.words(), n_jobs=1), evidence)
    model = training.model()
    scores = plain_scores(training.rows, training.structure.layout, model.weights)
    for i, one in enumerate(evidence):
        first, last = int(training.rows.starts[i]), int(training.rows.starts[i + 1])
        best = values_of(scores, first, labelings(len(training.labels), last - first)).max()
        expected = best / (last - first) + model.weights[0]
        assert model.judge([one.x])[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("price", [0.05, 1.0, 7.0])
def test_two_classes_are_the_linear_svm(loss, price):
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(5)
    xs = rng.normal(size=(60, 6)).astype(np.float32).astype(float)
    ys = (xs @ rng.normal(size=6) + rng.normal(size=60) > 0).astype(int)
    ours = Classifier(
        learner="jlis", loss=loss, bias=False, prices={"gold": price}, tolerance=1e-9, violation=0.0, n_jobs=1
    ).fit(xs, ys)
    theirs = LinearSVC(loss=loss, C=price, dual=True, fit_intercept=False, tol=1e-9, max_iter=2_000_000).fit(xs, ys)
    layout = ours.model_.layout
    assert layout.null_label and layout.size == 1 + 6
    np.testing.assert_allclose(layout.dense_weights(ours.model_.weights)[:, 0], theirs.coef_[0], atol=1e-3)
    assert ours.predict(xs) == theirs.predict(xs).tolist()


def test_the_default_violation_does_not_keep_a_small_gap_out_of_reach():
    """A tolerance that is asked for is reached well before the limit on rounds."""
    rng = np.random.default_rng(5)
    xs = rng.normal(size=(60, 6)).astype(np.float32).astype(float)
    ys = (xs @ rng.normal(size=6) + rng.normal(size=60) > 0).astype(int)
    found = Classifier(learner="jlis", bias=False, tolerance=1e-6, n_jobs=1).fit(xs, ys)
    assert found.rounds_[-1].gap <= 1e-6 * found.rounds_[-1].objective
    tagger = Tagger(learner="jlis", features=features.words(), tolerance=1e-6, n_jobs=1).fit(
        evidence_of(1, {"gold": 30})
    )
    assert tagger.rounds_[-1].gap <= 1e-6 * tagger.rounds_[-1].objective
    assert len(tagger.rounds_) < 1000


def test_price_of_companions_is_their_weight():
    golds = evidence_of(1, {"gold": 4})
    sides = evidence_of(6, {"good": 8, "bad": 8})
    doubled = [replace(one, weight=2.0 * one.weight) for one in sides]
    settings = {"features": features.words(), "n_jobs": 1}
    one = Tagger(**{"learner": "jlis", **settings}, prices={"companion": 2.0}).fit([*golds, *sides])
    other = Tagger(**{"learner": "jlis", **settings}, prices={"companion": 1.0}).fit([*golds, *doubled])
    np.testing.assert_array_equal(one.model_.weights, other.model_.weights)


def test_helpers_make_the_same_evidence():
    xs, ys = [["on"], ["off", "dim"]], [["A"], ["B", "C"]]
    by_hand = Tagger(learner="jlis", n_jobs=1).fit([Gold(xs[0], ys[0]), Gold(xs[1], ys[1]), Companion(xs[1], -1)])
    by_helper = Tagger(learner="jlis", n_jobs=1).fit([*gold(xs, ys), *companion([xs[1]], -1)])
    np.testing.assert_array_equal(by_hand.model_.weights, by_helper.model_.weights)

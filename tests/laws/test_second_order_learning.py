"""Laws of learning with second-order chains: objectives, files, threads, and what order 1 cannot learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing import costs_of, labelings, law, members_of, seeds
from drawing_second_order import plain_second_order_scores, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from test_monotone_jlis import LABELS, check_completion, check_monotone, evidence_of, trained

from sidelight import (
    Candidates,
    Classifier,
    Companion,
    DataError,
    Gold,
    Tagger,
    features,
    load_model,
    recipes,
    save_model,
)
from sidelight.features.words.templates import parse_templates
from sidelight.models.explain import explain
from sidelight.models.files import read_tensors, write_tensors
from sidelight.models.model_file import KIND, VERSION
from sidelight.spaces import Cost
from sidelight.training import Training

PRICES = {"gold": 1.0, "partial": 0.7, "candidates": 0.5, "unlabeled": 0.2, "companion": 0.8}


def tagger(**settings) -> Tagger:
    return Tagger(
        **{"learner": "jlis", "features": features.words(), "labels": LABELS, "order": 2, "n_jobs": 1, **settings}
    )


def joint_objective(training: Training, evidence) -> float:
    """Q(w, ŷ) by its formula and by enumeration of every output."""
    learner, labels, starts = training.learner, training.labels, training.rows.starts
    weights = learner.weights
    scores = plain_second_order_scores(training.rows, training.structure.layout, weights)
    kinds = training.encoded.of_kind("partial", "candidates", "unlabeled"), np.flatnonzero(training.encoded.answers > 0)
    latent, good = (
        iter(np.split(flat, np.cumsum(np.diff(starts)[which])[:-1]) if flat is not None else [])
        for flat, which in zip((learner.completion.latent, learner.completion.positive), kinds)
    )
    total = 0.5 * float(weights @ weights)
    for i, one in enumerate(evidence):
        first, last = int(starts[i]), int(starts[i + 1])
        paths = labelings(len(labels), last - first)
        paths = paths[members_of(learner.problem.gold.batch.space, first, paths)]
        values = second_order_values(scores, first, paths)
        if isinstance(one, Companion):
            best = values.max() if one.z == -1 else -second_order_values(scores, first, next(good)[None])[0]
            value = 1.0 + best / (last - first) + (weights[0] if one.z == -1 else -weights[0])
        else:
            target = labels.encode(one.y) if isinstance(one, Gold) else next(latent)
            values = values + costs_of(Cost(target, 1.0 - np.eye(len(labels))), 0, paths)
            value = values.max() - second_order_values(scores, first, target[None])[0]
        loss = max(0.0, value) ** learner.options.power
        total += one.weight * training.settings.price(one.kind) * loss
    return total


@law(30)
@given(seeds, st.tuples(*[st.integers(0, 3)] * 6), st.sampled_from(["squared_hinge", "hinge"]), st.booleans())
def test_mixed_evidence_is_monotone_honest_and_admitted(seed, counts, loss, random_ties):
    kinds = ("gold", "partial", "candidates", "unlabeled", "good", "bad")
    evidence = evidence_of(seed, dict(zip(kinds, counts)))
    if not evidence:
        return
    settings = tagger(loss=loss, prices=PRICES, random_ties=random_ties, max_rounds=100)
    training, rounds = trained(settings, evidence)
    latent = any(not isinstance(one, Gold) and not (isinstance(one, Companion) and one.z == -1) for one in evidence)
    check_monotone(rounds, first=1 if latent else 0)
    check_completion(training, evidence)
    if rounds[-1].completion > 0 or not latent:
        assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)


CASES = {
    "with gold": {"gold": 4, "good": 15, "bad": 15},
    "without gold": {"good": 15, "bad": 15},
    "candidates": {"candidates": 20, "good": 5, "bad": 5},
}


@pytest.mark.parametrize("case", CASES)
def test_jlis_falls_through_completions(case):
    evidence = evidence_of(3, CASES[case])
    training, rounds = trained(tagger(prices={"companion": 5.0}, tolerance=1e-3, random_ties=True), evidence)
    check_monotone(rounds)
    assert rounds[-1].completion >= 2
    assert rounds[-1].objective == pytest.approx(joint_objective(training, evidence), rel=1e-9)
    assert np.any(training.structure.layout.second(training.learner.weights) != 0.0)


def cycles(count: int, seed: int = 0):
    """Sentences of one word whose labels go A A B A A B …: only the last two labels tell what comes next."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 12, count)
    return [["x"] * n for n in lengths], [["AAB"[t % 3] for t in range(n)] for n in lengths]


@pytest.mark.parametrize("learner", ["jlis", "structural_svm"])
def test_it_learns_what_a_first_order_chain_cannot(learner):
    xs, ys = cycles(30)
    both = [Tagger(learner=learner, order=order, prices={"gold": 10.0}, n_jobs=1).fit(xs, ys) for order in (1, 2)]
    assert both[1].score(xs, ys) == 1.0
    assert both[0].score(xs, ys) < 0.9
    assert both[1].model_.layout.order == 2


@pytest.mark.parametrize("learner", ["cllp", "mms", "naive", "cl_svm"])
def test_learners_from_candidates_take_it_too(learner):
    rng = np.random.default_rng(0)
    xs, ys = cycles(20)
    unsure = [[{label, "ABC"[rng.integers(3)]} if t < 3 else {label} for t, label in enumerate(y)] for y in ys]
    evidence = [Candidates(x, sets) for x, sets in zip(xs, unsure)]
    fitted = tagger(learner=learner, features=None, max_rounds=40).fit(evidence)
    layout, weights = fitted.model_.layout, fitted.model_.weights
    assert layout.order == 2
    assert np.any(layout.second(weights) != 0.0)
    training = Training(tagger(learner=learner, features=None, max_rounds=40)._settings(), evidence)
    assert len(list(training.rounds())) == len(fitted.rounds_)
    np.testing.assert_array_equal(training.model().weights, weights)


def test_partial_fit_and_warm_start_keep_the_order():
    xs, ys = cycles(20)
    one = Tagger(learner="jlis", order=2, prices={"gold": 10.0}, n_jobs=1).fit(xs, ys)
    more = [["x", "new", "x", "x"]], [["A", "A", "B", "A"]]
    one.partial_fit(*more)
    assert one.model_.layout.order == 2
    assert one.score(xs, ys) == 1.0
    changed = one.set_params(order=1)
    with pytest.raises(DataError, match="does not fit"):
        changed.partial_fit(*more)


def test_threads_and_random_ties():
    evidence = evidence_of(5, {"gold": 150, "good": 500, "bad": 500})
    found = []
    for n_jobs in (1, 2, 3):
        training = Training(tagger(random_ties=True, max_rounds=12, n_jobs=n_jobs)._settings(), evidence)
        records = [(r.objective, r.dual, r.completion) for r in training.rounds()]
        model = training.model()
        xs = [one.x for one in evidence]
        found.append((records, model.weights.copy(), model.predict(xs, n_jobs=n_jobs), model.judge(xs, n_jobs=n_jobs)))
    assert found[0][0][-1][2] >= 1
    for records, weights, outputs, decisions in found[1:]:
        assert records == found[0][0]
        assert outputs == found[0][2]
        np.testing.assert_array_equal(weights, found[0][1])
        np.testing.assert_array_equal(decisions, found[0][3])


def test_save_and_load(tmp_path):
    evidence = evidence_of(4, {"gold": 20, "good": 10, "bad": 10})
    fitted = tagger().fit(evidence)
    fitted.save(tmp_path / "m.sl")
    loaded = load_model(tmp_path / "m.sl")
    xs = [one.x for one in evidence]
    assert loaded.layout == fitted.model_.layout
    np.testing.assert_array_equal(loaded.weights, fitted.model_.weights)
    assert loaded.predict(xs) == fitted.predict(xs)
    np.testing.assert_array_equal(loaded.judge(xs), fitted.judge(xs))
    save_model(loaded, tmp_path / "again.sl")
    assert (tmp_path / "again.sl").read_bytes() == (tmp_path / "m.sl").read_bytes()


def test_files_from_before_there_was_an_order(tmp_path):
    """They say nothing of it, and models of order 1 are still written so, for old versions to read."""
    evidence = evidence_of(4, {"gold": 20})
    fitted = tagger(order=1).fit(evidence)
    fitted.save(tmp_path / "m.sl")
    spec, tensors = read_tensors(tmp_path / "m.sl", kind=KIND, version=1)
    fields = {"n_labels", "n_attributes", "n_dense", "chain", "bias", "null_label"}
    assert set(spec["layout"]) == fields
    xs = [one.x for one in evidence]
    for layout in (spec["layout"], {**spec["layout"], "order": 1}):
        write_tensors(tmp_path / "old.sl", tensors, kind=KIND, version=1, spec={**spec, "layout": layout})
        loaded = load_model(tmp_path / "old.sl")
        assert loaded.layout.order == 1
        assert loaded.predict(xs) == fitted.predict(xs)
    tagger().fit(evidence).save(tmp_path / "new.sl")
    with pytest.raises(DataError, match="newer version"):
        read_tensors(tmp_path / "new.sl", kind=KIND, version=1)
    assert read_tensors(tmp_path / "new.sl", kind=KIND, version=VERSION)[0]["layout"]["order"] == 2


def test_explanations_add_up_and_name_three_labels():
    xs, ys = cycles(20)
    model = Tagger(learner="jlis", order=2, prices={"gold": 10.0}, n_jobs=1).fit(xs, ys).model_
    found = explain(model, ["x"] * 7)
    assert found.predicted == ["A", "A", "B", "A", "A", "B", "A"]
    assert sum(item.amount for item in found.contributions) == pytest.approx(found.margin)
    triples = [item for item in found.contributions if item.name == "second-order transition"]
    assert {"A A → B", "A B → A"} & {item.predicted for item in triples}
    for item in triples:
        assert item.part == "transition"
        labels = found.predicted[item.token - 2 : item.token + 1]
        assert item.predicted == f"{labels[0]} {labels[1]} → {labels[2]}"
    assert "second-order transition" in str(found)


def test_the_order_changes_nothing_else():
    """Single tokens and pairs have no second-order parts."""
    evidence = [Gold(x, y) for x, y in zip([["on", "off"], ["dim"]] * 10, [["A", "B"], ["C"]] * 10)]
    one, two = (tagger(order=order).fit(evidence) for order in (1, 2))
    pairs = [[one_word, other] for one_word, other in itertools.product(["on", "off", "dim"], repeat=2)]
    assert one.predict(pairs) == two.predict(pairs)
    assert np.all(two.model_.layout.second(two.model_.weights) == 0.0)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Tagger(learner="jlis", order=3), "order is 3; give 1 or 2"),
        (lambda: Tagger(learner="jlis", order=0), "order is 0; give 1 or 2"),
        (
            lambda: Tagger(order=2, learner="naive_bayes"),
            "labels of single tokens, which chains of order 2 do not have; use jlis or structural_svm",
        ),
        (
            lambda: Tagger(learner="jlis", order=2, features=parse_templates("U00:%x[0,0]")),
            "the features have no transitions",
        ),
    ],
)
def test_what_is_refused(make, problem):
    with pytest.raises(ValueError, match=problem):
        make().fit([["on", "off"]], [["A", "B"]])


ONLINE = ["perceptron", "mira", "passive_aggressive", "arow", recipes.mira(k=3, outputs="prediction")]


@pytest.mark.parametrize("learner", ONLINE)
def test_online_learners_learn_what_the_last_two_labels_tell(learner, tmp_path):
    """All tokens look the same, and labels go A A B A A B …; validation and checkpoints are those of order 1."""
    xs = [["w"] * n for n in (4, 5, 6, 7, 8, 9)]
    ys = [["B" if t % 3 == 2 else "A" for t in range(len(x))] for x in xs]

    def made(**options):
        return Tagger(learner=learner, order=2, features=features.words(), max_rounds=30, **options)

    whole = made().fit(xs, ys)
    first = Tagger(learner=learner, features=features.words(), max_rounds=30).fit(xs, ys)
    assert first.predict(xs) != ys and first.rounds_[-1].mistakes == len(xs)
    if learner == "perceptron":  # after two epochs, whose average is not yet right
        assert whole.rounds_[-1].mistakes == 0
    else:
        assert whole.predict(xs) == ys
    validated = made(patience=30).fit(xs, ys, validation=(xs, ys))
    assert all(record.validation is not None for record in validated.rounds_)
    assert validated.score(xs, ys) >= whole.score(xs, ys)

    def stop(record):
        if record.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(checkpoint=tmp_path / "c", callbacks=[stop]).fit(xs, ys)
    rest = made(checkpoint=tmp_path / "c").fit(xs, ys)
    np.testing.assert_array_equal(rest.model_.weights, whole.model_.weights)


def test_a_perceptron_of_order_2_goes_on():
    xs, ys = [["w"] * 7, ["w"] * 5], [list("AABAABA"), list("AABAA")]
    fitted = Tagger(learner="perceptron", order=2, features=features.words()).fit(xs[:1], ys[:1])
    before = fitted.model_.weights.copy()
    fitted.partial_fit(xs[1:], ys[1:])
    assert fitted.model_.layout.order == 2 and not np.array_equal(before, fitted.model_.weights)


def test_subgradient_steps_of_order_2_come_to_the_same_objective():
    xs = [["w"] * n for n in (4, 5, 6, 7)]
    ys = [["B" if t % 3 == 2 else "A" for t in range(len(x))] for x in xs]
    usual = Tagger(learner="structural_svm", order=2, features=features.words(), tolerance=1e-3).fit(xs, ys)
    recipe = recipes.structural_svm(solver="subgradient")
    found = Tagger(learner=recipe, order=2, features=features.words(), tolerance=0.02, max_rounds=2000).fit(xs, ys)
    assert found.rounds_[-1].objective == pytest.approx(usual.rounds_[-1].objective, rel=0.03)


def test_classes_have_no_order():
    with pytest.raises(ValueError, match="single labels have no order"):
        Classifier(learner="jlis", order=2).fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])

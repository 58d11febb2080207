"""Labels with hidden states through the estimators: what one state cannot learn, files, explanations, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sidelight as sl
from sidelight import DataError, ModelFileError, Tagger, recipes
from sidelight.models.explain import explain
from sidelight.models.files import read_tensors, write_tensors
from sidelight.models.model_file import KIND, VERSION
from sidelight.structures import StateSet
from sidelight.training import Training

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (60, 2))
XOR = [{f"p={a}": 1.0, f"q={b}": 1.0} for a, b in BITS]
SAME = ["same" if a == b else "other" for a, b in BITS]
LEARNERS = ["jlis", "latent_svm", "cllp", "mms", "transductive_svm", "partial_crf"]


def classifier(**settings) -> sl.Classifier:
    return sl.Classifier(**{"prices": {"gold": 5.0}, "n_jobs": 1, "states": 2, **settings})


def cycles(count: int):
    """A A B A A B …, from any place in the cycle on, over a word that says nothing."""
    ys = [[("A", "A", "B")[(k + t) % 3] for t in range(9)] for k in range(count)]
    return [["first" if y[:2] == ["A", "A"] else "next" if y[0] == "A" else "last", *["x"] * 8] for y in ys], ys


# what it is for


def test_one_state_cannot_tell_same_from_other():
    linear = classifier(states=None).fit(XOR, SAME)
    assert linear.score(XOR, SAME) < 0.8


@pytest.mark.parametrize("learner", LEARNERS)
def test_two_states_can(learner):
    fitted = classifier(learner=learner).fit(XOR, SAME)
    assert fitted.score(XOR, SAME) == 1.0
    assert fitted.classes_ == ["other", "same"]
    assert set(fitted.predict(XOR)) == {"other", "same"}


def test_states_for_one_label_alone():
    fitted = classifier(states={"same": 2}, learner=recipes.latent_svm(restarts=6)).fit(XOR, SAME)
    assert fitted.score(XOR, SAME) == 1.0
    assert fitted.model_.layout.n_labels == 3
    assert {record.learner for record in fitted.rounds_} == {"latent_svm"}
    assert {record.restart for record in fitted.rounds_} == set(range(6))


def test_two_states_find_the_middle_of_a_cycle():
    xs, ys = cycles(30)
    settings = {"prices": {"gold": 10.0}, "n_jobs": 2}
    assert Tagger(learner="structural_svm", **settings).fit(xs, ys).score(xs, ys) < 0.9
    hidden = Tagger(learner=recipes.latent_svm(restarts=8), states={"A": 2}, **settings).fit(xs, ys)
    assert hidden.score(xs, ys) == 1.0
    assert set(itertools.chain(*hidden.predict(xs))) == {"A", "B"}


def test_numbers_as_labels():
    numbers = [int(label == "same") for label in SAME]
    fitted = classifier(labels=[0, 1]).fit(XOR, numbers)
    assert fitted.score(XOR, numbers) == 1.0
    assert [str(name) for name in fitted.model_.labels.names] == ["0/1", "0/2", "1/1", "1/2"]


# other evidence


def test_partial_candidates_unlabeled_and_companion_evidence():
    xs, ys = cycles(12)
    evidence = [
        *sl.gold(xs[:6], ys[:6]),
        *sl.partial(xs[6:8], [[y if t % 2 else None for t, y in enumerate(row)] for row in ys[6:8]]),
        *sl.candidates(xs[8:10], [[{y, "B"} for y in row] for row in ys[8:10]]),
        *sl.unlabeled(xs[10:]),
        *sl.companion(xs, 1),
        *sl.companion(sl.shuffled(xs), -1),
    ]
    fitted = Tagger(states={"A": 2}, max_rounds=60, n_jobs=1).fit(evidence)
    assert len(fitted.judge(xs)) == len(xs)
    assert set(itertools.chain(*fitted.predict(xs))) <= {"A", "B"}
    with pytest.raises(DataError, match="latent_svm learns from Gold"):
        Tagger(states=2, learner="latent_svm").fit(evidence)


def test_a_dictionary_for_companion_evidence_names_labels():
    xs, ys = cycles(9)
    good = [
        sl.Companion(x, 1, candidates=[{"B"} if label == "B" else {"A", "B"} for label in y]) for x, y in zip(xs, ys)
    ]
    training = Training(Tagger(learner="jlis", states=2, labels=["A", "B"], max_rounds=20, n_jobs=1)._settings(), good)
    list(training.rounds())
    completed = training.learner.completion.positive
    assert all(label == "A" or state >= 2 for label, state in zip(itertools.chain(*ys), completed))


@pytest.mark.parametrize("learner", ["cllp", "mms"])
def test_initial_labels_and_chunks_name_labels(learner):
    x = ["x"] * 4
    chunk = sl.Chunk(0, [("A", "B"), ("C", "C")])
    evidence = [
        sl.Candidates(x, [{"A", "B"}, {"C"}, None, {"B"}], initial=["B", None, "A", "B"], weight=2.0),
        sl.Candidates(x, [None, None, {"C", "B"}, None], chunks=[chunk]),
        sl.Gold(x, ["A", "B", "C", "A"]),
    ]
    begun = set()
    for seed in range(8):
        settings = Tagger(learner=learner, states={"A": 2, "B": 3}, max_rounds=15, n_jobs=1, seed=seed)._settings()
        training = Training(settings, evidence)
        labels = training.labels.decode(training.learner.labels)
        assert [labels[0], labels[2], labels[3]] == ["B", "A", "B"]
        begun.add(int(training.learner.labels[0]))
        for _ in training.rounds():
            labels = training.labels.decode(training.learner.labels)
            assert labels[0] in "AB"
            assert (labels[1], labels[3]) == ("C", "B")
            assert labels[4:6] in (["A", "B"], ["C", "C"])
            assert labels[8:] == ["A", "B", "C", "A"]
    assert len(begun) > 1  # any state of the label to begin with
    assert begun <= {2, 3, 4}


def test_the_scheme_holds_over_states():
    rng = np.random.default_rng(1)
    ys = []
    for _ in range(25):
        y: list[str] = []
        for _ in range(5):
            y.append(str(rng.choice(["B-X", "O"] if not y or y[-1] == "O" else ["B-X", "I-X", "O"])))
        ys.append(y)
    xs = [[f"{label[0]}{rng.integers(3)}" if rng.random() < 0.6 else "w" for label in y] for y in ys]
    fitted = Tagger(states={"O": 2, "I-X": 3}, labels=["B-X", "I-X", "O"], scheme="BIO", n_jobs=1).fit(xs, ys)
    for y in fitted.predict([*xs, ["w"] * 6, ["I0"] * 6]):
        assert all(label != "I-X" or (t > 0 and y[t - 1] != "O") for t, label in enumerate(y))
    with pytest.raises(DataError, match="a transition that is not allowed"):
        Tagger(states=2, scheme="BIO").fit([*xs, ["a", "b"]], [*ys, ["O", "I-X"]])
    with pytest.raises(DataError, match="is not a BIO label"):
        Tagger(states=2, scheme="BIO").fit(xs[:1], [["X"] * 5])
    pairs = {(a, b) for y in ys for a, b in itertools.pairwise(y)}
    again = Tagger(states=2, allowed=pairs, n_jobs=1, max_rounds=20).fit(xs, ys)
    assert {(a, b) for y in again.predict(xs) for a, b in itertools.pairwise(y)} <= pairs


def test_second_order_chains_have_states_too():
    xs, ys = cycles(9)
    fitted = Tagger(states={"A": 2}, order=2, prices={"gold": 10.0}, n_jobs=1).fit(xs, ys)
    assert fitted.model_.layout.order == 2
    assert fitted.score(xs, ys) == 1.0


# files, checkpoints, going on


def test_save_and_load(tmp_path):
    xs, ys = cycles(9)
    tagger = Tagger(states={"A": 2}, scheme=None, n_jobs=1, max_rounds=30).fit(xs, ys)
    numbers = classifier(labels=[0, 1]).fit(XOR, [int(label == "same") for label in SAME])
    for fitted, inputs in ((tagger, xs), (numbers, XOR), (classifier(states={"same": 3}).fit(XOR, SAME), XOR)):
        fitted.save(tmp_path / "m.sl")
        loaded = sl.load_model(tmp_path / "m.sl")
        assert isinstance(loaded.labels, StateSet)
        assert loaded.labels == fitted.model_.labels
        assert loaded.predict(inputs) == fitted.predict(inputs)
        np.testing.assert_array_equal(loaded.judge(inputs), fitted.judge(inputs))
        sl.save_model(loaded, tmp_path / "again.sl")
        assert (tmp_path / "again.sl").read_bytes() == (tmp_path / "m.sl").read_bytes()
        with pytest.raises(ModelFileError, match="newer version"):
            read_tensors(tmp_path / "m.sl", kind=KIND, version=2)


def test_files_without_states_are_written_as_before(tmp_path):
    xs, ys = cycles(9)
    for order, version in ((1, 1), (2, 2)):
        fitted = Tagger(states=1, order=order, n_jobs=1, max_rounds=5).fit(xs, ys)
        fitted.save(tmp_path / "m.sl")
        spec, tensors = read_tensors(tmp_path / "m.sl", kind=KIND, version=version)
        assert "states" not in spec
        for written in (version, VERSION):
            write_tensors(tmp_path / "old.sl", tensors, kind=KIND, version=written, spec=spec)
            assert sl.load_model(tmp_path / "old.sl").predict(xs) == fitted.predict(xs)


class Stop(Exception):
    pass


def test_interrupted_training_goes_on_to_the_same_bits(tmp_path):
    xs, ys = cycles(12)
    evidence = [*sl.gold(xs, ys), *sl.partial(xs, [[None, *y[1:]] for y in ys]), *sl.companion(xs, 1)]
    settings = {"learner": "jlis", "states": 2, "n_jobs": 1, "max_rounds": 60, "prices": {"gold": 5.0}}
    whole = Tagger(**settings).fit(evidence)
    completions = [record.completion for record in whole.rounds_]
    assert completions[0] == 0
    assert completions[-1] >= 2

    for point in {1, 2, completions.index(1), completions.index(1) + 1, completions.index(2) + 1}:

        def stop(record, point=point):
            if record.number == point:
                raise Stop

        path = tmp_path / f"after {point}"
        with pytest.raises(Stop):
            Tagger(**settings, checkpoint=path, callbacks=[stop]).fit(evidence)
        resumed = Tagger(**settings, checkpoint=path).fit(evidence)
        np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)
        expected = [(r.number, r.completion, r.objective, r.changed) for r in whole.rounds_[point:]]
        assert [(r.number, r.completion, r.objective, r.changed) for r in resumed.rounds_] == expected


def test_warm_start_and_partial_fit_keep_the_states():
    fitted = classifier(warm_start=True).fit(XOR, SAME)
    labels = fitted.model_.labels
    fitted.partial_fit(XOR[:5], SAME[:5])
    assert fitted.model_.labels == labels
    assert fitted.fit(XOR, SAME).score(XOR, SAME) == 1.0
    for states in (3, None, {"same": 2}):
        with pytest.raises(DataError, match="the labels of the model have other states"):
            fitted.set_params(states=states).fit(XOR, SAME)


# explanations


def test_explanations_compare_labels_and_name_states():
    fitted = classifier().fit(XOR, SAME)
    model = fitted.model_
    found = explain(model, XOR[0])
    assert found.predicted == [SAME[0]]
    assert found.runner_up[0] != SAME[0]
    assert sum(item.amount for item in found.contributions) == pytest.approx(found.margin)
    names = {str(name) for name in model.labels.names}
    assert names == {"same/1", "same/2", "other/1", "other/2"}
    for item in found.contributions:
        assert {item.predicted, item.runner_up} <= names
        assert item.predicted.startswith(SAME[0])


def test_the_runner_up_is_the_best_output_with_other_labels():
    xs, ys = cycles(9)
    model = Tagger(states=2, prices={"gold": 5.0}, n_jobs=1).fit(xs, ys).model_
    x = ["next", "x", "x"]
    batch = model.batch([x])
    paths = np.array(list(itertools.product(range(4), repeat=3)), dtype=np.int32)
    values = np.array([batch.score(model.weights, path)[0] for path in paths])
    labels = [model.labels.decode(path) for path in paths]
    found = explain(model, x)
    assert found.predicted == labels[int(np.argmax(values))]
    others = [(value, names) for value, names in zip(values, labels) if names != found.predicted]
    best = max(others, key=lambda pair: pair[0])
    assert found.runner_up == best[1]
    assert found.margin == pytest.approx(values.max() - best[0])
    assert sum(item.amount for item in found.contributions) == pytest.approx(found.margin)


def test_one_label_has_nothing_to_compare_with():
    model = classifier(labels=["same"]).fit(XOR[:3], ["same"] * 3).model_
    with pytest.raises(DataError, match="one label only"):
        explain(model, XOR[0])


# refusals


@pytest.mark.parametrize("states", [0, -1, 1.5, True, "2", {"same": 0}, {"same": None}, {"same": 2, "other": 2.0}])
def test_bad_numbers_of_states(states):
    with pytest.raises(ValueError, match=r"states is .*; give a whole number from 1 on"):
        classifier(states=states).fit(XOR, SAME)


def test_states_of_unknown_labels():
    with pytest.raises(DataError, match="states names the unknown label 'sam'"):
        classifier(states={"sam": 2}).fit(XOR, SAME)
    assert classifier(states={"sam": 2}, labels=["same", "other", "sam"]).fit(XOR, SAME).score(XOR, SAME) < 1.0


def test_unknown_labels_are_found_out():
    with pytest.raises(DataError, match="unknown label 'third'; use one of same, other"):
        classifier(labels=["same", "other"]).fit([*XOR, XOR[0]], [*SAME, "third"])
    with pytest.raises(DataError, match="unknown label 'same/1'"):
        classifier(labels=["same", "other"]).fit([*XOR, XOR[0]], [*SAME, "same/1"])


@pytest.mark.parametrize(
    "learner",
    ["perceptron", "naive", "cl_svm", "structural_svm", "self_training", "one_against_rest", "naive_bayes", "crf"],
)
def test_learners_that_need_full_targets(learner):
    with pytest.raises(ValueError, match=f"the {learner} has no hidden states; use latent_svm"):
        classifier(learner=learner).fit(XOR, SAME)
    classifier(learner=learner, states=1).fit(XOR, SAME)


def test_bad_restarts():
    with pytest.raises(ValueError, match="restarts is 0"):
        recipes.latent_svm(restarts=0)
    with pytest.raises(ValueError, match="restarts begin at random"):
        classifier(learner=recipes.latent_svm(restarts=2), warm_start=True).fit(XOR, SAME).fit(XOR, SAME)

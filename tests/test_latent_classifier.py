"""`LatentClassifier`: names and their transliterations from yes and no alone."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.commands.shared.structured import answers_of
from sidelight.models.model_file import load_model
from sidelight.structures.letters import CharacterAlignment

LETTERS = dict(zip("abcdefgh", "stuvwxyz"))
STRUCTURE = CharacterAlignment(bits=12)


def pairs(count: int, seed: int) -> tuple[list, list]:
    """Names with their transliterations, some letters of which are lost, and with those of others."""
    rng = np.random.default_rng(seed)
    names = ["".join(rng.choice(list(LETTERS), rng.integers(4, 8))) for _ in range(count)]
    others = ["".join(LETTERS[c] for c in name if rng.random() < 0.9) or "s" for name in names]
    good = list(zip(names, others))
    bad = [(names[i], others[(i + k) % count]) for i in range(count) for k in (1, 2, 3)]
    return [*good, *bad], [1] * len(good) + [-1] * len(bad)


START = STRUCTURE.weights({(left, LETTERS[left]): 1.0 for left in "abcd"})
XS, ZS = pairs(60, 0)


@pytest.mark.parametrize(("method", "least"), [("lclr", 0.95), ("lclr_approximate", 0.7), ("two_stage", 0.7)])
def test_methods_by_their_names(method, least):
    model = sl.LatentClassifier(STRUCTURE, method=method, start=START, rounds=3).fit(XS, ZS)
    new, right = pairs(40, 1)
    assert model.score(new, right) >= least
    found = model.judge(new)
    assert [one.answer for one in found] == model.predict(new)
    assert [one.score for one in found] == model.decision_function(new).tolist()
    assert all(len(one.output) == len(x[0]) for x, one in zip(new, found))
    assert model.rounds_[-1].learner == method and model.rounds_[-1].last


def test_lclr_has_the_lowest_objective_and_finds_the_letters():
    models = {
        method: sl.LatentClassifier(STRUCTURE, method=method, start=START).fit(XS, ZS)
        for method in ("two_stage", "lclr_approximate", "lclr")
    }
    assert models["lclr"].objective_ <= min(model.objective_ for model in models.values())
    ((answer, score, output),) = models["lclr"].judge([("gab", "yst")])
    assert answer == 1 and score > 0 and output == [0, 1, 2]  # g was not in the table


def test_two_stages_rest_on_the_first_weights():
    model = sl.LatentClassifier(STRUCTURE, method="two_stage", start=START).fit(XS, ZS)
    x = XS[:5]
    batch = STRUCTURE.batch(x)
    choices = batch.best(START).labels
    expected = batch.score(model.weights_, choices) / STRUCTURE.sizes(x) + model.weights_[0]
    np.testing.assert_allclose(model.decision_function(x), expected)


@pytest.mark.parametrize("method", ["lclr", "lclr_approximate", "two_stage"])
def test_files_are_those_of_all_models(method, tmp_path):
    model = sl.LatentClassifier(STRUCTURE, method=method, start=START, rounds=2).fit(XS, ZS)
    path, again = tmp_path / "names.model", tmp_path / "again.model"
    model.save(path)
    other = sl.LatentClassifier(STRUCTURE).load(path)
    new, _ = pairs(10, 1)
    assert other.judge(new) == model.judge(new) and np.array_equal(other.weights_, model.weights_)
    other.save(again)
    assert again.read_bytes() == path.read_bytes()
    predictor = sl.Predictor(STRUCTURE).load(path)
    assert predictor.predict(new) == [one.output for one in model.judge(new)]
    np.testing.assert_array_equal(predictor.judge(new), model.decision_function(new))
    answers = answers_of(load_model(path), new, jobs=1)
    assert answers.outputs == predictor.predict(new)
    np.testing.assert_allclose(answers.scores, model.decision_function(new), rtol=1e-12)
    predictor.save(again)
    assert sl.LatentClassifier(STRUCTURE).load(again).judge(new) == model.judge(new)


def test_files_of_others_are_refused(tmp_path):
    sl.Tagger(learner="perceptron").fit([["a"]], [["X"]]).save(tmp_path / "m")
    with pytest.raises(sl.errors.ModelFileError, match="not the model of a Predictor"):
        sl.LatentClassifier(STRUCTURE).load(tmp_path / "m")


@pytest.mark.parametrize(
    ("options", "data", "words"),
    [
        ({}, (XS[:3], [1, -1]), "3 inputs have 2 answers and 3 weights"),
        ({}, (XS[:2], [1, 0]), "the answer 0; answer \\+1 or -1"),
        ({}, (XS[:2], [1, 1]), "no bad inputs; give inputs that are good, and some that are bad"),
        ({}, ([("", "x"), ("a", "x")], [1, -1]), "input 0: the left string is empty"),
        ({"method": "svm"}, (XS, ZS), "method is 'svm'; give one of lclr, lclr_approximate, two_stage"),
        ({"loss": "square"}, (XS, ZS), "loss is 'square'"),
        ({"C": 0.0}, (XS, ZS), "C is 0.0; give a number above 0"),
        ({"rounds": 0}, (XS, ZS), "rounds is 0"),
        ({"start": np.zeros(3)}, (XS, ZS), "first weights have the shape \\(3,\\)"),
    ],
)
def test_bad_input(options, data, words):
    with pytest.raises(ValueError, match=words):
        sl.LatentClassifier(STRUCTURE, **options).fit(*data)


def test_not_fitted():
    with pytest.raises(sl.NotFitted, match="call fit first"):
        sl.LatentClassifier(STRUCTURE).predict(XS)

"""Probabilities of labels with hidden states are sums over their states."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import DataError

RNG = np.random.default_rng(0)
LABELS = ["B-X", "I-X", "O"]
STATES = ["B-X", "I-X", "I-X", "O", "O"]
XS = [[f"w{i}" for i in RNG.integers(0, 4, RNG.integers(1, 4))] for _ in range(40)]


def allowed(y):
    return all(label != "I-X" or (t > 0 and y[t - 1] != "O") for t, label in enumerate(y))


YS = [
    ["B-X" if t == 0 or RNG.random() < 0.3 else "I-X" if RNG.random() < 0.6 else "B-X" for t in range(len(x))]
    for x in XS
]


@pytest.fixture(scope="module", params=[("partial_crf", 1), ("latent_svm", 1), ("jlis", 2)], ids=str)
def tagger(request):
    learner, order = request.param
    settings = {"learner": learner, "order": order, "states": {"I-X": 2, "O": 2}, "labels": LABELS, "scheme": "BIO"}
    return sl.Tagger(features=sl.features.words(), n_jobs=1, **settings).fit(XS, YS)


def everything(tagger, x):
    """All allowed outputs and their probabilities, by enumeration of states."""
    model = tagger.model_
    batch = model.batch([x])
    chances = {}
    for path in product(range(5), repeat=len(x)):
        y = tuple(STATES[s] for s in path)
        if allowed(y):
            value = np.exp(batch.score(model.weights, np.array(path, dtype=np.int32))[0])
            chances[y] = chances.get(y, 0.0) + value
    total = sum(chances.values())
    return {y: value / total for y, value in chances.items()}


def test_probabilities_by_enumeration(tagger):
    for x in XS[:6]:
        chances = everything(tagger, x)
        outputs = list(chances)
        found = np.exp(tagger.log_probability([x] * len(outputs), [list(y) for y in outputs]))
        np.testing.assert_allclose(found, list(chances.values()), rtol=1e-8)
        for t, row in enumerate(tagger.predict_marginals([x])[0]):
            assert list(row) == LABELS
            for label, chance in row.items():
                assert chance == pytest.approx(sum(p for y, p in chances.items() if y[t] == label), abs=1e-9)
        gains = {y: sum(p * sum(a == b for a, b in zip(y, z)) for z, p in chances.items()) for y in outputs}
        best = tuple(tagger.predict([x], by="marginals")[0])
        assert gains[best] == pytest.approx(max(gains.values()))


def test_what_is_not_allowed_has_no_probability(tagger):
    outputs = [["I-X"], ["B-X"], ["O"]]
    found = tagger.log_probability([["w1"]] * 3, outputs)
    assert found[0] == -np.inf
    assert np.exp(found).sum() == pytest.approx(1.0)
    assert tagger.log_probability([["w1"]], [["I-X"]])[0] == -np.inf


def test_clamped_labels_and_samples(tagger):
    x = ["w1", "w2"]
    clamp = [["B-X", None]]
    assert tagger.predict([x], clamp=clamp)[0][0] == "B-X"
    kept = {y: p for y, p in everything(tagger, x).items() if y[0] == "B-X"}
    found = tagger.log_probability([x], [["B-X", "O"]], clamp=clamp)[0]
    assert np.exp(found) == pytest.approx(kept["B-X", "O"] / sum(kept.values()))
    assert tagger.log_probability([x], [["O", "O"]], clamp=clamp)[0] == -np.inf
    assert all(allowed(y) and set(y) <= set(LABELS) for y in tagger.sample([x] * 50, seed=1))
    with pytest.raises(DataError, match="unknown label"):
        tagger.log_probability([x], [["B-X", "O/1"]])


def test_classes():
    xs = [{f"p={a}": 1.0, f"q={b}": 1.0} for a, b in product((0, 1), repeat=2)] * 10
    ys = ["same" if ("p=0" in x and "q=0" in x) or ("p=1" in x and "q=1" in x) else "other" for x in xs]
    fitted = sl.Classifier(learner="partial_crf", states=2, prices={"gold": 10.0}, n_jobs=1).fit(xs, ys)
    for row, y, value in zip(fitted.predict_marginals(xs), ys, fitted.log_probability(xs, ys)):
        assert sum(row.values()) == pytest.approx(1.0)
        assert row[y] > 0.8
        assert np.log(row[y]) == pytest.approx(value)

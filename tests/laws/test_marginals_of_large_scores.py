"""Marginals are probabilities whatever the size of the scores, and agree with enumeration in longer numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from sidelight import Classifier, DataError, Gold, Matrix, SegmentTagger, Tagger
from sidelight.spaces import ChainSpace, GivenScores
from sidelight.spaces.chains.chain_sums import beliefs, log_sums


def enumerated(scores: GivenScores, length: int, size: int) -> np.ndarray:
    """p(y_t = l) by adding up all labelings in extended precision. # [T, L]"""
    parts = [np.asarray(part, dtype=np.longdouble) for part in (scores.tokens, scores.transition)]
    start, end = np.asarray(scores.start, np.longdouble), np.asarray(scores.end, np.longdouble)
    paths = np.array(list(product(range(size), repeat=length)))
    values = start[paths[:, 0]] + end[paths[:, -1]]
    for t in range(length):
        values = values + parts[0][t, paths[:, t]]
        if t:
            values = values + parts[1][paths[:, t - 1], paths[:, t]]
    shares = np.exp(values - values.max())
    shares /= shares.sum()
    out = np.zeros((length, size), dtype=np.longdouble)
    for t in range(length):
        np.add.at(out[t], paths[:, t], shares)
    return out


@law(60)
@given(
    st.integers(1, 5),
    st.integers(2, 3),
    st.sampled_from([1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 1e100]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_marginals_are_probabilities(length, size, scale, whole, seed):
    rng = np.random.default_rng(seed)

    def drawn(*shape):  # whole multiples of the scale make ties
        found = rng.integers(-2, 3, shape) if whole else rng.normal(size=shape)
        return found * scale

    scores = GivenScores(drawn(length, size), drawn(size, size), drawn(size), drawn(size))
    space = ChainSpace(np.array([0, length]), size)
    found = beliefs(space, scores)
    assert found.tokens.min() >= 0.0 and found.tokens.max() <= 1.0 + 1e-12
    np.testing.assert_allclose(found.tokens.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(found.transitions.sum(), length - 1, atol=1e-9)
    assert found.transitions.min() >= 0.0
    assert np.isfinite(log_sums(space, scores)).all()
    lost = 16 * length * scale * np.finfo(float).eps  # what rounding may do to the difference of two scores
    if lost < 0.01:
        expected = enumerated(scores, length, size)
        np.testing.assert_allclose(found.tokens, expected.astype(float), atol=1e-9 + 4 * lost)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e9, 1e12])
def test_large_features_give_probabilities(scale):
    rng = np.random.default_rng(3)
    lengths = [4] * 12
    dense = rng.normal(size=(48, 3)) * scale
    ys = [["AB"[int(row[0] > 0)] for row in dense[4 * i : 4 * i + 4]] for i in range(12)]
    tagger = Tagger(learner="crf", max_rounds=5).fit(Matrix(dense=dense, lengths=lengths), ys)
    shares = np.array(
        [list(token.values()) for x in tagger.predict_marginals(Matrix(dense=dense, lengths=lengths)) for token in x]
    )
    assert shares.min() >= 0.0 and shares.max() <= 1.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)


def large(make, scale):
    xs = [[{"a": float(t), "b": float(-t)} for t in range(4)] for _ in range(6)]
    big = [[{name: scale * value for name, value in token.items()} for token in x] for x in xs]
    return make.fit([Gold(x, ["A", "B", "B", "A"]) for x in xs]), big


@pytest.mark.parametrize("make", [Tagger(order=2, max_rounds=3), SegmentTagger(max_length=2, max_rounds=3)])
@pytest.mark.parametrize("scale", [1e6, 1e9, 1e12, 1e15, 1e18, 1e300])
def test_other_models_say_so_where_nothing_is_left(make, scale):
    fitted, xs = large(make, scale)
    try:
        found = fitted.predict_marginals(xs)
    except DataError as error:
        assert "too large" in str(error) and scale >= 1e12
        return
    shares = np.array([list(token.values()) for x in found for token in x])
    assert shares.min() >= 0.0 and shares.max() <= 1.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)


def test_classes_of_large_features():
    fitted = Classifier(learner="crf").fit(np.array([[1.0], [-1.0]]), ["p", "q"])
    found = fitted.predict_proba(np.array([[1e9], [-1e12], [1e15], [0.0]]))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert found.min() >= 0.0 and found.max() <= 1.0

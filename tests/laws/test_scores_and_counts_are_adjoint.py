"""Counts are the adjoint of scores: Φ(x, y)·w is the score of y, and rows of parts are parts of rows."""

from __future__ import annotations

import numpy as np
from drawing import batches, dense_rows_of, generators, law, plain_scores, random_outputs
from hypothesis import given
from hypothesis import strategies as st

from sidelight.features.counts import stacked


def counts(batch, plus, minus=None, *, which=None, scales=None, thresholds=None):
    which = np.arange(len(batch)) if which is None else which
    scales = np.ones(len(which)) if scales is None else scales
    thresholds = np.zeros(len(which)) if thresholds is None else thresholds
    return batch.differences(which, plus, minus, scales=scales, thresholds=thresholds)


@law(80)
@given(batches(), generators())
def test_differences_are_differences(batch, rng):
    plus, minus = random_outputs(rng, batch), random_outputs(rng, batch)
    same = rng.random(len(plus)) < 0.4
    minus[same] = plus[same]
    size = batch.scorer.size
    which = rng.integers(0, len(batch), 3)
    scales, thresholds = rng.normal(size=3), rng.normal(size=3) * (rng.random(3) < 0.5)
    found = counts(batch, plus, minus, which=which, scales=scales, thresholds=thresholds)
    expected = dense_rows_of(counts(batch, plus), size) - dense_rows_of(counts(batch, minus), size)
    expected = scales[:, None] * expected[which]
    expected[:, 0] += thresholds
    np.testing.assert_allclose(dense_rows_of(found, size), expected, rtol=1e-9, atol=1e-12)
    for i in range(len(found)):
        row = found.indices[found.indptr[i] : found.indptr[i + 1]]
        assert np.all(np.diff(row) > 0)
        assert np.all((row >= 0) & (row < size))
    assert np.all(found.values != 0)
    some = rng.integers(0, 3, 4)
    np.testing.assert_array_equal(dense_rows_of(found.take(some), size), dense_rows_of(found, size)[some])
    both = stacked([found, found.take(some)])
    np.testing.assert_array_equal(
        both.dot(np.arange(size)), np.append(found.dot(np.arange(size)), both.dot(np.arange(size))[3:])
    )
    np.testing.assert_array_equal(dense_rows_of(both, size)[3:], dense_rows_of(found, size)[some])


@law(60)
@given(batches(), generators(), st.data())
def test_parts_agree_with_the_whole(batch, rng, data):
    lo = data.draw(st.integers(0, len(batch) - 1))
    hi = data.draw(st.integers(lo + 1, len(batch)))
    first, last = int(batch.scorer.rows.starts[lo]), int(batch.scorer.rows.starts[hi])
    plus, minus = random_outputs(rng, batch), random_outputs(rng, batch)
    weights = rng.normal(size=batch.scorer.size)
    size = batch.scorer.size
    part = batch.part(lo, hi)
    assert len(part) == hi - lo
    np.testing.assert_array_equal(part.score(weights, plus[first:last]), batch.score(weights, plus)[lo:hi])
    np.testing.assert_array_equal(part.best(weights).labels, batch.best(weights).labels[first:last])
    whole = dense_rows_of(counts(batch, plus, minus), size)
    np.testing.assert_array_equal(dense_rows_of(counts(part, plus[first:last], minus[first:last]), size), whole[lo:hi])
    inner = part.part(0, 1)  # a part of a part
    np.testing.assert_array_equal(
        inner.score(weights, plus[first:last][: inner.starts[-1]]), batch.score(weights, plus)[lo : lo + 1]
    )


@law(60)
@given(batches(masked=False), generators())
def test_taken_rows_agree_with_the_whole(batch, rng):
    which = rng.integers(0, len(batch), 5)
    rows = batch.scorer.rows.take(which)
    tokens = batch.scorer.rows.tokens_of(which)
    weights = rng.normal(size=batch.scorer.size)
    taken, whole = (plain_scores(part, batch.scorer.layout, weights).tokens for part in (rows, batch.scorer.rows))
    np.testing.assert_array_equal(taken, whole[tokens])
    np.testing.assert_array_equal(rows.lengths, batch.scorer.rows.lengths[which])
    part = batch.scorer.rows.part(len(batch) - 1, len(batch)).take([0, 0])  # entries of token 0 are not the first
    lone = batch.scorer.rows.take([len(batch) - 1, len(batch) - 1])
    for name in ("starts", "indptr", "indices", "values", "dense"):
        np.testing.assert_array_equal(getattr(part, name), getattr(lone, name))
    assert len(batch.scorer.rows.take([])) == 0

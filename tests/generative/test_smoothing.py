"""Smoothing by its formulas, and what an HMM's parameters make of it."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.generative.hmm_counts import HmmCounts, HmmSmoothing, estimate
from sidelight.generative.smoothing import KINDS, Smoothing, smoothed

COUNTS = np.array([[6.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [0, 1])
def test_every_row_sums_to_one(kind, axis):
    sizes = np.array([1.0, 1.0, 5.0])
    for given in (None, sizes):
        found = smoothed(COUNTS, Smoothing(kind, 0.3), axis=axis, sizes=given)
        np.testing.assert_allclose(found.sum(axis=axis), 1.0)
        assert np.all(found >= 0.0)


def test_the_formulas():
    first = COUNTS[:1]
    assert smoothed(first, Smoothing("none"), axis=1)[0] == pytest.approx([6 / 8, 2 / 8, 0])
    assert smoothed(first, Smoothing("additive", 2.0), axis=1)[0] == pytest.approx([8 / 14, 4 / 14, 2 / 14])
    assert smoothed(first, Smoothing("mass", 3.0), axis=1)[0] == pytest.approx([7 / 11, 3 / 11, 1 / 11])
    assert smoothed(first, Smoothing("uniform", 0.4), axis=1)[0] == pytest.approx(
        [0.45 + 0.4 / 3, 0.15 + 0.4 / 3, 0.4 / 3]
    )
    # all conditions together have 6, 3 and 1, three kinds seen
    pooled = np.array([7.0, 4.0, 2.0]) / 13
    alike = smoothed(COUNTS, Smoothing("unigram", 0.5), axis=1)
    assert alike[0] == pytest.approx(0.5 * np.array([0.75, 0.25, 0]) + 0.5 * pooled)
    assert alike[1] == pytest.approx(pooled)
    witten = smoothed(COUNTS, Smoothing("witten_bell"), axis=1)
    assert witten[0] == pytest.approx((COUNTS[0] + 2 * pooled) / (8 + 2))


def test_an_outcome_that_stands_for_many_gets_their_share():
    sizes = np.array([1.0, 1.0, 8.0])
    mass = smoothed(COUNTS[:1], Smoothing("mass", 10.0), axis=1, sizes=sizes)
    assert mass[0] == pytest.approx([7 / 18, 3 / 18, 8 / 18])
    additive = smoothed(COUNTS[:1], Smoothing("additive", 0.5), axis=1, sizes=sizes)
    assert additive[0] == pytest.approx([6.5 / 13, 2.5 / 13, 4 / 13])


def test_second_order_falls_back_on_first():
    second = np.zeros((2, 2, 2))
    second[0, 0] = [3.0, 0.0]
    transition = np.array([[3.0, 1.0], [0.0, 2.0]])
    counts = HmmCounts(np.array([1.0, 0.0]), transition, np.array([0.0, 1.0]), np.ones((2, 2)), second)
    smoothing = HmmSmoothing(Smoothing("additive", 1.0), Smoothing("witten_bell"))
    hmm = estimate(counts, smoothing, n_words=1)
    lower = smoothed(transition, Smoothing("witten_bell"), axis=1)
    assert hmm.second is not None
    assert hmm.second[0, 0] == pytest.approx((np.array([3.0, 0.0]) + lower[0]) / 4)
    assert hmm.second[1, 1] == pytest.approx(lower[1])
    np.testing.assert_allclose(counts.first, [[0.0, 1.0], [0.0, 2.0]])

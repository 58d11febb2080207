"""Small dual problems against a generic quadratic program."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.solvers.duals.block_qp import solve


@st.composite
def cases(draw):
    """Cuts of several terms, some equal or nearly so, some without slope."""
    rng = draw(generators())
    size, count, rows = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 14))
    slopes = rng.normal(size=(rows, size)) * (rng.random((rows, size)) < draw(st.sampled_from([0.0, 0.6, 1.0])))
    if rows > 2:
        slopes[1] = slopes[0] + draw(st.sampled_from([0.0, 1e-6, 1e-3])) * rng.normal(size=size)
    return slopes, rng.normal(size=rows) + 0.5, rng.integers(0, count, rows), rng.uniform(0.05, 3.0, count)


@pytest.mark.parametrize("power", [1, 2])
def test_reaches_the_optimum_of_a_generic_solver(power):
    @law(80)
    @given(cases(), st.booleans())
    def check(case, warm):
        slopes, offsets, terms, prices = case
        caps = prices if power == 1 else np.full(len(prices), np.inf)
        eases = np.zeros(len(prices)) if power == 1 else 0.5 / prices
        alphas = np.zeros(len(offsets))
        if warm:
            alphas[:] = prices[terms] / (1.0 + np.bincount(terms, minlength=len(prices))[terms])
        value = solve(slopes @ slopes.T, offsets, terms, caps, eases, alphas, tolerance=1e-10)
        assert np.all(alphas >= 0.0)
        sums = np.bincount(terms, alphas, minlength=len(prices))
        if power == 1:
            assert np.all(sums <= prices * (1 + 1e-9))
        weights = -alphas @ slopes
        dual = offsets @ alphas - 0.5 * weights @ weights - 0.5 * np.sum(eases * sums**2)
        assert value == pytest.approx(dual, rel=1e-9, abs=1e-12)
        expected, _ = optimum(slopes, offsets, terms, prices, power=power)
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-8)

    check()


def test_nothing_to_solve():
    nothing = np.zeros(0)
    assert solve(np.zeros((0, 0)), nothing, np.zeros(0, int), np.ones(1), np.zeros(1), nothing, tolerance=0.1) == 0.0

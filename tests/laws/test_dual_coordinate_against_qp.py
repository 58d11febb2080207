"""Dual coordinate descent against generic quadratic and convex programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum, primal

from sidelight.features.counts import SparseRows
from sidelight.features.rows import offsets_of
from sidelight.objective.cuts import LOGISTIC, Cuts
from sidelight.solvers.dual_coordinate import dual_value, sweeps, worst_values
from sidelight.solvers.duals.working_set import WorkingSet


@dataclass
class Listed:
    slopes: np.ndarray  # [R, D]
    offsets: np.ndarray
    terms: np.ndarray
    prices: np.ndarray

    @property
    def problem(self):
        return self.slopes, self.offsets, self.terms, self.prices

    def cuts(self, which=slice(None)) -> Cuts:
        slopes = self.slopes[which]
        filled = slopes != 0
        rows = SparseRows(offsets_of(filled.sum(1)), np.nonzero(filled)[1].astype(np.int32), slopes[filled])
        return Cuts(self.terms[which], rows, self.offsets[which])

    def pool(self, *, whole: bool = False) -> WorkingSet:
        pool = WorkingSet(len(self.prices), whole=whole)
        half = len(self.terms) // 2
        pool.add(self.cuts(slice(None, half)))
        pool.add(self.cuts(slice(half, None)))
        return pool


@st.composite
def listed(draw) -> Listed:
    """Several cuts per term, in any order, some with no slope at all, some equal, some terms free of charge."""
    rng = draw(generators())
    size, count = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    rows = draw(st.integers(0, 14))
    slopes = rng.normal(size=(rows, size)) * (rng.random((rows, size)) < draw(st.sampled_from([0.0, 0.5, 1.0])))
    offsets = rng.normal(size=rows) + 0.5
    if rows > 2 and draw(st.booleans()):
        slopes[1] = slopes[0]
    prices = rng.uniform(0.05, 3.0, count) * (rng.random(count) < 0.85)
    return Listed(slopes, offsets, rng.integers(0, count, rows), prices)


def solve(pool, weights, prices, power, calls=400):
    state = np.array([7], dtype=np.uint64)
    everything = np.arange(len(pool))
    for _ in range(calls):
        gained = sweeps(pool, weights, prices, cuts=everything, power=power, at_most=100, enough=1e-15, state=state)[1]
        if gained <= 1e-14:
            break


@pytest.mark.parametrize("power", [1, 2, LOGISTIC])
@pytest.mark.parametrize("from_origin", [False, True])
def test_reaches_the_optimum_of_a_generic_solver(power, from_origin):
    @law(40)
    @given(listed(), generators())
    def check(case, rng):
        size = case.slopes.shape[1]
        origin = rng.normal(size=size) if from_origin else None
        weights = np.zeros(size) if origin is None else origin.copy()
        pool = case.pool()
        solve(pool, weights, case.prices, power)
        value, expected = optimum(*case.problem, power=power, origin=origin)
        dual = dual_value(pool, weights, case.prices, power=power, origin=origin)
        assert dual == pytest.approx(value, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(weights, expected, atol=1e-4)
        assert primal(*case.problem, weights, power=power, origin=origin) == pytest.approx(value, rel=1e-5, abs=1e-6)

    check()


@pytest.mark.parametrize("power", [1, 2, LOGISTIC])
@pytest.mark.parametrize("from_origin", [False, True])
def test_every_sweep_climbs_by_what_it_says_and_stays_below_the_primal(power, from_origin):
    @law(40)
    @given(listed(), generators())
    def check(case, rng):
        size = case.slopes.shape[1]
        origin = rng.normal(size=size) if from_origin else None
        weights = np.zeros(size) if origin is None else origin.copy()
        pool = case.pool()
        state = np.array([3], dtype=np.uint64)
        elsewhere = rng.normal(size=size)
        before = dual_value(pool, weights, case.prices, power=power, origin=origin)
        assert before == 0.0
        for _ in range(6):
            some = np.flatnonzero(rng.random(len(pool)) < 0.7)
            at_most = int(rng.integers(1, 4))
            asked = {"cuts": some, "power": power, "at_most": at_most, "enough": 0.0, "state": state}
            made, gained = sweeps(pool, weights, case.prices, **asked)
            after = dual_value(pool, weights, case.prices, power=power, origin=origin)
            assert 1 <= made <= at_most
            assert gained >= -1e-12
            assert after - before == pytest.approx(gained, rel=1e-9, abs=1e-9)
            for point in (weights, elsewhere):
                assert after <= primal(*case.problem, point, power=power, origin=origin) + 1e-9
            before = after
            alphas = pool.alphas[: pool.count]
            assert np.all(alphas >= 0)
            sums = np.bincount(case.terms, alphas, minlength=len(case.prices))
            np.testing.assert_allclose(pool.sums, sums, atol=1e-9)
            if power != 2:
                assert np.all(sums <= case.prices + 1e-9)
            assert np.all(alphas[case.prices[case.terms] == 0] == 0)
            rebuilt = pool.weights(size, pool.alphas) + (0.0 if origin is None else origin)
            np.testing.assert_allclose(weights, rebuilt, atol=1e-9)

    check()


@law(40)
@given(listed(), generators())
def test_whole_numbers_in_less_memory_are_the_same_problem(case, rng):
    size = case.slopes.shape[1]
    case.slopes = np.round(2 * case.slopes)
    pools = case.pool(), case.pool(whole=True)
    found = []
    for pool in pools:
        weights = np.zeros(size)
        solve(pool, weights, case.prices, 2)
        gone = np.flatnonzero(np.arange(len(case.prices)) % 2)
        np.testing.assert_allclose(pool.norms[: pool.count], (case.slopes**2).sum(1))
        point = rng.normal(size=size)
        everything = np.arange(len(pool))
        expected = np.zeros(len(case.prices))
        np.maximum.at(expected, case.terms, case.offsets + case.slopes @ point)
        np.testing.assert_allclose(worst_values(pool, point, everything, power=2), expected, atol=1e-12)
        found.append([weights, pool.alphas[: pool.count].copy()])
        pool.remove(gone)
        kept = ~np.isin(case.terms, gone)
        np.testing.assert_allclose(
            pool.weights(size, pool.alphas), -(found[-1][1][kept] @ case.slopes[kept]), atol=1e-9
        )
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-5)


@law(40)
@given(listed(), generators())
def test_worst_values(case, rng):
    weights = rng.normal(size=case.slopes.shape[1])
    pool = case.pool()
    some = np.flatnonzero(rng.random(len(pool)) < 0.7)
    for power, least in ((1, 0.0), (2, 0.0), (LOGISTIC, -np.inf)):
        expected = np.full(len(case.prices), least)
        np.maximum.at(expected, case.terms[some], (case.offsets + case.slopes @ weights)[some])
        np.testing.assert_allclose(worst_values(pool, weights, some, power=power), expected, atol=1e-12)


@law(40)
@given(listed(), generators())
def test_a_restored_working_set_goes_on_to_the_same_bits(case, rng):
    whole = bool(rng.integers(2))
    if whole:
        case.slopes = np.round(2 * case.slopes)
    pool, weights = case.pool(whole=whole), np.zeros(case.slopes.shape[1])
    state = np.array([3], dtype=np.uint64)
    asked = {"cuts": np.arange(len(pool)), "power": 2, "at_most": 2, "enough": 0.0}
    sweeps(pool, weights, case.prices, **asked, state=state)
    copy = WorkingSet.restored(pool.state(), WorkingSet(pool.n_terms, whole=whole), size=len(weights))
    other_weights, other_state = weights.copy(), state.copy()
    for one, w, s in ((pool, weights, state), (copy, other_weights, other_state)):
        one.add(case.cuts())
        sweeps(one, w, case.prices, cuts=np.arange(len(one)), power=2, at_most=2, enough=0.0, state=s)
    np.testing.assert_array_equal(weights, other_weights)
    np.testing.assert_array_equal(pool.alphas[: pool.count], copy.alphas[: copy.count])


@law(40)
@given(listed(), generators())
def test_removing_terms_leaves_the_others(case, rng):
    size = case.slopes.shape[1]
    pool, weights = case.pool(), np.zeros(size)
    solve(pool, weights, case.prices, 2, calls=1)
    gone = np.flatnonzero(rng.random(len(case.prices)) < 0.5)
    kept = ~np.isin(case.terms, gone)
    alphas = pool.alphas[: pool.count].copy()
    had = pool.remove(gone)
    sums = np.bincount(case.terms, alphas, minlength=len(case.prices))
    np.testing.assert_allclose(had, sums[gone], atol=1e-12)
    assert len(pool) == kept.sum()
    np.testing.assert_array_equal(pool.alphas[: pool.count], alphas[kept])
    np.testing.assert_array_equal(pool.terms[: pool.count], case.terms[kept])
    np.testing.assert_allclose(pool.weights(size, pool.alphas), -(alphas[kept] @ case.slopes[kept]), atol=1e-12)
    np.testing.assert_allclose(pool.norms[: pool.count], (case.slopes[kept] ** 2).sum(1), atol=1e-12)
    for term in range(len(case.prices)):
        np.testing.assert_array_equal(pool.members(term, term + 1), np.flatnonzero(case.terms[kept] == term))


@law(40)
@given(listed())
def test_forgetting_idle_cuts_keeps_the_dual_point(case):
    size = case.slopes.shape[1]
    pool, weights = case.pool(), np.zeros(size)
    solve(pool, weights, case.prices, 2, calls=1)
    busy = int((pool.alphas[: pool.count] > 0).sum())
    before = dual_value(pool, weights, case.prices, power=2)
    for _ in range(4):
        pool.forget_idle(2)
    assert dual_value(pool, weights, case.prices, power=2) == pytest.approx(before, rel=1e-12)
    np.testing.assert_allclose(pool.weights(size, pool.alphas), weights, atol=1e-9)
    assert np.all(pool.idle[: pool.count] <= 4)
    idle = len(case.terms) - busy
    assert len(pool) == (busy if idle > len(case.terms) // 4 else len(case.terms))


@law(30)
@given(listed(), generators())
def test_cuts_of_the_best_weights_are_not_forgotten(case, rng):
    size = case.slopes.shape[1]
    pool, weights = case.pool(), np.zeros(size)
    solve(pool, weights, case.prices, 2, calls=1)
    pool.mark_best()
    pool.alphas[: pool.count] *= rng.random(pool.count) < 0.3  # later on, other cuts carry the weight
    for _ in range(5):
        pool.forget_idle(1)
    np.testing.assert_allclose(pool.weights(size, pool.best_alphas), weights, atol=1e-9)


@law(30)
@given(listed(), generators())
def test_cuts_that_would_not_be_found_again_are_not_forgotten(case, rng):
    """The one cut of a completed good input is in the working set from the start, and nobody would add it anew."""
    pool, weights = case.pool(), np.zeros(case.slopes.shape[1])
    solve(pool, weights, case.prices, 2, calls=1)
    found_again = rng.random(len(case.prices)) < 0.5
    for _ in range(5):
        pool.forget_idle(1, found_again=found_again)
    kept = np.bincount(pool.terms[: pool.count], minlength=len(case.prices))
    had = np.bincount(case.terms, minlength=len(case.prices))
    np.testing.assert_array_equal(kept[~found_again], had[~found_again])

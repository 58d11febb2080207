"""Stochastic subgradient steps against a plain version that keeps every weight vector."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from drawing import dense_rows_of, law
from drawing_margins import gold_terms, least_primal
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit

from sidelight.objective.cuts import LOGISTIC, losses_of, total_loss
from sidelight.objective.entries import examples_of
from sidelight.objective.margin import StackedTerms
from sidelight.objective.online.online_steps import loss_slope, subgradient_epoch
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.subgradient import Subgradient, SubgradientOptions, rates_of

options = st.builds(
    SubgradientOptions,
    average=st.sampled_from(["weighted", "suffix", "last"]),
    project=st.booleans(),
    seed=st.integers(0, 99),
)


def epoch_for(terms):
    data = examples_of(terms.batch, terms.cost)
    return partial(subgradient_epoch, data, terms.batch.scorer.layout, rates_of(terms.prices))


def plain_slope(value, bend, power):
    """g with g = ℓ'(value − bend · g), which falls and rises: found between its bounds."""
    if power == 1:
        return float(value > 0)
    slope = (lambda v: 2 * max(v, 0.0)) if power == 2 else expit
    return brentq(lambda g: g - slope(value - bend * g), -1e-12, 1.0 + slope(value), xtol=1e-15)


def plain_run(terms, orders, radius, power):
    """All weights after each step, by the formula; and whether some output was about to tie."""
    decay, rates = 1.0 / terms.prices.sum(), rates_of(terms.prices)
    weights, met, t, tied = np.zeros(terms.batch.scorer.size), [], 0, False
    for order in orders:
        for i in order:
            t += 1
            one = terms.part(i, i + 1)
            worst = one.worst(weights)
            tied |= 0.0 < abs(worst.values[0]) < 1e-9
            before, weights = weights, (1 - 1 / t) * weights
            cut = one.cuts(worst, np.zeros(1, dtype=np.int64))
            slope = dense_rows_of(cut.slopes, len(weights))[0]
            at = before if power == 1 else weights
            share = plain_slope(cut.offsets[0] + slope @ at, rates[i] * (slope @ slope) / (decay * t), power)
            weights = weights - share * rates[i] * slope / (decay * t)
            norm = np.linalg.norm(weights)
            if norm > radius:
                weights = weights * (radius / norm)
            met.append(weights.copy())
    return np.array(met), tied


@law(300)
@given(st.floats(-30, 30), st.floats(0, 1e4), st.sampled_from([2, LOGISTIC]))
def test_the_slope_of_a_loss_is_that_where_the_step_ends(value, bend, power):
    found = loss_slope(value, bend, power)
    ends, step = value - bend * found, 1e-5
    above, below = losses_of(np.array([ends + step, ends - step]), power)
    assert found == pytest.approx((above - below) / (2 * step), abs=1e-4 * (1 + 1e-3 * bend))
    assert found == pytest.approx(plain_slope(value, bend, power), rel=1e-6, abs=1e-9)


def least(terms, power):
    """The least primal value, and the weights that attain it: by enumeration, or by dual coordinate descent."""
    if power != LOGISTIC:
        return least_primal(terms, power=power)
    solver = CuttingPlane.fresh(terms.batch.scorer.size, len(terms), power=power, seed=1)
    stacked = StackedTerms([terms])
    for _ in range(500):
        solver.round(stacked, violation=0.0, tolerance=1e-6)
        if solver.finished(1e-6):
            break
    values = terms.worst(solver.best).values
    return 0.5 * solver.best @ solver.best + total_loss(values, terms.prices, power), solver.best


powers = st.sampled_from([1, 2, LOGISTIC])


@law(60)
@given(gold_terms(generic=True), options, powers)
def test_against_the_formula(terms, chosen, power):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, chosen, power=power)
    orders = []

    def epoch(**arguments):
        orders.append(arguments["order"])
        return epoch_for(terms)(**arguments)

    for _ in range(3):
        solver.round(epoch, terms)
    met, tied = plain_run(terms, orders, solver.radius, power)
    assume(not tied)
    np.testing.assert_allclose(solver.weights(), met[-1], atol=1e-8)
    t = np.arange(1, len(met) + 1)
    expected = {
        "weighted": t @ met / t.sum(),
        "suffix": met[2 * len(terms) :].mean(0),
        "last": met[-1],
    }[chosen.average]
    np.testing.assert_allclose(solver.result(), expected, atol=1e-8)


@law(40)
@given(gold_terms(), options, powers)
def test_projections_keep_the_weights_in_the_ball_and_the_optimum_is_in_it(terms, chosen, power):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, replace(chosen, project=True), power=power)
    for _ in range(3):
        solver.round(epoch_for(terms), terms)
        assert np.linalg.norm(solver.weights()) <= solver.radius * (1 + 1e-9)
        assert solver.clock.norm == pytest.approx(solver.vector @ solver.vector, rel=1e-6, abs=1e-9)
    assert np.linalg.norm(least(terms, power)[1]) <= solver.radius * (1 + 1e-6) + 1e-6


@law(15)
@given(gold_terms(free=False), st.sampled_from(["weighted", "suffix"]), powers)
def test_averages_come_close_to_the_optimum(terms, average, power):
    chosen = SubgradientOptions(average=average, every=50)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, chosen, power=power)
    lowest = least(terms, power)[0]
    for _ in range(1000):
        progress = solver.round(epoch_for(terms), terms)
        assert progress.primal is None or progress.primal >= lowest - 1e-5 * (1 + lowest)
    assert solver.best_primal <= 1.03 * lowest + 0.01


@law(40)
@given(gold_terms(), options, powers)
def test_the_dual_value_is_a_bound_and_ends_training(terms, chosen, power):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, chosen, power=power)
    lowest = least(terms, power)[0]
    highest = -np.inf
    for _ in range(8):
        progress = solver.round(epoch_for(terms), terms)
        assert highest <= progress.dual <= lowest + 1e-6 * (1 + lowest)
        highest = progress.dual
        assert solver.finished(0.1) == (solver.best_primal - highest <= 0.1 * solver.best_primal)


@law(15)
@given(gold_terms(free=False), options, powers)
def test_the_gap_closes(terms, chosen, power):
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, replace(chosen, every=100), power=power)
    for _ in range(2000):
        solver.round(epoch_for(terms), terms)
    assert solver.gap <= 0.03 * solver.best_primal + 0.01


def test_options_are_checked():
    with pytest.raises(ValueError, match="average"):
        SubgradientOptions(average="mean")
    with pytest.raises(ValueError, match="every is 0"):
        SubgradientOptions(every=0)

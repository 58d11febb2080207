"""Stochastic subgradient steps against a plain version that keeps every weight vector."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from drawing import law
from drawing_margins import gold_terms, least_primal
from hypothesis import assume, given
from hypothesis import strategies as st

from sidelight.objective.entries import examples_of
from sidelight.objective.online_subgradient import subgradient_epoch
from sidelight.objective.plain_epochs import plain_subgradient_epoch
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


def plain_run(terms, orders, radius):
    """All weights after each step, by the formula; and whether some output was about to tie."""
    decay, rates = 1.0 / terms.prices.sum(), rates_of(terms.prices)
    weights, met, t, tied = np.zeros(terms.batch.scorer.size), [], 0, False
    for order in orders:
        for i in order:
            t += 1
            one = terms.part(i, i + 1)
            worst = one.worst(weights)
            tied |= 0.0 < abs(worst.values[0]) < 1e-9
            weights = (1 - 1 / t) * weights
            if worst.values[0] > 0:
                cut = one.cuts(worst, np.zeros(1, dtype=np.int64)).slopes
                weights[cut.indices] -= rates[i] * cut.values / (decay * t)
            norm = np.linalg.norm(weights)
            if norm > radius:
                weights = weights * (radius / norm)
            met.append(weights.copy())
    return np.array(met), tied


def plain_epoch_for(terms):
    return partial(plain_subgradient_epoch, terms, rates_of(terms.prices))


@pytest.mark.parametrize("epoch_for", [epoch_for, plain_epoch_for])
@law(60)
@given(terms=gold_terms(generic=True), chosen=options)
def test_against_the_formula(epoch_for, terms, chosen):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, chosen)
    orders = []

    def epoch(**arguments):
        orders.append(arguments["order"])
        return epoch_for(terms)(**arguments)

    for _ in range(3):
        solver.round(epoch, terms)
    met, tied = plain_run(terms, orders, solver.radius)
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
@given(gold_terms(), options)
def test_projections_keep_the_weights_in_the_ball_and_the_optimum_is_in_it(terms, chosen):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, replace(chosen, project=True))
    for _ in range(3):
        solver.round(epoch_for(terms), terms)
        assert np.linalg.norm(solver.weights()) <= solver.radius * (1 + 1e-9)
        assert solver.clock.norm == pytest.approx(solver.vector @ solver.vector, rel=1e-6, abs=1e-9)
    assert np.linalg.norm(least_primal(terms)[1]) <= solver.radius * (1 + 1e-6) + 1e-6


@law(15)
@given(gold_terms(free=False), st.sampled_from(["weighted", "suffix"]))
def test_averages_come_close_to_the_optimum(terms, average):
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, SubgradientOptions(average=average, every=50))
    least = least_primal(terms)[0]
    for _ in range(1000):
        progress = solver.round(epoch_for(terms), terms)
        assert progress.primal is None or progress.primal >= least - 1e-6
    assert solver.best_primal <= 1.03 * least + 0.01


@law(40)
@given(gold_terms(), options)
def test_the_dual_value_is_a_bound_and_ends_training(terms, chosen):
    assume(terms.prices.sum() > 0)
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, chosen)
    least = least_primal(terms)[0]
    highest = -np.inf
    for _ in range(8):
        progress = solver.round(epoch_for(terms), terms)
        assert highest <= progress.dual <= least + 1e-6 * (1 + least)
        highest = progress.dual
        assert solver.finished(0.1) == (solver.best_primal - highest <= 0.1 * solver.best_primal)


@law(15)
@given(gold_terms(free=False), options)
def test_the_gap_closes(terms, chosen):
    solver = Subgradient.fresh(terms.batch.scorer.size, terms, replace(chosen, every=100))
    for _ in range(2000):
        solver.round(epoch_for(terms), terms)
    assert solver.gap <= 0.03 * solver.best_primal + 0.01


def test_options_are_checked():
    with pytest.raises(ValueError, match="average"):
        SubgradientOptions(average="mean")
    with pytest.raises(ValueError, match="every is 0"):
        SubgradientOptions(every=0)

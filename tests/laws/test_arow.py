"""AROW's steps against a generic minimiser of the objective that they are the minimum of."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from drawing import dense_rows_of, generators, law
from drawing_margins import gold_terms
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidelight.features.rows import scores
from sidelight.objective.entries import examples_of
from sidelight.objective.margin import Worst
from sidelight.objective.online.online_steps import arow_epoch
from sidelight.solvers.arow import Arow, ArowOptions

PAIRS = st.sampled_from([("max_loss", "cost"), ("prediction", "cost"), ("prediction", "root")])
OPTIONS = st.builds(
    lambda variance, r, pair: ArowOptions(variance, r, *pair),
    st.sampled_from([0.3, 2.0]),
    st.sampled_from([0.2, 1.0, 5.0]),
    PAIRS,
)


def slope_and_margin(terms, i, weights, options):
    """Of the best output of one example."""
    one = terms.part(i, i + 1)
    linear = scores(one.batch.scorer.rows, one.batch.scorer.layout, weights)
    labels = one.batch.space.best(linear, cost=one.cost if options.outputs == "max_loss" else None).labels
    cuts = one.cuts(Worst(np.zeros(1), labels), np.zeros(1, dtype=np.int64))
    offset = float(cuts.offsets[0])
    return dense_rows_of(cuts.slopes, len(weights))[0], np.sqrt(offset) if options.margin == "root" else offset


def objective(weights, variances, before, slope, margin, r):
    """KL divergence, squared loss of the mean, and what variances cost."""
    old, old_variances = before
    divergence = 0.5 * np.sum(
        np.log(old_variances / variances) + variances / old_variances + (weights - old) ** 2 / old_variances - 1.0
    )
    loss = max(0.0, margin + slope @ weights) ** 2
    return divergence + 0.5 / r * (loss + np.sum(variances * slope**2))


@law(60)
@given(gold_terms(generic=True), OPTIONS, generators())
def test_a_step_is_the_minimum_of_its_objective(terms, options, rng):
    size, count = terms.batch.scorer.size, len(terms)
    importance = rng.uniform(0.5, 2.0, count) * (rng.random(count) < 0.9)
    rates = options.rates(importance)
    epoch = partial(arow_epoch, examples_of(terms.batch, terms.cost), terms.batch.scorer.layout, rates)
    weights, variances = rng.normal(size=size), rng.uniform(0.1, 1.0, size)
    asked = {"with_cost": options.outputs == "max_loss", "root": options.margin == "root"}
    for i in range(count):
        before = weights.copy(), variances.copy()
        slope, margin = slope_and_margin(terms, i, before[0], options)
        violation = margin + slope @ before[0]
        moved = epoch(order=np.array([i]), weights=weights, variances=variances, **asked)
        if importance[i] == 0.0 or not slope.any() or violation < -1e-9:
            assert moved == 0
            np.testing.assert_array_equal((weights, variances), before)
            continue
        if violation < 1e-9:
            continue
        assert moved == 1
        assert np.all(variances <= before[1])
        touched = np.flatnonzero(slope)
        np.testing.assert_array_equal(np.delete(weights, touched), np.delete(before[0], touched))
        old = before[0][touched], before[1][touched]

        def value(point, old=old, slope=slope[touched], margin=margin, r=rates[i]):
            half = len(point) // 2
            return objective(point[:half], np.exp(point[half:]), old, slope, margin, r)

        mine = np.concatenate([weights[touched], np.log(variances[touched])])
        other = minimize(value, np.concatenate([old[0], np.log(old[1])]), method="L-BFGS-B", options={"maxiter": 500})
        assert value(mine) <= other.fun + 1e-9 * (1.0 + abs(other.fun))
        assert value(mine) >= other.fun - 1e-4 * (1.0 + abs(other.fun))


@law(20)
@given(gold_terms(), generators())
def test_an_epoch_is_its_steps(terms, rng):
    """Transitions that decoding uses move with the weights."""
    size, count = terms.batch.scorer.size, len(terms)
    epoch = partial(arow_epoch, examples_of(terms.batch, terms.cost), terms.batch.scorer.layout, np.full(count, 0.7))
    order = rng.permutation(count)
    whole, single = (Arow.fresh(size, ArowOptions()) for _ in range(2))
    moved = epoch(order=order, weights=whole.weights, variances=whole.variances, with_cost=True, root=False)
    steps = [
        epoch(order=order[k : k + 1], weights=single.weights, variances=single.variances, with_cost=True, root=False)
        for k in range(count)
    ]
    assert moved == sum(steps)
    np.testing.assert_allclose(whole.weights, single.weights, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(whole.variances, single.variances, rtol=1e-9, atol=1e-12)


def test_bad_options():
    for options in ({"variance": 0.0}, {"r": -1.0}, {"outputs": "worst"}, {"margin": "root"}):
        with pytest.raises(ValueError, match="give"):
            ArowOptions(**options)

"""MIRA's steps against a generic quadratic program over the same outputs."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from drawing import dense_rows_of, generators, law
from drawing_margins import gold_terms
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.features.rows import scores
from sidelight.objective.entries import examples_of
from sidelight.objective.margin import Worst
from sidelight.objective.online.online_steps import mira_epoch
from sidelight.solvers.mira import Mira, MiraOptions
from sidelight.spaces.chains.chain_k_best import k_best


def options_for(k):
    rules = st.just("MIRA") if k > 1 else st.sampled_from(["MIRA", "PA", "PA-I", "PA-II"])
    pairs = st.sampled_from([("max_loss", "cost"), ("prediction", "cost"), ("prediction", "root")])
    return st.builds(
        lambda rule, pair, c: MiraOptions(rule=rule, k=k, aggressiveness=c, outputs=pair[0], margin=pair[1]),
        rules,
        pairs,
        st.sampled_from([0.01, 0.3, 3.0]),
    )


def outputs_of(terms, i, weights, options):
    """Slopes and margins of the k best outputs of one example."""
    one = terms.part(i, i + 1)
    batch = one.batch
    cost = one.cost if options.outputs == "max_loss" else None
    found = k_best(batch.space, scores(batch.scorer.rows, batch.scorer.layout, weights), k=options.k, cost=cost)
    slopes, margins = [], []
    for labels, value in zip(found.labels, found.values[:, 0]):
        if value > -np.inf:
            cuts = one.cuts(Worst(np.zeros(1), labels), np.zeros(1, dtype=np.int64))
            slopes.append(dense_rows_of(cuts.slopes, len(weights))[0])
            margins.append(np.sqrt(cuts.offsets[0]) if options.margin == "root" else cuts.offsets[0])
    return np.array(slopes), np.array(margins)


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_a_step_is_that_of_a_generic_quadratic_program(k):
    @law(40)
    @given(gold_terms(generic=True), options_for(k), generators())
    def check(terms, options, rng):
        size, count = terms.batch.scorer.size, len(terms)
        importance = rng.uniform(0.5, 2.0, count) * (rng.random(count) < 0.9)
        epoch = partial(
            mira_epoch,
            examples_of(terms.batch, terms.cost),
            terms.batch.scorer.layout,
            options.caps(importance),
            options.eases(importance),
        )
        weights, totals = rng.normal(size=size), np.zeros(size)
        met, clock = [weights.copy()], 1.0
        for i in range(count):
            before = weights.copy()
            slopes, margins = outputs_of(terms, i, before, options)
            asked = {"k": k, "with_cost": options.outputs == "max_loss", "root": options.margin == "root"}
            moved, clock = epoch(order=np.array([i]), weights=weights, totals=totals, clock=clock, **asked)
            met.append(weights.copy())
            assert moved == (not np.array_equal(before, weights))
            price = importance[i] * options.aggressiveness
            power = 2 if options.rule == "PA-II" else 1
            if options.rule == "PA":
                price = 1e5 if importance[i] > 0 else 0.0
                if np.any(np.linalg.norm(slopes, axis=1) < 1e-3):
                    continue
            numbers = np.zeros(len(slopes), dtype=int)
            _, expected = optimum(slopes, margins, numbers, np.array([price]), power=power, origin=before)
            np.testing.assert_allclose(weights, expected, atol=1e-4 * (1 + np.abs(expected - before).max()))
        np.testing.assert_allclose(weights - totals / clock, np.mean(met, axis=0), atol=1e-9)

    check()


@law(40)
@given(gold_terms(generic=True), st.sampled_from(["MIRA", "PA", "PA-I", "PA-II"]), generators())
def test_one_output_has_the_closed_form(terms, rule, rng):
    options = MiraOptions(rule=rule, aggressiveness=0.2)
    ones = np.ones(len(terms))
    weights = rng.normal(size=terms.batch.scorer.size)
    totals = np.zeros_like(weights)
    slopes, margins = outputs_of(terms, 0, weights, options)
    value, norm = margins[0] + slopes[0] @ weights, slopes[0] @ slopes[0]
    expected = weights.copy()
    if value > 0 and norm > 1e-9:
        step = {"PA": value / norm, "PA-II": value / (norm + 2.5)}.get(rule, min(0.2, value / norm))
        expected -= step * slopes[0]
    examples = examples_of(terms.batch, terms.cost)
    place = {"order": np.array([0]), "weights": weights, "totals": totals, "clock": 1.0}
    how = {"k": 1, "with_cost": True, "root": False}
    mira_epoch(examples, terms.batch.scorer.layout, options.caps(ones), options.eases(ones), **place, **how)
    np.testing.assert_allclose(weights, expected, atol=1e-9)


@law(20)
@given(gold_terms(), st.integers(1, 3), st.integers(0, 99))
def test_epochs_go_in_random_order_and_average(terms, k, seed):
    options = MiraOptions(k=k)
    mira = Mira.fresh(terms.batch.scorer.size, options)
    ones = np.ones(len(terms))
    data = examples_of(terms.batch, terms.cost)
    run = partial(mira_epoch, data, terms.batch.scorer.layout, options.caps(ones), options.eases(ones))
    rng, again = np.random.default_rng(seed), np.random.default_rng(seed)
    weights, totals, clock = np.zeros_like(mira.weights), np.zeros_like(mira.weights), 1.0
    met = [weights.copy()]
    for _ in range(2):
        moved = mira.epoch(run, len(terms), rng)
        count = 0
        for i in again.permutation(len(terms)):
            place = {"order": np.array([i]), "weights": weights, "totals": totals, "clock": clock}
            one, clock = run(**place, k=k, with_cost=True, root=False)
            count += one
            met.append(weights.copy())
        assert moved == count
    np.testing.assert_array_equal(mira.weights, weights)
    np.testing.assert_allclose(mira.result(), np.mean(met, axis=0), atol=1e-9)


def test_options_are_checked():
    for bad in ({"rule": "PB"}, {"k": 0}, {"k": 2, "rule": "PA"}, {"aggressiveness": 0.0}, {"outputs": "best"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            MiraOptions(**bad)
    with pytest.raises(ValueError, match="margin"):
        MiraOptions(margin="square")
    with pytest.raises(ValueError, match="square roots"):
        MiraOptions(margin="root")

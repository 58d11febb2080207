"""Epochs of online learners over any structure: the kernels' steps on chains of order 1, steps by enumeration."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from drawing import dense_rows_of, generators, law, random_mask
from drawing_margins import gold_terms
from drawing_structure_terms import STRUCTURES, every_output, structure_terms
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.entries import examples_of
from sidelight.objective.likelihood import Labelled, LikelihoodTerms, form_of, likelihood_problem
from sidelight.objective.margin import TargetTerms, Worst
from sidelight.objective.online import online, online_steps, plain_epochs
from sidelight.objective.online.online_likelihood import OnlineLikelihood
from sidelight.objective.online.online_steps import Clock
from sidelight.objective.online.plain_likelihood import PlainLikelihood
from sidelight.solvers.arow import ArowOptions
from sidelight.solvers.mira import MiraOptions
from sidelight.solvers.subgradient import rates_of

SIDES = st.sampled_from([(True, False), (False, False), (False, True)])  # with cost, root
GENERIC = partial(gold_terms, generic=True)


def drawn_importance(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(0.5, 2.0, count) * (rng.random(count) < 0.9)


@law(40)
@given(GENERIC(), generators())
def test_the_perceptron_of_the_kernel(terms, rng):
    """From weights that leave no ties; the kernel's space has no candidates."""
    terms = TargetTerms(
        terms.batch.within(terms.batch.space.__class__(terms.batch.starts, terms.batch.space.n_labels)),
        terms.cost,
        terms.prices,
    )
    importance, order = drawn_importance(rng, len(terms)), rng.permutation(len(terms))
    first = rng.normal(size=terms.batch.scorer.size).astype(np.float32)
    found = []
    for run in (
        partial(online.perceptron_epoch, terms.batch, terms.cost.targets, importance),
        partial(plain_epochs.perceptron_epoch, terms, importance),
    ):
        weights, totals = first.copy(), np.zeros(len(first))
        found.append((run(order, weights, totals, 1.0), weights, totals))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("k", [1, 3])
def test_mira_of_the_kernel(k):
    @law(40)
    @given(GENERIC(), generators(), SIDES, st.sampled_from(["MIRA", "PA", "PA-I", "PA-II"]))
    def check(terms, rng, sides, rule):
        options = MiraOptions(rule if k == 1 else "MIRA", k, 0.7)
        importance, order = drawn_importance(rng, len(terms)), rng.permutation(len(terms))
        first = rng.normal(size=terms.batch.scorer.size)
        limits = options.caps(importance), options.eases(importance)
        data = examples_of(terms.batch, terms.cost), terms.batch.scorer.layout
        found = []
        for run in (partial(online_steps.mira_epoch, *data, *limits), partial(plain_epochs.mira_epoch, terms, *limits)):
            weights, totals = first.copy(), np.zeros(len(first))
            asked = {"clock": 1.0, "k": k, "with_cost": sides[0], "root": sides[1]}
            found.append((run(order=order, weights=weights, totals=totals, **asked), weights, totals))
        assert found[0][0] == found[1][0]
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-7, atol=1e-7)

    check()


@law(40)
@given(GENERIC(), generators(), SIDES)
def test_arow_of_the_kernel(terms, rng, sides):
    rates = ArowOptions(r=2.0).rates(drawn_importance(rng, len(terms)))
    order, first = rng.permutation(len(terms)), rng.normal(size=terms.batch.scorer.size)
    data = examples_of(terms.batch, terms.cost), terms.batch.scorer.layout
    found = []
    for run in (partial(online_steps.arow_epoch, *data, rates), partial(plain_epochs.arow_epoch, terms, rates)):
        weights, variances = first.copy(), np.ones(len(first))
        moved = run(order=order, weights=weights, variances=variances, with_cost=sides[0], root=sides[1])
        found.append((moved, weights, variances))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-8, atol=1e-8)


@law(40)
@given(GENERIC(free=False), generators(), st.sampled_from([1, 2, 0]), st.sampled_from([np.inf, 0.3]), st.booleans())
def test_subgradient_steps_of_the_kernel(terms, rng, power, radius, by_time):
    first = rng.normal(size=terms.batch.scorer.size)
    clock = Clock(steps=3.0, norm=float(first @ first))
    data = examples_of(terms.batch, terms.cost), terms.batch.scorer.layout
    order, found = rng.permutation(len(terms)), []
    kernel, plain = online_steps.subgradient_epoch, plain_epochs.subgradient_epoch
    for run in (partial(kernel, *data, rates_of(terms.prices)), partial(plain, terms, rates_of(terms.prices))):
        vector, totals, shares = first.copy(), np.zeros(len(first)), np.zeros(len(terms))
        asked = {"decay": 0.4, "radius": radius, "by_time": by_time, "power": power, "order": order}
        after = run(vector=vector, totals=totals, shares=shares, clock=clock, **asked)
        known = (after.steps, after.shrink, after.scales, after.weight, after.offset)
        found.append(np.concatenate([known, vector, totals, shares]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-7)


def listed(terms: TargetTerms, i: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slopes [outputs, W], costs and scores against the target of all outputs of an example."""
    one = terms.part(i, i + 1)
    outputs = every_output(terms.batch.space, i)
    cuts = [one.cuts(Worst(np.zeros(1), output), np.zeros(1, np.int64)) for output in outputs]
    slopes = np.concatenate([dense_rows_of(cut.slopes, len(weights)) for cut in cuts])
    return slopes, np.array([cut.offsets[0] for cut in cuts]), slopes @ weights


@pytest.mark.parametrize("structure", STRUCTURES)
def test_perceptron_steps_by_enumeration(structure):
    @law(15)
    @given(structure_terms(structure), generators())
    def check(terms, rng):
        importance = drawn_importance(rng, len(terms))
        weights = rng.normal(size=terms.batch.scorer.size).astype(np.float32)
        totals, clock = np.zeros(len(weights)), 1.0
        for i in rng.permutation(len(terms)):
            slopes, _, leads = listed(terms, i, weights.astype(float))
            before = weights.copy()
            wrong, clock = plain_epochs.perceptron_epoch(terms, importance, np.array([i]), weights, totals, clock)
            worst = np.argmax(leads)
            assert wrong == bool(leads[worst] > 0.0) or leads[worst] < 1e-6
            np.testing.assert_allclose(weights, before - wrong * importance[i] * slopes[worst], rtol=1e-5, atol=1e-5)

    check()


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("k", [1, 3])
def test_mira_steps_by_enumeration(structure, k):
    """The quadratic program over the k best of all outputs, with and without their cost."""

    @law(12)
    @given(structure_terms(structure), generators(), st.sampled_from(["max_loss", "prediction"]))
    def check(terms, rng, outputs):
        options = MiraOptions("MIRA", k, 0.5, outputs)
        importance = rng.uniform(0.5, 2.0, len(terms))
        limits = options.caps(importance), options.eases(importance)
        weights, totals, clock = rng.normal(size=terms.batch.scorer.size), np.zeros(terms.batch.scorer.size), 1.0
        for i in range(len(terms)):
            before = weights.copy()
            slopes, costs, leads = listed(terms, i, before)
            worth = leads + costs if outputs == "max_loss" else leads
            falling = np.argsort(-worth)
            if len(falling) > k and worth[falling[k - 1]] - worth[falling[k]] < 1e-9:
                continue  # which of equal outputs is among the k best is left open
            ranked = falling[:k]
            asked = {"k": k, "with_cost": outputs == "max_loss", "root": False}
            run = partial(plain_epochs.mira_epoch, terms, *limits)
            _, clock = run(order=np.array([i]), weights=weights, totals=totals, clock=clock, **asked)
            numbers, cap = np.zeros(len(ranked), dtype=int), np.array([options.caps(importance)[i]])
            _, expected = optimum(slopes[ranked], costs[ranked], numbers, cap, power=1, origin=before)
            np.testing.assert_allclose(weights, expected, atol=1e-4 * (1 + np.abs(expected - before).max()))

    check()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_arow_steps_by_enumeration(structure):
    @law(12)
    @given(structure_terms(structure), generators(), st.booleans())
    def check(terms, rng, with_cost):
        rates = ArowOptions(r=1.5).rates(rng.uniform(0.5, 2.0, len(terms)))
        weights, variances = rng.normal(size=terms.batch.scorer.size), rng.uniform(0.2, 1.0, terms.batch.scorer.size)
        for i in range(len(terms)):
            mean, spread = weights.copy(), variances.copy()
            slopes, costs, leads = listed(terms, i, mean)
            worst = np.argmax(leads + costs if with_cost else leads)
            slope, violation = slopes[worst], leads[worst] + costs[worst]
            plain_epochs.arow_epoch(
                terms, rates, order=np.array([i]), weights=weights, variances=variances, with_cost=with_cost, root=False
            )
            if violation > 1e-9:
                mean -= spread * slope * violation / (spread @ slope**2 + rates[i])
                spread = 1.0 / (1.0 / spread + slope**2 / rates[i])
            np.testing.assert_allclose(weights, mean, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(variances, spread, rtol=1e-6, atol=1e-6)

    check()


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("power", [1, 2])
def test_subgradient_steps_close_the_gap(structure, power):
    """Weak duality in every round, and a gap that falls to a small part of what it was."""

    @law(4)
    @given(structure_terms(structure))
    def check(terms):
        learner = ConvexLearner.fresh(terms, ConvexOptions("subgradient", power=power, tolerance=0.0, max_rounds=60))
        records = list(learner.run())
        assert all(record.dual <= records[-1].objective + 1e-9 for record in records)
        first, last = records[0], records[-1]
        assert last.gap <= 0.3 * first.gap + 0.05 * first.objective

    check()


@law(20)
@given(GENERIC(free=False), generators(), st.booleans())
def test_gradient_steps_of_the_kernel(terms, rng, partly):
    """Of first-order chains, from gold outputs or from admitted ones."""
    batch = terms.batch.within(replace(terms.batch.space, admitted=None))
    admitted = random_mask(rng, (int(batch.starts[-1]), batch.space.n_labels), 0.6)
    admitted[np.arange(len(admitted)), terms.cost.targets] = 1
    known = {"admitted": admitted} if partly else {"targets": terms.cost.targets}
    form = form_of(batch.scorer, [], support="all")
    part = LikelihoodTerms(form.features(batch), batch.space, terms.prices, **known)
    kernel, plain = OnlineLikelihood.of_terms([part]), PlainLikelihood.of_terms([part])
    first, order = rng.normal(size=batch.scorer.size), rng.permutation(len(batch))
    first[0] = 0.0
    found = []
    for problem in (kernel, plain):
        v = problem.vector(first)
        still, _ = problem.epoch(order, v, scale=0.8, clock=20.0, decay=0.1, move=False)
        loss, scale = problem.epoch(order, v, scale=0.8, clock=20.0, decay=0.1)
        found.append(np.concatenate([[still, loss], problem.weights(v, scale)]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_gradient_steps_by_enumeration(structure):
    @law(10)
    @given(structure_terms(structure), generators())
    def check(terms, rng):
        batch, targets = terms.batch, terms.cost.targets
        problem = likelihood_problem([Labelled(batch, terms.prices, targets=targets)], support="all")
        plain = PlainLikelihood.of_terms(problem.terms)
        weights = rng.normal(size=batch.scorer.size)
        for i in range(len(terms)):
            price = terms.prices[i] / terms.prices.mean()
            slopes, _, leads = listed(terms, i, weights)
            shares = np.exp(leads - leads.max())
            expected = 0.75 * weights - price / (0.1 * 4.0) * (shares / shares.sum()) @ slopes
            loss, scale = plain.epoch(np.array([i]), weights, scale=1.0, clock=4.0, decay=0.1)
            np.testing.assert_allclose(loss, price * np.log(np.exp(leads).sum()), rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(scale * weights, expected, rtol=1e-7, atol=1e-7)

    check()

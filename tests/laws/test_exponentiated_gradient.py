"""Exponentiated gradient: dual values by enumeration, weak duality, a dual that never falls, a gap that closes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing import (
    batches,
    costs_of,
    generators,
    labelings,
    law,
    members_of,
    plain_scores,
    random_rows,
    values_of,
)
from hypothesis import given
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.support import Shown, Support
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.duals.likelihood_duals import BatchDuals, ChainDuals
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.solvers.exponentiated_gradient import ExponentiatedGradient
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.spaces import ChainSpace, Cost


def gold_of(batch, rng):
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, rng.normal(size=batch.scorer.size))
    return batch.space.best(scores).labels


def duals_of(batch, targets, prices, loss, support="all", n_jobs=None):
    layout = batch.scorer.layout
    costs = None if loss == "log" else 1.0 - np.eye(layout.n_labels)
    known = Support.all(layout)
    if support == "seen":
        known = Support.seen(layout, [Shown(batch.scorer.rows, targets)], transitions="seen")
    features = SupportedFeatures.of(batch.scorer.rows, known)
    return ChainDuals.of(features, batch.space, prices, targets, costs=costs, n_jobs=n_jobs)


LOSSES = st.sampled_from(["log", "hinge"])


@law(50)
@given(batches(longest=3), generators(), LOSSES)
def test_dual_by_enumeration(batch, rng, loss):
    """w(α) and D(α) of any potentials, from a list of all labelings."""
    targets, prices = gold_of(batch, rng), 0.2 + rng.random(len(batch))
    duals = duals_of(batch, targets, prices, loss)
    potentials = duals.first(1.0)
    for part in (potentials.tokens, potentials.moves, potentials.edges):
        part += rng.normal(size=part.shape)
    found, dual = duals.settled(potentials)
    cost = Cost(targets, 1.0 - np.eye(batch.scorer.layout.n_labels))
    height, weights = 0.0, duals.gold.copy()
    everything = np.arange(len(batch))
    for i, (first, last) in enumerate(itertools.pairwise(map(int, batch.scorer.rows.starts))):
        paths = labelings(batch.scorer.layout.n_labels, last - first)
        paths = paths[members_of(batch.space, first, paths)]
        theta = potentials.tokens[np.arange(first, last), paths].sum(1)
        theta = theta + potentials.moves[i][paths[:, :-1], paths[:, 1:]].sum(1)
        theta = theta + potentials.edges[i, 0][paths[:, 0]] + potentials.edges[i, 1][paths[:, -1]]
        shares = np.exp(theta - theta.max())
        shares /= shares.sum()
        height += prices[i] * (shares @ costs_of(cost, first, paths) if loss == "hinge" else -shares @ np.log(shares))
        for path, share in zip(paths, shares):
            labels = targets.copy()
            labels[first:last] = path
            one = LikelihoodTerms(
                duals.terms.features, batch.space, np.where(everything == i, prices * share, 0.0), targets=labels
            )
            part = np.zeros(duals.terms.features.size)
            one.add_gold(part)
            weights -= part
    np.testing.assert_allclose(found, weights, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(dual, height - 0.5 * weights @ weights, rtol=1e-8, atol=1e-8)


@law(40)
@given(batches(longest=3), generators(), LOSSES)
def test_primal_by_enumeration(batch, rng, loss):
    targets, prices = gold_of(batch, rng), 0.2 + rng.random(len(batch))
    duals = duals_of(batch, targets, prices, loss)
    weights = rng.normal(size=duals.terms.features.size)
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, duals.terms.features.expand(weights))
    cost = Cost(targets, 1.0 - np.eye(batch.scorer.layout.n_labels))
    expected = 0.5 * weights @ weights
    for i, (first, last) in enumerate(itertools.pairwise(map(int, batch.scorer.rows.starts))):
        paths = labelings(batch.scorer.layout.n_labels, last - first)
        paths = paths[members_of(batch.space, first, paths)]
        values = values_of(scores, first, paths) - values_of(scores, first, targets[first:last][None])
        if loss == "hinge":
            expected += prices[i] * (values + costs_of(cost, first, paths)).max()
        else:
            expected += prices[i] * np.log(np.exp(values).sum())
    np.testing.assert_allclose(duals.primal(weights), expected, rtol=1e-9)


@law(40)
@given(batches(), generators(), LOSSES, st.sampled_from(["all", "seen"]), st.sampled_from([0.0, 3.0]))
def test_a_sweep_never_lowers_the_dual(batch, rng, loss, support, depth):
    """The gain that the kernel reports is the gain, and the weights it moved are those of the new potentials."""
    targets, prices = gold_of(batch, rng), 0.2 + rng.random(len(batch))
    duals = duals_of(batch, targets, prices, loss, support)
    potentials = duals.first(depth)
    weights, dual = duals.settled(potentials)
    for _ in range(3):
        assert dual <= duals.primal(weights) + 1e-9
        assert dual <= duals.primal(rng.normal(size=len(weights))) + 1e-9
        gained, _ = duals.sweep(rng.permutation(len(batch)), potentials, weights)
        weights, after = duals.settled(potentials)
        assert gained >= 0.0
        np.testing.assert_allclose(after, dual + gained, rtol=1e-8, atol=1e-8)
        dual = after


def small(loss, kind="online", n_jobs=None):
    rng = np.random.default_rng(0)
    layout = Layout(3, 10, 1)
    rows = random_rows(rng, offsets_of(rng.integers(1, 6, 30)), 10, 1, valued=True)
    targets = (rows.indices[np.minimum(rows.indptr[:-1], len(rows.indices) - 1)] % 3).astype(np.int32)
    space = ChainSpace(rows.starts, 3)
    prices = 0.05 + 0.1 * rng.random(len(rows))
    costs = None if loss == "log" else 1.0 - np.eye(3)
    features = SupportedFeatures.of(rows, Support.all(layout))
    terms = LikelihoodTerms(features, space, prices, targets=targets)
    if kind == "batch":
        return BatchDuals.of(terms, costs=costs, n_jobs=n_jobs), terms
    return ChainDuals.of(features, space, prices, targets, costs=costs, n_jobs=n_jobs), terms


def run(problem, epochs, depth=5.0, seed=0):
    solver = ExponentiatedGradient.fresh(problem, problem.first(depth))
    rng = np.random.default_rng(seed)
    progress = [solver.epoch(problem, rng) for _ in range(epochs)]
    return solver, progress


@pytest.mark.parametrize("kind", ["online", "batch"])
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_the_gap_closes(kind, loss):
    problem, terms = small(loss, kind)
    solver, progress = run(problem, {"log": 60, "hinge": 400}[loss])
    duals = [step.dual for step in progress]
    assert np.all(np.diff(duals) >= -1e-9)
    assert all(step.primal >= step.dual - 1e-9 for step in progress)
    assert -1e-9 <= solver.gap <= {"log": 1e-6, "hinge": 1e-2}[loss] * solver.best_primal
    assert solver.finished(0.02)
    if loss == "log":
        smooth = LikelihoodProblem([terms])
        best = Lbfgs.fresh(np.zeros(smooth.size), LbfgsOptions(epsilon=1e-9, delta=0.0))
        while not best.stopped:
            best.step(smooth.value_and_gradient)
        np.testing.assert_allclose(solver.best_primal, best.value, rtol=1e-6)
        np.testing.assert_allclose(solver.best, best.weights, atol=1e-2)


def test_batch_and_online_agree_on_the_dual():
    """The same potentials in both forms have the same weights and dual."""
    for loss in ("log", "hinge"):
        online, _ = small(loss)
        batch, _ = small(loss, "batch")
        rng = np.random.default_rng(1)
        shared = batch.first(1.5)
        shared.direction[:] = rng.normal(size=len(shared.direction))
        potentials = online.first(1.5)
        scores = batch.terms.features.scores(shared.direction)
        potentials.tokens[:] += scores.block(0, len(potentials.tokens))
        potentials.moves[:] += scores.transition
        potentials.edges[:, 0] += scores.start
        potentials.edges[:, 1] += scores.end
        one, other = online.settled(potentials), batch.settled(shared)
        np.testing.assert_allclose(one[0], other[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one[1], other[1], rtol=1e-9)


def test_threads_do_not_matter():
    found = []
    for n_jobs in (1, 2, 3):
        solver, _ = run(small("log", n_jobs=n_jobs)[0], 3)
        found.append(solver.weights)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_batch_needs_gold():
    _, terms = small("log")
    open_terms = LikelihoodTerms(
        terms.features, terms.space, terms.prices, admitted=np.ones((terms.features.rows.n_tokens, 3), dtype=np.uint8)
    )
    with pytest.raises(ValueError, match="gold"):
        BatchDuals.of(open_terms)

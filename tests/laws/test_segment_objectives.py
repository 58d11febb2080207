"""Counts, cuts and likelihoods of segmentations: adjoint, support, the optimum over all outputs, gradient."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from drawing import dense_rows_of, generators, law, random_mask
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum
from scipy.special import logsumexp
from segmenting import (
    cost_of,
    members_of,
    plain_segment_scores,
    random_segment_cost,
    random_segments,
    segment_batches,
    value_of,
)

from sidelight.errors import Infeasible
from sidelight.objective import batch_terms
from sidelight.objective.cuts import Worst
from sidelight.objective.expected_features import add_log_sums
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.objective.margin import TargetTerms
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.spaces import segments as spaces


def counts(batch, plus, minus=None):
    return batch.differences(np.arange(len(batch)), plus, minus, scales=np.ones(len(batch)))


def bounds(batch):
    return list(pairwise(map(int, batch.starts)))


@law(80)
@given(segment_batches(), generators())
def test_scores_are_inner_products(batch, rng):
    found = random_segments(rng, batch.space)
    weights = rng.normal(size=batch.scorer.size)
    plain = plain_segment_scores(batch, weights)
    read = batch.space.reading.segments
    expected = [value_of(plain, a, read(found[a:b])) for a, b in bounds(batch)]
    np.testing.assert_allclose(counts(batch, found).dot(weights), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(batch.score(weights, found), expected, rtol=1e-9, atol=1e-9)


@law(80)
@given(segment_batches(), generators())
def test_differences_are_differences(batch, rng):
    plus, minus = random_segments(rng, batch.space), random_segments(rng, batch.space)
    size = batch.scorer.size
    which = rng.integers(0, len(batch), 3)
    scales = rng.normal(size=3)
    found = batch.differences(which, plus, minus, scales=scales)
    expected = dense_rows_of(counts(batch, plus), size) - dense_rows_of(counts(batch, minus), size)
    np.testing.assert_allclose(dense_rows_of(found, size), scales[:, None] * expected[which], rtol=1e-9, atol=1e-12)
    for i in range(len(found)):
        assert np.all(np.diff(found.indices[found.indptr[i] : found.indptr[i + 1]]) > 0)
    assert len(counts(batch, plus, plus).indices) == 0


@law(60)
@given(segment_batches(), generators())
def test_expected_counts_are_the_mean_of_counts(batch, rng):
    """The adjoint law for beliefs: E(Φ)·w is the expected score, whatever w."""
    at, probe = rng.normal(size=batch.scorer.size), rng.normal(size=batch.scorer.size)
    scales = rng.normal(size=len(batch))
    log_sums, total = batch.space.log_sums(batch.scores(at)), np.zeros(batch.scorer.size)
    value = add_log_sums(batch.scorer, batch.space, scales, at, total)
    np.testing.assert_allclose(value, scales @ log_sums, rtol=1e-9, atol=1e-9)
    plain, other = plain_segment_scores(batch, at), plain_segment_scores(batch, probe)
    expected = 0.0
    for i, (a, _) in enumerate(bounds(batch)):
        members = members_of(batch.space, i).values()
        values = np.array([value_of(plain, a, p) for p in members])
        np.testing.assert_allclose(log_sums[i], logsumexp(values), rtol=1e-9)
        weights = np.exp(values - logsumexp(values))
        expected += scales[i] * sum(w * value_of(other, a, p) for w, p in zip(weights, members))
    np.testing.assert_allclose(total @ probe, expected, rtol=1e-8, atol=1e-8)


def terms_of(batch, rng):
    cost = random_segment_cost(rng, batch.space, tied=False, weighted=bool(rng.integers(2)))
    return TargetTerms(batch, cost, rng.uniform(0.1, 2.0, len(batch)))


@law(60)
@given(segment_batches(), generators())
def test_cuts_support_terms(batch, rng):
    terms = terms_of(batch, rng)
    here = rng.normal(size=batch.scorer.size)
    worst = terms.worst(here)
    which = np.flatnonzero(rng.random(len(batch)) < 0.8)
    cuts = terms.cuts(worst, which)
    np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(here), worst.values[which], rtol=1e-9, atol=1e-9)
    for scale in (0.1, 1.0, 10.0):
        there = here + scale * rng.normal(size=batch.scorer.size)
        assert np.all(cuts.offsets + cuts.slopes.dot(there) <= terms.worst(there).values[which] + 1e-9 * (1 + scale))


@law(40)
@given(segment_batches(), generators(), st.integers(1, 5))
def test_parts_of_terms_agree_with_the_whole(batch, rng, block):
    terms = terms_of(batch, rng)
    weights = rng.normal(size=batch.scorer.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_terms, "BLOCK_TOKENS", block)
        parts = terms.parts()
    whole = terms.worst(weights).values
    seen = []
    for first, part in parts:
        mine = np.arange(first, first + len(part))
        seen += mine.tolist()
        worst = part.worst(weights)
        np.testing.assert_array_equal(worst.values, whole[mine])
        np.testing.assert_array_equal(part.prices, terms.prices[mine])
        cuts = part.cuts(worst, np.arange(len(part)))
        np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(weights), whole[mine], rtol=1e-9, atol=1e-9)
    assert seen == list(range(len(batch)))


@pytest.mark.parametrize("power", [1, 2])
def test_cutting_planes_reach_the_optimum_over_all_segmentations(power):
    @law(8)
    @given(segment_batches(most=2, longest=3), generators())
    def check(batch, rng):
        terms = terms_of(batch, rng)
        target = batch.best(rng.normal(size=batch.scorer.size)).labels
        terms = terms.with_targets(target)
        slopes, offsets, numbers = [], [], []
        for i, (a, b) in enumerate(bounds(batch)):
            for labels in members_of(batch.space, i):
                outputs = target.copy()
                outputs[a:b] = labels
                cuts = terms.cuts(Worst(np.zeros(len(batch)), outputs), np.array([i]))
                np.testing.assert_allclose(cuts.offsets, cost_of(terms.cost, a, labels), atol=1e-12)
                slopes.append(dense_rows_of(cuts.slopes, batch.scorer.size))
                offsets.append(cuts.offsets)
                numbers.append(np.array([i]))
        listed = np.concatenate(slopes), np.concatenate(offsets), np.concatenate(numbers)
        least, _ = optimum(*listed, terms.prices, power=power)
        whole = batch.scorer.is_binary
        solver = CuttingPlane.fresh(batch.scorer.size, len(batch), power=power, seed=0, whole=whole)
        for _ in range(200):
            solver.round(terms, violation=0.0, tolerance=1e-7)
            if solver.finished(1e-7):
                break
        assert solver.best_primal - solver.gap <= least * (1 + 1e-6) + 1e-6
        np.testing.assert_allclose(solver.best_primal, least, rtol=1e-5, atol=1e-6)

    check()


@st.composite
def likelihoods(draw):
    """Some inputs with gold segmentations, others with masks that leave at least one, or with soft labels."""
    batch = draw(segment_batches())
    rng = draw(generators())
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels  # in the space
    mask = random_mask(rng, (len(targets), batch.space.n_labels), 0.4)
    mask[np.arange(len(mask)), targets] = 1
    bonus = rng.normal(size=mask.shape) if draw(st.booleans()) else None
    prices = rng.uniform(0.1, 2.0, (2, len(batch)))
    gold = LikelihoodTerms(batch.scorer, batch.space, prices[0], targets=targets)
    rest = LikelihoodTerms(batch.scorer, batch.space, prices[1], admitted=mask, bonus=bonus)
    return batch, gold, rest


@law(50)
@given(likelihoods(), generators())
def test_value_by_enumeration(case, rng):
    batch, gold, rest = case
    problem = LikelihoodProblem([gold, rest])
    weights = rng.normal(size=problem.size)
    plain = plain_segment_scores(batch, weights)
    value = 0.5 * weights @ weights
    for i, (a, b) in enumerate(bounds(batch)):
        listed = {labels: value_of(plain, a, pieces) for labels, pieces in members_of(batch.space, i).items()}
        total = logsumexp(list(listed.values()))
        value += gold.prices[i] * (total - listed[tuple(gold.targets[a:b].tolist())])
        inside = batch.space.inside(rest.admitted)
        more = np.zeros(rest.admitted.shape) if rest.bonus is None else rest.bonus
        known = [listed[y] + more[np.arange(a, b), list(y)].sum() for y in members_of(inside, i)]
        value += rest.prices[i] * (total - logsumexp(known))
    np.testing.assert_allclose(problem.value_and_gradient(weights, np.empty(problem.size)), value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(problem.value(weights), value, rtol=1e-9, atol=1e-9)


@law(30)
@given(likelihoods(), generators())
def test_gradient_by_finite_differences(case, rng):
    problem = LikelihoodProblem(case[1:])
    weights, gradient, nowhere = rng.normal(size=problem.size), np.empty(problem.size), np.empty(problem.size)
    value = problem.value_and_gradient(weights, gradient)
    step = 1e-5
    for k in rng.permutation(problem.size)[:12]:
        there, back = weights.copy(), weights.copy()
        there[k] += step
        back[k] -= step
        slope = (problem.value_and_gradient(there, nowhere) - problem.value_and_gradient(back, nowhere)) / (2 * step)
        np.testing.assert_allclose(gradient[k], slope, rtol=1e-5, atol=1e-6)
    assert np.isfinite(value)


@law(20)
@given(likelihoods(), generators())
def test_an_input_that_admits_nothing_is_refused(case, rng):
    closed = LikelihoodProblem([replace(case[2], admitted=np.zeros_like(case[2].admitted))])
    with pytest.raises(Infeasible, match="sequence 0:"):
        closed.value_and_gradient(rng.normal(size=closed.size), np.empty(closed.size))


@law(6)
@given(likelihoods(), generators())
def test_threads_and_shards_do_not_change_bits(case, rng):
    weights = rng.normal(size=case[0].scorer.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "SHARD_SEGMENTS", 1)
        patch.setattr(spaces, "shards", lambda starts, tokens: [(i, i + 1) for i in range(len(starts) - 1)])
        found = []
        for n_jobs in (1, 2, 3):
            gradient = np.empty(len(weights))
            problem = LikelihoodProblem(case[1:], n_jobs=n_jobs)
            found.append((problem.value_and_gradient(weights, gradient), gradient))
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])

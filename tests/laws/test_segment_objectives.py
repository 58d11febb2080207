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
    is_member,
    pieces_of,
    plain_segment_scores,
    random_segment_cost,
    random_segments,
    segment_batches,
    segmentations,
    segments_from,
    value_of,
)

from sidelight.errors import Infeasible
from sidelight.objective import batch_terms
from sidelight.objective.cuts import Worst
from sidelight.objective.segment_likelihood import SegmentLikelihood, expected_counts
from sidelight.objective.segments import SegmentTerms
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.spaces import segments as spaces


def counts(batch, plus, minus=None):
    return batch.differences(np.arange(len(batch)), plus, minus, scales=np.ones(len(batch)))


def bounds(batch):
    return list(pairwise(map(int, batch.rows.starts)))


@law(80)
@given(segment_batches(), generators())
def test_scores_are_inner_products(batch, rng):
    found = random_segments(rng, batch.space)
    weights = rng.normal(size=batch.layout.size)
    plain = plain_segment_scores(batch, weights)
    expected = [value_of(plain, a, pieces_of(found, a, b)) for a, b in bounds(batch)]
    np.testing.assert_allclose(counts(batch, found).dot(weights), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(batch.score(weights, found), expected, rtol=1e-9, atol=1e-9)


@law(80)
@given(segment_batches(), generators())
def test_differences_are_differences(batch, rng):
    plus, minus = random_segments(rng, batch.space), random_segments(rng, batch.space)
    size = batch.layout.size
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
    at, probe = rng.normal(size=batch.layout.size), rng.normal(size=batch.layout.size)
    scales = rng.normal(size=len(batch))
    log_sums, total = expected_counts(batch, at, scales)
    plain, other = plain_segment_scores(batch, at), plain_segment_scores(batch, probe)
    expected = 0.0
    for i, (a, b) in enumerate(bounds(batch)):
        members = [p for p in segmentations(batch.layout.n_labels, b - a) if is_member(batch.space, a, p)]
        values = np.array([value_of(plain, a, p) for p in members])
        np.testing.assert_allclose(log_sums[i], logsumexp(values), rtol=1e-9)
        weights = np.exp(values - logsumexp(values))
        expected += scales[i] * sum(w * value_of(other, a, p) for w, p in zip(weights, members))
    np.testing.assert_allclose(total @ probe, expected, rtol=1e-8, atol=1e-8)


def terms_of(batch, rng):
    cost = random_segment_cost(rng, batch.space, tied=False, weighted=bool(rng.integers(2)))
    return SegmentTerms(batch, cost, rng.uniform(0.1, 2.0, len(batch)))


@law(60)
@given(segment_batches(), generators())
def test_cuts_support_terms(batch, rng):
    terms = terms_of(batch, rng)
    here = rng.normal(size=batch.layout.size)
    worst = terms.worst(here)
    which = np.flatnonzero(rng.random(len(batch)) < 0.8)
    cuts = terms.cuts(worst, which)
    np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(here), worst.values[which], rtol=1e-9, atol=1e-9)
    for scale in (0.1, 1.0, 10.0):
        there = here + scale * rng.normal(size=batch.layout.size)
        assert np.all(cuts.offsets + cuts.slopes.dot(there) <= terms.worst(there).values[which] + 1e-9 * (1 + scale))


@law(40)
@given(segment_batches(), generators(), st.integers(1, 5))
def test_parts_of_terms_agree_with_the_whole(batch, rng, block):
    terms = terms_of(batch, rng)
    weights = rng.normal(size=batch.layout.size)
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
        target = batch.best(rng.normal(size=batch.layout.size)).segments
        terms = terms.with_targets(target, terms.cost.tokens)
        slopes, offsets, numbers = [], [], []
        for i, (a, b) in enumerate(bounds(batch)):
            for pieces in segmentations(batch.layout.n_labels, b - a):
                if not is_member(batch.space, a, pieces):
                    continue
                outputs = replace_one(target, a, b, pieces)
                cuts = terms.cuts(Worst(np.zeros(len(batch)), outputs), np.array([i]))
                np.testing.assert_allclose(cuts.offsets, cost_of(terms.cost, a, pieces), atol=1e-12)
                slopes.append(dense_rows_of(cuts.slopes, batch.layout.size))
                offsets.append(cuts.offsets)
                numbers.append(np.array([i]))
        listed = np.concatenate(slopes), np.concatenate(offsets), np.concatenate(numbers)
        least, _ = optimum(*listed, terms.prices, power=power)
        whole = batch.is_binary
        solver = CuttingPlane.fresh(batch.layout.size, len(batch), power=power, seed=0, whole=whole)
        for _ in range(200):
            solver.round(terms, violation=0.0, tolerance=1e-7)
            if solver.finished(1e-7):
                break
        assert solver.best_primal - solver.gap <= least * (1 + 1e-6) + 1e-6
        np.testing.assert_allclose(solver.best_primal, least, rtol=1e-5, atol=1e-6)

    check()


def replace_one(target, a, b, pieces):
    labels, begins = target.labels.copy(), target.begins.copy()
    labels[a:b], begins[a:b] = segments_from([pieces])
    return spaces.Segments(labels, begins)


@st.composite
def likelihoods(draw):
    """Some inputs with gold segmentations, the others with masks that leave at least one."""
    batch = draw(segment_batches())
    rng = draw(generators())
    is_gold = rng.random(len(batch)) < 0.5
    gold, rest = np.flatnonzero(is_gold), np.flatnonzero(~is_gold)
    targets = batch.best(rng.normal(size=batch.layout.size)).segments  # in the space
    masks = [random_mask(rng, (batch.rows.n_tokens, batch.layout.n_labels), 0.4) for _ in range(2)]
    for mask in masks:
        mask[np.arange(len(mask)), targets.labels] = 1
    tokens = batch.rows.tokens_of(rest)
    admitted = batch.take(rest).inside(*(mask[tokens] for mask in masks))
    prices = rng.uniform(0.1, 2.0, len(batch))
    made = SegmentLikelihood.of(batch, prices, gold, targets, rest, admitted)
    return made, prices, gold, rest, targets


@law(50)
@given(likelihoods(), generators())
def test_value_by_enumeration(case, rng):
    made, prices, gold, rest, targets = case
    weights = rng.normal(size=made.batch.layout.size)
    plain = plain_segment_scores(made.batch, weights)
    value = 0.5 * weights @ weights
    for i, (a, b) in enumerate(bounds(made.batch)):
        members = [p for p in segmentations(made.batch.layout.n_labels, b - a) if is_member(made.batch.space, a, p)]
        listed = [(p, value_of(plain, a, p)) for p in members]
        value += prices[i] * logsumexp([v for _, v in listed])
        if i in gold:
            value -= prices[i] * value_of(plain, a, pieces_of(targets, a, b))
        else:
            place = int(np.flatnonzero(rest == i)[0])
            at = int(made.open.rows.starts[place])
            value -= prices[i] * logsumexp([v for p, v in listed if is_member(made.open.space, at, p)])
    np.testing.assert_allclose(made.value_and_gradient(weights)[0], value, rtol=1e-9, atol=1e-9)


@law(30)
@given(likelihoods(), generators())
def test_gradient_by_finite_differences(case, rng):
    made = case[0]
    size = made.batch.layout.size
    weights = rng.normal(size=size)
    value, gradient = made.value_and_gradient(weights)
    step = 1e-5
    for k in rng.permutation(size)[:12]:
        there, back = weights.copy(), weights.copy()
        there[k] += step
        back[k] -= step
        slope = (made.value_and_gradient(there)[0] - made.value_and_gradient(back)[0]) / (2 * step)
        np.testing.assert_allclose(gradient[k], slope, rtol=1e-5, atol=1e-6)
    assert np.isfinite(value)


@law(20)
@given(likelihoods(), generators())
def test_an_input_that_admits_nothing_is_refused(case, rng):
    made = case[0]
    if len(made.open) == 0:
        return
    nothing = np.zeros((made.open.rows.n_tokens, made.batch.layout.n_labels), np.uint8)
    closed = replace(made, open=made.open.inside(nothing, nothing))
    with pytest.raises(Infeasible, match="sequence 0:"):
        closed.value_and_gradient(rng.normal(size=made.batch.layout.size))


@law(6)
@given(likelihoods(), generators())
def test_threads_and_shards_do_not_change_bits(case, rng):
    made = case[0]
    weights = rng.normal(size=made.batch.layout.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "SHARD_SEGMENTS", 1)
        patch.setattr(spaces, "shards", lambda starts, tokens: [(i, i + 1) for i in range(len(starts) - 1)])
        found = [
            replace(made, batch=replace(made.batch, n_jobs=n), open=replace(made.open, n_jobs=n)).value_and_gradient(
                weights
            )
            for n in (1, 2, 3)
        ]
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])

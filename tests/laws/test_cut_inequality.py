"""Cuts support their terms from below and touch them where they were asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import (
    generators,
    law,
    random_cost,
)
from hypothesis import given
from hypothesis import strategies as st
from segmenting import any_batches, outputs_drawn

from sidelight.objective import margin as margins
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import NegativeTerms, SilentTerms, StackedTerms, TargetTerms, positive_terms


def sizes_of(batch, rng):
    return rng.uniform(0.5, 3.0, len(batch))


def target_terms(batch, rng):
    cost = random_cost(rng, int(batch.starts[-1]), batch.space.n_labels, weighted=bool(rng.integers(2)))
    cost = cost.with_targets(outputs_drawn(rng, batch.space))
    return TargetTerms(batch, cost, rng.uniform(0.1, 2.0, len(batch)))


def negative_terms(batch, rng):
    return NegativeTerms(batch, sizes_of(batch, rng), rng.uniform(0.1, 2.0, len(batch)))


def fixed_terms(batch, rng):
    return positive_terms(
        batch, outputs_drawn(rng, batch.space), sizes_of(batch, rng), rng.uniform(0.1, 2.0, len(batch))
    )


def stacked_terms(batch, rng):
    return StackedTerms([make(batch, rng) for make in (target_terms, negative_terms, fixed_terms)])


def check_cuts(terms, which, size, rng):
    here = rng.normal(size=size)
    worst = terms.worst(here)
    cuts = terms.cuts(worst, which)
    np.testing.assert_array_equal(cuts.terms, which)
    np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(here), worst.values[which], rtol=1e-9, atol=1e-9)
    for scale in (0.1, 1.0, 10.0):
        there = here + scale * rng.normal(size=size)
        assert np.all(cuts.offsets + cuts.slopes.dot(there) <= terms.worst(there).values[which] + 1e-9 * (1 + scale))


@law(50)
@given(any_batches(), generators())
def test_cuts_of_stacked_terms(batch, rng):
    terms = stacked_terms(batch, rng)
    check_cuts(terms, np.flatnonzero(rng.random(len(terms)) < 0.7), batch.scorer.size, rng)
    assert len(terms.prices) == len(terms) == 3 * len(batch)


@law(30)
@given(any_batches(), generators())
def test_silent_terms_only_hold_places(batch, rng):
    loud = [target_terms(batch, rng), negative_terms(batch, rng)]
    weights = rng.normal(size=batch.scorer.size)
    terms = StackedTerms([loud[0], SilentTerms.like(2), loud[1]])
    count = len(batch)
    assert total_loss(terms.worst(weights).values[count : count + 2], terms.prices[count : count + 2], 1) == 0.0
    without = StackedTerms(loud).worst(weights).values
    np.testing.assert_array_equal(np.delete(terms.worst(weights).values, [count, count + 1]), without)


@law(50)
@given(any_batches(most=6), generators(), st.integers(1, 6))
def test_parts_of_terms_agree_with_the_whole(batch, rng, block):
    terms = StackedTerms([target_terms(batch, rng), SilentTerms.like(3), negative_terms(batch, rng)])
    weights = rng.normal(size=batch.scorer.size)
    whole = terms.worst(weights).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margins, "BLOCK_TOKENS", block)
        parts = terms.parts()
    seen = []
    for first, part in parts:
        mine = np.arange(first, first + len(part))
        seen += mine.tolist()
        worst = part.worst(weights)
        np.testing.assert_array_equal(worst.values, whole[mine])
        np.testing.assert_array_equal(part.prices, terms.prices[mine])
        cuts = part.cuts(worst, np.arange(len(part)))
        np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(weights), whole[mine], rtol=1e-9, atol=1e-9)
    count = len(batch)
    assert sorted(seen) == [*range(count), *range(count + 3, 2 * count + 3)]
    if block == 1:
        assert len(parts) == 2 * count


@law(30)
@given(any_batches(), generators())
def test_a_target_in_the_space_costs_at_least_nothing(batch, rng):
    terms = target_terms(batch, rng)
    costs = terms.cost.costs.copy()
    np.fill_diagonal(costs, 0.0)
    terms = replace(terms, cost=replace(terms.cost, costs=costs))
    weights = rng.normal(size=batch.scorer.size)
    own = terms.with_targets(batch.best(weights).labels)
    assert np.all(own.worst(weights).values >= -1e-9)


def test_total_loss():
    values, prices = np.array([-1.0, 0.5, 3.0]), np.array([5.0, 2.0, 1.0])
    assert total_loss(values, prices, 1) == 4.0
    assert total_loss(values, prices, 2) == 9.5

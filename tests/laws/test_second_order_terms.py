"""Laws of features and terms in layouts of order 2: counts are the adjoint of scores, and cuts support their terms."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import costs_of, dense_rows_of, generators, labelings, law, members_of, random_outputs
from drawing_second_order import plain_second_order_scores, second_order_batches, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from test_cut_inequality import check_cuts, fixed_terms, negative_terms, stacked_terms, target_terms

from sidelight.features.layout import Layout
from sidelight.objective.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace, SecondOrderSpace


def counts(batch, plus, minus=None):
    size = len(batch)
    return batch.differences(np.arange(size), plus, minus, scales=np.ones(size), thresholds=np.zeros(size))


@law(80)
@given(second_order_batches(longest=5), generators())
def test_scores_are_inner_products(batch, rng):
    labels = random_outputs(rng, batch)
    features = counts(batch, labels)
    weights = rng.normal(size=batch.scorer.size)
    plain = plain_second_order_scores(batch.scorer.rows, batch.scorer.layout, weights)
    pairs = itertools.pairwise(batch.scorer.rows.starts.tolist())
    expected = [second_order_values(plain, a, labels[a:b][None])[0] for a, b in pairs]
    np.testing.assert_allclose(features.dot(weights), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(batch.score(weights, labels), expected, rtol=1e-9, atol=1e-9)


@law(80)
@given(second_order_batches(longest=6), generators())
def test_differences_are_differences(batch, rng):
    """What two labelings share is left out, and nothing else."""
    plus, minus = random_outputs(rng, batch), random_outputs(rng, batch)
    same = rng.random(len(plus)) < 0.6
    minus[same] = plus[same]
    size = batch.scorer.size
    found = counts(batch, plus, minus)
    expected = dense_rows_of(counts(batch, plus), size) - dense_rows_of(counts(batch, minus), size)
    np.testing.assert_allclose(dense_rows_of(found, size), expected, rtol=1e-9, atol=1e-12)
    assert np.all(found.values != 0)
    assert len(counts(batch, plus, plus).indices) == 0


@law(40)
@given(second_order_batches(), generators(), st.data())
def test_parts_agree_with_the_whole(batch, rng, data):
    lo = data.draw(st.integers(0, len(batch) - 1))
    hi = data.draw(st.integers(lo + 1, len(batch)))
    first, last = int(batch.scorer.rows.starts[lo]), int(batch.scorer.rows.starts[hi])
    weights, labels = rng.normal(size=batch.scorer.size), random_outputs(rng, batch)
    for part in (batch.part(lo, hi), batch.take(np.arange(lo, hi))):
        assert isinstance(part.space, SecondOrderSpace)
        np.testing.assert_array_equal(part.best(weights).labels, batch.best(weights).labels[first:last])
        np.testing.assert_array_equal(part.score(weights, labels[first:last]), batch.score(weights, labels)[lo:hi])


@pytest.mark.parametrize("make", [target_terms, negative_terms, fixed_terms, stacked_terms])
def test_cuts_support_terms(make):
    @law(40)
    @given(second_order_batches(), generators())
    def check(batch, rng):
        terms = make(batch, rng)
        check_cuts(terms, np.flatnonzero(rng.random(len(terms)) < 0.7), batch.scorer.size, rng)

    check()


@law(50)
@given(second_order_batches(), generators())
def test_worst_is_the_maximum_over_all_outputs(batch, rng):
    weights = rng.normal(size=batch.scorer.size)
    scores = plain_second_order_scores(batch.scorer.rows, batch.scorer.layout, weights)
    targets, negatives = target_terms(batch, rng), negative_terms(batch, rng)
    for i, (a, b) in enumerate(itertools.pairwise(batch.scorer.rows.starts.tolist())):
        paths = labelings(batch.scorer.layout.n_labels, b - a)
        paths = paths[members_of(batch.space, a, paths)]
        values = second_order_values(scores, a, paths)
        own = second_order_values(scores, a, targets.cost.targets[a:b][None])[0]
        expected = np.max(values + costs_of(targets.cost, a, paths)) - own
        np.testing.assert_allclose(targets.worst(weights).values[i], expected, rtol=1e-9, atol=1e-9)
        expected = 1.0 + values.max() / negatives.sizes[i] + weights[0]
        np.testing.assert_allclose(negatives.worst(weights).values[i], expected, rtol=1e-9, atol=1e-9)


@law(40)
@given(st.integers(1, 4), st.integers(0, 5), st.integers(0, 2), st.booleans(), st.booleans())
def test_weights_have_places_of_their_own_and_new_attributes_append(labels, attributes, dense, bias, null):
    layout = Layout(labels, attributes, dense, bias=bias, null_label=null and labels > 1, order=2)
    weights = np.arange(layout.size, dtype=float)
    views = [layout.start(weights)[layout.n_labels - layout.columns :] if bias else np.zeros(0), layout.end(weights)]
    views += [layout.transition(weights), layout.second(weights), layout.dense_weights(weights)]
    views += [layout.attribute_weights(weights)]
    np.testing.assert_array_equal(np.concatenate([[0.0], *(view.ravel() for view in views)]), weights)
    grown = layout.grown(attributes + 3)
    assert grown.order == 2
    more = np.append(weights, np.zeros(3 * layout.columns))
    assert len(more) == grown.size
    np.testing.assert_array_equal(grown.second(more), layout.second(weights))
    np.testing.assert_array_equal(grown.attribute_weights(more)[:attributes], layout.attribute_weights(weights))


@law(20)
@given(second_order_batches(), generators())
def test_a_batch_has_the_space_of_its_order(batch, rng):
    chain = batch.space.labelings
    made = chain_batch(batch.scorer.rows, batch.scorer.layout, allowed=chain.allowed)
    weights = rng.normal(size=batch.scorer.size)
    np.testing.assert_array_equal(made.best(weights).labels, batch.best(weights).labels)
    first = replace(batch.scorer.layout, order=1)
    assert isinstance(chain_batch(batch.scorer.rows, first).space, ChainSpace)
    with pytest.raises(ValueError, match="order is 3"):
        replace(batch.scorer.layout, order=3)
    with pytest.raises(ValueError, match="no transitions"):
        replace(batch.scorer.layout, chain=False)

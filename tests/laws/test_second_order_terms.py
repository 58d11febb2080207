"""Layouts of order 2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import generators, law
from drawing_second_order import second_order_batches
from hypothesis import given
from hypothesis import strategies as st

from sidelight.features.layout import Layout
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace


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

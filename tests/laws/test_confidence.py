"""Confidence is what enumeration of all outputs says it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import (
    batches,
    generators,
    labelings,
    law,
    members_of,
    plain_scores,
    random_mask,
    random_scores,
    random_transitions,
    starts_of,
    values_of,
)
from drawing_second_order import plain_second_order_scores, second_order_batches, second_order_values
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Intractable
from sidelight.objective.confidence import confidence
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain_margins import token_margins


def outputs_of(starts, space, i: int):
    """The first token of a sequence, and all outputs that the space has for it."""
    first, last = int(starts[i]), int(starts[i + 1])
    paths = labelings(space.n_labels, last - first)
    return first, paths[members_of(space, first, paths)]


def limited(batch, rng):
    """The batch within random candidates that leave every input an output, sometimes just one."""
    some = batch.space.random(rng)
    mask = random_mask(rng, (batch.scorer.rows.n_tokens, batch.scorer.layout.n_labels), rng.choice([0.0, 0.5, 1.0]))
    mask[np.arange(len(some)), some] = 1
    return replace(batch, space=batch.space.inside(mask))


@law(60)
@given(batches(), generators(), st.booleans())
def test_both_measures_by_enumeration(batch, rng, masked):
    if masked:
        batch = limited(batch, rng)
    weights = rng.normal(size=batch.scorer.size)
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, weights)
    best = batch.best(weights)
    of_output = confidence(batch, weights, best, measure="output")
    of_tokens = confidence(batch, weights, best, measure="tokens")
    for i in range(len(batch)):
        first, paths = outputs_of(batch.scorer.rows.starts, batch.space, i)
        values = values_of(scores, first, paths)
        winner = paths[values.argmax()]
        length = paths.shape[1]
        if len(paths) == 1:
            assert of_output[i] == of_tokens[i] == np.inf
            continue
        others = np.any(paths != winner, axis=1)
        expected = (values.max() - values[others].max()) / length
        assert of_output[i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        falls = [values.max() - values[paths[:, t] != winner[t]].max(initial=-np.inf) for t in range(length)]
        finite = [fall for fall in falls if np.isfinite(fall)]
        assert of_tokens[i] == pytest.approx(np.mean(finite), rel=1e-9, abs=1e-9)
        if length == 1:
            assert of_output[i] == pytest.approx(of_tokens[i], rel=1e-12, abs=1e-12)


@law(60)
@given(starts_of(), st.integers(1, 4), generators(), st.booleans(), st.booleans())
def test_margins_of_tokens_by_enumeration(starts, size, rng, tied, masked):
    tokens = int(starts[-1])
    scores = random_scores(rng, tokens, size, tied=tied)
    space = ChainSpace(starts, size, random_transitions(rng, size) if masked else None)
    if masked:
        space = space.inside(random_mask(rng, (tokens, size), 0.8))
    keep = np.flatnonzero(space.feasible())
    found = token_margins(space, scores)
    for i in keep:
        first, paths = outputs_of(starts, space, i)
        values = values_of(scores, first, paths)
        for t in range(paths.shape[1]):
            tops = [values[paths[:, t] == label].max(initial=-np.inf) for label in range(size)]
            top, second = np.sort([*tops, -np.inf])[[-1, -2]]
            assert found[first + t] == pytest.approx(top - second, rel=1e-9, abs=1e-9)


@law(20)
@given(second_order_batches(), generators())
def test_second_order_has_the_measure_output_alone(batch, rng):
    weights = rng.normal(size=batch.scorer.size)
    best = batch.best(weights)
    with pytest.raises(Intractable, match="measure 'output'"):
        confidence(batch, weights, best, measure="tokens")
    found = confidence(batch, weights, best, measure="output")
    scores = plain_second_order_scores(batch.scorer.rows, batch.scorer.layout, weights)
    for i in range(len(batch)):
        first, paths = outputs_of(batch.scorer.rows.starts, batch.space.labelings, i)
        values = np.sort(second_order_values(scores, first, paths))
        expected = np.inf if len(values) == 1 else (values[-1] - values[-2]) / paths.shape[1]
        assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@law(10)
@given(batches(most=30), generators(), st.sampled_from(["tokens", "output"]))
def test_threads_change_nothing(batch, rng, measure):
    weights = rng.normal(size=batch.scorer.size)
    best = batch.best(weights)
    one, two = (confidence(replace(batch, n_jobs=n), weights, best, measure=measure) for n in (1, 2))
    np.testing.assert_array_equal(one, two)

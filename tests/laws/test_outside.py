"""Outputs outside candidates, for any space: against enumeration, and against the dynamic program of chains."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law, random_mask, random_scores, random_transitions, starts_of
from hypothesis import given
from hypothesis import strategies as st
from segmenting import cost_of, members_of, random_segment_cost, random_segment_scores, segment_spaces, value_of

from sidelight.errors import Infeasible, Intractable
from sidelight.spaces import ChainSpace, Cost
from sidelight.spaces.outside import Outside


@law(100)
@given(segment_spaces(), generators(), st.booleans(), st.sampled_from([0.5, 0.9]))
def test_segmentations_against_enumeration(space, rng, costly, share):
    candidates = random_mask(rng, (int(space.starts[-1]), space.n_labels), share)
    scores = random_segment_scores(rng, space, tied=False)
    cost = random_segment_cost(rng, space, tied=False, weighted=True) if costly else None
    outside = space.outside(candidates)
    expected = []
    for i, at in enumerate(map(int, space.starts[:-1])):
        leaving = {
            labels: value_of(scores, at, pieces) + (cost_of(cost, at, labels) if costly else 0.0)
            for labels, pieces in members_of(space, i).items()
            if not all(candidates[at + t, label] for t, label in enumerate(labels))
        }
        expected.append(leaving)
    fits = np.array([len(leaving) > 0 for leaving in expected])
    np.testing.assert_array_equal(outside.feasible(), fits)
    if not fits.all():
        with pytest.raises(Infeasible, match=f"sequence {int(np.flatnonzero(~fits)[0])}:"):
            outside.best(scores, cost=cost)
        return
    found = outside.best(scores, cost=cost, n_jobs=2)
    assert np.all(outside.admits(found.labels) == 1)
    for i, leaving in enumerate(expected):
        first, last = int(space.starts[i]), int(space.starts[i + 1])
        np.testing.assert_allclose(found.values[i], max(leaving.values()), rtol=1e-9, atol=1e-9)
        own = leaving[tuple(found.labels[first:last].tolist())]
        np.testing.assert_allclose(own, found.values[i], rtol=1e-9, atol=1e-9)
    part, some = outside.part(0, 1), outside.take(np.array([len(expected) - 1, 0]))
    assert part.feasible().all() and some.feasible().all()
    if costly:
        np.testing.assert_array_equal(found.targets, space.best(scores, cost=cost).targets)


@law(80)
@given(starts_of(), st.integers(1, 3), generators(), st.booleans(), st.booleans())
def test_chains_have_the_same_by_their_own_program(starts, size, rng, masked, costly):
    tokens = int(starts[-1])
    space = ChainSpace(starts, size, random_transitions(rng, size, 0.8) if masked else None)
    if masked:
        space = space.inside(random_mask(rng, (tokens, size), 0.8))
    candidates, scores = random_mask(rng, (tokens, size), 0.6), random_scores(rng, tokens, size, tied=False)
    cost = Cost(rng.integers(0, size, tokens).astype(np.int32), np.abs(rng.normal(size=(size, size))))
    one, other = space.outside(candidates), Outside.of(space, candidates)
    fits = one.feasible()
    np.testing.assert_array_equal(other.feasible(), fits)
    if not fits.all():
        return
    given_cost = cost if costly else None
    mine, theirs = other.best(scores, cost=given_cost), one.best(scores, cost=given_cost)
    np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.targets, theirs.targets)
    labels = rng.integers(0, size, tokens).astype(np.int32)
    np.testing.assert_array_equal(other.admits(labels), one.admits(labels))
    np.testing.assert_array_equal(other.score(scores, labels), one.score(scores, labels))
    inside = random_mask(rng, (tokens, size), 0.7)
    np.testing.assert_array_equal(other.inside(inside).feasible(), space.inside(inside).outside(candidates).feasible())


def test_what_it_cannot_do_is_named():
    space = Outside.of(ChainSpace(np.array([0, 2]), 2), np.array([[1, 0], [1, 0]], np.uint8))
    rng = np.random.default_rng(0)
    with pytest.raises(Intractable, match="at random"):
        space.random(rng)
    with pytest.raises(Intractable, match="two sets"):
        space.outside(space.candidates)
    with pytest.raises(Intractable, match="at random"):
        space.best(random_scores(rng, 2, 2, tied=False), rng=rng)

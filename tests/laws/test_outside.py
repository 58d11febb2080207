"""Outputs outside candidates, for any space, against the dynamic program of chains."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law, random_mask, random_scores, random_transitions, starts_of
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Intractable
from sidelight.spaces import ChainSpace, Cost
from sidelight.spaces.outside import Outside


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

"""The k best labelings against all of them, sorted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing import (
    costs_of,
    generators,
    labelings,
    law,
    members_of,
    random_cost,
    random_mask,
    random_scores,
    random_transitions,
    starts_of,
    values_of,
)
from hypothesis import given
from hypothesis import strategies as st

from sidelight import Infeasible
from sidelight.spaces import ChainSpace, LeavingCost
from sidelight.spaces.chains import k_best_kernels
from sidelight.spaces.chains.chain_k_best import k_best

flags = st.tuples(*[st.booleans() for _ in range(5)])


@law(120)
@given(starts_of(most=4, longest=4), st.integers(1, 4), st.sampled_from([1, 2, 5, 30, 300]), generators(), flags)
def test_against_all_labelings(starts, size, k, rng, chosen):
    tied, masked, limited, leaving, costly = chosen
    tokens = int(starts[-1])
    scores = random_scores(rng, tokens, size, tied=tied)
    space = ChainSpace(starts, size, random_transitions(rng, size) if limited else None)
    if masked:
        space = space.inside(random_mask(rng, (tokens, size), 0.7))
    if leaving:
        space = space.outside(random_mask(rng, (tokens, size), 0.5))
    cost = random_cost(rng, tokens, size, tied=tied, weighted=masked) if costly else None
    expected = []
    for a, b in itertools.pairwise(starts):
        paths = labelings(size, int(b - a))
        paths = paths[members_of(space, int(a), paths)]
        values = values_of(scores, int(a), paths)
        if cost is not None:
            values = values + costs_of(cost, int(a), paths)
        expected.append((paths, values))
    if any(len(paths) == 0 for paths, _ in expected):
        with pytest.raises(Infeasible):
            k_best(space, scores, k=k, cost=cost)
        return
    found = k_best(space, scores, k=k, cost=cost, n_jobs=2)
    assert found.labels.shape == (k, tokens)
    assert found.values.shape == (k, len(starts) - 1)
    for i, (a, b) in enumerate(itertools.pairwise(starts)):
        paths, values = expected[i]
        there = min(k, len(paths))
        np.testing.assert_allclose(found.values[:there, i], np.sort(values)[::-1][:there], atol=1e-9)
        assert np.all(found.values[there:, i] == -np.inf)
        assert np.all(found.labels[there:, a:b] == -1)
        mine = found.labels[:there, a:b]
        assert len({tuple(path) for path in mine.tolist()}) == there
        value_of = {tuple(path): value for path, value in zip(paths.tolist(), values)}
        for path, value in zip(mine.tolist(), found.values[:, i]):
            assert value_of[tuple(path)] == pytest.approx(value, abs=1e-9)


@law(60)
@given(starts_of(), st.integers(1, 4), st.integers(1, 12), generators(), st.booleans())
def test_the_first_is_the_best(starts, size, k, rng, tied):
    scores = random_scores(rng, int(starts[-1]), size, tied=tied)
    space = ChainSpace(starts, size)
    best = space.best(scores)
    found = k_best(space, scores, k=k)
    np.testing.assert_array_equal(found.labels[0], best.labels)
    np.testing.assert_allclose(found.values[0], best.values, atol=1e-12)


@law(20)
@given(starts_of(), generators())
def test_any_cost_is_added(starts, rng):
    tokens = int(starts[-1])
    scores = random_scores(rng, tokens, 3, tied=False)
    space = ChainSpace(starts, 3)
    cost = LeavingCost(np.zeros(tokens, dtype=np.int32), random_mask(rng, (tokens, 3), 0.5))
    found = k_best(space, scores, k=2, cost=cost)
    for r in range(2):
        there = found.values[r] > -np.inf
        expected = space.score(scores, np.maximum(found.labels[r], 0)) + cost.of(starts, np.maximum(found.labels[r], 0))
        np.testing.assert_allclose(found.values[r][there], expected[there], atol=1e-9)


def test_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    starts = np.append(0, np.cumsum(rng.integers(1, 40, 300)))
    scores = random_scores(rng, int(starts[-1]), 5, tied=True)
    found = [k_best(ChainSpace(starts, 5), scores, k=7, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels, other.labels)
        np.testing.assert_array_equal(found[0].values, other.values)


@law(40)
@given(starts_of(), st.integers(1, 4), generators(), st.booleans())
def test_short_lists_are_the_beginnings_of_long_ones(starts, size, rng, tied):
    scores = random_scores(rng, int(starts[-1]), size, tied=tied)
    long, short = (k_best(ChainSpace(starts, size), scores, k=k) for k in (k_best_kernels.FEW + 1, k_best_kernels.FEW))
    np.testing.assert_array_equal(long.labels[:-1], short.labels)
    np.testing.assert_array_equal(long.values[:-1], short.values)


def test_k_is_checked():
    space = ChainSpace(np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="k is 0"):
        k_best(space, random_scores(np.random.default_rng(0), 1, 2, tied=False), k=0)

"""The k best labelings under second-order scores, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing import generators, labelings, law, members_of
from drawing_second_order import random_second_order_scores, second_order_spaces, second_order_values
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import offsets_of
from sidelight.spaces import ChainSpace, SecondOrderSpace
from sidelight.spaces.second_order_k_best import k_best


@law(120)
@given(second_order_spaces(kinds=("allowed", "inside")), generators(), st.booleans(), st.integers(1, 7))
def test_k_best(space, rng, tied, k):
    scores = random_second_order_scores(rng, int(space.starts[-1]), space.n_labels, tied=tied)
    if not space.feasible().all():
        with pytest.raises(Infeasible):
            k_best(space, scores, k)
        return
    labels, values = k_best(space, scores, k, n_jobs=2)
    if not tied:
        np.testing.assert_array_equal(labels[0], space.best(scores).labels)
    for i, (first, last) in enumerate(itertools.pairwise(space.starts.tolist())):
        paths = labelings(space.n_labels, last - first)
        paths = paths[members_of(space, first, paths)]
        expected = np.sort(second_order_values(scores, first, paths))[::-1][:k]
        count = len(expected)
        np.testing.assert_allclose(values[i, :count], expected, rtol=1e-12, atol=1e-12)
        assert np.all(values[i, count:] == -np.inf)
        assert np.all(labels[count:, first:last] == -1)
        found = labels[:count, first:last]
        assert len(np.unique(found, axis=0)) == count
        assert np.all(members_of(space, first, found))
        np.testing.assert_allclose(second_order_values(scores, first, found), expected, rtol=1e-12, atol=1e-12)


def test_what_is_refused():
    space = SecondOrderSpace(ChainSpace(offsets_of([2]), 2))
    scores = random_second_order_scores(np.random.default_rng(0), 2, 2, tied=False)
    with pytest.raises(ValueError, match="k is 0"):
        k_best(space, scores, 0)
    with pytest.raises(Intractable, match="outside"):
        k_best(space.outside(np.zeros((2, 2), np.uint8)), scores, 2)

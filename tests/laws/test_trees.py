"""Dependency trees against lists of all trees: projective or not, one root or several, with relations or without."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.features.rows import offsets_of
from sidelight.spaces.slots import SlotScores
from sidelight.spaces.trees.tree_space import TreeSpace
from sidelight.structures.trees import DependencyTree
from sidelight.testing import check_structure

SENTENCES = [
    [("light", "N"), ("falls", "V"), ("on", "P"), ("light", "N")],
    ["sun"],
    [("it", "N"), ("falls", "V")],
    [("old", "A"), ("light", "N"), ("falls", "V")],
]
SHAPES = list(product((True, False), (True, False)))


def is_tree(heads: list[int], projective: bool, single_root: bool) -> bool:
    """The definition."""
    n = len(heads)
    if any(not 0 <= head <= n or head == token for token, head in enumerate(heads, 1)):
        return False
    if single_root and heads.count(0) != 1:
        return False
    for token in range(1, n + 1):
        steps = 0
        while token != 0 and steps <= n:
            token, steps = heads[token - 1], steps + 1
        if token != 0:
            return False
    arcs = [(min(head, token), max(head, token)) for token, head in enumerate(heads, 1)]
    return not projective or not any(a < c < b < d for (a, b), (c, d) in permutations(arcs, 2))


@pytest.mark.parametrize(("projective", "single_root"), SHAPES)
@pytest.mark.parametrize("relations", [(), ("subject", "object")])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_trees_keep_the_laws(projective, single_root, relations, seed):
    structure = DependencyTree(projective=projective, single_root=single_root, relations=relations, bits=6)
    batch = structure.batch([x[:3] if relations else x for x in SENTENCES])
    width = max(len(relations), 1)

    def admits(i, choices):
        return is_tree([int(choice) // width for choice in choices], projective, single_root)

    checked = check_structure(batch, seed=seed, admits=admits)
    assert checked.k_best and checked.sums and checked.likelihood and checked.gradients


@pytest.mark.parametrize(("projective", "single_root"), SHAPES)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.0, 1.0, 30.0, 1000.0]),
    closed=st.sampled_from([0.0, 0.5]),
)
def test_five_tokens_at_any_scale(projective, single_root, seed, scale, closed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(5, 6)) * scale
    mask = (rng.random((5, 6)) >= closed).astype(np.uint8)
    space = TreeSpace(offsets_of([5]), 6, mask, projective, single_root)
    trees = np.array([y for y in product(range(6), repeat=5) if is_tree(list(y), projective, single_root)])
    trees = trees[mask[np.arange(5), trees].all(axis=1)]
    assert bool(space.feasible()[0]) == bool(len(trees))
    if not len(trees):
        return
    values = scores[np.arange(5), trees].sum(axis=1)
    assert space.best(SlotScores(scores)).values[0] == pytest.approx(values.max(), rel=1e-9, abs=1e-9)
    found, total = space.beliefs(SlotScores(scores)), np.logaddexp.reduce(values)
    assert found.log_sums[0] == pytest.approx(total, rel=1e-12, abs=1e-9)
    expected = np.zeros((5, 6))
    for tree, chance in zip(trees, np.exp(values - total)):
        expected[np.arange(5), tree] += chance
    np.testing.assert_allclose(found.slots, expected, atol=1e-9)


@pytest.mark.parametrize("projective", [True, False])
def test_two_tokens_that_hold_each_other(projective):
    """Their cycle is worth e^80 times any tree: a determinant that is taken by subtraction has nothing left."""
    scores = np.array([[-40.0, 0.0, 40.0], [-40.5, 40.0, 0.0]])
    found = TreeSpace(offsets_of([2]), 3, None, projective).beliefs(SlotScores(scores))
    assert found.log_sums[0] == pytest.approx(np.logaddexp(-40.0 + 40.0, -40.5 + 40.0), abs=1e-12)
    np.testing.assert_allclose(found.slots.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("projective", [True, False])
def test_samples_come_as_often_as_they_should(projective):
    scores = np.random.default_rng(3).normal(size=(3, 4))
    space = TreeSpace(3 * np.arange(4001), 4, None, projective)
    many = SlotScores(np.tile(scores, (4000, 1)))
    drawn = space.sample(many, np.random.default_rng(0)).reshape(-1, 3)
    shares = (drawn[:, :, None] == np.arange(4)).mean(axis=0)
    assert np.abs(shares - space.take(np.array([0])).marginals(SlotScores(scores))).max() < 0.03

"""Greedy model minimisation: whatever is taken leaves every sequence a path, and not much is taken."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sidelight.generative.min_greedy import min_greedy
from sidelight.spaces import ChainSpace, Transitions


def random_problem(seed: int, labels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 5, 4))]).astype(np.int64)
    masks = (rng.random((int(starts[-1]), labels)) < 0.5).astype(np.uint8)
    masks[np.arange(len(masks)), rng.integers(0, labels, len(masks))] = 1
    return starts, masks


def has_paths(starts: np.ndarray, masks: np.ndarray, pairs: np.ndarray) -> bool:
    ones = np.ones(masks.shape[1], np.uint8)
    return bool(np.all(ChainSpace(starts, masks.shape[1], Transitions(pairs, ones, ones)).inside(masks).feasible()))


@pytest.mark.parametrize("seed", range(30))
def test_a_path_is_left_and_few_pairs_are_taken(seed):
    starts, masks = random_problem(seed)
    taken = min_greedy(starts, masks, np.zeros((3, 3)))
    assert has_paths(starts, masks, taken)
    least = next(
        count
        for count in range(10)
        if any(has_paths(starts, masks, _pairs(which)) for which in combinations(range(9), count))
    )
    assert least <= taken.sum() <= least + 3


def _pairs(which: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(9, np.uint8)
    found[list(which)] = 1
    return found.reshape(3, 3)


@pytest.mark.parametrize("seed", range(30))
def test_pairs_that_are_not_allowed_are_not_taken(seed):
    starts, masks = random_problem(seed)
    rng = np.random.default_rng(seed + 100)
    allowed = (rng.random((3, 3)) < 0.6).astype(np.uint8)
    if has_paths(starts, masks, allowed):
        taken = min_greedy(starts, masks, np.zeros((3, 3)), allowed=allowed)
        assert has_paths(starts, masks, taken) and np.all(taken <= allowed)


def test_the_pair_expected_more_often_wins_among_equals():
    masks = np.ones((2, 2), np.uint8)
    for best in [(0, 1), (1, 0), (1, 1)]:
        weights = np.zeros((2, 2))
        weights[best] = 1.0
        taken = min_greedy(np.array([0, 2]), masks, weights)
        assert taken.sum() == 1 and taken[best] == 1

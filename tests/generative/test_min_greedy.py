"""Greedy model minimisation: every sequence has a path, the paths have few pairs, and ties go as they should."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sidelight.generative.hmm_starts import pairs_of
from sidelight.generative.min_greedy import min_greedy
from sidelight.spaces import ChainSpace, GivenScores, Transitions


def random_problem(seed: int, labels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 5, 4))]).astype(np.int64)
    masks = (rng.random((int(starts[-1]), labels)) < 0.5).astype(np.uint8)
    masks[np.arange(len(masks)), rng.integers(0, labels, len(masks))] = 1
    return starts, masks


def has_paths(starts: np.ndarray, masks: np.ndarray, pairs: np.ndarray) -> bool:
    ones = np.ones(masks.shape[1], np.uint8)
    return bool(np.all(ChainSpace(starts, masks.shape[1], Transitions(pairs, ones, ones)).inside(masks).feasible()))


def flat(tokens: int, labels: int) -> GivenScores:
    return GivenScores(np.zeros((tokens, labels)), np.zeros((labels, labels)), np.zeros(labels), np.zeros(labels))


def minimised(starts: np.ndarray, masks: np.ndarray, scores: GivenScores | None = None, **options) -> np.ndarray:
    words = options.pop("words", np.arange(len(masks)))
    given = flat(*masks.shape) if scores is None else scores
    return min_greedy(starts, np.asarray(words, dtype=np.int32), masks, given, **options)


@pytest.mark.parametrize("seed", range(30))
def test_every_sequence_has_a_path_and_few_pairs_are_on_them(seed):
    starts, masks = random_problem(seed)
    labels = minimised(starts, masks)
    assert np.all(masks[np.arange(len(masks)), labels] == 1)
    pairs = pairs_of(labels, starts, 3)
    least = next(
        count
        for count in range(10)
        if any(has_paths(starts, masks, _pairs(which)) for which in combinations(range(9), count))
    )
    assert least <= pairs.between.sum() <= least + 3


def _pairs(which: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(9, np.uint8)
    found[list(which)] = 1
    return found.reshape(3, 3)


@pytest.mark.parametrize("seed", range(30))
def test_only_pairs_and_ends_that_are_allowed_are_used(seed):
    starts, masks = random_problem(seed)
    rng = np.random.default_rng(seed + 100)
    allowed = Transitions(*((rng.random(shape) < 0.7).astype(np.uint8) for shape in [(3, 3), 3, 3]))
    if not np.all(ChainSpace(starts, 3, allowed).inside(masks).feasible()):
        return
    pairs = pairs_of(minimised(starts, masks, allowed=allowed), starts, 3)
    assert np.all(pairs.between <= allowed.between)
    assert np.all(pairs.start <= allowed.start) and np.all(pairs.end <= allowed.end)


def test_enough_of_the_restricted_problems_can_be_solved():
    solved = 0
    for seed in range(30):
        starts, masks = random_problem(seed)
        rng = np.random.default_rng(seed + 100)
        allowed = Transitions(*((rng.random(shape) < 0.7).astype(np.uint8) for shape in [(3, 3), 3, 3]))
        solved += bool(np.all(ChainSpace(starts, 3, allowed).inside(masks).feasible()))
    assert solved >= 5


def test_the_pair_that_covers_most_is_taken_first():
    # Two of three sequences may be 0 1, and all of them 1 1, so 1 1 explains everything.
    masks = np.array([[1, 1], [0, 1], [1, 1], [0, 1], [0, 1], [0, 1]], dtype=np.uint8)
    assert minimised(np.array([0, 2, 4, 6]), masks).tolist() == [1] * 6


def test_among_equals_the_pair_without_new_labels_wins():
    # Three sequences can only be 0 0; the last may be 0 0 or 1 1 alike, and 1 would be a new label.
    masks = np.array([[0, 1, 0]] * 6 + [[1, 1, 0]] * 2, dtype=np.uint8)
    assert minimised(np.array([0, 2, 4, 6, 8]), masks).tolist() == [1] * 8


def test_among_equals_the_pair_that_gives_words_no_other_label_wins():
    # Sequences of words 7 8, 7 8, 5 6 and 5 8 5, where all labels are certain but that of 8 in the last, 1 or 2. It is
    # 2 elsewhere, which counts for more than the higher score of 1; for a word that occurs once the score decides.
    sure = [1, 2, 1, 2, 0, 3, 0, -1, 0]
    masks = np.array([[label == k for k in range(4)] for label in sure], dtype=np.uint8)
    masks[7, [1, 2]] = 1
    scores = flat(9, 4)
    scores.transition[1, 2], scores.transition[0, 1], scores.transition[1, 0] = 5.0, 1.0, 1.0
    starts = np.array([0, 2, 4, 6, 9])
    assert minimised(starts, masks, scores, words=[7, 8, 7, 8, 5, 6, 5, 8, 5])[7] == 2
    assert minimised(starts, masks, scores, words=[7, 8, 7, 8, 5, 6, 5, 9, 5])[7] == 1


def test_among_equal_pairs_the_higher_score_wins():
    masks = np.ones((2, 2), np.uint8)
    for best in (0, 1):
        scores = flat(2, 2)
        scores.transition[best, best] = 1.0
        assert minimised(np.array([0, 2]), masks, scores).tolist() == [best, best]

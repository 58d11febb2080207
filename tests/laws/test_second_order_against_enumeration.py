"""Second-order chains beyond the laws of `test_structures`: ties, masks that leave nothing, many labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import generators, labelings, law
from drawing_second_order import random_second_order_scores, second_order_spaces, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import offsets_of
from sidelight.spaces import ChainSpace, Transitions
from sidelight.spaces.chains.chain import GivenScores
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderSpace
from sidelight.spaces.second_order.second_order_k_best import k_best


@law(60)
@given(second_order_spaces(kinds=("allowed", "inside")), generators(), st.booleans())
def test_without_second_order_scores_it_is_the_first_order_chain(space, rng, tied):
    """To the same labels, ties included, where sums are exact."""
    tokens, labels = int(space.starts[-1]), space.n_labels
    scores = random_second_order_scores(rng, tokens, labels, tied=tied)
    scores = replace(scores, second=np.zeros((labels, labels, labels)))
    try:
        expected = space.labelings.best(scores)
    except Infeasible as error:
        with pytest.raises(Infeasible, match=str(error)):
            space.best(scores)
        return
    found = space.best(scores)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12, atol=1e-12)


def tied_case(seed: int) -> tuple[GivenSecondOrderScores, int, int, np.ndarray]:
    """A short sequence with several best paths, and all of them."""
    rng = np.random.default_rng(seed)
    labels, length = 3, 5
    shapes = (length, labels), (labels, labels), labels, labels, (labels, labels, labels)
    scores = GivenSecondOrderScores(*(rng.integers(0, 2, shape).astype(float) for shape in shapes))
    paths = labelings(labels, length)
    totals = second_order_values(scores, 0, paths)
    return scores, labels, length, paths[totals == totals.max()]


def uneven(paths: np.ndarray) -> bool:
    """Whether choosing state by state would not be uniform over these paths."""
    counts = np.unique(paths[:, -2:], axis=0, return_counts=True)[1]
    return len(set(counts.tolist())) > 1


SEEDS = [seed for seed in range(200) if 3 <= len(tied_case(seed)[3]) <= 16 and uneven(tied_case(seed)[3])][:8]


def test_there_are_tied_cases():
    assert len(SEEDS) == 8


@pytest.mark.parametrize("seed", SEEDS)
def test_random_ties_are_uniform_over_best_paths(seed):
    scores, labels, length, best = tied_case(seed)
    copies = 3000
    many = replace(scores, tokens=np.tile(scores.tokens, (copies, 1)))
    space = SecondOrderSpace(ChainSpace(offsets_of([length] * copies), labels))
    found = [space.best(many, rng=np.random.default_rng(seed), n_jobs=n).labels for n in (None, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    drawn = found[0].reshape(copies, length)
    counts = [int(np.all(drawn == path, axis=1).sum()) for path in best]
    assert sum(counts) == copies
    assert chisquare(counts).pvalue > 1e-4
    assert len(np.unique(space.best(many).labels.reshape(copies, length), axis=0)) == 1
    assert np.any(found[0] != space.best(many, rng=np.random.default_rng(seed + 1)).labels)


def test_random_ties_in_a_long_sequence_with_forbidden_steps():
    """The number of best paths is beyond any float, and what is forbidden takes no share of it."""
    tokens, labels = 5000, 3
    zeros = GivenSecondOrderScores(
        np.zeros((tokens, labels)), np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros((3, 3, 3))
    )
    between = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=np.uint8)
    allowed = Transitions(between, np.ones(3, np.uint8), np.ones(3, np.uint8))
    space = SecondOrderSpace(ChainSpace(offsets_of([tokens]), labels, allowed))
    found = space.best(zeros, rng=np.random.default_rng(0))
    counts = np.bincount(found.labels, minlength=3)
    assert counts[2] == 0
    assert chisquare(counts[:2]).pvalue > 1e-4
    assert found.values[0] == 0.0


def test_masks_that_leave_nothing():
    zeros = GivenSecondOrderScores(np.zeros((5, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros((2, 2, 2)))
    ones = np.ones((5, 2), dtype=np.uint8)
    space = ChainSpace(offsets_of([1, 4]), 2)
    nothing_after = Transitions(np.zeros((2, 2), np.uint8), np.ones(2, np.uint8), np.ones(2, np.uint8))
    no_start = Transitions(np.ones((2, 2), np.uint8), np.zeros(2, np.uint8), np.ones(2, np.uint8))
    no_end = Transitions(np.ones((2, 2), np.uint8), np.ones(2, np.uint8), np.zeros(2, np.uint8))
    closed = [ones.copy() for _ in range(4)]
    for t, mask in enumerate(closed):
        mask[1 + t] = 0
    for empty, where in [
        (replace(space, allowed=nothing_after), 1),
        (replace(space, allowed=no_start), 0),
        (replace(space, allowed=no_end), 0),
        *((space.inside(mask), 1) for mask in closed),
        (space.outside(ones), 0),
    ]:
        both = (None,) if empty.left_out is not None else (None, np.random.default_rng(0))
        for rng in both:
            with pytest.raises(Infeasible, match=f"sequence {where}:"):
                SecondOrderSpace(empty).best(zeros, rng=rng)


def test_what_is_refused():
    space = SecondOrderSpace(ChainSpace(offsets_of([2]), 2))
    first_order = GivenScores(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    scores = GivenSecondOrderScores(
        first_order.tokens, first_order.transition, first_order.start, first_order.end, np.zeros((0, 0, 0))
    )
    with pytest.raises(ValueError, match="shape"):
        space.best(scores)
    scores = replace(scores, second=np.zeros((2, 2, 2)))
    with pytest.raises(Intractable, match="at random"):
        space.outside(np.zeros((2, 2), np.uint8)).best(scores, rng=np.random.default_rng(0))


def test_k_best_outside_candidates_is_refused():
    space = SecondOrderSpace(ChainSpace(offsets_of([2]), 2))
    scores = random_second_order_scores(np.random.default_rng(0), 2, 2, tied=False)
    with pytest.raises(ValueError, match="k is 0"):
        k_best(space, scores, 0)
    with pytest.raises(Intractable, match="outside"):
        k_best(space.outside(np.zeros((2, 2), np.uint8)), scores, 2)


def test_no_sequences():
    zeros = GivenSecondOrderScores(np.zeros((0, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros((2, 2, 2)))
    found = SecondOrderSpace(ChainSpace(offsets_of([]), 2)).best(zeros)
    assert len(found.labels) == len(found.values) == 0


def test_a_dictionary_makes_many_labels_affordable():
    """2,000 sentences with at most three of 45 tags a word; the best is admitted and beats what else is tried."""
    rng = np.random.default_rng(0)
    words, tags = 500, 45
    dictionary = np.zeros((words, tags), dtype=np.uint8)
    for word in range(words):
        dictionary[word, rng.choice(tags, rng.integers(1, 4), replace=False)] = 1
    starts = offsets_of(rng.integers(1, 40, 2000))
    tokens = rng.integers(0, words, int(starts[-1]))
    emission = rng.normal(size=(words, tags))
    scores = GivenSecondOrderScores(
        emission[tokens], *(rng.normal(size=shape) for shape in ((tags, tags), tags, tags, (tags, tags, tags)))
    )
    space = SecondOrderSpace(ChainSpace(starts, tags)).inside(dictionary[tokens])
    found = space.best(scores, n_jobs=2)
    assert np.all(space.admits(found.labels))
    np.testing.assert_allclose(space.score(scores, found.labels), found.values, rtol=1e-9, atol=1e-9)
    for other in (space.labelings.best(scores).labels, space.random(rng), space.random(rng)):
        assert np.all(space.admits(other))
        assert np.all(space.score(scores, other) <= found.values + 1e-9)

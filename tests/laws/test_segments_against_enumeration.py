"""Segmentations beyond the laws of `test_structures`: beliefs part by part, frequencies of samples, odd cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from drawing import generators, labelings, law, random_scores, random_transitions, starts_of, values_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import chisquare
from segmenting import (
    cost_of,
    is_member,
    members_of,
    random_reading,
    random_segment_scores,
    random_segments,
    runs_of,
    segment_spaces,
    value_of,
)

from sidelight.errors import Infeasible
from sidelight.features.rows import offsets_of
from sidelight.spaces import ChainSpace, Cost
from sidelight.spaces.segments.segment_space import GivenSegmentScores, SegmentSpace
from sidelight.spaces.segments.token_reading import TokenReading

SPLIT = TokenReading(*(np.array(part, np.int32) for part in ([0, 2], [1, 3], [0, 0, 1, 1])), np.array([3, 3]))


def listed(space, scores, cost=None):
    """Of every sequence: the token labels of its segmentations in the space, their pieces, and their values."""
    out = []
    for i, first in enumerate(map(int, space.starts[:-1])):
        members = members_of(space, i)
        values = [
            value_of(scores, first, pieces) + (cost_of(cost, first, labels) if cost else 0.0)
            for labels, pieces in members.items()
        ]
        out.append((members, np.array(values)))
    return out


def tuples(labels, space):
    return [tuple(labels[a:b].tolist()) for a, b in pairwise(map(int, space.starts))]


def first_empty(space, expected):
    """The first sequence without a segmentation, or None."""
    return next((i for i, (members, _) in enumerate(expected) if not members), None)


def expectations(space, scores):
    """Beliefs by summing over all segmentations."""
    tokens, size = int(space.starts[-1]), space.reading.n_segments
    shapes = (tokens, size), (tokens, size), (tokens, space.max_length, size), (size, size), size, size
    covers, firsts, segments, transition, start, end = map(np.zeros, shapes)
    logs = []
    for i, (members, values) in enumerate(listed(space, scores)):
        at = int(space.starts[i])
        logs.append(logsumexp(values))
        for pieces, weight in zip(members.values(), np.exp(values - logs[-1])):
            start[pieces[0][2]] += weight
            end[pieces[-1][2]] += weight
            for one, other in pairwise(pieces):
                transition[one[2], other[2]] += weight
            for a, b, label in pieces:
                covers[at + a : at + b + 1, label] += weight
                firsts[at + a, label] += weight
                segments[at + b, b - a, label] += weight
    return np.array(logs), covers, firsts, segments, transition, start, end


@law(150)
@given(segment_spaces(), generators(), st.booleans(), st.sampled_from([None, 2]))
def test_log_sums_and_beliefs(space, rng, tied, n_jobs):
    scores = random_segment_scores(rng, space, tied=tied)
    empty = first_empty(space, listed(space, scores))
    if empty is not None:
        for act in (space.log_sums, space.beliefs):
            with pytest.raises(Infeasible, match=f"sequence {empty}:"):
                act(scores, n_jobs=n_jobs)
        return
    expected = expectations(space, scores)
    found = space.beliefs(scores, n_jobs=n_jobs)
    np.testing.assert_allclose(space.log_sums(scores, n_jobs=n_jobs), expected[0], rtol=1e-10, atol=1e-10)
    for name, one, other in zip(found._fields, found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10, err_msg=name)
    shares = np.zeros((int(space.starts[-1]), space.n_labels))
    for i, (members, values) in enumerate(listed(space, scores)):
        for labels, weight in zip(members, np.exp(values - expected[0][i])):
            shares[space.starts[i] + np.arange(len(labels)), labels] += weight
    np.testing.assert_allclose(space.marginals(scores, n_jobs=n_jobs), shares, rtol=1e-9, atol=1e-9)


@law(40)
@given(segment_spaces(masked=False), generators())
def test_scaled_beliefs_of_a_few_sequences(space, rng):
    scores = random_segment_scores(rng, space, tied=False)
    count = len(space.starts) - 1
    scales = rng.normal(size=count)
    lo = int(rng.integers(count))
    found = space.block_beliefs(scores, lo, count, scales)
    totals = [np.zeros_like(found.transition), np.zeros_like(found.start), np.zeros_like(found.end)]
    at = int(space.starts[lo])
    for i in range(lo, count):
        first, last = int(space.starts[i]), int(space.starts[i + 1])
        alone = GivenSegmentScores(scores.tokens[first:last], scores.lasts[first:last], *edges(scores))
        one = space.part(i, i + 1).beliefs(alone)
        np.testing.assert_allclose(found.log_sums[i - lo], one.log_sums[0])
        for name in ("tokens", "firsts", "segments"):
            mine = getattr(found, name)[first - at : last - at]
            np.testing.assert_allclose(mine, scales[i] * getattr(one, name), rtol=1e-10, atol=1e-12)
        for total, part in zip(totals, one[4:]):
            total += scales[i] * part
    for total, part in zip(totals, found[4:]):
        np.testing.assert_allclose(part, total, rtol=1e-9, atol=1e-12)


def edges(scores):
    return scores.transition, scores.start, scores.end


@law(100)
@given(segment_spaces(), generators())
def test_score_and_membership_of_any_token_labels(space, rng):
    """Token labels that read as no segmentation score -inf; those that read as one, as it does."""
    scores = random_segment_scores(rng, space, tied=False)
    drawn = random_segments(rng, space)
    labels = np.where(rng.random(len(drawn)) < 0.3, rng.integers(0, space.n_labels, len(drawn)), drawn).astype(np.int32)
    found, admits = space.score(scores, labels, n_jobs=2), space.admits(labels)
    for i, own in enumerate(tuples(labels, space)):
        pieces = space.reading.segments(own)
        expected = -np.inf if pieces is None else value_of(scores, int(space.starts[i]), pieces)
        np.testing.assert_allclose(found[i], expected, rtol=1e-12, atol=1e-12)
        assert admits[i] == (own in members_of(space, i))


def test_a_segment_that_is_too_long_scores_minus_infinity():
    one = np.zeros(1, np.int32)
    bio = TokenReading(one, one + 1, np.zeros(2, np.int32), np.array([2]))
    space = SegmentSpace(offsets_of([3]), bio, 2)
    scores = random_segment_scores(np.random.default_rng(0), space, tied=False)
    assert space.score(scores, np.array([0, 1, 1], np.int32))[0] == -np.inf
    assert space.score(scores, np.array([0, 1, 0], np.int32))[0] > -np.inf


@pytest.mark.parametrize("runs", [False, True])
def test_samples_follow_the_distribution(runs):
    rng = np.random.default_rng(3)
    copies = 4000
    reading = random_reading(np.random.default_rng(1), 2, np.array([2, 2]), runs=runs)
    one = replace(SegmentSpace(offsets_of([3]), reading, 2), allowed=random_transitions(rng, 2, 1.0))
    mask = np.ones((3, one.n_labels), np.uint8)
    mask[2, 0] = 0
    one = one.inside(mask)
    scores = random_segment_scores(rng, one, tied=False)
    members, values = listed(one, scores)[0]
    many = replace(one, starts=offsets_of([3] * copies), admitted=np.tile(mask, (copies, 1)))
    repeated = GivenSegmentScores(
        np.tile(scores.tokens, (copies, 1)), np.tile(scores.lasts, (copies, 1, 1)), *edges(scores)
    )
    found = many.sample(repeated, np.random.default_rng(0))
    np.testing.assert_array_equal(found, many.sample(repeated, np.random.default_rng(0), n_jobs=2))
    counts = Counter(tuples(found, many))
    assert set(counts) <= set(members)
    expected = copies * np.exp(values - logsumexp(values))
    assert chisquare([counts[member] for member in members], expected).pvalue > 0.001
    even = Counter(tuples(many.random(np.random.default_rng(1)), many))
    assert chisquare([even[member] for member in members]).pvalue > 0.001


@law(80)
@given(starts_of(), st.integers(1, 3), generators(), st.booleans(), st.booleans())
def test_segments_of_one_token_are_a_chain(starts, size, rng, masked, costly):
    """With max_length 1 the space, its best, its values and its log-sums are those of a first-order chain."""
    tokens = int(starts[-1])
    plain = random_scores(rng, tokens, size, tied=False)
    zeros = np.zeros((tokens, 1, size))
    scores = GivenSegmentScores(plain.tokens, zeros, plain.transition, plain.start, plain.end)
    chain, space = ChainSpace(starts, size), SegmentSpace(starts, runs_of(size, [1] * size), 1)
    if masked:
        allowed = random_transitions(rng, size, 0.8)
        allowed.between[np.arange(size), np.arange(size)] = 1
        allowed.start[0] = allowed.end[0] = 1
        chain, space = replace(chain, allowed=allowed), replace(space, allowed=allowed)
    cost = None
    if costly:
        cost = Cost(rng.integers(0, size, tokens).astype(np.int32), np.abs(rng.normal(size=(size, size))))
    one, other = chain.best(plain, cost=cost), space.best(scores, cost=cost)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.targets, other.targets, rtol=1e-12, atol=1e-12)
    for i, (first, last) in enumerate(pairwise(map(int, starts))):
        paths = labelings(size, last - first)
        inside = np.ones(len(paths), bool)
        if masked:
            inside = np.array([is_member(space, first, tuple((t, t, int(y)) for t, y in enumerate(p))) for p in paths])
        total = logsumexp(values_of(plain, first, paths)[inside])
        np.testing.assert_allclose(space.log_sums(scores)[i], total, rtol=1e-10, atol=1e-10)


def test_minus_infinity_in_scores_is_a_mask():
    space = SegmentSpace(offsets_of([3]), SPLIT, 3)
    scores = random_segment_scores(np.random.default_rng(0), space, tied=False)
    scores.lasts[:, 1:] = -np.inf
    scores.tokens[1, 0] = -np.inf
    assert space.reading.segments(space.best(scores).labels)[1] == (1, 1, 1)
    found = space.beliefs(scores)
    assert np.all(np.isfinite(found.tokens))
    assert found.tokens[1, 0] == 0.0
    np.testing.assert_allclose(found.tokens[1, 1], 1.0)
    assert np.all(found.segments[:, 1:] == 0.0)


def test_far_apart_scores_do_not_overflow():
    space = SegmentSpace(offsets_of([4, 4]), SPLIT, 3)
    plain = random_segment_scores(np.random.default_rng(0), space, tied=False)
    scores = GivenSegmentScores(*(1e4 * part for part in (plain.tokens, plain.lasts, *edges(plain))))
    np.testing.assert_allclose(space.log_sums(scores), space.best(scores).values, rtol=1e-12)
    found = space.beliefs(scores)
    np.testing.assert_allclose(found.tokens.sum(1), 1.0)


def test_no_sequences():
    space = SegmentSpace(offsets_of([]), SPLIT, 3)
    scores = random_segment_scores(np.random.default_rng(0), space, tied=False)
    assert len(space.best(scores).values) == len(space.log_sums(scores)) == 0
    assert space.beliefs(scores).segments.shape == (0, 3, 2)

"""Sums over chain spaces, against enumeration of all labelings."""

from __future__ import annotations

import itertools
from dataclasses import replace

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
from scipy.special import logsumexp
from scipy.stats import chisquare

from sidelight.errors import Infeasible
from sidelight.features.rows import offsets_of
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain import GivenScores
from sidelight.spaces.chains.chain_scaled_kernels import exponentials
from sidelight.spaces.chains.chain_sums import (
    ScoresFrom,
    beliefs,
    log_sums,
    sample,
)
from sidelight.spaces.chains.swaps import swap_beliefs
from sidelight.spaces.sums import posterior_decode


@st.composite
def spaces(draw, kinds=("allowed", "inside", "outside")):
    labels = draw(st.integers(1, 4))
    starts = draw(starts_of())
    rng = draw(generators())
    space = ChainSpace(starts, labels)
    if "allowed" in kinds and draw(st.booleans()):
        space = replace(space, allowed=random_transitions(rng, labels))
    if "inside" in kinds and draw(st.booleans()):
        space = space.inside(random_mask(rng, (int(starts[-1]), labels), 0.75))
    if "outside" in kinds and draw(st.booleans()):
        space = space.outside(random_mask(rng, (int(starts[-1]), labels), 0.6))
    return space


def stretched(scores: GivenScores, factor: float) -> GivenScores:
    return GivenScores(*(factor * part for part in (scores.tokens, scores.transition, scores.start, scores.end)))


class Enumerated:
    """The same quantities from a list of all labelings."""

    def __init__(self, space, scores, cost=None, temperature=1.0):
        size, tokens = space.n_labels, int(space.starts[-1])
        self.log_sums, self.paths, self.shares = [], [], []
        self.tokens, self.pairs = np.zeros((tokens, size)), np.zeros((tokens, size, size))
        for first, last in itertools.pairwise(map(int, space.starts)):
            paths = labelings(size, last - first)
            paths = paths[members_of(space, first, paths)]
            values = values_of(scores, first, paths)
            if cost is not None:
                values = values + costs_of(cost, first, paths)
            values = values / temperature
            total = logsumexp(values) if len(values) else -np.inf
            shares = np.exp(values - total)
            self.log_sums.append(total)
            self.paths.append(paths)
            self.shares.append(shares)
            for t in range(last - first):
                np.add.at(self.tokens[first + t], paths[:, t], shares)
                if t > 0:
                    np.add.at(self.pairs[first + t], (paths[:, t - 1], paths[:, t]), shares)

    @property
    def empty(self):
        return [i for i, total in enumerate(self.log_sums) if total == -np.inf]


FACTORS = st.sampled_from([0.0, 1.0, 30.0, 150.0, 500.0])


def check(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@law(250)
@given(
    spaces(),
    generators(),
    FACTORS,
    st.sampled_from([None, "plain", "weighted"]),
    st.sampled_from([1.0, 0.5, 3.0]),
    st.sampled_from([None, 2]),
)
def test_sums_and_beliefs_of_any_space(space, rng, factor, costs, temperature, n_jobs):
    tokens = int(space.starts[-1])
    scores = stretched(random_scores(rng, tokens, space.n_labels, tied=False), factor)
    cost = None if costs is None else random_cost(rng, tokens, space.n_labels, weighted=costs == "weighted")
    expected = Enumerated(space, scores, cost, temperature)
    options = {"cost": cost, "temperature": temperature, "n_jobs": n_jobs}
    if expected.empty:
        for function in (log_sums, beliefs):
            with pytest.raises(Infeasible, match=f"sequence {expected.empty[0]}:"):
                function(space, scores, **options)
        with pytest.raises(Infeasible, match=f"sequence {expected.empty[0]}:"):
            sample(space, scores, rng, **options)
        return
    check(log_sums(space, scores, **options), expected.log_sums, 1e-12)
    found = beliefs(space, scores, **options)
    check(found.log_sums, expected.log_sums, 1e-12)
    check(found.tokens, expected.tokens)
    check(found.transitions, expected.pairs.sum(0))
    check(found.start, expected.tokens[space.starts[:-1]].sum(0))
    check(found.end, expected.tokens[space.starts[1:] - 1].sum(0))
    drawn = sample(space, scores, rng, **options)
    assert np.all(space.admits(drawn) == 1)
    prices = rng.random(len(space.starts) - 1)
    priced = beliefs(space, scores, prices=prices, **options)
    per_token = np.repeat(prices, np.diff(space.starts))
    check(priced.log_sums, expected.log_sums, 1e-12)
    check(priced.tokens, per_token[:, None] * expected.tokens)
    check(priced.transitions, np.tensordot(per_token, expected.pairs, 1))


@law(100)
@given(spaces(), generators(), st.booleans())
def test_decoding_by_beliefs(space, rng, tied):
    tokens = int(space.starts[-1])
    scores = random_scores(rng, tokens, space.n_labels, tied=tied)
    expected = Enumerated(space, scores)
    if expected.empty:
        with pytest.raises(Infeasible, match=f"sequence {expected.empty[0]}:"):
            posterior_decode(space, scores)
        return
    decoded = posterior_decode(space, scores, n_jobs=2)
    assert np.all(space.admits(decoded) == 1)
    for i, (first, last) in enumerate(itertools.pairwise(map(int, space.starts))):
        here = np.arange(first, last)
        rights = expected.tokens[here, expected.paths[i]].sum(1)
        check(expected.tokens[here, decoded[first:last]].sum(), rights.max())


@law(60)
@given(spaces(kinds=("allowed", "inside")), generators(), FACTORS)
def test_the_best_path_has_its_share(space, rng, factor):
    """Clamping to a labeling leaves it all the belief, and its log-sum is its score."""
    scores = stretched(random_scores(rng, int(space.starts[-1]), space.n_labels, tied=False), factor)
    try:
        best = space.best(scores)
    except Infeasible:
        return
    shares = np.exp(best.values - log_sums(space, scores))
    for i, share in enumerate(shares):
        check(share, Enumerated(space, scores).shares[i].max())
    only = np.zeros((len(best.labels), space.n_labels), dtype=np.uint8)
    only[np.arange(len(best.labels)), best.labels] = 1
    clamped = beliefs(space.inside(only), scores)
    check(clamped.log_sums, best.values)
    check(clamped.tokens, only)


@law(40)
@given(spaces(kinds=("allowed", "inside")), generators())
def test_clamped_sums_split_the_whole(space, rng):
    """Inside and outside of any candidates make up the space."""
    tokens = int(space.starts[-1])
    scores = random_scores(rng, tokens, space.n_labels, tied=False)
    mask = random_mask(rng, (tokens, space.n_labels), 0.7)
    whole = Enumerated(space, scores)
    parts = space.inside(mask), space.outside(mask)
    if whole.empty or any(Enumerated(part, scores).empty for part in parts):
        return
    inside, outside = (log_sums(part, scores) for part in parts)
    check(np.logaddexp(inside, outside), whole.log_sums, 1e-12)
    shares = np.exp(inside - whole.log_sums)
    mixed = np.repeat(shares, np.diff(space.starts))[:, None] * beliefs(parts[0], scores).tokens
    mixed += np.repeat(1 - shares, np.diff(space.starts))[:, None] * beliefs(parts[1], scores).tokens
    check(mixed, whole.tokens)


@pytest.mark.parametrize("kind", ["plain", "masked", "outside", "logs"])
def test_samples_have_their_frequencies(kind):
    rng = np.random.default_rng(3)
    labels, length, copies = 3, 3, 4000
    one = random_scores(rng, length, labels, tied=False)
    space = ChainSpace(offsets_of([length] * copies), labels)
    mask = np.tile(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=np.uint8), (copies, 1))
    if kind == "masked":
        space = replace(space, allowed=random_transitions(rng, labels, 0.8)).inside(mask)
    elif kind == "outside":
        space = space.outside(mask)
    elif kind == "logs":  # the sum is that of the plain case, by detours that exponentials cannot follow
        one.start[:] += [0.0, -900.0, 0.0]
        one.tokens[0] += [0.0, 900.0, 0.0]
        one.tokens[1, 2] -= 2000.0
    scores = replace(one, tokens=np.tile(one.tokens, (copies, 1)))
    assert (beliefs(space, scores).in_logs > 0) == (kind == "logs")
    drawn = sample(space, scores, rng, n_jobs=2).reshape(copies, length)
    expected = Enumerated(space.part(0, 1), one)
    codes = (expected.paths[0] @ labels ** np.arange(length)).tolist()
    counts = np.array([np.sum(drawn @ labels ** np.arange(length) == code) for code in codes])
    assert counts.sum() == copies
    likely = expected.shares[0] * copies > 5
    shares = np.append(expected.shares[0][likely], expected.shares[0][~likely].sum() + 1e-9)
    seen = np.append(counts[likely], counts[~likely].sum())
    assert chisquare(seen, shares / shares.sum() * copies).pvalue > 0.001


def test_a_forced_detour_through_very_low_scores():
    """Numbers that underflow must not be lost where every path needs them."""
    for depth in (100.0, 800.0, 5000.0):
        tokens = np.array([[0.0, -depth], [-depth, 0.0], [0.0, -depth], [-depth, 0.0]])
        transition = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
        scores = GivenScores(tokens, transition, np.array([0.0, -depth]), np.array([-depth, 0.0]))
        space = ChainSpace(offsets_of([4]), 2)
        check(log_sums(space, scores), [-3 * depth + np.log(2)], 1e-12)
        check(beliefs(space, scores).tokens, np.full((4, 2), 0.5), 1e-12)


@pytest.mark.parametrize("depth", [50.0, 200.0, 300.0, 355.0, 360.0, 365.0, 400.0, 690.0, 1000.0])
def test_one_path_keeps_all_its_bits(depth):
    """Every step of the only path is far below what other labels would have."""
    length = 5
    only = np.zeros((length, 2), dtype=np.uint8)
    only[:, 1] = 1
    transition = np.array([[0.0, -1.5], [-1.5, 0.3 - depth]])
    scores = GivenScores(np.zeros((length, 2)), transition, np.array([0.0, 0.7 - depth]), np.array([0.0, 0.9 - depth]))
    space = ChainSpace(offsets_of([length]), 2).inside(only)
    check(log_sums(space, scores), [1.6 + 1.2 - 6 * depth], 1e-14)
    found = beliefs(space, scores)
    check(found.tokens, only, 1e-11)
    check(found.transitions, [[0, 0], [0, 4]], 1e-11)
    check(swap_beliefs(space, scores).log_sums, [2.8 - 6 * depth + np.log(8)], 1e-14)
    check(swap_beliefs(space, scores).tokens, only, 1e-11)


def test_exponentials_are_within_two_ulps():
    rng = np.random.default_rng(0)
    values = np.concatenate([-rng.random(4000) * 700, -rng.random(4000), [0.0, -700.0, -1e-300, -5000.0, -np.inf]])
    found = values.copy()
    work = np.empty(len(values))
    exponentials(found, len(values), work, work.view(np.int64))
    expected = np.exp(np.where(np.isfinite(values), np.maximum(values, -700.0), values))
    assert np.all(np.abs(found - expected) <= 2 * np.spacing(expected))
    assert found[-1] == 0.0 < found[-2]


def long_batch():
    rng = np.random.default_rng(1)
    starts = offsets_of(rng.integers(1, 60, 400))
    labels = 11
    tokens = int(starts[-1])
    mask = random_mask(rng, (tokens, labels), 0.8)
    mask[:, 0] = 1
    space = ChainSpace(starts, labels).inside(mask)
    return space, random_scores(rng, tokens, labels, tied=False), random_cost(rng, tokens, labels, weighted=True)


def test_threads_do_not_matter():
    space, scores, cost = long_batch()
    found = [beliefs(space, scores, cost=cost, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    drawn = [sample(space, scores, np.random.default_rng(0), n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other, labels in zip(found[1:], drawn[1:]):
        for name in ("log_sums", "tokens", "transitions", "start", "end"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))
        np.testing.assert_array_equal(drawn[0], labels)


def test_a_part_is_a_part_of_the_whole():
    space, scores, cost = long_batch()
    whole = beliefs(space, scores, cost=cost)
    first, last = int(space.starts[50]), int(space.starts[90])
    part = beliefs(space.part(50, 90), ScoresFrom(scores, first), cost=cost.part(first, last))
    np.testing.assert_array_equal(part.log_sums, whole.log_sums[50:90])
    np.testing.assert_array_equal(part.tokens, whole.tokens[first:last])


@pytest.mark.parametrize("labels", [1, 7, 8, 9, 24])
def test_widths_that_are_and_are_not_padded(labels):
    rng = np.random.default_rng(labels)
    space = ChainSpace(offsets_of([1, 9, 2]), labels)
    scores = random_scores(rng, 12, labels, tied=False)
    found = beliefs(space, scores)
    forward = scores.tokens[1] + scores.start
    for t in range(2, 10):
        forward = logsumexp(forward[:, None] + scores.transition, axis=0) + scores.tokens[t]
    check(found.log_sums[1], logsumexp(forward + scores.end), 1e-12)
    check(found.tokens.sum(1), np.ones(12))
    check(found.transitions.sum(), 9.0)


def test_no_sequences():
    space = ChainSpace(offsets_of([]), 2)
    scores = random_scores(np.random.default_rng(0), 0, 2, tied=False)
    assert len(log_sums(space, scores)) == 0
    assert beliefs(space, scores).tokens.shape == (0, 2)
    assert len(sample(space, scores, np.random.default_rng(0))) == 0


def test_temperature_must_be_positive():
    space = ChainSpace(offsets_of([1]), 2)
    with pytest.raises(ValueError, match="temperature is 0"):
        log_sums(space, random_scores(np.random.default_rng(0), 1, 2, tied=False), temperature=0.0)

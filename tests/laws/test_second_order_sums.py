"""Sums over second-order chains, against enumeration of all labelings."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import costs_of, generators, labelings, law, members_of, random_cost, random_transitions
from drawing_second_order import random_second_order_scores, second_order_spaces, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import chisquare

from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import offsets_of
from sidelight.spaces import ChainSpace
from sidelight.spaces.second_order import second_order_sums
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderSpace
from sidelight.spaces.second_order.second_order_sums import beliefs, log_sums, sample


def scaled(scores: GivenSecondOrderScores, factor: float) -> GivenSecondOrderScores:
    parts = (scores.tokens, scores.transition, scores.start, scores.end, scores.second)
    return GivenSecondOrderScores(*(factor * part for part in parts))


def expected_beliefs(space: SecondOrderSpace, scores: GivenSecondOrderScores, prices, cost=None, temperature=1.0):
    """By enumeration; None where a sequence has no labeling."""
    size, total = space.n_labels, int(space.starts[-1])
    sums = np.zeros(len(prices))
    tokens, transition = np.zeros((total, size)), np.zeros((size, size))
    start, end, second = np.zeros(size), np.zeros(size), np.zeros((size, size, size))
    for i, (first, last) in enumerate(itertools.pairwise(space.starts.tolist())):
        paths = labelings(size, last - first)
        paths = paths[members_of(space, first, paths)]
        if len(paths) == 0:
            return None
        values = second_order_values(scores, first, paths)
        if cost is not None:
            values = values + costs_of(cost, first, paths)
        values = values / temperature
        sums[i] = logsumexp(values)
        shares = prices[i] * np.exp(values - sums[i])
        for t in range(last - first):
            np.add.at(tokens[first + t], paths[:, t], shares)
        for t in range(1, last - first):
            np.add.at(transition, (paths[:, t - 1], paths[:, t]), shares)
        for t in range(2, last - first):
            np.add.at(second, (paths[:, t - 2], paths[:, t - 1], paths[:, t]), shares)
        np.add.at(start, paths[:, 0], shares)
        np.add.at(end, paths[:, -1], shares)
    return sums, tokens, transition, start, end, second


@law(150)
@given(
    second_order_spaces(kinds=("allowed", "inside")),
    generators(),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from([1.0, 20.0, 400.0, 2000.0]),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 3.0]),
)
def test_log_sums_and_beliefs(space, rng, tied, n_jobs, factor, costly, temperature):
    """Also where scores span far more than the exponent of a double."""
    scores = scaled(random_second_order_scores(rng, int(space.starts[-1]), space.n_labels, tied=tied), factor)
    prices = rng.normal(size=len(space.starts) - 1)
    cost = random_cost(rng, int(space.starts[-1]), space.n_labels, weighted=False) if costly else None
    options = {"cost": cost, "temperature": temperature}
    expected = expected_beliefs(space, scores, prices, **options)
    if expected is None:
        for infer in (log_sums, beliefs):
            with pytest.raises(Infeasible):
                infer(space, scores, n_jobs=n_jobs, **options)
        return
    found = beliefs(space, scores, prices=prices, n_jobs=n_jobs, **options)
    np.testing.assert_allclose(log_sums(space, scores, n_jobs=n_jobs, **options), expected[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.log_sums, expected[0], rtol=1e-10, atol=1e-10)
    for one, other in zip(found[1:], expected[1:]):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * max(1.0, factor / 100))


@law(40)
@given(second_order_spaces(kinds=("allowed", "inside"), longest=4, most_labels=9), generators())
def test_beliefs_with_more_labels(space, rng):
    """Enough of them for the loops that take four at a time."""
    scores = random_second_order_scores(rng, int(space.starts[-1]), space.n_labels, tied=False)
    expected = expected_beliefs(space, scores, np.ones(len(space.starts) - 1))
    if expected is not None:
        for one, other in zip(beliefs(space, scores), expected):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@law(40)
@given(second_order_spaces(kinds=("allowed", "inside")), generators())
def test_expectations_are_the_gradient_of_the_log_sum(space, rng):
    scores = random_second_order_scores(rng, int(space.starts[-1]), space.n_labels, tied=False)
    if not space.feasible().all():
        return
    found = beliefs(space, scores)
    step = 1e-5
    for place, name in enumerate(("tokens", "transition", "start", "end", "second"), start=1):
        direction = rng.normal(size=getattr(scores, name).shape)
        sides = [
            log_sums(space, replace(scores, **{name: getattr(scores, name) + sign * step * direction})).sum()
            for sign in (1, -1)
        ]
        slope = float((found[place] * direction).sum())
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_forbidden_triples_may_be_scores_of_minus_infinity():
    rng = np.random.default_rng(0)
    scores = random_second_order_scores(rng, 5, 3, tied=False)
    second = np.where(rng.random((3, 3, 3)) < 0.4, -np.inf, scores.second)
    scores = replace(scores, second=second)
    space = SecondOrderSpace(ChainSpace(offsets_of([5]), 3))
    values = second_order_values(scores, 0, labelings(3, 5))
    assert np.isfinite(values).sum() > 3
    assert log_sums(space, scores)[0] == pytest.approx(logsumexp(values), rel=1e-12)
    assert space.best(scores).values[0] == pytest.approx(values.max(), rel=1e-12)
    found = beliefs(space, scores)
    assert np.all(found.second[np.isinf(second)] == 0.0)
    assert found.second.sum() == pytest.approx(3.0)


@pytest.mark.parametrize("seed", range(6))
def test_samples_have_their_probabilities(seed):
    rng = np.random.default_rng(seed)
    labels, length, copies = 3, 4, 4000
    scores = random_second_order_scores(rng, length, labels, tied=False)
    mask = np.ones((length, labels), dtype=np.uint8)
    mask[rng.integers(length), rng.integers(labels)] = 0
    allowed = random_transitions(rng, labels)
    allowed.between[np.arange(labels), np.arange(labels)] = allowed.start[:2] = allowed.end[1:] = 1
    chain = ChainSpace(offsets_of([length] * copies), labels, allowed if seed % 2 else None)
    space = SecondOrderSpace(chain).inside(np.tile(mask, (copies, 1)))
    many = replace(scores, tokens=np.tile(scores.tokens, (copies, 1)))
    found = [sample(space, many, np.random.default_rng(seed), n_jobs=n) for n in (None, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert np.all(space.admits(found[0]))
    paths = labelings(labels, length)
    paths = paths[members_of(space, 0, paths)]
    values = second_order_values(scores, 0, paths)
    shares = np.exp(values - logsumexp(values))
    drawn = found[0].reshape(copies, length)
    counts = np.array([np.all(drawn == path, axis=1).sum() for path in paths])
    order = np.argsort(shares)
    rare = np.cumsum(shares[order]) < 10 / copies  # put the rarest together, so that every class is large enough
    classes = [counts[order][rare].sum(), *counts[order][~rare]], [shares[order][rare].sum(), *shares[order][~rare]]
    keep = np.array(classes[1]) > 0
    assert chisquare(np.array(classes[0])[keep], copies * np.array(classes[1])[keep]).pvalue > 1e-4


def test_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(1)
    starts = offsets_of(rng.integers(1, 12, 1500))
    scores = random_second_order_scores(rng, int(starts[-1]), 4, tied=False)
    space = SecondOrderSpace(ChainSpace(starts, 4))
    found = [beliefs(space, scores, n_jobs=n) for n in (None, 2, 3)]
    for other in found[1:]:
        for one, another in zip(found[0], other):
            np.testing.assert_array_equal(one, another)
    assert found[0].second.sum() == pytest.approx(np.maximum(np.diff(starts) - 2, 0).sum())


def test_a_dictionary_makes_many_labels_affordable():
    rng = np.random.default_rng(0)
    words, tags = 500, 45
    dictionary = np.zeros((words, tags), dtype=np.uint8)
    for word in range(words):
        dictionary[word, rng.choice(tags, rng.integers(1, 4), replace=False)] = 1
    starts = offsets_of(rng.integers(1, 40, 2000))
    tokens = rng.integers(0, words, int(starts[-1]))
    shapes = (words, tags), (tags, tags), tags, tags, (tags, tags, tags)
    emission, *rest = (rng.normal(size=shape) for shape in shapes)
    scores = GivenSecondOrderScores(emission[tokens], *rest)
    space = SecondOrderSpace(ChainSpace(starts, tags)).inside(dictionary[tokens])
    found = beliefs(space, scores, n_jobs=2)
    assert np.all(found.log_sums >= space.best(scores, n_jobs=2).values - 1e-9)
    np.testing.assert_allclose(found.tokens.sum(1), 1.0, atol=1e-9)
    assert np.all(found.tokens[dictionary[tokens] == 0] == 0.0)
    assert found.second.sum() == pytest.approx(np.maximum(np.diff(starts) - 2, 0).sum())


def test_what_lies_outside_is_refused():
    space = SecondOrderSpace(ChainSpace(offsets_of([2]), 2)).outside(np.zeros((2, 2), np.uint8))
    scores = random_second_order_scores(np.random.default_rng(0), 2, 2, tied=False)
    for infer in (log_sums, beliefs):
        with pytest.raises(Intractable, match="outside"):
            infer(space, scores)
    with pytest.raises(ValueError, match="temperature is 0"):
        log_sums(space, scores, temperature=0)
    with pytest.raises(Intractable, match="outside"):
        sample(space, scores, np.random.default_rng(0))


@law(60)
@given(generators(), st.integers(1, 19), st.sampled_from([1.0, 8.0, 30.0]), st.booleans())
def test_scaled_sums_are_those_of_logarithms(rng, size, factor, limited):
    """Long chains with closed transitions and labels, where sums in the exponential domain may get lost."""
    starts = offsets_of(rng.integers(1, 60, size=4))
    total = int(starts[-1])
    allowed = random_transitions(rng, size, 0.5) if limited else None
    space = SecondOrderSpace(ChainSpace(starts, size, allowed))
    if limited:
        space = space.inside((rng.random((total, size)) < 0.9).astype(np.uint8))
    scores = scaled(random_second_order_scores(rng, total, size, tied=False), factor)
    prices = rng.normal(size=4)

    def found(mostly):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(second_order_sums, "MOSTLY", mostly)
            try:
                return log_sums(space, scores), *beliefs(space, scores, prices=prices)
            except Infeasible:
                return None

    one, other = found(0.0), found(2.0)
    assert (one is None) == (other is None)
    for mine, theirs in zip(one or (), other or ()):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)

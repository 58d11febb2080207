"""Contrastive estimation: neighbourhood sums by enumeration, gradients by differences, one lattice for many orders."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import (
    batches,
    generators,
    labelings,
    law,
    members_of,
    plain_scores,
    random_mask,
    random_rows,
    random_scores,
    random_transitions,
    starts_of,
    values_of,
)
from drawing_second_order import plain_second_order_scores, second_order_batches, second_order_values
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import sidelight as sl
from sidelight.errors import Infeasible, Intractable
from sidelight.features import gradient as gradient_module
from sidelight.features.gradient import FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.support import Shown, Support
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective import contrastive
from sidelight.objective.contrastive import (
    ContrastiveTerms,
    Listed,
    ListedContrastiveTerms,
    Neighbours,
    Swaps,
    neighbours,
    orders,
)
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain import GivenScores
from sidelight.spaces.chains.swaps import swap_beliefs, swap_log_sums

LISTED = ["transpose", "delete", "delete_or_transpose", "shuffle"]


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that even small batches have several blocks and shards."""
    before = gradient_module.BLOCK_TOKENS, contrastive.SHARD_TOKENS
    gradient_module.BLOCK_TOKENS, contrastive.SHARD_TOKENS = 6, 3
    yield
    gradient_module.BLOCK_TOKENS, contrastive.SHARD_TOKENS = before


def test_orders_by_their_definition():
    for length in range(1, 6):
        same = list(range(length))
        swapped = [order for order in itertools.permutations(range(length)) if differ(order) == 2 and adjacent(order)]
        assert sorted(map(tuple, orders(length, "transpose"))) == sorted([tuple(same), *swapped])
        removed = [tuple(t for t in same if t != gone) for gone in same] if length > 1 else []
        assert sorted(map(tuple, orders(length, "delete"))) == sorted([tuple(same), *removed])
        both = [tuple(same), *removed, *swapped]
        assert sorted(map(tuple, orders(length, "delete_or_transpose"))) == sorted(both)
        free = [
            order
            for order in itertools.permutations(range(length))
            if all(abs(t - o) <= 1 for t, o in enumerate(order))
        ]
        assert sorted(map(tuple, orders(length, "swaps"))) == sorted(free)
        for kind in ("transpose", "delete", "delete_or_transpose", "swaps"):
            assert orders(length, kind)[0] == same
    found = orders(6, "shuffle", copies=4, rng=np.random.default_rng(0))
    assert len(found) == 5
    assert all(sorted(order) == list(range(6)) for order in found)
    with pytest.raises(ValueError, match="rng"):
        orders(3, "shuffle")
    with pytest.raises(ValueError, match="there are transpose"):
        orders(3, "insert")


def differ(order):
    return sum(t != place for t, place in enumerate(order))


def adjacent(order):
    return all(abs(t - place) <= 1 for t, place in enumerate(order))


@law(30)
@given(starts_of(), generators(), st.sampled_from(LISTED), st.data())
def test_neighbours_of_a_batch(starts, rng, kind, data):
    layout = Layout(2, 4, 1)
    rows = random_rows(rng, starts, 4, 1, valued=data.draw(st.booleans()))
    found = Neighbours.of(starts, kind, copies=3, rng=np.random.default_rng(5))
    same = np.random.default_rng(5)
    weights = rng.normal(size=layout.size)
    plain = plain_scores(rows, layout, weights).tokens
    moved = plain_scores(found.rows(rows), layout, weights).tokens
    at = 0
    for i, (first, last) in enumerate(itertools.pairwise(map(int, starts))):
        listed = neighbours(list(range(first, last)), kind, copies=3, rng=same)
        assert found.ptr[i + 1] - found.ptr[i] == len(listed)
        for order in listed:
            assert found.tokens[found.starts[at] : found.starts[at + 1]].tolist() == order
            np.testing.assert_array_equal(moved[found.starts[at] : found.starts[at + 1]], plain[order])
            at += 1
    lo = data.draw(st.integers(0, len(starts) - 2))
    part = found.part(lo, len(starts) - 1, int(starts[lo]))
    whole = Neighbours.of(starts[lo:] - starts[lo], "transpose") if kind == "transpose" else part
    np.testing.assert_array_equal(part.tokens, whole.tokens)
    np.testing.assert_array_equal(part.starts, whole.starts)


def enumerated(space, scores, first, last, listed):
    """The scores of all labelings of all reorderings, with the order and the path of each."""
    found = []
    for order in listed:
        tokens = np.arange(first, last)[order]
        moved = replace(scores, tokens=scores.tokens[tokens])
        masks = None if space.admitted is None else space.admitted[tokens]
        there = ChainSpace(offsets_of([len(tokens)]), space.n_labels, space.allowed, masks)
        paths = labelings(space.n_labels, len(tokens))
        paths = paths[members_of(there, 0, paths)]
        found += [(value, tokens, path) for value, path in zip(values_of(moved, 0, paths), paths)]
    return found


@st.composite
def masked_spaces(draw):
    labels = draw(st.integers(1, 3))
    starts = draw(starts_of(3, 4))
    rng = draw(generators())
    space = ChainSpace(starts, labels)
    if draw(st.booleans()):
        space = replace(space, allowed=random_transitions(rng, labels, 0.8))
    if draw(st.booleans()):
        space = space.inside(random_mask(rng, (int(starts[-1]), labels), 0.8))
    return space


@law(150)
@given(
    masked_spaces(),
    generators(),
    st.sampled_from([*LISTED, "swaps"]),
    st.sampled_from([1.0, 40.0, 300.0, 900.0]),
    st.sampled_from([None, 2]),
)
def test_sums_over_a_neighbourhood(space, rng, kind, factor, n_jobs):
    size, tokens = space.n_labels, int(space.starts[-1])
    drawn = random_scores(rng, tokens, size, tied=False)
    scores = GivenScores(*(factor * part for part in (drawn.tokens, drawn.transition, drawn.start, drawn.end)))
    listed = Neighbours.of(space.starts, "delete" if kind == "swaps" else kind, copies=2, rng=np.random.default_rng(1))
    around = Swaps() if kind == "swaps" else Listed(listed)
    same = np.random.default_rng(1)
    prices = 0.1 + rng.random(len(space.starts) - 1)
    log_sums, expected = [], np.zeros((tokens, size))
    moves, start, end = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for i, (first, last) in enumerate(itertools.pairwise(map(int, space.starts))):
        found = enumerated(space, scores, first, last, orders(last - first, kind, copies=2, rng=same))
        if not found:
            with pytest.raises(Infeasible, match=f"sequence {i}:"):
                around.log_sums(space, scores, n_jobs=n_jobs)
            with pytest.raises(Infeasible, match=f"sequence {i}:"):
                around.beliefs(space, scores, prices, n_jobs=n_jobs)
            return
        log_sums.append(logsumexp([value for value, _, _ in found]))
        for value, places, path in found:
            share = prices[i] * np.exp(value - log_sums[-1])
            np.add.at(expected, (places, path), share)
            np.add.at(moves, (path[:-1], path[1:]), share)
            start[path[0]] += share
            end[path[-1]] += share
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(around.log_sums(space, scores, n_jobs=n_jobs), log_sums, rtol=1e-12, atol=1e-12)
    sums = around.beliefs(space, scores, prices, n_jobs=n_jobs)
    np.testing.assert_allclose(sums.log_sums, log_sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sums.tokens, expected, **close)
    np.testing.assert_allclose(sums.transitions, moves, **close)
    np.testing.assert_allclose(sums.start, start, **close)
    np.testing.assert_allclose(sums.end, end, **close)


def random_terms(batch, rng, kind, known, support):
    """Terms of inputs with a tag dictionary, whose right labels, candidates or nothing else are known."""
    layout, rows = batch.scorer.layout, batch.scorer.rows
    dictionary = random_mask(rng, (rows.n_tokens, layout.n_labels), 0.6)
    scores = plain_scores(rows, layout, rng.normal(size=layout.size))
    targets = batch.space.best(scores).labels
    dictionary[np.arange(len(targets)), targets] = 1
    admitted = dictionary & random_mask(rng, dictionary.shape, 0.5)
    admitted[np.arange(len(targets)), targets] = 1
    space = batch.space.inside(dictionary)
    if support == "seen":
        pairs = Support.seen(layout, [Shown(rows, None, dictionary)])
        features = SupportedFeatures.of(rows, pairs)
    else:
        features = FullFeatures.of(rows, layout)
    around = Swaps()
    if kind != "swaps":
        around = Listed(Neighbours.of(rows.starts, kind, copies=2, rng=np.random.default_rng(2)))
    prices = 0.1 + rng.random(len(batch))
    given_labels = {"gold": {"targets": targets}, "candidates": {"admitted": admitted}, "nothing": {}}[known]
    return ContrastiveTerms(features, space, prices, around, **given_labels), targets


KNOWN = st.sampled_from(["gold", "candidates", "nothing"])


@law(60)
@given(batches(longest=4), generators(), st.sampled_from([*LISTED, "swaps"]), KNOWN, st.sampled_from(["all", "seen"]))
def test_value_by_enumeration_and_gradient_by_differences(batch, rng, kind, known, support):
    terms, targets = random_terms(batch, rng, kind, known, support)
    supervised = LikelihoodTerms(terms.features, terms.space, 0.5 * terms.prices, targets=targets)
    problem = LikelihoodProblem([terms, supervised], l2=0.3, n_jobs=batch.n_jobs)
    weights = rng.normal(size=problem.size)
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, problem.expand(weights))
    same = np.random.default_rng(2)
    losses = []
    for first, last in itertools.pairwise(map(int, batch.scorer.rows.starts)):
        below = enumerated(terms.space, scores, first, last, orders(last - first, kind, copies=2, rng=same))
        above = enumerated(terms.space, scores, first, last, [list(range(last - first))])
        if known == "gold":
            above = [one for one in above if np.array_equal(one[2], targets[first:last])]
        elif known == "candidates":
            above = [one for one in above if np.all(terms.admitted[np.arange(first, last), one[2]])]
        losses.append(logsumexp([one[0] for one in below]) - logsumexp([one[0] for one in above]))
    np.testing.assert_allclose(terms.losses(weights), losses, rtol=1e-9, atol=1e-9)
    assert np.all(np.array(losses) >= -1e-12)
    gradient, spare = np.empty(problem.size), np.empty(problem.size)
    value = problem.value_and_gradient(weights, gradient)
    rest = 0.5 * terms.prices @ supervised.losses(weights) + 0.15 * weights @ weights
    np.testing.assert_allclose(value, terms.prices @ losses + rest, rtol=1e-9)
    for direction in [*np.eye(problem.size)[rng.integers(0, problem.size, 3)], rng.normal(size=problem.size)]:
        ends = [problem.value_and_gradient(weights + step * direction, spare) for step in (1e-5, -1e-5)]
        np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / 2e-5, rtol=5e-6, atol=5e-6)


def tagging(count=150, seed=0):
    """Words of two classes that take turns, with a dictionary that knows half of the words."""
    rng = np.random.default_rng(seed)
    starts = offsets_of(rng.integers(3, 9, count))
    targets = np.zeros(int(starts[-1]), dtype=np.int32)
    for first, last in itertools.pairwise(starts):
        targets[first:last] = (np.arange(last - first) + rng.integers(0, 2)) % 2
    words = 10 * targets + rng.integers(0, 10, len(targets))
    rows = random_rows(rng, starts, 20, 0, valued=False)
    rows = replace(rows, indptr=offsets_of([1] * len(words)), indices=words.astype(np.int32))
    dictionary = np.ones((len(words), 2), dtype=np.uint8)
    known = words % 10 < 5
    dictionary[known] = np.eye(2, dtype=np.uint8)[targets[known]]
    return rows, targets, dictionary


@pytest.mark.parametrize("kind", ["transpose", "swaps"])
def test_learns_tags_from_order_and_a_dictionary(kind):
    rows, targets, dictionary = tagging()
    layout = Layout(2, 20)
    around = Swaps() if kind == "swaps" else Listed(Neighbours.of(rows.starts, kind))
    space = ChainSpace(rows.starts, 2).inside(dictionary)
    terms = ContrastiveTerms(FullFeatures.of(rows, layout), space, np.ones(len(rows)), around)
    learner = LikelihoodLearner.fresh(LikelihoodProblem([terms]), LikelihoodOptions(30), name="contrastive")
    objectives = [record.objective for record in learner.run()]
    assert objectives == sorted(objectives, reverse=True)
    unknown = dictionary.sum(1) == 2
    free = ChainSpace(rows.starts, 2)
    found = free.best(terms.features.scores(learner.weights)).labels
    assert np.mean(found[unknown] == targets[unknown]) > 0.95


def test_threads_do_not_matter():
    rows, _, dictionary = tagging(400)
    space = ChainSpace(rows.starts, 2).inside(dictionary)
    scores = random_scores(np.random.default_rng(0), rows.n_tokens, 2, tied=False)
    for around in (Swaps(), Listed(Neighbours.of(rows.starts, "delete_or_transpose"))):
        found = [around.beliefs(space, scores, np.ones(len(rows)), n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
        for other in found[1:]:
            for name in ("log_sums", "tokens", "transitions", "start", "end"):
                np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))


def test_outside_of_candidates_is_refused():
    space = ChainSpace(offsets_of([2]), 2).outside(np.ones((2, 2), dtype=np.uint8))
    scores = random_scores(np.random.default_rng(0), 2, 2, tied=False)
    for function in (swap_log_sums, swap_beliefs, Listed(Neighbours.of(space.starts, "delete")).log_sums):
        with pytest.raises(Intractable, match="within candidate"):
            function(space, scores)


def listed_terms(batch, rng, kind, allowed):
    """Terms with a dictionary and, of some tokens, less than it says."""
    tokens, labels = batch.scorer.rows.n_tokens, batch.scorer.layout.n_labels
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    dictionary, known = (random_mask(rng, (tokens, labels), share) for share in (0.7, 0.6))
    for mask in (dictionary, known):
        mask[np.arange(tokens), targets] = 1
    around = Neighbours.of(batch.starts, kind, copies=2, rng=np.random.default_rng(0))
    options = {"dictionary": dictionary, "admitted": known if rng.random() < 0.5 else None, "allowed": allowed}
    return ListedContrastiveTerms.of(batch, 0.2 + rng.random(len(batch)), around, **options), around, options


@law(40)
@given(batches(), generators(), st.sampled_from(LISTED))
def test_listed_terms_are_those_of_first_order(batch, rng, kind):
    allowed = batch.space.allowed
    terms, around, options = listed_terms(batch, rng, kind, allowed)
    space = batch.space.inside(options["dictionary"])
    same = ContrastiveTerms(terms.features, space, terms.prices, Listed(around), admitted=options["admitted"])
    weights = rng.normal(size=batch.scorer.size)
    np.testing.assert_allclose(terms.losses(weights), same.losses(weights), rtol=1e-9, atol=1e-9)
    slopes, known = np.zeros(len(weights)), np.zeros(len(weights))
    values = terms.add_beliefs(weights, slopes), same.add_beliefs(weights, known)
    assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(slopes, known, rtol=1e-8, atol=1e-8)


@law(30)
@given(second_order_batches(longest=4), generators(), st.sampled_from(LISTED))
def test_losses_of_second_order_by_enumeration(batch, rng, kind):
    allowed = batch.space.labelings.allowed
    terms, around, options = listed_terms(batch, rng, kind, allowed)
    rows, layout, weights = batch.scorer.rows, batch.scorer.layout, rng.normal(size=batch.scorer.size)
    moved = plain_second_order_scores(around.rows(rows), layout, weights)
    values = []
    for j, (a, b) in enumerate(itertools.pairwise(around.starts.tolist())):
        mask = options["dictionary"][around.tokens[a:b]]
        there = ChainSpace(offsets_of([b - a]), layout.n_labels, allowed, mask)
        paths = labelings(layout.n_labels, b - a)
        paths = paths[members_of(there, 0, paths)]
        values.append(logsumexp(second_order_values(moved, a, paths)) if len(paths) else -np.inf)
        if j in around.ptr[:-1] and options["admitted"] is not None:
            inside = np.all(options["admitted"][around.tokens[a:b]][np.arange(b - a), paths] == 1, axis=1)
            values[-1] = values[-1], logsumexp(second_order_values(moved, a, paths[inside]))
    expected = []
    for lo, hi in itertools.pairwise(around.ptr.tolist()):
        own = values[lo] if isinstance(values[lo], tuple) else (values[lo], values[lo])
        expected.append(logsumexp([own[0], *values[lo + 1 : hi]]) - own[1])
    np.testing.assert_allclose(terms.losses(weights), expected, rtol=1e-8, atol=1e-8)
    problem, slopes = LikelihoodProblem([terms]), np.zeros(len(weights))
    value = problem.value_and_gradient(weights, slopes)
    assert value == pytest.approx(problem.value(weights), rel=1e-9)
    direction, step = rng.normal(size=len(weights)), 1e-5
    change = problem.value(weights + step * direction) - problem.value(weights - step * direction)
    assert change / (2 * step) == pytest.approx(slopes @ direction, rel=1e-4, abs=1e-4)


def test_a_tagger_of_order_2_learns_from_neighbours():
    words = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 2
    known = {"the": ["D"], "a": ["D"], "dog": ["N"], "cat": ["N", "V"], "barks": ["V", "N"], "sleeps": ["V"]}
    evidence = sl.candidates(words, [[known[word] for word in x] for x in words])
    learner = sl.recipes.contrastive(neighbours="delete_or_transpose")
    tagger = sl.Tagger(learner=learner, order=2, features=sl.features.words(), n_jobs=1).fit(evidence)
    assert tagger.model_.layout.order == 2 and tagger.predict(words[:2]) == [["D", "N", "V"]] * 2
    objectives = [record.objective for record in tagger.rounds_]
    assert np.all(np.diff(objectives) <= 1e-9)
    with pytest.raises(
        ValueError, match=r"contrastive needs sums over swapped tokens, .*; give neighbours='transpose'"
    ):
        sl.Tagger(learner="contrastive", order=2).fit(evidence)

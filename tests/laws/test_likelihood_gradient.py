"""Likelihood terms: values by enumeration, gradients by differences, adjoints of both forms of features."""

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
    random_outputs,
    random_rows,
    values_of,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from sidelight.features import gradient as gradient_module
from sidelight.features.gradient import FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.features.support import Shown, Support
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, LikelihoodTerms, likelihood_problem
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that even small batches have several blocks."""
    before = gradient_module.BLOCK_TOKENS
    gradient_module.BLOCK_TOKENS = 5
    yield
    gradient_module.BLOCK_TOKENS = before


def support_of(batch, targets, admitted=None, transitions="all"):
    return Support.seen(batch.scorer.layout, [Shown(batch.scorer.rows, targets, admitted)], transitions=transitions)


def features_of(kind, batch, targets, admitted=None, transitions="all"):
    if kind == "full":
        return FullFeatures.of(batch.scorer.rows, batch.scorer.layout, n_jobs=batch.n_jobs)
    return SupportedFeatures.of(
        batch.scorer.rows, support_of(batch, targets, admitted, transitions), n_jobs=batch.n_jobs
    )


KINDS = st.sampled_from(["full", "seen"])


@law(80)
@given(batches(masked=False), generators(), KINDS, st.sampled_from(["all", "seen"]))
def test_scores_and_their_adjoint(batch, rng, kind, transitions):
    features = features_of(kind, batch, random_outputs(rng, batch), transitions=transitions)
    weights = rng.normal(size=features.size)
    if kind == "seen":
        weights = features.support.shorten(features.expand(weights))  # unseen transitions have none
    full = features.expand(weights)
    plain = plain_scores(batch.scorer.rows, batch.scorer.layout, full)
    found = features.scores(weights)
    tokens = batch.scorer.rows.n_tokens
    np.testing.assert_allclose(found.block(0, tokens), plain.tokens, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.block(tokens // 2, tokens), plain.tokens[tokens // 2 :], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.transition, plain.transition)
    np.testing.assert_array_equal(found.start, plain.start)
    np.testing.assert_array_equal(found.end, plain.end)
    beliefs = rng.normal(size=plain.tokens.shape)
    edges = (
        rng.normal(size=plain.start.shape),
        rng.normal(size=plain.end.shape),
        rng.normal(size=plain.transition.shape),
    )
    gradient = np.zeros(features.size)
    for number, block in enumerate(features.blocks):
        features.add_tokens(number, beliefs[block.first : block.last].copy(), gradient, n_jobs=batch.n_jobs)
    features.add_edges(*edges, gradient)
    expected = np.sum(beliefs * plain.tokens) + edges[0] @ plain.start + edges[1] @ plain.end
    expected += np.sum(edges[2] * plain.transition)
    np.testing.assert_allclose(gradient @ weights, expected, rtol=1e-9, atol=1e-9)


@law(60)
@given(batches(masked=False), generators(), st.booleans())
def test_support_holds_what_was_seen(batch, rng, masked):
    layout, rows = batch.scorer.layout, batch.scorer.rows
    targets = random_outputs(rng, batch)
    admitted = random_mask(rng, (rows.n_tokens, layout.n_labels), 0.4)
    admitted[np.arange(len(targets)), targets] = 1
    shown = Shown(rows, None, admitted) if masked else Shown(rows, targets)
    support = Support.seen(layout, [shown], transitions="seen")
    seen = admitted if masked else np.eye(layout.n_labels, dtype=np.uint8)[targets]
    shift = layout.n_labels - layout.columns
    pairs, moves = set(), np.zeros((layout.n_labels, layout.n_labels), dtype=np.uint8)
    for t in range(rows.n_tokens):
        for k in range(rows.indptr[t], rows.indptr[t + 1]):
            pairs |= {(int(rows.indices[k]), label - shift) for label in np.flatnonzero(seen[t]) if label >= shift}
        if t not in rows.starts:
            moves |= np.outer(seen[t - 1], seen[t])
    found = [
        (a, int(column))
        for a in range(layout.n_attributes)
        for column in support.columns[support.ptr[a] : support.ptr[a + 1]]
    ]
    assert found == sorted(pairs)
    np.testing.assert_array_equal(support.kept, moves)
    weights = rng.normal(size=support.size)
    full = support.expand(weights)
    assert np.count_nonzero(layout.attribute_weights(full)) == len(pairs)
    again = Support.seen(layout, [shown]).shorten(full)
    np.testing.assert_array_equal(again, weights)


def random_problem(kind, batch, rng, *, l2=0.7, transitions="all"):
    """Gold terms, and terms with candidates over the same inputs."""
    layout = batch.scorer.layout
    space = batch.space
    targets = space.best(batch_scores(batch, rng)).labels
    admitted = random_mask(rng, (batch.scorer.rows.n_tokens, layout.n_labels), 0.5)
    admitted[np.arange(len(targets)), targets] = 1
    features = features_of(kind, batch, targets, admitted, transitions)
    prices = rng.random((2, len(batch)))
    terms = [
        LikelihoodTerms(features, space, prices[0], targets=targets),
        LikelihoodTerms(features, space, prices[1], admitted=admitted),
    ]
    return LikelihoodProblem(terms, l2=l2, n_jobs=batch.n_jobs), targets, admitted, prices


def batch_scores(batch, rng):
    return plain_scores(batch.scorer.rows, batch.scorer.layout, rng.normal(size=batch.scorer.size))


def enumerated_losses(batch, space_of_admitted, weights):
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, weights)
    losses = []
    for first, last in itertools.pairwise(map(int, batch.scorer.rows.starts)):
        paths = labelings(batch.scorer.layout.n_labels, last - first)
        values = values_of(scores, first, paths)
        inside = [logsumexp(values[members_of(s, first, paths)]) for s in (batch.space, space_of_admitted)]
        losses.append(inside[0] - inside[1])
    return np.array(losses)


@law(60)
@given(batches(longest=3), generators(), KINDS)
def test_values_by_enumeration(batch, rng, kind):
    problem, targets, admitted, prices = random_problem(kind, batch, rng)
    weights = rng.normal(size=problem.size)
    full = problem.expand(weights)
    only = np.eye(batch.scorer.layout.n_labels, dtype=np.uint8)[targets]
    gold = enumerated_losses(batch, batch.space.inside(only), full)
    some = enumerated_losses(batch, batch.space.inside(admitted), full)
    np.testing.assert_allclose(problem.losses(weights), np.append(gold, some), rtol=1e-9, atol=1e-9)
    found = problem.value_and_gradient(weights, np.empty(problem.size))
    expected = 0.35 * weights @ weights + prices[0] @ gold + prices[1] @ some
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@law(40)
@given(batches(longest=3), generators(), KINDS)
def test_gradient_by_differences(batch, rng, kind):
    problem, *_ = random_problem(kind, batch, rng)
    weights = rng.normal(size=problem.size)
    gradient = np.empty(problem.size)
    problem.value_and_gradient(weights, gradient)
    spare = np.empty(problem.size)
    for direction in [*np.eye(problem.size)[rng.integers(0, problem.size, 6)], rng.normal(size=problem.size)]:
        step = 1e-5
        ends = [problem.value_and_gradient(weights + sign * step * direction, spare) for sign in (1, -1)]
        np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / (2 * step), rtol=2e-6, atol=2e-6)


@law(40)
@given(batches(), generators())
def test_the_short_form_is_the_full_form_where_pairs_exist(batch, rng):
    problem, *_ = random_problem("seen", batch, rng)
    support = problem.terms[0].features.support
    full = FullFeatures.of(batch.scorer.rows, batch.scorer.layout)
    terms = [replace(part, features=full) for part in problem.terms]
    other = LikelihoodProblem(terms, l2=problem.l2)
    weights = rng.normal(size=problem.size)
    short, long = np.empty(problem.size), np.empty(other.size)
    values = problem.value_and_gradient(weights, short), other.value_and_gradient(problem.expand(weights), long)
    np.testing.assert_allclose(*values, rtol=1e-11)
    np.testing.assert_allclose(short, support.shorten(long), rtol=1e-9, atol=1e-9)


def test_unseen_transitions_keep_no_weight():
    rng = np.random.default_rng(0)
    layout = Layout(3, 4)
    rows = random_rows(rng, offsets_of([4, 3]), 4, 0, valued=False)
    targets = np.array([0, 1, 0, 1, 0, 1, 2], dtype=np.int32)
    features = SupportedFeatures.of(rows, Support.seen(layout, [Shown(rows, targets)], transitions="seen"))
    space = ChainSpace(rows.starts, 3)
    problem = LikelihoodProblem([LikelihoodTerms(features, space, np.ones(2), targets=targets)])
    gradient = np.empty(problem.size)
    problem.value_and_gradient(np.zeros(problem.size), gradient)
    moves = layout.transition(gradient)
    assert np.all((moves != 0) == [[0, 1, 0], [1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("kind", ["full", "seen"])
def test_threads_do_not_matter(kind, monkeypatch):
    monkeypatch.setattr(gradient_module, "BLOCK_TOKENS", 2000)
    rng = np.random.default_rng(2)
    layout = Layout(5, 300, 3)
    rows = random_rows(rng, offsets_of(rng.integers(1, 30, 400)), 300, 3, valued=True)
    targets = rng.integers(0, 5, rows.n_tokens).astype(np.int32)
    admitted = random_mask(rng, (rows.n_tokens, 5), 0.4)
    admitted[:, 2] = 1
    found = []
    for n_jobs in (1, 2, 3):
        support = Support.seen(layout, [Shown(rows, targets)])
        args = (rows, layout) if kind == "full" else (rows, support)
        features = (FullFeatures if kind == "full" else SupportedFeatures).of(*args, n_jobs=n_jobs)
        assert len(features.blocks) > 2
        space = ChainSpace(rows.starts, 5)
        terms = [
            LikelihoodTerms(features, space, np.ones(len(rows)), targets=targets),
            LikelihoodTerms(features, space, np.ones(len(rows)), admitted=admitted),
        ]
        problem = LikelihoodProblem(terms, n_jobs=n_jobs)
        gradient = np.empty(problem.size)
        value = problem.value_and_gradient(np.linspace(-1, 1, problem.size), gradient)
        found.append((value, gradient))
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


def test_terms_are_either_gold_or_candidates():
    rows = random_rows(np.random.default_rng(0), offsets_of([2]), 2, 0, valued=False)
    features = FullFeatures.of(rows, Layout(2, 2))
    with pytest.raises(ValueError, match="either targets or admitted"):
        LikelihoodTerms(features, ChainSpace(rows.starts, 2), np.ones(1))
    with pytest.raises(ValueError, match="no terms"):
        LikelihoodProblem([])


@pytest.mark.parametrize("kind", ["full", "seen"])
def test_curvature_is_the_hessian_of_single_tokens_at_zero(kind):
    rng = np.random.default_rng(4)
    layout = Layout(3, 4, 2)
    starts = offsets_of([1] * 6)
    indices = np.concatenate([rng.permutation(4)[:2] for _ in range(6)]).astype(np.int32)
    rows = Rows(starts, offsets_of([2] * 6), indices, rng.normal(size=12), rng.normal(size=(6, 2)).astype(np.float32))
    targets = rng.integers(0, 3, 6).astype(np.int32)
    inputs = Labelled(chain_batch(rows, layout), 0.5 + rng.random(6), targets=targets)
    problem = likelihood_problem([inputs], support="all" if kind == "full" else "seen", l2=0.4)
    found = problem.curvature(share=1.0)
    step = 1e-5
    ends = np.empty((2, problem.size))
    for k in range(layout.start_at, problem.size):
        for sign, gradient in zip((1, -1), ends):
            problem.value_and_gradient(sign * step * np.eye(problem.size)[k], gradient)
        np.testing.assert_allclose(found[k], (ends[0, k] - ends[1, k]) / (2 * step), rtol=1e-6)


def test_choices_that_do_not_exist():
    for options in (
        {"support": "some"},
        {"transitions": "few"},
        {"support": "all", "transitions": "seen"},
        {"l2": -1.0},
    ):
        rows = random_rows(np.random.default_rng(0), offsets_of([2]), 2, 0, valued=False)
        inputs = Labelled(chain_batch(rows, Layout(2, 2)), np.ones(1), targets=np.zeros(2, dtype=np.int32))
        with pytest.raises(ValueError, match=next(reversed(options))):
            likelihood_problem([inputs], **options)

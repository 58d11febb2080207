"""Likelihood of second-order chains: values by enumeration, gradients by differences, and what needs order 2."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law, random_mask
from drawing_second_order import second_order_batches
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidelight import Tagger, partial, recipes
from sidelight.errors import Intractable
from sidelight.features import gradient as gradient_module
from sidelight.features import words
from sidelight.features.gradient import FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, offsets_of
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, LikelihoodTerms, likelihood_problem
from sidelight.objective.scorers.chain_scorer import chain_batch


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that even small batches have several blocks."""
    before = gradient_module.BLOCK_TOKENS
    gradient_module.BLOCK_TOKENS = 5
    yield
    gradient_module.BLOCK_TOKENS = before


def terms_of(batch, rng, *, known):
    """Gold that the space admits, or candidates that leave at least that."""
    labels = batch.best(rng.normal(size=batch.scorer.size)).labels
    prices = rng.uniform(0.2, 2.0, len(batch))
    features = FullFeatures.of(batch.scorer.rows, batch.scorer.layout, n_jobs=batch.n_jobs)
    if known:
        return LikelihoodTerms(features, batch.space, prices, targets=labels)
    admitted = random_mask(rng, (batch.scorer.rows.n_tokens, batch.scorer.layout.n_labels), 0.5)
    admitted[np.arange(len(labels)), labels] = 1
    return LikelihoodTerms(features, batch.space, prices, admitted=admitted)


@law(10)
@given(second_order_batches(most=6), generators(), st.booleans())
def test_threads_change_nothing(batch, rng, known):
    terms = terms_of(batch, rng, known=known)
    weights = rng.normal(size=batch.scorer.size)
    found = []
    for n_jobs in (1, 2, 3):
        gradient = np.empty(batch.scorer.size)
        found.append((LikelihoodProblem([terms], n_jobs=n_jobs).value_and_gradient(weights, gradient), gradient))
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


@law(20)
@given(second_order_batches(most=6), generators(), st.booleans())
def test_weights_that_were_not_seen_are_zero_and_have_no_slope(batch, rng, known):
    terms = terms_of(batch, rng, known=known)
    inputs = [Labelled(batch, terms.prices, terms.targets, terms.admitted)]
    whole = likelihood_problem(inputs, support="all", l2=0.7)
    short = likelihood_problem(inputs, support="seen", l2=0.7)
    weights, slopes, full_slopes = rng.normal(size=short.size), np.empty(short.size), np.empty(whole.size)
    full = short.expand(weights)
    values = short.value_and_gradient(weights, slopes), whole.value_and_gradient(full, full_slopes)
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    np.testing.assert_array_equal(short.shorten(full), weights)
    np.testing.assert_allclose(slopes, short.shorten(full_slopes), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(short.curvature(), short.shorten(whole.curvature()))
    assert np.count_nonzero(full) <= short.size


@pytest.mark.parametrize("support", ["seen", "all"])
def test_a_tagger_learns_it_and_goes_on_to_the_same_bits(support, tmp_path):
    xs = [["w"] * n for n in (4, 5, 6, 7, 8, 9)]
    ys = [["B" if t % 3 == 2 else "A" for t in range(len(x))] for x in xs]
    learner = recipes.crf(support=support)
    tagger = Tagger(learner=learner, order=2, features=words(), prices={"gold": 50.0}).fit(xs, ys)
    assert tagger.predict(xs) == ys
    assert Tagger(learner=learner, features=words(), prices={"gold": 50.0}).fit(xs, ys).predict(xs) != ys
    chances = tagger.log_probability(xs, ys)
    assert np.all(chances < 0) and np.all(chances > np.log(0.5))

    def stop(record):
        if record.number == 3:
            raise KeyboardInterrupt

    path = tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        Tagger(learner=learner, order=2, features=words(), checkpoint=path, callbacks=[stop]).fit(xs, ys)
    rest, whole = (Tagger(learner=learner, order=2, features=words(), checkpoint=at) for at in (path, None))
    np.testing.assert_array_equal(rest.fit(xs, ys).model_.weights, whole.fit(xs, ys).model_.weights)
    partly = partial(xs, [[label if t % 2 else None for t, label in enumerate(y)] for y in ys])
    assert Tagger(learner="partial_crf", order=2, features=words()).fit(partly).rounds_[-1].objective > 0
    best = Tagger(learner=learner, order=2, features=words(), tolerance=1e-4).fit(xs, ys).rounds_[-1].objective
    for solver in ("sgd", "eg"):
        one = recipes.crf(solver=solver, support=support)
        found = Tagger(learner=one, order=2, features=words(), tolerance=1e-3).fit(xs, ys)
        assert best - 1e-3 <= found.rounds_[-1].objective <= best * 1.02


def test_a_second_order_crf_learns_what_the_last_two_labels_tell():
    """All tokens look the same, and labels go 0 0 1 0 0 1 …"""
    lengths = np.random.default_rng(0).integers(4, 10, 20)
    starts = offsets_of(lengths)
    tokens = int(starts[-1])
    indptr, indices = np.arange(tokens + 1, dtype=np.int64), np.zeros(tokens, np.int32)
    rows = Rows(starts, indptr, indices, np.empty(0), np.zeros((tokens, 0), np.float32))
    targets = np.concatenate([np.arange(n) % 3 == 2 for n in lengths]).astype(np.int32)
    layout = Layout(2, 1, order=2)
    batch = chain_batch(rows, layout)
    terms = LikelihoodTerms(FullFeatures.of(rows, layout), batch.space, np.ones(len(batch)), targets)
    problem = LikelihoodProblem([terms], l2=0.01)

    def function(weights):
        gradient = np.empty(problem.size)
        return problem.value_and_gradient(weights, gradient), gradient

    found = minimize(function, np.zeros(problem.size), jac=True, method="L-BFGS-B")
    np.testing.assert_array_equal(batch.best(found.x).labels, targets)
    first = layout.second(found.x).copy()
    assert first[0, 0, 1] > first[0, 0, 0]


def test_what_is_refused():
    rows = Rows(
        offsets_of([2]), np.zeros(3, np.int64), np.zeros(0, np.int32), np.empty(0), np.zeros((2, 0), np.float32)
    )
    layout = Layout(2, 0, order=2)
    space = chain_batch(rows, layout).space
    features = FullFeatures.of(rows, layout)
    with pytest.raises(ValueError, match="either targets or admitted"):
        LikelihoodTerms(features, space, np.ones(1))
    terms = LikelihoodTerms(features, space, np.ones(1), targets=np.zeros(2, np.int32))
    with pytest.raises(Intractable, match="first-order chains; use lbfgs"):
        terms.chain()

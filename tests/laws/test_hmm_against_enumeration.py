"""Completions of every temperature against enumeration, and the linear model against the product of probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import generators, labelings, law, members_of, starts_of
from drawing_hmm import hmm_spaces, log_joint, plain_beliefs, random_hmm
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Infeasible
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.generative.completion import Free
from sidelight.generative.emissions import Emissions
from sidelight.generative.hmm import Hmm, HmmScores
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderSpace

FREE = Free()


def check(found, plain, order: int) -> None:
    names = ["values", "tokens", "transitions", "start", "end"] + (["second"] if order == 2 else [])
    for name in names:
        np.testing.assert_allclose(getattr(found, name), plain[name], rtol=1e-9, atol=1e-11, err_msg=name)


@law(60)
@given(hmm_spaces(), st.sampled_from([0.05, 0.5, 1.0, 3.0]))
def test_beliefs_of_any_temperature(drawn, gamma):
    scores, space, weights = drawn
    plain = plain_beliefs(scores, space, weights, gamma)
    check(FREE.complete(scores, space, gamma=gamma, weights=weights), plain, 1)
    blocks = scores.block(0, len(scores.symbols)), scores.transition, scores.start, scores.end, scores.second
    given_scores = GivenSecondOrderScores(*blocks)  # the same scores without the model: the general way
    check(FREE.complete(given_scores, space, gamma=gamma, weights=weights), plain, 1)


@law(40)
@given(hmm_spaces(order=2), st.sampled_from([0.5, 1.0, 3.0]))
def test_second_order_beliefs_of_any_temperature(drawn, gamma):
    scores, space, weights = drawn
    check(FREE.complete(scores, space, gamma=gamma, weights=weights), plain_beliefs(scores, space, weights, gamma), 2)


@law(40)
@given(st.one_of(hmm_spaces(), hmm_spaces(order=2)), st.sampled_from([0.0, -2.0, -math.inf]))
def test_no_temperature_is_one_best_labeling(drawn, gamma):
    scores, space, weights = drawn
    chain = space.labelings if isinstance(space, SecondOrderSpace) else space
    found = FREE.complete(scores, space, gamma=gamma, weights=weights)
    starts = space.starts
    for i in range(len(weights)):
        first, last = int(starts[i]), int(starts[i + 1])
        paths = labelings(space.n_labels, last - first)
        paths = paths[members_of(chain, first, paths)]
        symbols = scores.symbols[first:last]
        np.testing.assert_allclose(found.values[i], log_joint(scores.hmm, symbols, paths).max(), rtol=1e-12)
        taken = found.labels[None, first:last]
        np.testing.assert_allclose(log_joint(scores.hmm, symbols, taken)[0], found.values[i], rtol=1e-9, atol=1e-11)
    lone = np.zeros_like(found.tokens)
    lone[np.arange(len(found.labels)), found.labels] = np.repeat(weights, np.diff(starts))
    np.testing.assert_array_equal(found.tokens, lone)
    np.testing.assert_allclose(found.transitions.sum() + found.start.sum(), lone.sum())
    if isinstance(space, SecondOrderSpace):
        longer = np.maximum(np.diff(starts) - 2, 0)
        np.testing.assert_allclose(found.second.sum(), weights @ longer)


@law(25)
@given(st.one_of(hmm_spaces(), hmm_spaces(order=2)))
def test_infinite_temperature_is_uniform(drawn):
    scores, space, weights = drawn
    full = Hmm(*(None if part is None else part + 0.01 for part in _parts(scores.hmm)))  # nothing impossible
    scores = HmmScores(full, scores.symbols)
    order = 2 if isinstance(space, SecondOrderSpace) else 1
    found = FREE.complete(scores, space, gamma=math.inf, weights=weights)
    check(found, plain_beliefs(scores, space, weights, math.inf), order)


def _parts(hmm: Hmm) -> tuple:
    return hmm.start, hmm.transition, hmm.emission, hmm.stop, hmm.second


@law(25)
@given(hmm_spaces(order=2))
def test_second_order_is_first_order_over_pairs_of_labels(drawn):
    """A label of the wide chain is a label with the one before it, or with none at the first token."""
    scores, space, weights = drawn
    hmm, size = scores.hmm, space.n_labels
    pairs = [(None, k) for k in range(size)] + [(j, k) for j in range(size) for k in range(size)]
    wide = len(pairs)
    transition, start = np.zeros((wide, wide)), np.zeros(wide)
    start[:size] = hmm.start
    for a, (j, k) in enumerate(pairs):
        for b, (i, label) in enumerate(pairs):
            if i == k:
                transition[a, b] = hmm.transition[k, label] if j is None else hmm.second[j, k, label]
    last = np.array([k for _, k in pairs])
    stop = None if hmm.stop is None else hmm.stop[last]
    expanded = Hmm(start, transition, np.ascontiguousarray(hmm.emission[:, last]), stop)
    masks = np.ones((len(scores.symbols), size), np.uint8) if space.admitted is None else space.admitted
    chain = ChainSpace(space.starts, wide).inside(np.ascontiguousarray(masks[:, last]))
    free = SecondOrderSpace(ChainSpace(space.starts, size, None, space.admitted))
    two = FREE.complete(scores, free, gamma=1.0, weights=weights)
    one = FREE.complete(HmmScores(expanded, scores.symbols), chain, gamma=1.0, weights=weights)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-10)
    np.testing.assert_allclose(one.tokens @ (last[:, None] == np.arange(size)), two.tokens, atol=1e-11)


@law(80)
@given(
    generators(),
    starts_of(most=10, longest=6),
    st.sampled_from([0.1, 1.0, 2.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 0, 60]),
)
def test_lists_of_candidates_and_groups_of_sequences_are_summed_alike(rng, starts, gamma, ends, tiny, more):
    """Up to three, or most, of twenty labels a token; some transitions and emissions impossible, or as good as that."""
    tokens, labels = int(starts[-1]), 20
    hmm = random_hmm(rng, labels, 5, ends=ends, spread=3.0)
    if tiny:
        hmm.emission[rng.random(hmm.emission.shape) < 0.3] = 1e-220
    masks = np.zeros((tokens, labels), np.uint8)
    for _ in range(3 + more):
        masks[np.arange(tokens), rng.integers(0, labels, tokens)] = 1
    space = ChainSpace(starts, labels).inside(masks)
    scores = HmmScores(hmm, rng.integers(0, 5, tokens).astype(np.int32))
    weights = rng.uniform(0.5, 2.0, len(starts) - 1)
    blocks = scores.block(0, tokens), scores.transition, scores.start, scores.end, scores.second
    try:
        wide = FREE.complete(GivenSecondOrderScores(*blocks), space, gamma=gamma, weights=weights)
    except Infeasible:
        with pytest.raises(Infeasible):
            FREE.complete(scores, space, gamma=gamma, weights=weights)
        return
    found = FREE.complete(scores, space, gamma=gamma, weights=weights)
    for name in ("values", "tokens", "transitions", "start", "end"):
        np.testing.assert_allclose(getattr(found, name), getattr(wide, name), rtol=1e-9, atol=1e-11, err_msg=name)


def test_numbers_that_span_more_than_a_double_are_summed_all_the_same():
    """Emissions of 1e-250 and powers of them, where only they are admitted."""
    hmm = Hmm(np.array([0.5, 0.5]), np.full((2, 2), 0.5), np.array([[1.0, 1e-250], [0.0, 1.0]]))
    scores = HmmScores(hmm, np.array([0, 0, 0], dtype=np.int32))
    masks = np.array([[1, 1], [0, 1], [1, 1]], dtype=np.uint8)
    space = ChainSpace(np.array([0, 3]), 2).inside(masks)
    for gamma in (1.0, 0.3):
        plain = plain_beliefs(scores, space, np.ones(1), gamma)
        check(FREE.complete(scores, space, gamma=gamma), plain, 1)


def test_what_cannot_be_is_said():
    hmm = Hmm(np.array([1.0, 0.0]), np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]]))
    scores = HmmScores(hmm, np.array([0, 0, 1], dtype=np.int32))
    space = ChainSpace(np.array([0, 1, 3]), 2)
    for gamma in (1.0, 0.5):
        with pytest.raises(Infeasible, match="sequence 1: every labeling that is admitted has probability 0"):
            FREE.complete(scores, space, gamma=gamma)
    with pytest.raises(Infeasible):
        FREE.complete(scores, space, gamma=0.0)
    with pytest.raises(ValueError, match="gamma"):
        FREE.complete(scores, space, gamma=math.nan)


@law(40)
@given(generators(), starts_of(most=3, longest=4), st.booleans(), st.sampled_from([1, 2]), st.booleans())
def test_the_linear_model_scores_the_logarithm_of_the_probability(rng, starts, ends, order, classes):
    """Words of symbols 0..2, a rare word and a word never seen; with classes the last two differ."""
    labels, kinds = int(rng.integers(1, 4)), 2 if classes else 1
    vocabulary = np.array([1, 2, 3])
    class_of = rng.integers(0, kinds, 3)
    class_attributes = np.array([7, 8][:kinds]) if classes else np.array([-1])
    emissions = Emissions(0, vocabulary, np.array([0, 1, 2 + class_of[2]]), 2 + class_of, class_attributes, 2)
    hmm = random_hmm(rng, labels, 2 + kinds, order=order, ends=ends)
    hmm = Hmm(hmm.start, hmm.transition + 1e-3, hmm.emission + 1e-3, hmm.stop, hmm.second)
    tokens = int(starts[-1])
    words = rng.integers(0, 4, tokens)  # the last one is unknown, and of the first class
    kinds_of = np.where(words < 3, class_of[np.minimum(words, 2)], 0)
    symbols = np.where(words < 3, emissions.symbols[np.minimum(words, 2)], 2)
    entries = [
        [0, *([class_attributes[c]] if classes else []), *([vocabulary[w]] if w < 3 else [])]
        for w, c in zip(words, kinds_of)
    ]
    indptr = np.concatenate([[0], np.cumsum([len(e) for e in entries])]).astype(np.int64)
    indices = np.array([a for e in entries for a in e], dtype=np.int32)
    rows = Rows(starts, indptr, indices, np.empty(0), np.empty((tokens, 0), np.float32))
    layout = Layout(labels, 9, order=order)
    weights = hmm.weights(layout, emissions)
    batch = chain_batch(rows, layout)
    path = rng.integers(0, labels, tokens).astype(np.int32)
    found = batch.score(weights, path)
    for i in range(len(starts) - 1):
        part = slice(int(starts[i]), int(starts[i + 1]))
        np.testing.assert_allclose(found[i], log_joint(hmm, symbols[part], path[None, part])[0], rtol=1e-9)
    again = Hmm.of_weights(weights, layout, emissions, ends=ends)
    np.testing.assert_allclose(again.emission, hmm.emission / hmm.emission.sum(0), rtol=1e-9)
    np.testing.assert_allclose(again.transition, hmm.transition / hmm.transition.sum(1, keepdims=True), rtol=1e-9)

"""Sums, best alignments and expected jumps of word alignment, against all alignments one by one."""

from __future__ import annotations

import aligning
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.generative.word_alignment.agreement import AgreementStep, expect

SEEDS = st.integers(0, 10_000)


def blocks(text, values):
    """The cells of each pair as [I, J]."""
    shapes = zip(np.diff(text.source_starts), np.diff(text.target_starts))
    return [values[a:b].reshape(shape) for a, b, shape in zip(text.cell_starts, text.cell_starts[1:], shapes)]


def drawn(seed, *, hmm, null):
    rng = np.random.default_rng(seed)
    table, text = aligning.bitext(*aligning.sentences(rng, 3))
    return text, aligning.random_parameters(table, rng, hmm=hmm, null=null)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.05, 0.4]), st.sampled_from([0.03, 0.3, 1.0, 2.5]))
def test_posteriors_and_sums(seed, hmm, null, gamma):
    text, parameters = drawn(seed, hmm=hmm, null=null)
    found = expect(text, parameters, AgreementStep(gamma), counts=True)
    total = 0.0
    one, other = blocks(text, found.forward), blocks(text, found.backward)
    for pair in range(text.size):
        for backward, mine in ((False, one), (True, other)):
            listed = aligning.enumerate_pair(text, pair, parameters, backward=backward)
            value, weights = aligning.tempered(listed, gamma)
            total += value
            np.testing.assert_allclose(mine[pair], np.tensordot(weights, listed.links, 1), atol=1e-9)
    assert found.objective == pytest.approx(total, rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.sampled_from([0.03, 0.5, 1.0]))
def test_expected_jumps(seed, null, gamma):
    text, parameters = drawn(seed, hmm=True, null=null)
    found = expect(text, parameters, AgreementStep(gamma), counts=True)
    for backward, (distances, leaving) in ((False, found.forward_jumps), (True, found.backward_jumps)):
        expected, left = np.zeros_like(distances), np.zeros_like(leaving)
        for pair in range(text.size):
            listed = aligning.enumerate_pair(text, pair, parameters, backward=backward)
            size = listed.links.shape[2 if backward else 1]
            for path, weight in zip(listed.paths, aligning.tempered(listed, gamma)[1]):
                column = 0
                for to in path[path > 0]:
                    expected[len(expected) // 2 + to - column] += weight
                    left[size, column] += weight
                    column = to
        np.testing.assert_allclose(distances, expected, atol=1e-8)
        np.testing.assert_allclose(leaving, left, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.2]))
def test_best_alignments(seed, hmm, null):
    text, parameters = drawn(seed, hmm=hmm, null=null)
    found = expect(text, parameters, AgreementStep(0.0))
    total = 0.0
    for pair in range(text.size):
        for backward, values in ((False, found.forward), (True, found.backward)):
            listed = aligning.enumerate_pair(text, pair, parameters, backward=backward)
            mine = blocks(text, values)[pair]
            same = (listed.links == mine).all(axis=(1, 2))
            assert listed.logs[same].max() == pytest.approx(listed.logs.max(), rel=1e-12)
            total += listed.logs.max()
    assert found.objective == pytest.approx(total, rel=1e-12)


def test_weights_that_span_too_much_are_summed_in_logarithms():
    """Words force jumps that are next to impossible: what scaling would lose, logarithms keep."""
    rng = np.random.default_rng(0)
    table, text = aligning.bitext([["a", "b", "c", "d"]], [["w", "x", "y", "z"]])
    parameters = aligning.random_parameters(table, rng)
    words = parameters.lexicon
    words.forward[:], words.backward[:] = -200.0, -200.0
    words.forward_null[:], words.backward_null[:] = -200.0, -200.0
    for k in range(4):
        words.forward[text.entries[k * 4 + 3 - k]] = words.backward[text.entries[k * 4 + 3 - k]] = -rng.random()
    for jumps in (parameters.forward, parameters.backward):
        jumps.weights[: len(jumps.weights) // 2] *= 1e-16
    found = expect(text, parameters, AgreementStep(0.07), counts=True)
    assert found.in_logs == 2
    for backward, values in ((False, found.forward), (True, found.backward)):
        listed = aligning.enumerate_pair(text, 0, parameters, backward=backward)
        _, weights = aligning.tempered(listed, 0.07)
        np.testing.assert_allclose(blocks(text, values)[0], np.tensordot(weights, listed.links, 1), atol=1e-9)


def test_long_sentences_keep_their_sum():
    rng = np.random.default_rng(0)
    table, text = aligning.bitext([[f"w{n}" for n in rng.integers(9, size=90)]], [[f"v{n}" for n in range(70)]])
    parameters = aligning.random_parameters(table, rng)
    scaled, logs = expect(text, parameters, AgreementStep(1.0)), expect(text, parameters, AgreementStep(1.0 - 1e-12))
    assert scaled.objective == pytest.approx(logs.objective, rel=1e-9)
    links = blocks(text, scaled.forward)[0]
    np.testing.assert_allclose(links.sum(axis=0) + scaled.forward_null, 1.0, atol=1e-9)

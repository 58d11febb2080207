"""Unified EM for word alignment never lowers T(θ; γ); its tables and counts are what they should be."""

from __future__ import annotations

import aligning
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.generative.word_alignment.agreement import AgreementStep, expect
from sidelight.generative.word_alignment.alignment_em import with_jumps
from sidelight.generative.word_alignment.translation import add_counts, no_counts, pairs_of, slabs_of

SEEDS = st.integers(0, 10_000)


def learned(em, step, *, iterations=6, null=0.2):
    parameters = em.start(null=null)
    values = {"model1": [], "hmm": []}
    for name in values:
        for _ in range(iterations):
            parameters, told = em.iterate(parameters, step)
            assert told.model == name
            values[name].append(told.objective)
        parameters = with_jumps(parameters) if name == "model1" else parameters
    return parameters, values


@settings(max_examples=12, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.3, 1.0, 1.5]))
def test_the_objective_never_falls(seed, agreement, gamma):
    em = aligning.em_of(*aligning.sentences(np.random.default_rng(seed), 8, words=6))
    _, values = learned(em, AgreementStep(gamma, agreement, 400, 1e-5))
    for name, found in values.items():
        assert np.all(np.diff(found) >= -1e-4), (name, found)


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_hard_em_never_falls(seed):
    em = aligning.em_of(*aligning.sentences(np.random.default_rng(seed), 8, words=6))
    _, values = learned(em, AgreementStep(0.0))
    for found in values.values():
        assert np.all(np.diff(found) >= -1e-6)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_translations_sum_to_one(seed, null):
    em = aligning.em_of(*aligning.sentences(np.random.default_rng(seed), 6))
    parameters, _ = learned(em, AgreementStep(1.0), iterations=2, null=null)
    words, table = parameters.lexicon, em.table
    for group, values in ((em.rows, words.forward), (table.partners, words.backward)):
        np.testing.assert_allclose(np.bincount(group, weights=np.exp(values[: table.entries])), 1.0, atol=1e-9)
    if null > 0.0:
        assert np.exp(words.forward_null[:-1]).sum() == pytest.approx(1.0)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_entries_are_those_of_the_word_pairs(seed):
    rng = np.random.default_rng(seed)
    table, text = aligning.bitext(*aligning.sentences(rng, 5), n_jobs=2)
    rows = table.rows()
    for pair in range(text.size):
        source = text.sources[text.source_starts[pair] : text.source_starts[pair + 1]]
        target = text.targets[text.target_starts[pair] : text.target_starts[pair + 1]]
        entries = text.entries[text.cell_starts[pair] : text.cell_starts[pair + 1]]
        np.testing.assert_array_equal(rows[entries], np.repeat(source, len(target)))
        np.testing.assert_array_equal(table.partners[entries], np.tile(target, len(source)))
    for a, b in zip(table.starts, table.starts[1:]):
        assert np.all(np.diff(table.partners[a:b]) > 0)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(1, 40))
def test_counts_do_not_depend_on_slabs(seed, most):
    rng = np.random.default_rng(seed)
    table, text = aligning.bitext(*aligning.sentences(rng, 6))
    links = rng.random((2, len(text.entries)))
    counts = no_counts(table)
    for slab in slabs_of(text, most=most):
        part = slice(text.cell_starts[slab.first], text.cell_starts[slab.last])
        add_counts(slab, text, pairs_of(text.source_starts), links[0][part], links[1][part], counts, n_jobs=2)
    for mine, values in zip((counts.forward, counts.backward), links):
        np.testing.assert_allclose(mine[:-2], np.bincount(text.entries, weights=values), rtol=1e-12)


def test_the_jumps_of_the_m_step_raise_the_expected_likelihood():
    rng = np.random.default_rng(5)
    em = aligning.em_of(*aligning.sentences(rng, 20, longest=9, words=12))
    parameters = aligning.random_parameters(em.table, rng)
    found = expect(em.text, parameters, AgreementStep(1.0), counts=True)
    distances, leaving = found.forward_jumps
    far = len(distances) // 2

    def value(jumps):
        weights = jumps.of(far)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        lengths, columns = np.nonzero(leaving)
        divisor = sums[far + 1 + lengths - columns] - sums[far + 1 - columns]
        return distances @ np.log(weights) - leaving[lengths, columns] @ np.log(divisor)

    before, values = parameters.forward, []
    for _ in range(4):
        values.append(value(before))
        before = before.updated(distances, leaving)
    assert np.all(np.diff(values) > -1e-6) and values[1] > values[0] + 0.5


def test_a_prior_makes_rare_pairs_rarer():
    sources = [["a", "b"], ["a", "c"], ["a", "b"], ["a"]]
    targets = [["x", "y"], ["x", "z"], ["x", "y"], ["x"]]
    entropies = []
    for prior in (0.0, 0.01):
        em = aligning.em_of(sources, targets, prior=prior)
        parameters, _ = learned(em, AgreementStep(1.0), iterations=3)
        shares = np.exp(parameters.lexicon.forward[: em.table.entries])
        entropies.append(-(shares @ np.log(shares)))
    assert entropies[1] < entropies[0]

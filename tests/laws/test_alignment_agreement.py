"""Agreement of both directions: the E-step against a generic solver, its objective along the way, and LP-EM."""

from __future__ import annotations

import aligning
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from sidelight.generative.word_alignment.agreement import AgreementStep, expect

SEEDS = st.integers(0, 10_000)


def one_pair(seed, *, hmm=True, spread=1.5, longest=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, longest + 1, size=2)
    table, text = aligning.bitext([[f"w{n}" for n in range(sizes[0])]], [[f"v{n}" for n in range(sizes[1])]])
    return text, aligning.random_parameters(table, rng, hmm=hmm, spread=spread), sizes


def listed(text, parameters):
    return [aligning.enumerate_pair(text, 0, parameters, backward=backward) for backward in (False, True)]


@settings(max_examples=12, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.2, 0.5, 1.0, 2.0]))
def test_the_optimum_is_that_of_a_generic_solver(seed, hmm, gamma):
    text, parameters, sizes = one_pair(seed, hmm=hmm)
    one, other = listed(text, parameters)

    def dual(tilt):
        tilt = tilt.reshape(sizes)
        (a, p), (b, q) = aligning.tempered(one, gamma, tilt), aligning.tempered(other, gamma, -tilt)
        return a + b, (np.tensordot(p, one.links, 1) - np.tensordot(q, other.links, 1)).ravel()

    solved = minimize(dual, np.zeros(sizes.prod()), jac=True, method="BFGS", options={"gtol": 1e-9})
    found = expect(text, parameters, AgreementStep(gamma, True, 500, 1e-7))
    assert found.objective == pytest.approx(solved.fun, abs=1e-6)
    tilt = solved.x.reshape(sizes)
    expected = np.tensordot(aligning.tempered(one, gamma, tilt)[1], one.links, 1)
    np.testing.assert_allclose(found.forward.reshape(sizes), expected, atol=1e-4)
    np.testing.assert_allclose(found.backward, found.forward, atol=2e-7)


@settings(max_examples=12, deadline=None)
@given(SEEDS, st.sampled_from([0.3, 1.0]))
def test_strong_duality(seed, gamma):
    """The value is Σ E_q log p + γ H(q) of the agreed distributions themselves: no duality gap is left."""
    text, parameters, sizes = one_pair(seed)
    tilts = np.zeros(sizes.prod(), dtype=np.float32)
    found = expect(text, parameters, AgreementStep(gamma, True, 500, 1e-7), tilts=tilts)
    tilt = gamma * tilts.astype(float).reshape(sizes)
    value = 0.0
    for side, sign in zip(listed(text, parameters), (1, -1)):
        q = aligning.tempered(side, gamma, sign * tilt)[1]
        value += q @ side.logs - gamma * (q[q > 0] @ np.log(q[q > 0]))
    assert found.objective == pytest.approx(value, abs=1e-4)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.1, 0.3, 1.0]))
def test_more_steps_never_raise_the_dual(seed, hmm, gamma):
    rng = np.random.default_rng(seed)
    table, text = aligning.bitext(*aligning.sentences(rng, 4, longest=7, words=9))
    parameters = aligning.random_parameters(table, rng, hmm=hmm)
    values = [expect(text, parameters, AgreementStep(gamma, True, most, 0.0)).objective for most in range(1, 25)]
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[0]))
    assert (
        expect(text, parameters, AgreementStep(gamma, True, 4000, 1e-6)).worst <= 1e-6
    )  # 400 steps are not always enough


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_warm_start_ends_at_the_same_place(seed):
    text, parameters, sizes = one_pair(seed)
    tilts = np.random.default_rng(seed).normal(size=sizes.prod()).astype(np.float32)
    cold, warm = (
        expect(text, parameters, AgreementStep(0.5, True, 500, 1e-7), **more) for more in ({}, {"tilts": tilts})
    )
    assert warm.objective == pytest.approx(cold.objective, abs=1e-6)
    again = expect(text, parameters, AgreementStep(0.5, True, 500, 1e-3), tilts=tilts)
    assert again.sums == 1


def linear_program(text, parameters):
    """The optimum over pairs of distributions that agree."""
    one, other = listed(text, parameters)
    a, b = len(one.logs), len(other.logs)
    rows = np.hstack([one.links.reshape(a, -1).T, -other.links.reshape(b, -1).T])
    sums = np.vstack([np.r_[np.ones(a), np.zeros(b)], np.r_[np.zeros(a), np.ones(b)]])
    right = np.r_[np.zeros(len(rows)), 1.0, 1.0]
    return -linprog(-np.r_[one.logs, other.logs], A_eq=np.vstack([rows, sums]), b_eq=right).fun


@settings(max_examples=12, deadline=None)
@given(SEEDS)
def test_without_entropy_the_linear_program_is_bounded(seed):
    """γ = 0: the smallest dual value is never below the optimum, and never rises as steps go on."""
    text, parameters, _ = one_pair(seed)
    value = linear_program(text, parameters)
    found = [expect(text, parameters, AgreementStep(0.0, True, most)).objective for most in (20, 200, 2000)]
    assert found[0] >= found[1] >= found[2] >= value - 1e-7


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.booleans())
def test_without_entropy_it_is_the_linear_program(seed, hmm):
    """Ten times the steps, a tenth of the distance from the optimum and from agreement."""
    text, parameters, _ = one_pair(seed, hmm=hmm)
    value = linear_program(text, parameters)
    for most in (200, 2000, 20_000):
        found = expect(text, parameters, AgreementStep(0.0, True, most))
        assert found.objective - value <= 40.0 / most
        assert found.worst <= 15.0 / most


def test_equal_best_alignments_end_the_search_at_once():
    text, parameters, _ = one_pair(1)
    words = parameters.lexicon
    cells = text.entries.reshape(np.diff(text.source_starts)[0], -1)
    words.forward[cells], words.backward[cells] = -30.0, -30.0
    for k in range(min(cells.shape)):
        words.forward[cells[k, k]] = words.backward[cells[k, k]] = -0.01
    words.forward_null[:], words.backward_null[:] = -20.0, -20.0
    found = expect(text, parameters, AgreementStep(0.0, True, 50))
    assert found.sums == 1 and found.apart == 0.0
    np.testing.assert_array_equal(found.forward.reshape(cells.shape), np.eye(*cells.shape))

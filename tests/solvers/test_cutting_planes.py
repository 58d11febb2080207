"""One slack for all terms, and one per term solved exactly: what holds after every round."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import law
from drawing_margins import gold_terms, least_primal
from hypothesis import given
from hypothesis import strategies as st

from sidelight.objective.cuts import total_loss
from sidelight.solvers.n_slack_qp import NSlackQP
from sidelight.solvers.one_slack import OneSlack, OneSlackOptions

options = st.builds(
    OneSlackOptions,
    remember=st.sampled_from([0, 1, 5]),
    promise=st.sampled_from([0.0, 0.3]),
    most_cached=st.sampled_from([0, 3]),
    idle=st.sampled_from([1, 3, 50]),
)


def primal_of(terms, weights, power=1):
    return 0.5 * weights @ weights + total_loss(terms.worst(weights).values, terms.prices, power)


class Counted:
    """Terms that count how often they are asked for their worst outputs."""

    def __init__(self, terms):
        self.terms, self.asked = terms, 0
        self.prices = terms.prices

    def __len__(self):
        return len(self.terms)

    def worst(self, weights):
        self.asked += 1
        return self.terms.worst(weights)

    def cuts(self, worst, which):
        return self.terms.cuts(worst, which)


@law(50)
@given(gold_terms(), options)
def test_one_slack_climbs_below_the_primal_and_makes_no_inference_for_cached_constraints(terms, chosen):
    counted = Counted(terms)
    solver = OneSlack.fresh(terms.batch.scorer.size, chosen)
    least = least_primal(terms)[0]
    dual, best = 0.0, np.inf
    for _ in range(15):
        before, asked = solver.weights.copy(), counted.asked
        progress = solver.round(counted)
        assert (progress.primal is None) == (counted.asked == asked)
        if progress.primal is not None:
            assert progress.primal == pytest.approx(primal_of(terms, before), rel=1e-9, abs=1e-12)
            best = min(best, progress.primal)
        assert progress.dual >= dual - 1e-9
        assert progress.dual <= least + 1e-6
        dual = progress.dual
        assert solver.best_primal == best
        assert primal_of(terms, solver.best) == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert solver.gap == pytest.approx(best - dual, abs=1e-12)
        assert np.all(solver.alphas >= 0)
        assert solver.alphas.sum() <= 1 + 1e-9
        assert np.all(solver.idle <= chosen.idle)
        assert len(solver.cache) <= chosen.remember
        gram = np.array([[a @ b for b in dense(solver)] for a in dense(solver)])
        np.testing.assert_allclose(solver.gram, gram, atol=1e-9)
    if chosen.remember == 0 or chosen.most_cached == 0:
        assert counted.asked == 15


def dense(solver):
    out = np.zeros((len(solver.rows), len(solver.weights)))
    for k, row in enumerate(solver.rows):
        out[k, row.indices] = row.values
    return out


@law(40)
@given(gold_terms(), options)
def test_cached_constraints_hold_everywhere(terms, chosen):
    """Whatever they are made of, constraints are lower bounds of the loss."""
    solver = OneSlack.fresh(terms.batch.scorer.size, chosen)
    for _ in range(8):
        solver.round(terms)
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = rng.normal(size=len(solver.weights))
        loss = total_loss(terms.worst(point).values, terms.prices, 1)
        assert np.all(solver.offsets + dense(solver) @ point <= loss + 1e-9)


@law(30)
@given(gold_terms(), options)
def test_a_restored_one_slack_goes_on_to_the_same_bits(terms, chosen):
    solver = OneSlack.fresh(terms.batch.scorer.size, chosen)
    for _ in range(4):
        solver.round(terms)
    copy = OneSlack.fresh(terms.batch.scorer.size, chosen)
    copy.restore(solver.state(), len(terms))
    for _ in range(4):
        assert solver.round(terms) == copy.round(terms)
        np.testing.assert_array_equal(solver.weights, copy.weights)


@law(15)
@given(gold_terms(free=False))
def test_dropping_idle_constraints_does_not_stop_it(terms):
    solver = OneSlack.fresh(terms.batch.scorer.size, OneSlackOptions(idle=1))
    for _ in range(400):
        solver.round(terms)
        if solver.finished(1e-5):
            break
    assert solver.finished(1e-5)


@pytest.mark.parametrize("power", [1, 2])
def test_n_slack_is_exact_on_every_working_set(power):
    @law(40)
    @given(gold_terms())
    def check(terms):
        size = terms.batch.scorer.size
        solver = NSlackQP.fresh(size, power=power)
        least = least_primal(terms, power=power)[0]
        dual = 0.0
        for _ in range(60):
            before = solver.weights.copy()
            progress = solver.round(terms, violation=0.0)
            assert progress.primal == pytest.approx(primal_of(terms, before, power), rel=1e-9, abs=1e-12)
            assert dual - 1e-9 <= progress.dual <= least + 1e-7 * max(1.0, least)
            dual = progress.dual
            if solver.finished(1e-7):
                break
        assert solver.finished(1e-7) or solver.gap < 1e-9
        assert solver.best_primal == pytest.approx(least, rel=1e-6, abs=1e-7)

    check()


@law(20)
@given(gold_terms(), st.sampled_from([1, 2]))
def test_a_restored_n_slack_goes_on_to_the_same_bits(terms, power):
    size = terms.batch.scorer.size
    solver, copy = NSlackQP.fresh(size, power=power), NSlackQP.fresh(size, power=power)
    solver.round(terms, violation=0.0)
    copy.restore(solver.state(), len(terms))
    for _ in range(3):
        assert solver.round(terms, violation=0.0) == copy.round(terms, violation=0.0)
        np.testing.assert_array_equal(solver.weights, copy.weights)


def test_options_are_checked():
    with pytest.raises(ValueError, match="negative"):
        OneSlackOptions(remember=-1)
    with pytest.raises(ValueError, match="power"):
        NSlackQP.fresh(3, power=3)

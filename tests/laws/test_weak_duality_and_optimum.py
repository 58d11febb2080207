"""Cutting planes against the quadratic program that lists every output as a constraint."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import batches, dense_rows_of, generators, labelings, law, members_of, random_outputs
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum

from sidelight.objective import margin as margins
from sidelight.objective.cuts import LOGISTIC, Worst
from sidelight.objective.margin import NegativeTerms, SilentTerms, StackedTerms, TargetTerms, positive_terms
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.spaces import Cost


@st.composite
def problems(draw):
    """Targets, bad inputs and completed good inputs over small chains."""
    batch = draw(batches(most=3, longest=3))
    rng = draw(generators())
    count, labels = len(batch), batch.scorer.layout.n_labels
    costs = rng.uniform(0.2, 2.0, (labels, labels))
    np.fill_diagonal(costs, 0.0)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    prices = [rng.uniform(0.05, 2.0, count) * (rng.random(count) < 0.9) for _ in range(3)]
    sizes = batch.scorer.rows.lengths.astype(float)
    good = positive_terms(batch, random_outputs(rng, batch), sizes, prices[2])
    gold = TargetTerms(batch, Cost(targets, costs), prices[0])
    kinds = [gold, NegativeTerms(batch, sizes, prices[1]), good]
    return batch, StackedTerms(kinds if draw(st.booleans()) else [gold, SilentTerms.like(1)])


def all_cuts(batch, terms: StackedTerms):
    """Every output of every term as a constraint."""
    slopes, offsets, numbers = [], [], []
    size = batch.scorer.size
    starts = batch.scorer.rows.starts
    for kind, first in zip(terms.kinds, terms.firsts):
        if isinstance(kind, SilentTerms):
            continue
        if not isinstance(kind, (TargetTerms, NegativeTerms)):
            slopes.append(dense_rows_of(kind.slopes, size))
            offsets.append(np.ones(len(kind)))
            numbers.append(np.arange(first, first + len(kind)))
            continue
        for i in range(len(kind)):
            a, b = int(starts[i]), int(starts[i + 1])
            paths = labelings(batch.scorer.layout.n_labels, b - a)
            for path in paths[members_of(batch.space, a, paths)]:
                outputs = np.zeros(int(starts[-1]), dtype=np.int32)
                outputs[a:b] = path
                cuts = kind.cuts(Worst(np.zeros(len(kind)), outputs), np.array([i]))
                slopes.append(dense_rows_of(cuts.slopes, size))
                offsets.append(cuts.offsets)
                numbers.append(np.array([first + i]))
    return np.concatenate(slopes), np.concatenate(offsets), np.concatenate(numbers)


def start_with_fixed_cuts(solver: CuttingPlane, terms: StackedTerms) -> None:
    """Positive terms have their one cut from the start, as the learner gives it to them."""
    fixed = [np.arange(first, first + len(kind)) for kind, first in zip(terms.kinds, terms.firsts) if not kind.parts()]
    numbers = np.concatenate(fixed)
    numbers = numbers[terms.prices[numbers] > 0]
    if len(numbers):
        solver.pool.add(terms.cuts(terms.worst(solver.weights), numbers))


@pytest.mark.parametrize("power", [1, 2, LOGISTIC])
@pytest.mark.parametrize("from_origin", [False, True])
def test_reaches_the_optimum_over_all_outputs(power, from_origin):
    @law(25)
    @given(problems(), generators(), st.sampled_from([2, 8192]))
    def check(problem, rng, block):
        batch, terms = problem
        size = batch.scorer.size
        origin = rng.normal(size=size) if from_origin else None
        solver = CuttingPlane.fresh(size, len(terms), power=power, seed=1, origin=origin)
        start_with_fixed_cuts(solver, terms)
        dual = -np.inf
        best = np.inf
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(margins, "BLOCK_TOKENS", block)
            for _ in range(300):
                progress = solver.round(terms, violation=0.0, tolerance=1e-6)
                assert progress.dual <= progress.primal + 1e-9
                assert progress.dual >= dual - 1e-9
                dual = progress.dual
                best = min(best, progress.primal)
                assert solver.best_primal == best
                assert solver.primal(terms, solver.best) == pytest.approx(best, rel=1e-9, abs=1e-12)
                assert solver.gap == pytest.approx(best - dual, abs=1e-12)
                assert progress.working_set == len(solver.pool)
                if solver.finished(1e-6):
                    break
        assert solver.finished(1e-6) or solver.gap < 1e-12  # where the optimum is 0, rounding is all that is left
        slopes, offsets, numbers = all_cuts(batch, terms)
        value, expected = optimum(slopes, offsets, numbers, terms.prices, power=power, origin=origin)
        assert solver.best_primal == pytest.approx(value, rel=1e-5, abs=1e-6)
        assert dual <= value + 1e-6 * max(1.0, value)
        np.testing.assert_allclose(solver.best, expected, atol=3e-3 * max(1.0, np.abs(expected).max()))

    check()


@law(20)
@given(problems(), generators())
def test_a_new_problem_starts_from_given_weights(problem, rng):
    batch, terms = problem
    solver = CuttingPlane.fresh(batch.scorer.size, len(terms), power=2, seed=1)
    assert not solver.finished(1e-6)  # nothing is known before the first round
    start_with_fixed_cuts(solver, terms)
    solver.round(terms, violation=1e-3, tolerance=1e-2)
    start = rng.normal(size=batch.scorer.size)
    value = solver.new_problem(terms, start)
    assert value == pytest.approx(solver.primal(terms, start), rel=1e-12)
    np.testing.assert_array_equal(solver.best, start)
    for _ in range(5):
        solver.round(terms, violation=1e-3, tolerance=1e-2)
        assert solver.best_primal <= value
        assert solver.primal(terms, solver.best) == pytest.approx(solver.best_primal, rel=1e-9)
        value = solver.best_primal

"""Every structure keeps every law, against the list of all its outputs and their scores by definition."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law, seeds
from drawing_structures import CASES
from hypothesis import assume, given
from hypothesis import strategies as st

from sidelight.features import gradient
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.completion import latent_problem
from sidelight.objective.margin import TargetTerms
from sidelight.spaces import Cost
from sidelight.testing import check_solver, check_structure


@pytest.mark.parametrize("name", CASES)
def test_structure(name):
    """Costs, bonuses, clamps, candidates, parts, cuts, k best, sums, samples and likelihoods."""
    seen = []

    @law(80)
    @given(CASES[name](), seeds, st.integers(1, 7), st.booleans())
    def check(case, seed, k, small_blocks):
        with pytest.MonkeyPatch.context() as patch:
            if small_blocks:
                patch.setattr(gradient, "BLOCK_TOKENS", 5)
            definition = {"weights": case.weights, "score": case.score, "admits": case.admits}
            seen.append(check_structure(case.batch, seed=seed, k=k, **definition))

    check()
    assert any(one.k_best and one.sums and one.likelihood for one in seen)


def cutting_plane(power):
    def make(terms):
        options = MarginOptions(power=power, tolerance=1e-6, violation=0.0)
        return MarginLearner.fresh(latent_problem(terms), options, size=terms.batch.scorer.size)

    return make


def n_slack_qp(power):
    options = ConvexOptions("n_slack_qp", power=power, tolerance=1e-7, violation=0.0)
    return lambda terms: ConvexLearner.fresh(terms, options)


@pytest.mark.parametrize("solver", [cutting_plane, n_slack_qp])
@pytest.mark.parametrize("name", CASES)
def test_margin_solvers_reach_the_optimum_over_all_outputs(name, solver):
    @law(8)
    @given(CASES[name](), generators(), st.sampled_from([1, 2]))
    def check(case, rng, power):
        batch = case.batch
        assume(batch.space.feasible().all() and len(batch))
        costs = rng.uniform(0.2, 2.0, (batch.space.n_labels,) * 2)
        np.fill_diagonal(costs, 0.0)
        targets = batch.best(rng.normal(size=batch.scorer.size)).labels
        terms = TargetTerms(batch, Cost(targets, costs), rng.uniform(0.1, 2.0, len(batch)))
        check_solver(solver(power), power=power, terms=terms)

    check()

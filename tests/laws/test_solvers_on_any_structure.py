"""Every solver of the structural SVM comes to the same optimum on chains of order 2, segments and variables."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import law
from drawing_structure_terms import STRUCTURES, least_primal_of, structure_terms
from hypothesis import given

from sidelight.errors import ModelFileError
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.cuts import total_loss
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import StackedTerms, TargetTerms
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.duals.cut_blocks import CutBlocks


def cutting_plane(terms: TargetTerms) -> tuple[np.ndarray, float | None]:
    solver = CuttingPlane.fresh(terms.batch.scorer.size, len(terms), power=1, seed=1)
    for _ in range(500):
        progress = solver.round(StackedTerms([terms]), violation=0.0, tolerance=1e-5)
        if solver.finished(1e-5):
            break
    return solver.best, progress.dual


def exponentiated_gradient(terms: TargetTerms) -> tuple[np.ndarray, float | None]:
    problem = likelihood_problem([Labelled(terms.batch, terms.prices, targets=terms.cost.targets)], support="all")
    options = LikelihoodOptions(400, solver="eg", tolerance=0.01)
    learner = LikelihoodLearner.fresh(problem, options, costs=terms.cost.costs)
    record = list(learner.run())[-1]
    return learner.finish(), record.dual


def learned(options: ConvexOptions):
    def solve(terms: TargetTerms) -> tuple[np.ndarray, float | None]:
        learner = ConvexLearner.fresh(terms, options)
        record = list(learner.run())[-1]
        return learner.finish(), record.dual

    return solve


SOLVERS = {
    "dual_coordinate": (cutting_plane, 1e-4),
    "one_slack": (learned(ConvexOptions("one_slack", tolerance=1e-5)), 1e-4),
    "n_slack_qp": (learned(ConvexOptions("n_slack_qp", tolerance=1e-7, violation=0.0)), 1e-5),
    "frank_wolfe": (learned(ConvexOptions("frank_wolfe", tolerance=1e-4, max_rounds=300)), 1e-3),
    "exponentiated_gradient": (exponentiated_gradient, 0.05),
}


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", SOLVERS)
def test_reaches_the_least_primal(name, structure):
    solve, tolerance = SOLVERS[name]

    @law(6)
    @given(structure_terms(structure))
    def check(terms):
        least = least_primal_of(terms)
        weights, dual = solve(terms)
        primal = 0.5 * weights @ weights + total_loss(terms.worst(weights).values, terms.prices, 1)
        room = tolerance * total_loss(terms.worst(np.zeros(len(weights))).values, terms.prices, 1) + 1e-5
        assert least - 1e-5 <= primal <= least + room
        assert dual is not None and least - 3 * room <= dual <= least + 1e-5

    check()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_frank_wolfe_goes_on_to_the_same_bits(structure):
    @law(4)
    @given(structure_terms(structure))
    def check(terms):
        options = ConvexOptions("frank_wolfe", tolerance=0.0, max_rounds=4)
        whole, half, rest = (ConvexLearner.fresh(terms, options) for _ in range(3))
        assert isinstance(whole.blocks, CutBlocks)
        list(whole.run())
        half.round()
        half.round()
        rest.resume(half.state())
        list(rest.run())
        np.testing.assert_array_equal(rest.weights, whole.weights)
        values, arrays = half.state()
        if arrays["blocks.indices"].size:
            broken = {**arrays, "blocks.indices": arrays["blocks.indices"] + terms.batch.scorer.size}
            with pytest.raises(ModelFileError, match="indices"):
                rest.resume((values, broken))
        with pytest.raises(ModelFileError, match="counts"):
            rest.resume((values, {**arrays, "blocks.counts": arrays["blocks.counts"] + 1}))

    check()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_exponentiated_gradient_goes_on_to_the_same_bits(structure):
    @law(4)
    @given(structure_terms(structure))
    def check(terms):
        problem = likelihood_problem([Labelled(terms.batch, terms.prices, targets=terms.cost.targets)], support="all")
        options = LikelihoodOptions(6, solver="eg", tolerance=0.0)
        whole, half, rest = (LikelihoodLearner.fresh(problem, options, costs=terms.cost.costs) for _ in range(3))
        list(whole.run())
        for _ in range(3):
            half.round()
        rest.resume(half.state())
        list(rest.run())
        np.testing.assert_array_equal(rest.weights, whole.weights)

    check()

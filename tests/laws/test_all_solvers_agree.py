"""Every solver of the structural SVM comes to the optimum over all outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from drawing import law
from drawing_margins import gold_terms, least_primal
from hypothesis import assume, given

from sidelight.core.records import SMALL_GAP
from sidelight.learners.structural_svm import ConvexLearner, ConvexOptions
from sidelight.objective.cuts import total_loss
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import StackedTerms, TargetTerms
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.duals.cut_blocks import CutBlocks
from sidelight.solvers.frank_wolfe import FrankWolfe, FrankWolfeOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions
from sidelight.spaces import Cost

Result = tuple[np.ndarray, float | None]  # weights, dual value


def learned(options: ConvexOptions) -> Callable[[TargetTerms], Result]:
    def solve(terms: TargetTerms) -> Result:
        learner = ConvexLearner.fresh(terms, options)
        records = list(learner.run())
        assert records[-1].last
        return learner.finish(), records[-1].dual

    return solve


def cutting_plane(terms: TargetTerms) -> Result:
    solver = CuttingPlane.fresh(terms.batch.scorer.size, len(terms), power=1, seed=1)
    stacked = StackedTerms([terms])
    for _ in range(500):
        progress = solver.round(stacked, violation=0.0, tolerance=1e-5)
        if solver.finished(1e-5):
            break
    return solver.best, progress.dual


def plain_frank_wolfe(terms: TargetTerms) -> Result:
    blocks = CutBlocks(terms, terms.batch.scorer.size)
    solver = FrankWolfe.fresh(terms.batch.scorer.size, len(terms), FrankWolfeOptions(every=5))
    for _ in range(300):
        solver.round(blocks, tolerance=1e-4)
        if solver.finished(1e-4):
            break
    return solver.best, solver.dual


def exponentiated_gradient(terms: TargetTerms) -> Result:
    batch, cost = terms.batch, terms.cost
    known = Labelled(batch, terms.prices, targets=cost.targets)
    problem = likelihood_problem([known], support="all")
    options = LikelihoodOptions(2000, solver="eg", tolerance=1e-3)
    learner = LikelihoodLearner.fresh(problem, options, costs=cost.costs)
    records = list(learner.run())
    assert records[-1].stopped == SMALL_GAP
    return learner.finish(), records[-1].dual


def frank_wolfe(**options) -> Callable[[TargetTerms], Result]:
    chosen = FrankWolfeOptions(**options)
    return learned(ConvexOptions("frank_wolfe", tolerance=1e-4, max_rounds=2000, frank_wolfe=chosen))


# name -> solver, tolerance of the primal relative to its value at zero
SOLVERS: dict[str, tuple[Callable[[TargetTerms], Result], float]] = {
    "cutting_plane": (cutting_plane, 1e-4),
    "one_slack": (learned(ConvexOptions("one_slack", tolerance=1e-5)), 1e-4),
    "one_slack, no cache": (
        learned(ConvexOptions("one_slack", tolerance=1e-5, one_slack=OneSlackOptions(remember=0))),
        1e-4,
    ),
    "n_slack_qp": (learned(ConvexOptions("n_slack_qp", tolerance=1e-7, violation=0.0)), 1e-6),
    "frank_wolfe": (frank_wolfe(), 1e-3),
    "frank_wolfe by gaps": (frank_wolfe(sampling="gap", cached=0), 1e-3),
    "frank_wolfe, one term at a time": (plain_frank_wolfe, 1e-3),
    "exponentiated_gradient": (exponentiated_gradient, 2e-3),
    "subgradient": (
        learned(
            ConvexOptions("subgradient", tolerance=0.0, max_rounds=2000, subgradient=SubgradientOptions(every=100))
        ),
        0.01,
    ),
    "subgradient, suffix": (
        learned(
            ConvexOptions(
                "subgradient",
                tolerance=0.0,
                max_rounds=2000,
                subgradient=SubgradientOptions("suffix", project=True, every=100),
            )
        ),
        0.01,
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_reaches_the_least_primal(name):
    solve, tolerance = SOLVERS[name]

    @law(12)
    @given(gold_terms(most=3))
    def check(terms):
        assume(terms.prices.sum() > 0)
        if solve is exponentiated_gradient:  # its distributions are over all labelings, its costs the same everywhere
            space, cost = replace(terms.batch.space, admitted=None), Cost(terms.cost.targets, terms.cost.costs)
            terms = replace(terms, batch=replace(terms.batch, space=space), cost=cost)
        least, _ = least_primal(terms)
        weights, dual = solve(terms)
        primal = 0.5 * weights @ weights + total_loss(terms.worst(weights).values, terms.prices, 1)
        room = tolerance * total_loss(terms.worst(np.zeros(len(weights))).values, terms.prices, 1) + 1e-5
        assert least - 1e-5 <= primal <= least + room
        if dual is not None:
            assert least - 3 * room <= dual <= least + 1e-5

    check()


@law(12)
@given(gold_terms(most=3))
def test_plain_frank_wolfe_steps_come_closer_and_closer(terms):
    """One step towards the worst output a visit converges slowly: the gap must fall all the same."""
    assume(terms.prices.sum() > 0)
    least, _ = least_primal(terms)
    chosen = FrankWolfeOptions(steps=0, average=True)
    options = ConvexOptions("frank_wolfe", tolerance=0.0, max_rounds=1500, frank_wolfe=chosen)
    learner = ConvexLearner.fresh(terms, options)
    record = list(learner.run())[-1]
    assert record.objective <= least * 1.03 + 1e-3
    assert record.dual >= least * 0.97 - 1e-3


def test_the_squared_hinge_exactly():
    @law(12)
    @given(gold_terms(most=3))
    def check(terms):
        least, _ = least_primal(terms, power=2)
        learner = ConvexLearner.fresh(terms, ConvexOptions("n_slack_qp", power=2, tolerance=1e-7, violation=0.0))
        record = list(learner.run())[-1]
        assert record.objective == pytest.approx(least, rel=1e-5, abs=1e-6)

    check()

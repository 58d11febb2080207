"""The 2-slack solver: sums of cuts, constraints that outlive a completion, and where it stops."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from drawing import batches, dense_rows_of, generators, law
from hypothesis import given
from hypothesis import strategies as st
from test_candidate_margins import problems

from sidelight.features.counts import Differences, difference_rows
from sidelight.objective.cuts import total_loss
from sidelight.objective.scorers.chain_scorer import summed_differences
from sidelight.rounds.candidates import CandidateLearner, CandidateOptions
from sidelight.solvers.group_slack import GroupSlack


@law(80)
@given(batches(most=4, longest=5), generators())
def test_a_sum_of_differences_is_that_of_the_rows(batch, rng):
    rows, layout = batch.scorer.rows, batch.scorer.layout
    plus, minus = (rng.integers(0, layout.n_labels, rows.n_tokens).astype(np.int32) for _ in range(2))
    same = rng.random(rows.n_tokens) < 0.5
    minus[same] = plus[same]
    scales = rng.choice([0.0, 0.5, 2.0], len(rows))
    found = summed_differences(rows, layout, plus, minus, scales)
    one_by_one = difference_rows(rows, layout, Differences.of(np.arange(len(rows)), plus, minus, scales=scales))
    np.testing.assert_allclose(found, dense_rows_of(one_by_one, layout.size).sum(axis=0), atol=1e-12)


def risks(groups, weights):
    return [total_loss(terms.worst(weights).values, terms.prices, 1) for terms in groups]


@law(40)
@given(problems(longest=4), st.sampled_from(["cllp", "mms"]), st.sampled_from(["completion", "candidates"]))
def test_constraints_stay_lower_bounds_after_another_completion(drawn, margins, charge):
    problem, batch, _, truth, rng = drawn
    problem = replace(problem, margins=margins, charge=charge)
    solver = GroupSlack.at(rng.normal(size=batch.scorer.size))
    for _ in range(4):
        solver.step(problem.convex(truth), (1e-9, 1e-9))
    groups = problem.convex(problem.random(rng))
    turned = solver.turned(groups)
    assert len(turned.rows) == np.sum(solver.alphas > 0)
    for _ in range(5):
        weights = rng.normal(size=batch.scorer.size) * rng.choice([0.1, 1.0, 10.0])
        risk = risks(groups, weights)
        for group, offset, row in zip(turned.groups, turned.offsets, turned.rows):
            assert offset + row.values @ weights[row.indices] <= risk[group] + 1e-9 * (1 + abs(risk[group]))


@law(40)
@given(problems(longest=4), st.sampled_from([0.01, 0.3, 2.0]))
def test_the_best_weights_have_the_objective_that_is_told(drawn, epsilon):
    problem, batch, _, truth, _ = drawn
    groups = problem.convex(truth)
    solver = GroupSlack.at(np.zeros(batch.scorer.size))
    told = []
    while not told or told[-1].new_cuts:
        told.append(solver.step(groups, (epsilon, epsilon)))
        assert solver.best_primal <= min(progress.primal for progress in told) + 1e-12
    exact = 0.5 * solver.best @ solver.best + sum(risks(groups, solver.best))
    assert told[-1].primal == solver.best_primal == pytest.approx(exact)
    assert told[-1].gap <= epsilon * sum(terms.prices.sum() for terms in groups) + 1e-9
    assert all(after.dual >= before.dual - 1e-7 * (1 + abs(before.dual)) for before, after in pairwise(told))


@law(40)
@given(problems(longest=4))
def test_votes_are_logarithms_of_counts(drawn):
    problem, batch, admitted, _, rng = drawn
    labels = problem.random(rng)
    other = 1 - labels if batch.scorer.null_label else None
    counts = batch.differences(np.arange(len(batch)), labels, other, scales=np.ones(len(batch)))
    voted = problem.voted(labels)
    weights = dense_rows_of(counts, batch.scorer.size).sum(axis=0)
    weights = np.sign(weights) * np.log(1 + np.abs(weights))
    np.testing.assert_allclose(batch.score(weights, voted), problem.batch.best(weights).values)
    assert np.all(admitted[np.arange(len(voted)), voted] == 1)


@law(10)
@given(problems(longest=3))
def test_zero_weights_complete_by_votes(drawn):
    """Where nothing costs anything zero is the optimum, and its ties must not choose the first labels."""
    problem, batch, _, _, rng = drawn
    labels = problem.random(rng)
    silent = replace(
        problem,
        inside=replace(problem.inside, prices=0 * problem.inside.prices),
        outside=replace(problem.outside, prices=0 * problem.outside.prices),
    )
    options = CandidateOptions(precision=(4.0, 4.0), thresholds=(1.0, 1.0))
    learner = CandidateLearner.fresh(silent, options, size=batch.scorer.size, initial=labels)
    learner.round()
    np.testing.assert_array_equal(learner.labels, problem.voted(labels))
    assert list(learner.run())[-1].stopped is not None

"""CLLP and MMS: the ordering of their objectives, and two solvers that must meet."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from drawing import dense_rows_of, generators, law, random_mask
from hypothesis import given
from hypothesis import strategies as st
from quadratic import optimum
from segmenting import any_batches
from segmenting import outputs_of as all_outputs_of

from sidelight.objective.candidates import CandidateProblem
from sidelight.objective.margin import StackedTerms, Worst
from sidelight.rounds.candidates import CandidateLearner, CandidateOptions
from sidelight.solvers.group_slack import GroupSlack

CHARGES = st.sampled_from(["completion", "candidates"])


@st.composite
def problems(draw, *, longest=3):
    """Inputs with a true output and candidates around it; some are Gold, some have all labels."""
    batch = draw(any_batches(most=3, longest=longest))
    rng = draw(generators())
    truth = batch.best(rng.normal(size=batch.scorer.size)).labels
    admitted = random_mask(rng, (len(truth), batch.space.n_labels), draw(st.sampled_from([0.0, 0.4, 1.0])))
    admitted[np.arange(len(truth)), truth] = 1
    labels = batch.space.n_labels
    prices = rng.uniform(0.05, 2.0, len(batch)), rng.uniform(0.05, 2.0, len(batch))
    problem = CandidateProblem.of(batch, admitted, costs=1.0 - np.eye(labels), prices=prices)
    return problem, batch, admitted, truth, rng


def outputs_of(batch, admitted, i):
    """The labelings of input i inside and outside its candidates."""
    a, b = int(batch.scorer.rows.starts[i]), int(batch.scorer.rows.starts[i + 1])
    paths = all_outputs_of(batch.space, i)
    inside = np.all(admitted[np.arange(a, b), paths] != 0, axis=1)
    return paths[inside], paths[~inside]


def score(batch, weights, i, path):
    labels = np.concatenate([all_outputs_of(batch.space, k)[0] for k in range(len(batch))])
    labels[int(batch.scorer.rows.starts[i]) : int(batch.scorer.rows.starts[i + 1])] = path
    return batch.score(weights, labels)[i]


def losses_by_definition(problem, batch, admitted, weights, margins):
    """Eq. 7 (the least over completions) or Eq. 8, by enumeration of inside and outside outputs."""
    total = 0.0
    for i in range(len(batch)):
        a = int(batch.scorer.rows.starts[i])
        inside, outside = outputs_of(batch, admitted, i)
        s_in = np.array([score(batch, weights, i, path) for path in inside])
        s_out = np.array([score(batch, weights, i, path) for path in outside])
        c1, c2 = problem_prices(problem, i)
        if margins == "mms":
            left = np.array([np.sum(admitted[np.arange(a, a + len(p)), p] == 0) for p in outside])
            total += c2 * max(0.0, np.max(left + s_out, initial=-np.inf) - s_in.max())
            continue
        choices = []
        for k, chosen in enumerate(inside):
            one = np.max((inside != chosen).sum(1) + s_in) - s_in[k]
            two = np.max((outside != chosen).sum(1) + s_out, initial=-np.inf) - s_in[k]
            choices.append(c1 * max(0.0, one) + c2 * max(0.0, two))
        total += min(choices)
    return total


def problem_prices(problem, i):
    found = []
    for group in (problem.inside, problem.outside):
        place = np.flatnonzero(group.which == i)
        found.append(float(group.prices[place[0]]) if len(place) else 0.0)
    return found


@law(40)
@given(problems())
def test_groups_hold_the_inputs_that_have_such_outputs(drawn):
    problem, batch, admitted, _, _ = drawn
    for i in range(len(batch)):
        inside, outside = outputs_of(batch, admitted, i)
        assert i in problem.inside.which or len(inside) == 1
        assert (i in problem.outside.which) == (len(outside) > 0)


@law(40)
@given(problems())
def test_objectives_are_those_of_the_paper(drawn):
    problem, batch, admitted, _, rng = drawn
    weights = rng.normal(size=batch.scorer.size)
    half = 0.5 * weights @ weights
    mms = replace(problem, margins="mms", charge="candidates")
    best = mms.complete(weights)
    expected = losses_by_definition(problem, batch, admitted, weights, "mms")
    assert mms.objective(weights, best) == pytest.approx(half + expected)
    starts = batch.scorer.rows.starts
    choices = [outputs_of(batch, admitted, i)[0] for i in range(len(batch))]
    if np.prod([len(c) for c in choices]) <= 300:
        lowest = min(problem.objective(weights, np.concatenate(pick).astype(np.int32)) for pick in product(*choices))
        assert lowest == pytest.approx(half + losses_by_definition(problem, batch, admitted, weights, "cllp"))
    assert len(best) == starts[-1]


@law(60)
@given(problems())
def test_gold_is_above_cllp_is_above_mms(drawn):
    """CLLP Theorem 3, at random weights: for the true outputs, and for any other completion."""
    problem, batch, admitted, truth, rng = drawn
    weights = rng.normal(size=batch.scorer.size) * rng.choice([0.1, 1.0, 5.0])
    true = problem.objective(weights, truth)
    cllp = 0.5 * weights @ weights + losses_by_definition(problem, batch, admitted, weights, "cllp")
    mms = replace(problem, margins="mms", charge="candidates").objective(weights, problem.complete(weights))
    assert true >= cllp - 1e-9 and cllp >= mms - 1e-9
    assert problem.objective(weights, problem.random(rng)) >= cllp - 1e-9


@law(60)
@given(problems())
def test_charges_stand_between(drawn):
    """For one completion: margins inside, and a charge for every label unlike it, can only add."""
    problem, batch, _, _, rng = drawn
    weights = rng.normal(size=batch.scorer.size) * rng.choice([0.1, 1.0, 5.0])
    labels = problem.random(rng)
    both, less, neither, alone = (
        replace(problem, margins=margins, charge=charge).objective(weights, labels)
        for margins, charge in product(("cllp", "mms"), ("completion", "candidates"))
    )
    assert both >= less - 1e-9 and neither >= alone - 1e-9
    within = both - neither
    assert within >= -1e-9 and less - alone == pytest.approx(within)


def all_cuts(problem, batch, admitted, labels):
    slopes, offsets, terms = [], [], []
    stacked = StackedTerms(problem.convex(labels))
    groups = [problem.inside, problem.outside] if problem.margins == "cllp" else [problem.outside]
    for kind, first, group in zip(stacked.kinds, stacked.firsts, groups):
        starts = kind.batch.scorer.rows.starts
        for k, i in enumerate(group.which):
            sides = outputs_of(batch, admitted, int(i))
            for path in sides[0] if group is problem.inside else sides[1]:
                outputs = np.array(kind.cost.targets)
                outputs[int(starts[k]) : int(starts[k + 1])] = path
                cuts = kind.cuts(Worst(np.zeros(len(kind)), outputs), np.array([k]))
                slopes.append(dense_rows_of(cuts.slopes, batch.scorer.size))
                offsets.append(cuts.offsets)
                terms.append(int(first) + k)
    if not terms:
        return None
    return np.concatenate(slopes), np.concatenate(offsets), np.array(terms), stacked.prices


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
@pytest.mark.parametrize("margins", ["cllp", "mms"])
def test_both_solvers_reach_the_optimum_of_the_convex_problem(solver, margins):
    @law(20)
    @given(problems(), CHARGES)
    def check(drawn, charge):
        problem, batch, admitted, truth, _ = drawn
        problem = replace(problem, margins=margins, charge=charge)
        cuts = all_cuts(problem, batch, admitted, truth)
        least = 0.0 if cuts is None else optimum(*cuts, power=1)[0]
        fine = (1e-7, 1e-7)
        options = CandidateOptions(solver, precision=fine, thresholds=fine, violation=1e-8, max_completions=1)
        learner = CandidateLearner.fresh(problem, options, size=batch.scorer.size, initial=truth)
        rounds = list(learner.run())
        assert problem.objective(learner.weights, truth) == pytest.approx(least, rel=1e-5, abs=1e-6)
        assert rounds[-1].last
        for record in rounds:
            assert record.dual <= least + 1e-6 * (1 + least) and record.primal >= least - 1e-6 * (1 + least)

    check()


@law(20)
@given(problems())
def test_a_rough_solution_is_within_its_precision(drawn):
    problem, batch, _, truth, _ = drawn
    groups = problem.convex(truth)
    solver = GroupSlack.at(np.zeros(batch.scorer.size))
    epsilons = (0.3, 0.05)
    progress = solver.step(groups, epsilons)
    while progress.new_cuts:
        progress = solver.step(groups, epsilons)
    assert progress.gap <= sum(e * terms.prices.sum() for e, terms in zip(epsilons, groups)) + 1e-6


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
def test_precision_falls_by_the_discount_and_labels_stay_candidates(solver):
    @law(15)
    @given(problems(longest=4), st.sampled_from([2.0, 5.0]))
    def check(drawn, discount):
        problem, batch, admitted, _, _ = drawn
        options = CandidateOptions(solver, precision=(4.0, 1.0), thresholds=(0.05, 0.02), discount=discount)
        learner = CandidateLearner.fresh(problem, options, size=batch.scorer.size)
        seen = [learner.precision]
        for _ in learner.run():
            assert np.all(admitted[np.arange(len(learner.labels)), learner.labels] == 1)
            assert np.all(problem.batch.space.admits(learner.labels) == 1)
            if learner.precision != seen[-1]:
                seen.append(learner.precision)
        for before, after in pairwise(seen):
            assert after == tuple(max(e / discount, t) for e, t in zip(before, learner.thresholds))
        assert learner.done

    check()


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
def test_an_interrupted_run_goes_on_to_the_same_bits(solver):
    @law(10)
    @given(problems(longest=4), st.integers(1, 6))
    def check(drawn, stop):
        problem, batch, _, _, _ = drawn
        options = CandidateOptions(solver, precision=(2.0, 2.0))
        whole = CandidateLearner.fresh(problem, options, size=batch.scorer.size)
        records = list(whole.run())
        first = CandidateLearner.fresh(problem, options, size=batch.scorer.size)
        for _, _ in zip(range(stop), first.run()):
            pass
        second = CandidateLearner.fresh(problem, options, size=batch.scorer.size)
        second.resume(first.state())
        rest = list(second.run())
        np.testing.assert_array_equal(second.weights, whole.weights)
        assert [r.primal for r in rest] == [r.primal for r in records[min(stop, len(records)) :]]

    check()


class Erratic(CandidateProblem):
    """Completes at random, so that the objective often rises."""

    def complete(self, weights):
        return self.random(np.random.default_rng(int(np.abs(weights).sum() * 1e6)))


@pytest.mark.parametrize("solver", ["two_slack", "dual_coordinate"])
@pytest.mark.parametrize("margins", ["cllp", "mms"])
def test_training_never_ends_above_a_completion_of_the_last_precision(solver, margins):
    @law(60)
    @given(problems(longest=4), CHARGES, st.sampled_from([True, True, False]), st.sampled_from([5000, 8, 3]))
    def check(drawn, charge, erratic, max_rounds):
        problem, batch, _, _, rng = drawn
        parts = problem.batch, problem.costs, margins, charge, problem.inside, problem.outside
        problem = (Erratic if erratic else CandidateProblem)(*parts)
        options = CandidateOptions(
            solver, precision=(1.0, 1.0), thresholds=(0.5, 0.5), max_rounds=max_rounds, seed=int(rng.integers(100))
        )
        learner = CandidateLearner.fresh(problem, options, size=batch.scorer.size)
        ends, met = [], [learner.labels]
        finest, labels = learner.precision == learner.thresholds, learner.labels
        for record in learner.run():
            if finest and learner.has_result(record) and record.stopped != "max_rounds":
                ends.append(problem.objective(learner.best, labels))
            finest, labels = learner.precision == learner.thresholds, learner.labels
            met.append(labels)
        reached = [problem.objective(learner.finish(), labels) for labels in met]
        assert record.objective <= min(ends, default=np.inf) * (1 + 1e-9)
        assert any(record.objective == pytest.approx(value) for value in reached)
        assert record.gap >= -1e-9 * (1 + record.objective)

    check()


@law(20)
@given(problems())
def test_gold_alone_is_the_structural_svm(drawn):
    """With one candidate each, the terms inside vanish and those outside are the ordinary ones."""
    _problem, batch, admitted, truth, rng = drawn
    gold = np.zeros_like(admitted)
    gold[np.arange(len(truth)), truth] = 1
    labels = batch.space.n_labels
    prices = np.ones(len(batch)), np.ones(len(batch))
    alone = CandidateProblem.of(batch, gold, costs=1.0 - np.eye(labels), prices=prices)
    weights = rng.normal(size=batch.scorer.size)
    expected = 0.0
    for i in range(len(batch)):
        a, b = int(batch.scorer.rows.starts[i]), int(batch.scorer.rows.starts[i + 1])
        inside, outside = outputs_of(batch, gold, i)
        s_out = [score(batch, weights, i, p) + np.sum(p != truth[a:b]) for p in outside]
        expected += max(0.0, max(s_out, default=-np.inf) - score(batch, weights, i, inside[0]))
    assert len(alone.inside.which) == 0
    assert alone.objective(weights, truth) == pytest.approx(0.5 * weights @ weights + expected)

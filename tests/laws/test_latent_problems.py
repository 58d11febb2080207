"""J-LIS and latent margins over any structure: the joint objective by enumeration, which completions do not raise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from drawing import generators, law, random_mask
from hypothesis import given
from hypothesis import strategies as st
from segmenting import any_batches, outputs_of

from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.completion import CompletedOutputs, Latent, LatentProblem, Positive
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.spaces import Cost


@st.composite
def problems(draw):
    """Gold, inputs with masks, bad and good ones, all over the same few inputs."""
    batch, rng = draw(any_batches(most=2, longest=3)), draw(generators())
    costs = 1.0 - np.eye(batch.space.n_labels)
    right = batch.best(rng.normal(size=batch.scorer.size)).labels
    mask = random_mask(rng, (len(right), batch.space.n_labels), 0.5)
    mask[np.arange(len(right)), right] = 1
    prices, sizes = rng.uniform(0.1, 2.0, (4, len(batch))), rng.uniform(0.5, 3.0, len(batch))
    blank = Cost(np.zeros(len(right), dtype=np.int32), costs)
    problem = LatentProblem(
        TargetTerms(batch, Cost(right, costs), prices[0]),
        Latent(TargetTerms(batch, blank, prices[1]), mask),
        NegativeTerms(batch, sizes, prices[2]),
        Positive(batch, sizes, prices[3]),
    )
    return problem, batch, mask, rng


def by_definition(problem, batch, completion, weights, power):
    """Q(w, ŷ), term by term, from the scores of all outputs."""
    total, right = 0.5 * weights @ weights, problem.gold.cost.targets
    for i in range(len(batch)):
        a, b = int(batch.starts[i]), int(batch.starts[i + 1])
        outputs = outputs_of(batch.space, i)
        each = np.tile(right, (len(outputs), 1))
        each[:, a:b] = outputs
        values = np.array([batch.score(weights, one)[i] for one in each])
        size = problem.negative.sizes[i]
        for terms, target in ((problem.gold, right), (problem.latent.terms, completion.latent)):
            own = values[np.flatnonzero((outputs == target[a:b]).all(1))[0]]
            loss = max(0.0, np.max((outputs != target[a:b]).sum(1) + values) - own)
            total += terms.prices[i] * loss**power
        total += problem.negative.prices[i] * max(0.0, 1.0 + values.max() / size + weights[0]) ** power
        good = values[np.flatnonzero((outputs == completion.positive[a:b]).all(1))[0]]
        total += problem.positive.prices[i] * max(0.0, 1.0 - good / size - weights[0]) ** power
    return total


@law(40)
@given(problems(), st.sampled_from([1, 2]))
def test_the_joint_objective_and_its_completions(drawn, power):
    problem, batch, mask, rng = drawn
    weights = rng.normal(size=batch.scorer.size)
    completion, changed, good = problem.complete(weights, CompletedOutputs(), None)
    assert len(changed) == len(good) == len(batch)
    inside = batch.space.inside(mask)
    for i in range(len(batch)):
        a, b = int(batch.starts[i]), int(batch.starts[i + 1])
        for labels, space in ((completion.latent, inside), (completion.positive, batch.space)):
            whole = np.tile(labels, (len(outputs_of(space, i)), 1))
            whole[:, a:b] = outputs_of(space, i)
            best = max(batch.score(weights, one)[i] for one in whole)
            np.testing.assert_allclose(batch.score(weights, labels)[i], best, rtol=1e-9, atol=1e-9)
    there = weights + 0.5 * rng.normal(size=len(weights))
    for at in (weights, there):
        terms = problem.convex(completion)
        found = 0.5 * at @ at + total_loss(terms.worst(at).values, terms.prices, power)
        np.testing.assert_allclose(found, by_definition(problem, batch, completion, at, power), rtol=1e-9, atol=1e-9)
    after, *_ = problem.complete(there, completion, None)
    before, now = (by_definition(problem, batch, one, there, power) for one in (completion, after))
    assert now <= before + 1e-9


@law(8)
@given(problems())
def test_no_round_of_a_completion_raises_the_joint_objective(drawn):
    problem, batch, _, _ = drawn
    learner = MarginLearner.fresh(problem, MarginOptions(tolerance=1e-3, max_rounds=60), size=batch.scorer.size)
    told = [record.objective for record in learner.run() if record.completion > 0]
    assert all(after <= before * (1 + 1e-9) + 1e-9 for before, after in pairwise(told))
    if told and learner.completion.latent is not None and learner.completion.positive is not None:
        weights = learner.weights
        value = by_definition(problem, batch, learner.completion, weights, 2)
        np.testing.assert_allclose(value, learner.solver.best_primal, rtol=1e-6, atol=1e-6)

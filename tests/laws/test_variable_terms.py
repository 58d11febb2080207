"""Objectives over variables: the terms that any structure has, on a batch of variables."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import generators, law
from drawing_variables import Drawn, admitted_at_random, drawn_variables
from hypothesis import given

from sidelight.objective.batch import Batch
from sidelight.objective.companion_likelihood import Answers
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.objective.variable_scorer import variable_batch
from sidelight.spaces import Cost


def batch_of(drawn: Drawn) -> Batch:
    return variable_batch(drawn.rows, drawn.variables, drawn.layout)


@law(80)
@given(generators())
def test_cuts_support_the_terms(rng: np.random.Generator) -> None:
    drawn = drawn_variables(rng)
    batch, size = batch_of(drawn), drawn.layout.n_labels
    count = len(batch)
    cost = Cost(batch.space.random(rng), 1.0 - np.eye(size))
    target = TargetTerms(batch, cost, np.ones(count))
    negative = NegativeTerms(batch, rng.random(count) + 0.5, np.ones(count))
    other = rng.normal(size=drawn.layout.size)
    for terms in (target, negative):
        worst = terms.worst(drawn.weights)
        cuts = terms.cuts(worst, np.arange(count))
        np.testing.assert_allclose(cuts.offsets + cuts.slopes.dot(drawn.weights), worst.values, atol=1e-9)
        assert np.all(cuts.offsets + cuts.slopes.dot(other) <= terms.worst(other).values + 1e-9)
    assert np.all(target.worst(drawn.weights).values >= -1e-9)


@law(40)
@given(generators())
def test_the_gradient_of_the_likelihood(rng: np.random.Generator) -> None:
    drawn = drawn_variables(rng)
    batch = batch_of(drawn)
    count = len(batch)
    answers = Answers(np.where(rng.random(count) < 0.5, 1.0, -1.0), rng.random(count) + 0.5)
    inputs = [
        Labelled(batch, rng.random(count), targets=batch.space.random(rng)),
        Labelled(batch, rng.random(count), admitted=admitted_at_random(rng, drawn.space)),
        Labelled(batch, rng.random(count), answers=answers),
    ]
    problem = likelihood_problem(inputs[: int(rng.integers(1, 4))])
    gradient = np.empty(problem.size)
    value = problem.value_and_gradient(drawn.weights, gradient)
    assert value == pytest.approx(problem.value(drawn.weights))
    along = rng.normal(size=problem.size)
    step = 1e-5
    slope = (problem.value(drawn.weights + step * along) - problem.value(drawn.weights - step * along)) / (2 * step)
    assert slope == pytest.approx(float(gradient @ along), rel=1e-5, abs=1e-5)

"""The averaged perceptron against a plain one that keeps every weight vector."""

from __future__ import annotations

import numpy as np
from drawing import batches, dense_rows_of, generators, labelings, law, members_of, plain_scores, values_of
from hypothesis import given
from hypothesis import strategies as st

from sidelight.objective.online.online import perceptron_epoch
from sidelight.solvers.perceptron import Perceptron


def plain_perceptron(batch, targets, importance, epochs, rng):
    """Final weights, every weight vector met (the first is zero), and mistakes per epoch."""
    weights = np.zeros(batch.scorer.size)
    met, mistakes = [weights.copy()], []
    starts = batch.scorer.rows.starts
    for _ in range(epochs):
        wrong = 0
        for i in rng.permutation(len(batch)):
            a, b = int(starts[i]), int(starts[i + 1])
            paths = labelings(batch.scorer.layout.n_labels, b - a)
            paths = paths[members_of(batch.space, a, paths)]
            totals = values_of(plain_scores(batch.scorer.rows, batch.scorer.layout, weights), a, paths)
            tied = paths[totals >= totals.max() - 1e-9]
            guess = min(tied.tolist(), key=lambda path: path[::-1])  # from the end, ties go to the lowest label
            if guess != targets[a:b].tolist():
                wrong += 1
                outputs = targets.copy()
                outputs[a:b] = guess
                ones = {"scales": np.ones(1), "thresholds": np.zeros(1)}
                step = batch.differences(np.array([i]), targets, outputs, **ones)
                weights = weights + importance[i] * dense_rows_of(step, len(weights))[0]
            met.append(weights.copy())
        mistakes.append(wrong)
    return weights, np.array(met), mistakes


def run(batch, targets, importance, epochs, seed):
    perceptron = Perceptron.fresh(batch.scorer.size)
    rng = np.random.default_rng(seed)
    mistakes = [
        perceptron.epoch(lambda *rest: perceptron_epoch(batch, targets, importance, *rest), rng.permutation(len(batch)))
        for _ in range(epochs)
    ]
    return perceptron, mistakes


@st.composite
def cases(draw):
    """Whole-numbered features, so that 32-bit weights are exact and ties are ties."""
    batch = draw(batches(most=4, longest=3))
    rng = draw(generators())
    rows = batch.scorer.rows
    if len(rows.values):
        rows.values[:] = np.round(rows.values)
    rows.dense[:] = np.round(rows.dense)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    return batch, targets, rng.integers(1, 3, len(batch)).astype(float), draw(st.integers(0, 99))


@law(40)
@given(cases())
def test_weights_and_mistakes(case):
    batch, targets, importance, seed = case
    expected, _, wrong = plain_perceptron(batch, targets, importance, 3, np.random.default_rng(seed))
    perceptron, mistakes = run(batch, targets, importance, 3, seed)
    assert mistakes == wrong
    np.testing.assert_array_equal(perceptron.weights, expected)
    assert perceptron.clock == 1 + 3 * len(batch)


@law(40)
@given(cases())
def test_the_average_is_the_mean_of_the_weights_met(case):
    batch, targets, importance, seed = case
    _, met, _ = plain_perceptron(batch, targets, importance, 3, np.random.default_rng(seed))
    average = run(batch, targets, importance, 3, seed)[0].average()
    np.testing.assert_allclose(average, met.mean(axis=0), atol=1e-9)


@law(20)
@given(cases())
def test_the_average_made_in_place_is_the_average(case):
    batch, targets, importance, seed = case
    perceptron, _ = run(batch, targets, importance, 2, seed)
    average = perceptron.average()
    again = Perceptron.going_on(perceptron.weights.copy(), average.copy(), perceptron.clock)
    np.testing.assert_allclose(again.totals, perceptron.totals, atol=1e-9)
    np.testing.assert_array_equal(perceptron.turn_into_average(), average)

"""L-BFGS and OWL-QN against scipy on the same problems."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import batches, generators, law, random_mask
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidelight.features.gradient import FullFeatures
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions

EXACT = {"epsilon": 1e-9, "delta": 0.0}


def run(evaluate, start, most=2000, scales=None, **options):
    solver = Lbfgs.fresh(start, LbfgsOptions(**options), scales=scales)
    values = []
    while not solver.stopped and solver.iterations < most:
        values.append(solver.step(evaluate))
    return solver, values


def scipy_says(evaluate, start, l1=0.0):
    """The minimum by scipy; with an L1 norm, over weights split into two parts that are not negative."""
    size = len(start)

    def smooth(weights):
        gradient = np.empty(size)
        return evaluate(weights, gradient), gradient

    def split(parts):
        value, gradient = smooth(parts[:size] - parts[size:])
        return value + l1 * parts.sum(), np.concatenate([gradient + l1, l1 - gradient])

    options = {"maxiter": 20000, "maxfun": 200000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 20}
    if l1 == 0.0:
        return minimize(smooth, start, jac=True, method="L-BFGS-B", options=options).fun
    parts = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    return minimize(split, parts, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(parts), options=options).fun


def likelihood(batch, rng, *, convex=True, l2=0.2):
    targets = rng.integers(0, batch.scorer.layout.n_labels, batch.scorer.rows.n_tokens).astype(np.int32)
    features = FullFeatures.of(batch.scorer.rows, batch.scorer.layout)
    terms = [LikelihoodTerms(features, batch.space, 0.3 + rng.random(len(batch)), targets=targets)]
    if not convex:
        admitted = random_mask(rng, (len(targets), batch.scorer.layout.n_labels), 0.5)
        admitted[np.arange(len(targets)), targets] = 1
        terms.append(LikelihoodTerms(features, batch.space, np.ones(len(batch)), admitted=admitted))
    return LikelihoodProblem(terms, l2=l2)


@law(25)
@given(batches(masked=False), generators(), st.booleans())
def test_crf_reaches_the_minimum(batch, rng, scaled):
    problem = likelihood(batch, rng)
    start = rng.normal(size=problem.size)
    scales = 1.0 / np.sqrt(problem.curvature()) if scaled else None
    solver, values = run(problem.value_and_gradient, start, scales=scales, **EXACT)
    assert np.all(np.diff(values) <= 0)
    expected = scipy_says(problem.value_and_gradient, start)
    assert abs(solver.value - expected) <= 1e-6 * abs(expected)
    assert solver.gradient_norm <= 1e-6 * max(1.0, float(np.linalg.norm(solver.weights)))


@law(15)
@given(batches(masked=False), generators())
def test_candidates_lead_to_a_stationary_point(batch, rng):
    problem = likelihood(batch, rng, convex=False)
    solver, values = run(problem.value_and_gradient, rng.normal(size=problem.size), **EXACT)
    assert np.all(np.diff(values) <= 0)
    gradient = np.empty(problem.size)
    problem.value_and_gradient(solver.weights, gradient)
    assert np.linalg.norm(gradient) <= 1e-5


@law(20)
@given(
    batches(masked=False), generators(), st.sampled_from([0.05, 0.5, 2.0]), st.sampled_from([0.0, 0.3]), st.booleans()
)
def test_l1_reaches_the_minimum(batch, rng, l1, l2, scaled):
    problem = likelihood(batch, rng, l2=l2)
    start = np.zeros(problem.size)
    scales = 0.2 + rng.random(problem.size) if scaled else None
    solver, values = run(problem.value_and_gradient, start, scales=scales, l1=l1, **EXACT)
    assert np.all(np.diff(values) <= 0)
    expected = scipy_says(problem.value_and_gradient, start, l1)
    assert abs(solver.value - expected) <= (1e-6 if l2 > 0 else 1e-5) * abs(expected)
    gradient = np.empty(problem.size)
    smooth = problem.value_and_gradient(solver.weights, gradient)
    np.testing.assert_allclose(solver.value, smooth + l1 * np.abs(solver.weights).sum(), rtol=1e-12)
    zero = solver.weights == 0.0
    assert np.all(np.abs(gradient[zero]) <= l1 + 1e-6)
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(solver.weights[~zero]), atol=1e-4)


def test_a_strong_l1_leaves_nothing():
    centre = np.array([3.0, -0.4, 0.0, 2.0])

    def evaluate(weights, gradient):
        gradient[:] = weights - centre
        return 0.5 * float(gradient @ gradient)

    solver, _ = run(evaluate, np.ones(4), l1=1.0, **EXACT)
    np.testing.assert_allclose(solver.weights, [2.0, 0.0, 0.0, 1.0], atol=1e-8)
    solver, _ = run(evaluate, np.ones(4), l1=3.5, **EXACT)
    np.testing.assert_array_equal(solver.weights, np.zeros(4))


def test_scales_help_where_curvatures_differ():
    curvature = np.geomspace(1.0, 1e5, 60)

    def evaluate(weights, gradient):
        gradient[:] = curvature * (weights - 1.0)
        return 0.5 * float(np.sum(curvature * (weights - 1.0) ** 2))

    plain, _ = run(evaluate, np.zeros(60), epsilon=1e-8, delta=0.0)
    scaled, _ = run(evaluate, np.zeros(60), scales=1.0 / np.sqrt(curvature), epsilon=1e-8, delta=0.0)
    np.testing.assert_allclose(scaled.weights, np.ones(60), atol=1e-7)
    assert scaled.evaluations * 5 < plain.evaluations


def rosenbrock(weights, gradient):
    a, b = weights[:-1], weights[1:]
    gradient[:] = 0.0
    gradient[:-1] = -2 * (1 - a) - 400 * a * (b - a * a)
    gradient[1:] += 200 * (b - a * a)
    return float(np.sum((1 - a) ** 2 + 100 * (b - a * a) ** 2))


def test_a_curved_valley():
    start = np.tile([-1.2, 1.0], 5)
    solver, values = run(rosenbrock, start, **EXACT)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(solver.weights, np.ones(10), atol=1e-6)
    assert solver.evaluations < 400


def test_the_direction_is_that_of_two_loops():
    """The coefficients agree with the usual recursion over vectors."""
    solver = Lbfgs.fresh(np.tile([-1.2, 1.0], 4), LbfgsOptions(memory=3, **EXACT))
    pairs = []
    for _ in range(9):
        weights, gradient = solver.weights.copy(), solver.gradient.copy()
        solver.step(rosenbrock)
        if solver.iterations:
            pairs = [*pairs, (solver.weights - weights, solver.gradient - gradient)][-3:]
        left = solver.gradient.copy()
        shares = []
        for s, y in reversed(pairs):
            shares.append(s @ left / (s @ y))
            left = left - shares[-1] * y
        if pairs:
            left = left * (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1])
        for (s, y), share in zip(pairs, reversed(shares)):
            left = left + s * (share - y @ left / (s @ y))
        direction, slope = solver._direction()
        np.testing.assert_allclose(direction, -left, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(slope, -left @ solver.gradient, rtol=1e-6)


def test_stopping_rules():
    centre = np.linspace(1, 50, 20)

    def evaluate(weights, gradient):
        gradient[:] = centre * (weights - 1.0)
        return 1.0 + 0.5 * float(np.sum(centre * (weights - 1.0) ** 2))

    by_gradient, _ = run(evaluate, np.zeros(20), epsilon=1e-3, delta=0.0)
    assert by_gradient.stopped == "gradient"
    assert by_gradient.gradient_norm <= 1e-3 * np.linalg.norm(by_gradient.weights)
    by_decrease, values = run(evaluate, np.zeros(20), epsilon=0.0, delta=0.5, period=2)
    assert by_decrease.stopped == "decrease"
    assert values[-3] - values[-1] <= 0.5 * values[-1]
    assert values[-4] - values[-2] > 0.5 * values[-2]
    done = by_gradient.value
    assert by_gradient.step(evaluate) == done
    with pytest.raises(ValueError, match="first weights"):
        run(lambda weights, gradient: np.nan, np.zeros(2))
    with pytest.raises(ValueError, match="memory"):
        LbfgsOptions(memory=0)


@pytest.mark.parametrize("l1", [0.0, 0.01])
@pytest.mark.parametrize("scales", [None, np.linspace(0.5, 2.0, 10)])
def test_going_on_gives_the_same_bits(l1, scales):
    options = LbfgsOptions(l1=l1, **EXACT)
    whole = Lbfgs.fresh(np.tile([-1.2, 1.0], 5), options, scales=scales)
    for _ in range(30):
        whole.step(rosenbrock)
    for point in (0, 1, 2, 7, 20):
        solver = Lbfgs.fresh(np.tile([-1.2, 1.0], 5), options, scales=scales)
        for _ in range(point):
            solver.step(rosenbrock)
        state = solver.state()
        solver = Lbfgs.fresh(np.zeros(10), options, scales=scales)
        solver.resume(*state)
        for _ in range(30 - point):
            solver.step(rosenbrock)
        np.testing.assert_array_equal(solver.weights, whole.weights)
        assert solver.value == whole.value
        assert solver.evaluations == whole.evaluations


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr("sidelight.solvers.lbfgs.SPAN", 7)
    found = []
    for n_jobs in (1, 2, 3):
        solver = Lbfgs.fresh(np.tile([-1.2, 1.0], 20), LbfgsOptions(**EXACT), n_jobs=n_jobs)
        for _ in range(12):
            solver.step(rosenbrock)
        found.append(solver.weights)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])

"""Stochastic gradient descent: every step is a gradient step, and the way leads to the minimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import batches, generators, law, plain_scores, random_mask, random_rows
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Infeasible
from sidelight.features.layout import Layout
from sidelight.features.rows import offsets_of
from sidelight.features.support import Shown, Support
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.companion_likelihood import Answers, CompanionTerms
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms
from sidelight.objective.online.online_likelihood import OnlineLikelihood
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.solvers.sgd import Sgd
from sidelight.spaces import ChainSpace, Transitions


def known_labels(batch, rng, kind):
    """Targets that the space admits, and candidates around them."""
    size = batch.scorer.layout.n_labels
    scores = plain_scores(batch.scorer.rows, batch.scorer.layout, rng.normal(size=batch.scorer.size))
    targets = batch.space.best(scores).labels
    admitted = random_mask(rng, (len(targets), size), 0.5)
    admitted[np.arange(len(targets)), targets] = 1
    if kind == "gold":
        return {"targets": targets}
    return {"admitted": admitted}


def features_of(batch, known, support, transitions="all"):
    if support == "all":
        return SupportedFeatures.of(batch.scorer.rows, Support.all(batch.scorer.layout))
    return SupportedFeatures.of(
        batch.scorer.rows,
        Support.seen(batch.scorer.layout, [Shown(batch.scorer.rows, **known)], transitions=transitions),
    )


@law(80)
@given(
    batches(),
    generators(),
    st.sampled_from(["gold", "candidates"]),
    st.sampled_from([("all", "all"), ("seen", "all"), ("seen", "seen")]),
    st.sampled_from([1.0, 1e-8]),
)
def test_a_step_is_a_gradient_step(batch, rng, kind, support, scale):
    known = known_labels(batch, rng, kind)
    features = features_of(batch, known, *support)
    prices = 0.2 + rng.random(len(batch))
    online = OnlineLikelihood.of(features, batch.space, prices, **known)
    weights = features.shorten(features.expand(rng.normal(size=features.size)))
    v = online.vector(weights) / scale
    np.testing.assert_allclose(online.weights(v, scale), weights, rtol=1e-12)
    np.testing.assert_allclose(scale * np.linalg.norm(v), np.linalg.norm(weights), rtol=1e-12)
    relative = prices / prices.mean()
    clock, decay = 3.0, 0.7
    rate = 1.0 / (clock * decay)
    everything = np.arange(len(batch))
    problem = LikelihoodProblem([LikelihoodTerms(features, batch.space, relative, **known)], l2=0.0)
    loss, same = online.epoch(everything, v.copy(), scale=scale, clock=clock, decay=decay, move=False)
    assert same == scale
    np.testing.assert_allclose(loss, relative @ problem.losses(weights), rtol=1e-9, atol=1e-9)
    for i in everything:
        price = np.where(everything == i, relative, 0.0)
        problem = LikelihoodProblem([LikelihoodTerms(features, batch.space, price, **known)], l2=0.0)
        gradient = np.empty(problem.size)
        problem.value_and_gradient(weights, gradient)
        moved = v.copy()
        one, after = online.epoch(np.array([i]), moved, scale=scale, clock=clock, decay=decay)
        np.testing.assert_allclose(one, price @ problem.losses(weights), rtol=1e-9, atol=1e-9)
        expected = (1.0 - rate * decay) * weights - rate * gradient
        np.testing.assert_allclose(online.weights(moved, after), expected, rtol=1e-8, atol=1e-8)


@law(60)
@given(batches(), generators(), st.booleans(), st.sampled_from([1.0, 1e-8]))
def test_a_step_on_a_companion_answer_is_a_gradient_step(batch, rng, limited, scale):
    """Beside Gold, in one support; against the gradient of the terms, and against finite differences."""
    known = known_labels(batch, rng, "gold")
    features = features_of(batch, known, "seen")
    space = batch.space
    if limited:
        space = space.inside(known_labels(batch, rng, "candidates")["admitted"])
    count = len(batch)
    answers = Answers(rng.choice([-1.0, 1.0], count), 0.5 + rng.random(count))
    prices = 0.2 + rng.random(count)
    gold = LikelihoodTerms(features, batch.space, prices, **known)
    companions = CompanionTerms.of(features, space, prices[::-1].copy(), answers)
    online = OnlineLikelihood.of_terms([gold, companions])
    mean = np.concatenate([gold.prices, companions.prices]).mean()
    weights = features.shorten(features.expand(rng.normal(size=features.size)))
    v = online.vector(weights) / scale
    everything = np.arange(2 * count)
    loss, _ = online.epoch(everything, v.copy(), scale=scale, clock=3.0, decay=0.7, move=False)
    whole = LikelihoodProblem([gold, companions], l2=0.0)
    np.testing.assert_allclose(loss, whole.value(weights) / mean, rtol=1e-9, atol=1e-9)
    for i in range(count):
        alone = np.where(np.arange(count) == i, companions.prices, 0.0) / mean
        problem = LikelihoodProblem([replace(companions, prices=alone)], l2=0.0)
        gradient = np.empty(problem.size)
        value = problem.value_and_gradient(weights, gradient)
        moved = v.copy()
        one, after = online.epoch(np.array([count + i]), moved, scale=scale, clock=3.0, decay=0.7)
        np.testing.assert_allclose(one, value, rtol=1e-9, atol=1e-9)
        expected = (1.0 - 1.0 / 3.0) * weights - gradient / (3.0 * 0.7)
        np.testing.assert_allclose(online.weights(moved, after), expected, rtol=1e-8, atol=1e-8)
        direction = rng.normal(size=len(weights))
        ends = [problem.value(weights + step * direction) for step in (1e-5, -1e-5)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-5, gradient @ direction, rtol=1e-4, atol=1e-6)


def small_problem(l2=1.0, *, price=0.5, enlarged=1.0):
    rng = np.random.default_rng(0)
    layout = Layout(3, 12, 2)
    rows = random_rows(rng, offsets_of(rng.integers(1, 6, 60)), 12, 2, valued=True)
    rows = replace(rows, values=enlarged * rows.values)
    targets = (rows.indices[np.minimum(rows.indptr[:-1], len(rows.indices) - 1)] % 3).astype(np.int32)
    space = ChainSpace(rows.starts, 3)
    features = SupportedFeatures.of(rows, Support.all(layout))
    prices = np.full(len(rows), price)
    problem = LikelihoodProblem([LikelihoodTerms(features, space, prices, targets=targets)], l2=l2)
    relative = prices if price > 0 else np.ones(len(rows))
    online = OnlineLikelihood.of(features, space, relative, targets=targets)
    return problem, online, l2 / relative.sum()


def test_epochs_lead_to_the_minimum():
    problem, online, decay = small_problem()
    best = Lbfgs.fresh(np.zeros(problem.size), LbfgsOptions(epsilon=1e-8, delta=0.0))
    while not best.stopped:
        best.step(problem.value_and_gradient)
    rng = np.random.default_rng(1)
    sgd = Sgd.fresh(online, np.zeros(online.size), decay=decay)
    values = []
    for _ in range(200):
        sgd.epoch(online, rng)
        values.append(problem.value_and_gradient(online.weights(sgd.v, sgd.scale), np.empty(problem.size)))
    assert values[0] < problem.value_and_gradient(np.zeros(problem.size), np.empty(problem.size))
    assert best.value <= min(values)
    assert values[-1] <= best.value * 1.01
    assert values[-1] - best.value < 0.2 * (values[2] - best.value)


def test_calibration_does_best_on_the_sample():
    _, online, decay = small_problem()
    sgd = Sgd.fresh(online, np.zeros(online.size), decay=decay)
    rate = sgd.calibrated(online, np.random.default_rng(3))
    sample = np.random.default_rng(3).permutation(len(online))[:1000]
    chosen = sgd._after(online, sample, rate)
    for factor in (0.25, 0.5, 2.0, 4.0):
        assert chosen <= sgd._after(online, sample, rate * factor)
    np.testing.assert_array_equal(sgd.v, np.zeros(online.size))


def test_calibration_goes_down_until_a_step_does_good():
    _, online, decay = small_problem(enlarged=1e4)
    sgd = Sgd.fresh(online, np.zeros(online.size), decay=decay)
    rate = sgd.calibrated(online, np.random.default_rng(3))
    everything = np.arange(len(online))
    still = sgd._objective(online, everything, sgd.v, sgd.scale)
    assert sgd._after(online, everything, rate) < still
    assert rate < 1e-4
    assert not sgd._after(online, everything, 1e-4) < still


def test_the_average_is_that_of_the_weights_on_the_way():
    _, online, decay = small_problem()
    whole = Sgd.fresh(online, np.zeros(online.size), decay=decay)
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    clock = 1.0 / (decay * whole.calibrated(online, same))
    v, scale = np.zeros(online.size), 1.0
    for looks in (16, 16, 16, 32):  # it begins anew after epochs 1, 2, 4, …
        whole.epoch(online, rng)
        assert whole.looks == looks
        if looks == 16:
            met = []
        for part in np.array_split(same.permutation(len(online)), 16):
            _, scale = online.epoch(part, v, scale=scale, clock=clock, decay=decay)
            clock += len(part)
            met.append(scale * v)
        np.testing.assert_allclose(whole.scale * whole.v, scale * v, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(whole.average(), np.mean(met, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("price", [1.0, 10.0, 100.0])
def test_noise_does_not_end_training(price):
    problem, _, _ = small_problem(price=price)
    best = Lbfgs.fresh(np.zeros(problem.size), LbfgsOptions(epsilon=1e-8, delta=0.0))
    while not best.stopped:
        best.step(problem.value_and_gradient)
    reached = []
    for tolerance in (1e-3, 1e-5, 0.0):
        learner = LikelihoodLearner.fresh(problem, LikelihoodOptions(300, solver="sgd", tolerance=tolerance))
        records = list(learner.run())
        assert records[-1].objective == min(record.primal for record in records)
        np.testing.assert_allclose(problem.value(problem.shorten(learner.finish())), records[-1].objective, rtol=1e-12)
        reached.append(records[-1].objective / best.value - 1.0)
    assert len(records) == 300  # with tolerance 0 nothing but max_rounds ends it
    assert reached[0] < 1e-3 and reached[1] < 2e-4 and reached[2] < 1e-3


def test_it_goes_on_to_the_same_bits_after_steps_were_halved():
    problem, _, _ = small_problem(price=100.0)
    options = LikelihoodOptions(300, solver="sgd", tolerance=1e-3)
    whole = LikelihoodLearner.fresh(problem, options)
    records = list(whole.run())
    first = LikelihoodLearner.fresh(problem, options)
    for _ in first.run():
        if first.engine.halved:
            break
    assert 0 < first.rounds < len(records) - 5
    again = LikelihoodLearner.fresh(problem, options)
    again.resume(first.state())
    assert [one.objective for one in again.run()] == [one.objective for one in records[first.rounds :]]
    np.testing.assert_array_equal(again.finish(), whole.finish())


def test_half_a_step_is_half_a_step():
    _, online, decay = small_problem()
    first, second = (Sgd.fresh(online, np.zeros(online.size), decay=decay) for _ in range(2))
    first.clock = second.clock = 50.0
    second.halve()
    one = np.array([4])
    for sgd in (first, second):
        sgd.scale = online.epoch(one, sgd.v, scale=1.0, clock=sgd.clock, decay=decay)[1]
    np.testing.assert_allclose(first.scale * first.v, 2.0 * second.scale * second.v, rtol=1e-12)


def test_refusals():
    free, _, _ = small_problem(price=0.0)
    with pytest.raises(ValueError, match=r"all prices are 0.*use lbfgs"):
        LikelihoodLearner.fresh(free, LikelihoodOptions(solver="sgd"))
    _, online, _ = small_problem()
    with pytest.raises(ValueError, match="L2"):
        Sgd.fresh(online, np.zeros(online.size), decay=0.0)
    features = online.features
    space = ChainSpace(features.rows.starts, 3)
    with pytest.raises(ValueError, match="no other masks"):
        masked = space.inside(np.ones((features.rows.n_tokens, 3), dtype=np.uint8))
        OnlineLikelihood.of(features, masked, np.ones(60), targets=online.targets)
    nothing = Transitions(np.ones((3, 3), np.uint8), np.zeros(3, np.uint8), np.ones(3, np.uint8))
    closed = OnlineLikelihood.of(
        features, ChainSpace(features.rows.starts, 3, nothing), np.ones(60), targets=online.targets
    )
    with pytest.raises(Infeasible, match="no labeling"):
        closed.epoch(np.arange(2), np.zeros(online.size), scale=1.0, clock=1.0, decay=1.0)

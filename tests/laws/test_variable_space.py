"""Variables as a space to learn over: every query against enumeration, and the features against their adjoint."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from drawing import generators, law
from drawing_variables import Drawn, admitted_at_random, drawn_variables
from hypothesis import given

from sidelight.errors import Infeasible, Intractable
from sidelight.features.variables import add_variable_parts, variable_differences, variable_scores
from sidelight.spaces import Cost, elimination
from sidelight.spaces.variables import VariableSpace


def outputs(drawn: Drawn, space: VariableSpace, i: int) -> Iterator[tuple[np.ndarray, float]]:
    """All outputs of an input, and their scores by the definition."""
    layout, rows, weights = drawn.layout, drawn.rows, drawn.weights
    starts, admitted = space.starts, space.admitted
    here = range(int(starts[i]), int(starts[i + 1]))
    first = np.concatenate([[0], np.cumsum(layout.kinds)])
    sparse = layout.attribute_weights(weights)
    pairs = space.variables.pairs[space.variables.pair_starts[i] : space.variables.pair_starts[i + 1]]
    for choices in itertools.product(*(np.flatnonzero(admitted[v]).tolist() for v in here)):
        score = 0.0
        for v, choice in zip(here, choices):
            score += weights[1 + choice]
            for k in range(int(rows.indptr[v]), int(rows.indptr[v + 1])):
                value = rows.values[k] if len(rows.values) else 1.0
                score += value * sparse[rows.indices[k], choice]
        for sort, a, b in pairs.tolist():
            one, other = layout.pairs[sort]
            score += layout.table(weights, sort)[choices[a] - first[one], choices[b] - first[other]]
        yield np.array(choices, np.int32), score


def drawn_with_mask(rng: np.random.Generator) -> tuple[Drawn, VariableSpace]:
    drawn = drawn_variables(rng)
    space = drawn.space
    return drawn, space.inside(admitted_at_random(rng, space)) if rng.random() < 0.5 else space


@law(150)
@given(generators())
def test_the_best_output_with_and_without_a_cost(rng: np.random.Generator) -> None:
    drawn, space = drawn_with_mask(rng)
    targets, size = drawn.space.random(rng), drawn.layout.n_labels
    cost = Cost(targets, rng.random((size, size)), rng.random(len(targets)))
    plain, raised = space.best(drawn.scores), space.best(drawn.scores, cost=cost)
    tied = space.best(drawn.scores, rng=rng)
    np.testing.assert_allclose(raised.targets, drawn.space.score(drawn.scores, targets))
    np.testing.assert_allclose(tied.values, plain.values)
    np.testing.assert_allclose(space.score(drawn.scores, tied.labels), plain.values)
    assert space.admits(plain.labels).all() and space.admits(raised.labels).all() and space.feasible().all()
    for i in range(len(space.variables)):
        here = slice(int(space.starts[i]), int(space.starts[i + 1]))
        own = list(outputs(drawn, space, i))
        assert plain.values[i] == pytest.approx(max(score for _, score in own))
        with_cost = [score + cost.part(here.start, here.stop).of(np.array([0, len(y)]), y)[0] for y, score in own]
        assert raised.values[i] == pytest.approx(max(with_cost))
    np.testing.assert_allclose(space.score(drawn.scores, plain.labels), plain.values, atol=1e-9)


@law(100)
@given(generators())
def test_outside_the_candidates(rng: np.random.Generator) -> None:
    drawn, space = drawn_with_mask(rng)
    left = admitted_at_random(rng, space)
    outside = space.outside(left)
    feasible = outside.feasible()
    for i in range(len(space.variables)):
        own = left[int(space.starts[i]) : int(space.starts[i + 1])]
        found = [score for y, score in outputs(drawn, space, i) if not own[np.arange(len(y)), y].all()]
        assert bool(feasible[i]) == bool(found)
        if found:
            one = outside.take(np.array([i]))
            scores = variable_scores(drawn.rows.take([i]), drawn.layout, drawn.weights)
            assert one.best(scores).values[0] == pytest.approx(max(found))


@law(100)
@given(generators())
def test_sums_and_beliefs(rng: np.random.Generator) -> None:
    drawn, space = drawn_with_mask(rng)
    prices = rng.random(len(space.variables))
    found = space.beliefs(drawn.scores, prices=prices)
    expected = np.zeros(drawn.layout.size)
    for i in range(len(space.variables)):
        own = list(outputs(drawn, space, i))
        total = math.log(sum(math.exp(score) for _, score in own))
        assert found.log_sums[i] == pytest.approx(total) == pytest.approx(space.log_sums(drawn.scores)[i])
        for y, score in own:
            whole = np.zeros(int(space.starts[-1]), np.int32)
            whole[int(space.starts[i]) : int(space.starts[i + 1])] = y
            rows = differences(drawn, np.array([i]), whole, None, np.array([prices[i] * math.exp(score - total)]))
            np.add.at(expected, rows.indices, rows.values)
    gradient = np.zeros(drawn.layout.size)
    add_variable_parts(drawn.rows, drawn.layout, found.slots, found.tables, gradient)
    np.testing.assert_allclose(gradient, expected, atol=1e-9)
    marginals = space.marginals(drawn.scores)
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    assert not marginals[space.admitted == 0].any()


def differences(drawn: Drawn, which, plus, minus, scales, thresholds=None):
    return variable_differences(
        drawn.rows,
        drawn.variables,
        drawn.layout,
        which=which,
        plus=plus,
        minus=minus,
        scales=scales,
        thresholds=np.zeros(len(which)) if thresholds is None else thresholds,
    )


@law(100)
@given(generators())
def test_differences_are_adjoint_to_scores(rng: np.random.Generator) -> None:
    drawn = drawn_variables(rng)
    space, count = drawn.space, len(drawn.variables)
    plus, minus = space.random(rng), space.random(rng)
    which = rng.permutation(count)[: int(rng.integers(0, count + 1))]
    scales, thresholds = rng.normal(size=len(which)), rng.normal(size=len(which))
    rows = differences(drawn, which, plus, minus, scales, thresholds)
    expected = scales * (space.score(drawn.scores, plus) - space.score(drawn.scores, minus))[which]
    np.testing.assert_allclose(rows.dot(drawn.weights), expected + thresholds * drawn.weights[0], atol=1e-9)
    one = differences(drawn, which, plus, None, np.ones(len(which)))
    np.testing.assert_allclose(one.dot(drawn.weights), space.score(drawn.scores, plus)[which], atol=1e-9)
    for row in range(len(rows)):
        assert np.all(np.diff(rows.indices[rows.indptr[row] : rows.indptr[row + 1]]) > 0)


@law(60)
@given(generators())
def test_k_best_in_order(rng: np.random.Generator) -> None:
    drawn, space = drawn_with_mask(rng)
    k = int(rng.integers(1, 9))
    labels, values = space.k_best(drawn.scores, k)
    for i in range(len(space.variables)):
        here = slice(int(space.starts[i]), int(space.starts[i + 1]))
        worth = sorted((score for _, score in outputs(drawn, space, i)), reverse=True)[:k]
        np.testing.assert_allclose(values[: len(worth), i], worth, atol=1e-9)
        assert np.all(values[len(worth) :, i] == -np.inf) and np.all(labels[len(worth) :, here] == -1)
        assert len({tuple(row) for row in labels[: len(worth), here]}) == len(worth)
    for rank in range(k):
        real = values[rank] > -np.inf
        assert space.admits(np.maximum(labels[rank], 0))[real].all()


@law(60)
@given(generators())
def test_parts_and_some_of_the_inputs(rng: np.random.Generator) -> None:
    drawn, space = drawn_with_mask(rng)
    count = len(space.variables)
    whole = space.best(drawn.scores)
    which = rng.permutation(count)
    taken = space.take(which).best(variable_scores(drawn.rows.take(which), drawn.layout, drawn.weights))
    np.testing.assert_allclose(taken.values, whole.values[which])
    lo, hi = sorted(rng.integers(0, count + 1, 2).tolist())
    part = space.part(lo, hi).best(variable_scores(drawn.rows.part(lo, hi), drawn.layout, drawn.weights))
    np.testing.assert_allclose(part.values, whole.values[lo:hi])


def test_samples_come_as_often_as_they_should() -> None:
    rng = np.random.default_rng(5)
    drawn = drawn_variables(rng, most=3, inputs=1)
    space = drawn.space
    own = list(outputs(drawn, space, 0))
    weights = np.exp([score for _, score in own])
    expected = weights / weights.sum()
    number = {tuple(y): n for n, (y, _) in enumerate(own)}
    for draw, chances in (
        (lambda: space.sample(drawn.scores, rng), expected),
        (lambda: space.random(rng), np.full(len(own), 1 / len(own))),
    ):
        counts = np.zeros(len(own))
        for _ in range(4000):
            counts[number[tuple(draw())]] += 1
        assert np.abs(counts / 4000 - chances).max() < 0.03


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(elimination, "MOST_CELLS", 4)
    elimination.plan_of.cache_clear()
    yield
    elimination.plan_of.cache_clear()


@pytest.mark.usefixtures("little_room")
def test_what_is_too_large_for_elimination() -> None:
    """The best output by a program; sums name what is missing."""
    refused = []

    @law(40)
    @given(generators())
    def run(rng: np.random.Generator) -> None:
        drawn, space = drawn_with_mask(rng)
        found = space.best(drawn.scores)
        for i in range(len(space.variables)):
            assert found.values[i] == pytest.approx(max(score for _, score in outputs(drawn, space, i)), abs=1e-6)
        try:
            space.log_sums(drawn.scores)
            refused.append(False)
        except Intractable as error:
            assert "elimination needs a table" in str(error)
            refused.append(True)

    run()
    assert any(refused) and not all(refused)


def test_a_variable_without_a_choice() -> None:
    drawn = drawn_variables(np.random.default_rng(1))
    mask = np.ones((len(drawn.variables.kinds), drawn.layout.n_labels), np.uint8)
    mask[0] = 0
    space = drawn.space.inside(mask)
    assert not space.feasible()[0] and space.feasible()[1:].all()
    for query in (space.best, space.beliefs):
        with pytest.raises(Infeasible, match="sequence 0"):
            query(drawn.scores)

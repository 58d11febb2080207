"""Variables beyond the laws of `test_structures`: frequencies of samples, and what is too large for elimination."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from drawing import generators, law
from drawing_variables import admitted_at_random, drawn_variables
from hypothesis import given

from sidelight.errors import Infeasible, Intractable
from sidelight.objective.scorers.variable_scorer import variable_batch
from sidelight.spaces.variables import elimination
from sidelight.testing.outputs import listed


def test_samples_come_as_often_as_they_should() -> None:
    rng = np.random.default_rng(5)
    drawn = drawn_variables(rng, most=3, inputs=1)
    space = drawn.space
    own = listed(variable_batch(drawn.rows, drawn.variables, drawn.layout), drawn.weights)[0]
    weights = np.exp(own.scores)
    expected = weights / weights.sum()
    number = {tuple(y): n for n, y in enumerate(own.outputs)}
    for draw, chances in (
        (lambda: space.sample(drawn.scores, rng), expected),
        (lambda: space.random(rng), np.full(len(number), 1 / len(number))),
    ):
        counts = np.zeros(len(number))
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
        drawn = drawn_variables(rng)
        space = drawn.space.inside(admitted_at_random(rng, drawn.space))
        batch = variable_batch(drawn.rows, drawn.variables, drawn.layout).within(space)
        found = space.best(drawn.scores)
        for one in listed(batch, drawn.weights):
            assert found.values[one.number] == pytest.approx(one.scores.max(), abs=1e-6)
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

"""Lagrangian relaxation bounds the best value, and what it calls exact is the best."""

from __future__ import annotations

import math

import pytest
from drawing import law
from drawing_segments import segmentations
from drawing_variables import variable_problems
from hypothesis import given
from hypothesis import strategies as st

from chain_problems import chain_problems
from expressions import enumerated
from sidelight.errors import Infeasible, Intractable
from sidelight.inference.methods.lagrangian import solve_lagrangian
from sidelight.inference.problem import RuledProblem, Solution


def check(problem: RuledProblem, steps: int) -> Solution | None:
    _, best = enumerated(problem)
    try:
        found = solve_lagrangian(problem, most_steps=steps)
    except Infeasible:
        assert best == -math.inf
        return None
    except Intractable:
        assert best > -math.inf
        return None
    assert found.value == pytest.approx(problem.value(found.labels))
    assert best > -math.inf
    assert found.value <= best + 1e-9 <= found.bound + 1e-6
    if found.exact:
        assert found.value == pytest.approx(best, abs=1e-5)
    return found


@pytest.mark.parametrize(
    "problems",
    [chain_problems(depth=3), chain_problems(second_order=True, depth=3), segmentations(depth=3), variable_problems()],
    ids=["first order", "second order", "segments", "variables"],
)
def test_bounds(problems: st.SearchStrategy[RuledProblem]) -> None:
    met: list[bool] = []

    @law(150)
    @given(problems)
    def run(problem: RuledProblem) -> None:
        found = check(problem, 100)
        if found is not None:
            met.append(found.exact)

    run()
    assert sum(met) > 0.7 * len(met) > 0


@law(100)
@given(st.one_of(chain_problems(longest=5, most_labels=2, most_rules=2), variable_problems(most_rules=2)))
def test_few_steps_are_honest(problem: RuledProblem) -> None:
    check(problem, 3)

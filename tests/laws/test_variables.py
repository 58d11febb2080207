"""Outputs that are not chains: every method against enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from expressions import expressions
from sidelight.errors import Infeasible, Intractable
from sidelight.inference import elimination
from sidelight.inference.problem import Clause, Solution
from sidelight.inference.variable_lagrangian import solve_variable_lagrangian
from sidelight.inference.variable_program import solve_variable_program, solve_variable_relaxation
from sidelight.inference.variable_search import solve_variable_a_star, solve_variable_beam
from sidelight.inference.variables import VariableProblem, enumerated_variables, solve_variables
from sidelight.rules.expr import pieces


@st.composite
def variable_problems(draw: st.DrawFn) -> VariableProblem:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    same = draw(st.booleans())
    sizes = [3] * draw(st.integers(1, 4)) if same else draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    tied, forbidding = draw(st.booleans()), draw(st.integers(0, 3)) == 0

    def scores(*shape: int) -> np.ndarray:
        found = rng.integers(-2, 3, shape).astype(float) if tied else rng.normal(size=shape)
        if forbidding:
            found[rng.random(shape) < 0.15] = -np.inf
        return found

    pairs = tuple((v, w) for w in range(len(sizes)) for v in range(w) if rng.random() < 0.4)
    clauses = []
    for number in range(draw(st.integers(0, 3))):
        says = draw(expressions(len(sizes), min(sizes), 2, same))
        penalty = draw(st.sampled_from([0.5, 2.0, math.inf]))
        clauses += [Clause(number, piece, penalty) for piece in pieces(says)]
    return VariableProblem(
        tuple(scores(size) for size in sizes),
        pairs,
        tuple(scores(sizes[v], sizes[w]) for v, w in pairs),
        tuple(clauses),
    )


def agrees(problem: VariableProblem, solver: Callable[[VariableProblem], Solution]) -> None:
    _, best = enumerated_variables(problem)
    if best == -math.inf:
        with pytest.raises(Infeasible):
            solver(problem)
        return
    found = solver(problem)
    assert found.exact
    assert problem.value(found.labels) == pytest.approx(best, abs=1e-6)
    assert found.value == pytest.approx(best, abs=1e-6)


@law(200)
@given(variable_problems())
def test_elimination(problem: VariableProblem) -> None:
    agrees(problem, elimination.solve_elimination)


@law(80)
@given(variable_problems(), st.booleans())
def test_program(problem: VariableProblem, lazy: bool) -> None:
    agrees(problem, lambda given: solve_variable_program(given, lazy=lazy))


@law(200)
@given(variable_problems())
def test_a_star(problem: VariableProblem) -> None:
    agrees(problem, solve_variable_a_star)


def claims_no_more_than_is_true(
    problem: VariableProblem, solve: Callable[[], Solution], *, slack: float
) -> Solution | None:
    """Its value is that of its output, its bound holds, and a proof is one; None where it found no output."""
    _, best = enumerated_variables(problem)
    try:
        found = solve()
    except Infeasible:
        assert best == -math.inf
        return None
    except Intractable:
        assert best > -math.inf
        return None
    assert found.value == pytest.approx(problem.value(found.labels))
    assert found.value <= best + 1e-9 <= found.bound + 1e-9 + slack
    assert not found.exact or found.value == pytest.approx(best, abs=10 * slack)
    return found


@law(200)
@given(variable_problems(), st.sampled_from([1, 2, 5, 1000]))
def test_beam(problem: VariableProblem, width: int) -> None:
    if width == 1000:  # nothing is given up
        agrees(problem, lambda given: solve_variable_beam(given, width=width))
    claims_no_more_than_is_true(problem, lambda: solve_variable_beam(problem, width=width), slack=1e-9)


@pytest.mark.parametrize(("steps", "proofs"), [(3, 0.2), (200, 0.6)])
def test_lagrangian(steps: int, proofs: float) -> None:
    met: list[bool] = []

    @law(100)
    @given(variable_problems())
    def run(problem: VariableProblem) -> None:
        found = claims_no_more_than_is_true(
            problem, lambda: solve_variable_lagrangian(problem, most_steps=steps), slack=1e-6
        )
        if found is not None:
            met.append(found.exact)

    run()
    assert sum(met) > proofs * len(met) > 0


@law(80)
@given(variable_problems())
def test_relaxation(problem: VariableProblem) -> None:
    _, best = enumerated_variables(problem)
    try:
        found = solve_variable_relaxation(problem)
    except Infeasible:
        assert best == -math.inf
        return
    except Intractable:
        return
    assert found.bound >= best - 1e-6
    assert found.value <= best + 1e-9
    assert not found.exact or found.value == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(("clause_cells", "cells"), [(3, 10**6), (10**4, 8)])
def test_whatever_is_too_large_for_tables(monkeypatch: pytest.MonkeyPatch, clause_cells: int, cells: int) -> None:
    monkeypatch.setattr(elimination, "MOST_CLAUSE_CELLS", clause_cells)
    monkeypatch.setattr(elimination, "MOST_CELLS", cells)
    elimination._plan.cache_clear()
    methods = set()

    @law(80)
    @given(variable_problems())
    def run(problem: VariableProblem) -> None:
        agrees(problem, solve_variables)
        if enumerated_variables(problem)[1] > -math.inf:
            methods.add(solve_variables(problem).method)

    run()
    elimination._plan.cache_clear()
    assert methods >= {"elimination", "linear relaxation"}

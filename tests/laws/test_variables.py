"""Variables: what is too large for elimination goes to the program, or to multipliers of rows that tie pairs."""

from __future__ import annotations

import math

import pytest
from drawing import law
from drawing_variables import variable_problems
from hypothesis import given

from expressions import enumerated
from sidelight.inference import factors
from sidelight.inference.folding import folded
from sidelight.inference.methods.choose import solve
from sidelight.inference.methods.lagrangian import solve_lagrangian
from sidelight.inference.problem import VariableProblem
from sidelight.spaces.variables import elimination


@pytest.mark.parametrize(("clause_cells", "cells"), [(3, 10**6), (10**4, 8)])
def test_whatever_is_too_large_for_tables(monkeypatch: pytest.MonkeyPatch, clause_cells: int, cells: int) -> None:
    monkeypatch.setattr(factors, "MOST_CLAUSE_CELLS", clause_cells)
    monkeypatch.setattr(elimination, "MOST_CELLS", cells)
    elimination.plan_of.cache_clear()
    methods, proved = set(), []

    @law(80)
    @given(variable_problems())
    def run(problem: VariableProblem) -> None:
        _, best = enumerated(problem)
        if best == -math.inf:
            return
        found = solve(problem)
        assert found.exact and found.value == pytest.approx(best, abs=1e-6)
        assert problem.value(found.labels) == pytest.approx(best, abs=1e-6)
        methods.add(found.method)
        if folded(problem).ties() is not None:
            relaxed = solve_lagrangian(problem)
            assert relaxed.value <= best + 1e-9 <= relaxed.bound + 1e-6
            proved.append(relaxed.exact)

    run()
    elimination.plan_of.cache_clear()
    assert methods == {"elimination", "integer program"}
    assert bool(proved) == (cells == 8)

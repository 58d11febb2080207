"""Integer programs find what enumeration finds, relaxations bound it, and conflicts are minimal."""

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
from sidelight.inference.legal import conflicting_rules
from sidelight.inference.methods.program import feasible, solve_program, solve_relaxation
from sidelight.inference.problem import Clause, RuledProblem


def agrees(problem: RuledProblem, lazy: bool) -> None:
    _, best = enumerated(problem)
    if best == -math.inf:
        with pytest.raises(Infeasible):
            solve_program(problem, lazy=lazy)
        return
    found = solve_program(problem, lazy=lazy)
    assert found.exact
    assert found.value == pytest.approx(problem.value(found.labels))
    assert found.value == pytest.approx(best, abs=1e-6)
    assert found.taken_in <= len(problem.clauses)


@law(300)
@given(chain_problems())
def test_lazy_program(problem: RuledProblem) -> None:
    agrees(problem, True)


@law(180)
@given(chain_problems())
def test_whole_program(problem: RuledProblem) -> None:
    agrees(problem, False)


@law(160)
@given(chain_problems(second_order=True))
def test_second_order_program(problem: RuledProblem) -> None:
    agrees(problem, True)


@law(160)
@given(variable_problems(), st.booleans())
def test_program_of_variables(problem: RuledProblem, lazy: bool) -> None:
    agrees(problem, lazy)


@law(160)
@given(segmentations(), st.booleans())
def test_program_of_segmentations(problem: RuledProblem, lazy: bool) -> None:
    agrees(problem, lazy)


@law(150)
@given(st.one_of(chain_problems(), segmentations(), variable_problems()))
def test_relaxation(problem: RuledProblem) -> None:
    _, best = enumerated(problem)
    try:
        found = solve_relaxation(problem)
    except Infeasible:
        assert best == -math.inf
        return
    except Intractable:
        assert best > -math.inf
        return
    assert found.bound >= best - 1e-6
    assert found.value <= best + 1e-9
    if found.exact:
        assert found.value == pytest.approx(best, abs=1e-5)


@law(150)
@given(
    st.one_of(
        chain_problems(most_rules=5, depth=1, penalties=(math.inf,)),
        segmentations(most_rules=5, depth=1, most_outputs=81, penalties=(math.inf,)),
        variable_problems(most_rules=5, depth=1, penalties=(math.inf,)),
    )
)
def test_conflicts_are_minimal(problem: RuledProblem) -> None:
    def possible(clauses: tuple[Clause, ...]) -> bool:
        return enumerated(problem.with_clauses(clauses))[1] > -math.inf

    assert feasible(problem, problem.clauses) == possible(problem.clauses)
    if possible(problem.clauses):
        return
    rules = conflicting_rules(problem.clauses, possible)
    chosen = tuple(clause for clause in problem.clauses if clause.rule in rules)
    assert not possible(chosen)
    for rule in rules:
        assert possible(tuple(clause for clause in chosen if clause.rule != rule))

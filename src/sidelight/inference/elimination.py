"""Exact inference by eliminating variables one by one (nonserial dynamic programming; Bertelè and Brioschi 1972).

Scores and clauses are tables over the variables that they speak of. To eliminate a variable, add up the tables that
speak of it and maximise over its labels: a table over its neighbours remains. On the way back each variable takes its
best label given those that were eliminated later. For entities and relations this goes through relations first, each a
table over its two entities, and ends with one table over all entities: enumeration that knows the structure.

Which variable comes next (the one whose table is smallest) depends on what speaks of what, not on scores, so plans are
kept. A clause about too many variables for a table is left out at first; where the best output obeys it, all is well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.problem import Clause, Solution
from sidelight.inference.variables import VariableProblem
from sidelight.rules.expr import Expr
from sidelight.rules.signatures import signature
from sidelight.rules.tables import degree_table
from sidelight.rules.truth import degree

MOST_CELLS = 2_000_000  # of the largest table
MOST_CLAUSE_CELLS = 20_000  # of one clause
Scope = tuple[int, ...]  # variables, rising


@dataclass(frozen=True, slots=True)
class Step:
    """Eliminate one variable: which tables to add up, how each is shaped for it, and what it leaves."""

    variable: int
    scope: Scope  # of the sum; the variable among them
    axis: int  # of the variable in `scope`
    inputs: tuple[tuple[int, tuple[int, ...]], ...]  # number of a table, and its shape within `scope`
    output: int  # number of the table that is left; −1 where nothing is left but a number


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of elimination for one structure."""

    steps: tuple[Step, ...]
    cells: int  # of the largest table
    n_tables: int


def solve_elimination(problem: VariableProblem, *, names: Sequence[str] = ()) -> Solution:
    """The best output, exactly; raises `Infeasible` where there is none, `Intractable` where tables grow too large."""
    tables, wide = _tables(problem)
    plan = _plan(tuple(tables), problem.sizes)
    if plan.cells > MOST_CELLS:
        raise Intractable(f"elimination needs a table of {plan.cells} cells; use a relaxation or the integer program")
    labels, value = _eliminate(plan, list(tables.values()), len(problem.sizes))
    if value == -math.inf:
        raise infeasible(problem.clauses, lambda chosen: _feasible(problem, chosen), names)
    if any(degree(clause.says, labels) for clause in wide):
        raise Intractable("the best output breaks a clause about too many variables; use the integer program")
    return Solution(labels, value, value, True, "elimination", len(problem.clauses) - len(wide), plan.cells)


def _feasible(problem: VariableProblem, clauses: tuple[Clause, ...]) -> bool:
    tables, _ = _tables(replace(problem, clauses=clauses))
    plan = _plan(tuple(tables), problem.sizes)
    return _eliminate(plan, list(tables.values()), len(problem.sizes))[1] > -math.inf


def _tables(problem: VariableProblem) -> tuple[dict[Scope, Floats], list[Clause]]:
    """Scores and clauses by scope, and the clauses that are too wide for a table."""
    found: dict[Scope, Floats] = {(v,): scores for v, scores in enumerate(problem.scores)}
    for pair, scores in zip(problem.pairs, problem.pair_scores):
        found[pair] = scores
    wide: list[Clause] = []
    sizes = problem.sizes
    for clause in problem.clauses:
        seen: dict[int, int] = {}
        said = signature(clause.says, seen)
        shape = tuple(sizes[v] for v in seen)
        if math.prod(shape) > MOST_CLAUSE_CELLS:
            wide.append(clause)
            continue
        scope = tuple(sorted(seen))
        axes = tuple(seen[v] for v in scope)
        table = _clause_table(_Shape(said, shape, axes, clause.penalty, clause.says, tuple(seen)))
        before = found.get(scope)
        found[scope] = table if before is None else before + table
    return found, wide


class _Shape:
    """A clause up to the names of its variables: what its table depends on, and one clause of that shape."""

    __slots__ = ("axes", "key", "order", "penalty", "says", "shape")

    def __init__(
        self, said: object, shape: tuple[int, ...], axes: Scope, penalty: float, says: Expr, order: Scope
    ) -> None:
        self.key = (said, shape, axes, penalty)
        self.shape, self.axes, self.penalty, self.says, self.order = shape, axes, penalty, says, order

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and self.key == other.key


@lru_cache(maxsize=1024)
def _clause_table(clause: _Shape) -> Floats:
    """What a clause costs, its variables in rising order."""
    broken = degree_table(clause.says, clause.order, clause.shape)
    hard = clause.penalty == math.inf
    worth = np.where(broken > 0, -math.inf, 0.0) if hard else -clause.penalty * broken
    return np.array(worth.transpose(clause.axes), order="C")


@lru_cache(maxsize=256)
def _plan(scopes: tuple[Scope, ...], sizes: tuple[int, ...]) -> Plan:
    """Always the variable whose table is smallest; ties go to the first."""
    held: dict[int, Scope] = {number: scope for number, scope in enumerate(scopes) if scope}
    near: dict[int, set[int]] = {v: {v} for v in range(len(sizes))}
    for scope in held.values():
        for v in scope:
            near[v].update(scope)
    steps: list[Step] = []
    largest, number = 1, len(scopes)
    while near:
        cells = {v: math.prod(sizes[w] for w in around) for v, around in near.items()}
        variable = min(cells, key=lambda v: (cells[v], v))
        largest = max(largest, cells[variable])
        scope = tuple(sorted(near.pop(variable)))
        mine = [table for table, over in held.items() if variable in over]
        inputs = [(table, tuple(sizes[w] if w in held[table] else 1 for w in scope)) for table in mine]
        for table in mine:
            del held[table]
        rest = tuple(w for w in scope if w != variable)
        steps.append(Step(variable, scope, scope.index(variable), tuple(inputs), number if rest else -1))
        if rest:
            held[number] = rest
            number += 1
        for w in rest:
            near[w].discard(variable)
            near[w].update(rest)
        if largest > MOST_CELLS:
            break
    return Plan(tuple(steps), largest, number)


def _eliminate(plan: Plan, tables: list[Floats], count: int) -> tuple[tuple[int, ...], float]:
    held: list[Floats | None] = [*tables, *[None] * (plan.n_tables - len(tables))]
    sums: list[Floats] = []
    value = sum(float(table) for table in tables if table.ndim == 0)
    for step in plan.steps:
        total: Floats | None = None
        for number, shape in sorted(step.inputs, key=lambda given: -math.prod(given[1])):
            table = held[number]
            assert table is not None
            table = table.reshape(shape)
            total = table if total is None else total + table
        assert total is not None
        sums.append(total)
        left = total.max(axis=step.axis)
        if step.output < 0:
            value += float(left)
        else:
            held[step.output] = left
    labels = [0] * count
    if value > -math.inf:
        for step, total in zip(reversed(plan.steps), reversed(sums)):
            place = tuple(slice(None) if v == step.variable else labels[v] for v in step.scope)
            labels[step.variable] = int(total[place].argmax())
    return tuple(labels), value

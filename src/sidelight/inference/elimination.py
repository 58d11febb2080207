"""Exact inference by eliminating variables one by one (nonserial dynamic programming; Bertelè and Brioschi 1972).

Scores and clauses are tables over the variables that they speak of. To eliminate a variable, add up the tables that
speak of it and maximise over its labels: a table over its neighbours remains. On the way back each variable takes its
best label given those that were eliminated later. For entities and relations this goes through relations first, each a
table over its two entities, and ends with one table over all entities: enumeration that knows the structure.

Which variable comes next (the one whose table is smallest) depends on what speaks of what, not on scores, so plans are
kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.errors import Intractable

MOST_CELLS = 2_000_000  # of the largest table
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

    @property
    def tractable(self) -> bool:
        """Whether its tables stay small."""
        return self.cells <= MOST_CELLS


def eliminated(tables: Mapping[Scope, Floats], sizes: tuple[int, ...]) -> tuple[Ids, float, int]:
    """The best labels of variables, their value, and the cells of the largest table.

    Raises `Intractable` where tables grow too large.

    >>> labels, value, _ = eliminated({(0,): np.array([0.0, 1.0]), (0, 1): np.array([[5.0, 0.0], [0.0, 3.0]])}, (2, 2))
    >>> labels.tolist(), value
    ([0, 0], 5.0)
    """
    plan = plan_of(tuple(tables), sizes)
    if not plan.tractable:
        raise Intractable(f"elimination needs a table of {plan.cells} cells; use a relaxation or the integer program")
    return *_eliminate(plan, list(tables.values()), len(sizes)), plan.cells


@lru_cache(maxsize=256)
def plan_of(scopes: tuple[Scope, ...], sizes: tuple[int, ...]) -> Plan:
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


def _eliminate(plan: Plan, tables: list[Floats], count: int) -> tuple[Ids, float]:
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
    return np.array(labels, np.int32), value

"""Exact inference by eliminating variables one by one (nonserial dynamic programming; Bertelè and Brioschi 1972).

Scores and clauses are tables over their variables. To eliminate a variable, sum the tables that contain it and maximise
over its labels: a table over its neighbours remains. In the backward pass, each variable takes its best label given
those eliminated later. For entities and relations, relations are eliminated first, each leaving a table over its two
entities, and the last table is over all entities: enumeration that uses the structure.

With log-sums instead of maxima, the same steps give the sum over all outputs. In the backward pass, the belief about a
step's table is the belief about its result times that about its variable given the rest (a junction tree with the same
order).

The next variable is the one with the smallest table. The order depends only on which tables contain which variables,
not on scores, so plans are cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import Intractable

MOST_CELLS = 2_000_000  # of the largest table
Scope = tuple[int, ...]  # variables, rising


@dataclass(frozen=True, slots=True)
class Step:
    """The elimination of one variable: the tables to sum, their shapes, and the resulting table."""

    variable: int
    scope: Scope  # of the sum; the variable among them
    axis: int  # of the variable in `scope`
    inputs: tuple[tuple[int, tuple[int, ...]], ...]  # number of a table, and its shape within `scope`
    output: int  # number of the table that is left; −1 where nothing is left but a number


@dataclass(frozen=True, slots=True)
class EliminationPlan:
    """The order of elimination for one structure."""

    steps: tuple[Step, ...]
    cells: int  # of the largest table
    scopes: tuple[Scope, ...]  # of every table, the given ones first

    @property
    def tractable(self) -> bool:
        """Whether its tables stay small."""
        return self.cells <= MOST_CELLS


def eliminated(
    tables: Mapping[Scope, Floats], sizes: tuple[int, ...], *, rng: np.random.Generator | None = None
) -> tuple[Ids, float, int]:
    """The best labels of variables, their value, and the cells of the largest table.

    With `rng` a label among those that tie is drawn, variable by variable. Raises `Intractable` if tables grow too
    large.

    >>> labels, value, _ = eliminated({(0,): np.array([0.0, 1.0]), (0, 1): np.array([[5.0, 0.0], [0.0, 3.0]])}, (2, 2))
    >>> labels.tolist(), value
    ([0, 0], 5.0)
    """
    plan = _tractable(tables, sizes)
    totals, _, value = _forward(plan, tables, np.max)

    def pick(worth: Floats) -> int:
        return int(worth.argmax()) if rng is None else int(rng.choice(np.flatnonzero(worth == worth.max())))

    labels = _back(plan, totals, len(sizes), pick) if value > -math.inf else np.zeros(len(sizes), np.int32)
    return labels, value, plan.cells


def log_sum(tables: Mapping[Scope, Floats], sizes: tuple[int, ...]) -> float:
    """log Σ exp(value) over all labels; raises `Intractable` as `eliminated`."""
    return _forward(_tractable(tables, sizes), tables, _log_sums)[2]


def sampled(tables: Mapping[Scope, Floats], sizes: tuple[int, ...], rng: np.random.Generator) -> Ids:
    """Labels drawn with probability proportional to exp(value); raises `Intractable` as `eliminated`."""
    plan = _tractable(tables, sizes)

    def pick(worth: Floats) -> int:
        chances = np.exp(worth - worth.max()).cumsum()
        return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))

    return _back(plan, _forward(plan, tables, _log_sums)[0], len(sizes), pick)


def believed(tables: Mapping[Scope, Floats], sizes: tuple[int, ...]) -> tuple[dict[Scope, Floats], float]:
    """The probability of every cell of every table, and the log-sum; raises `Intractable` as `eliminated`.

    >>> found, total = believed({(0,): np.log([1.0, 3.0])}, (2,))
    >>> found[0,].round(2).tolist(), round(math.exp(total), 9)
    ([0.25, 0.75], 4.0)
    """
    plan = _tractable(tables, sizes)
    totals, lefts, value = _forward(plan, tables, _log_sums)
    of: dict[int, Floats] = {}  # the belief in every table that has been read, by its number
    for step, total, left in zip(reversed(plan.steps), reversed(totals), reversed(lefts)):
        rest = np.ones(()) if step.output < 0 else of.pop(step.output)
        with np.errstate(invalid="ignore"):  # −inf − −inf where nothing is possible, which has no belief
            joint = np.exp(total - np.expand_dims(left, step.axis)) * np.expand_dims(rest, step.axis)
        joint = np.nan_to_num(joint, nan=0.0)
        for number, _ in step.inputs:
            others = tuple(axis for axis, v in enumerate(step.scope) if v not in plan.scopes[number])
            of[number] = joint.sum(axis=others)
    return {scope: of[number] for number, scope in enumerate(tables)}, value


@lru_cache(maxsize=256)
def plan_of(scopes: tuple[Scope, ...], sizes: tuple[int, ...]) -> EliminationPlan:
    """Always the variable whose table is smallest; ties go to the first."""
    held: dict[int, Scope] = {number: scope for number, scope in enumerate(scopes) if scope}
    near: dict[int, set[int]] = {v: {v} for v in range(len(sizes))}
    for scope in held.values():
        for v in scope:
            near[v].update(scope)
    steps: list[Step] = []
    every, largest = [*scopes], 1
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
        steps.append(Step(variable, scope, scope.index(variable), tuple(inputs), len(every) if rest else -1))
        if rest:
            held[len(every)] = rest
            every.append(rest)
        for w in rest:
            near[w].discard(variable)
            near[w].update(rest)
        if largest > MOST_CELLS:
            break
    return EliminationPlan(tuple(steps), largest, tuple(every))


def _tractable(tables: Mapping[Scope, Floats], sizes: tuple[int, ...]) -> EliminationPlan:
    plan = plan_of(tuple(tables), sizes)
    if not plan.tractable:
        raise Intractable(f"elimination needs a table of {plan.cells} cells; use a relaxation or the integer program")
    return plan


def _forward(
    plan: EliminationPlan, tables: Mapping[Scope, Floats], reduce: Callable[..., Floats]
) -> tuple[list[Floats], list[Floats], float]:
    """The sum of every step's tables, its result, and the total value."""
    held: list[Floats | None] = [*tables.values(), *[None] * (len(plan.scopes) - len(tables))]
    totals: list[Floats] = []
    lefts: list[Floats] = []
    value = 0.0
    for step in plan.steps:
        total: Floats | None = None
        for number, shape in sorted(step.inputs, key=lambda input_: -math.prod(input_[1])):
            table = held[number]
            assert table is not None
            table = table.reshape(shape)
            total = table if total is None else total + table
        assert total is not None
        left = reduce(total, axis=step.axis)
        totals.append(total)
        lefts.append(left)
        if step.output < 0:
            value += float(left)
        else:
            held[step.output] = left
    return totals, lefts, value


def _back(plan: EliminationPlan, totals: list[Floats], count: int, pick: Callable[[Floats], int]) -> Ids:
    """Labels by what is picked for each variable, given those that were eliminated later."""
    labels = [0] * count
    for step, total in zip(reversed(plan.steps), reversed(totals)):
        place = tuple(slice(None) if v == step.variable else labels[v] for v in step.scope)
        labels[step.variable] = pick(total[place])
    return np.array(labels, np.int32)


def _log_sums(total: Floats, axis: int) -> Floats:
    most = total.max(axis=axis, keepdims=True)
    safe = np.where(most > -math.inf, most, 0.0)
    with np.errstate(divide="ignore"):  # the logarithm of 0 where nothing is possible
        sums: Floats = np.log(np.exp(total - safe).sum(axis=axis)) + np.squeeze(safe, axis)
    return sums

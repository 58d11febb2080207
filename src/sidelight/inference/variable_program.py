"""Programs for outputs that are not chains: integer (exact) and linear (a bound, and exact where it is whole).

Columns: z[v, l] of variables and e[v, w, i, j] of scored pairs, with Σ_l z[v, l] = 1, Σ_j e[v, w, i, j] = z[v, i] and
Σ_i e[v, w, i, j] = z[w, j]. The relaxation is that of the local polytope, with the rows of rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.errors import Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import Program, solve, with_rows
from sidelight.inference.problem import Clause, Solution
from sidelight.inference.program import take_in, without_gain
from sidelight.inference.rounding import rounded
from sidelight.inference.variables import VariableProblem
from sidelight.rules.columns import Columns, columns_of
from sidelight.rules.rows import Lowering
from sidelight.rules.truth import degree

CLOSE = 1e-6


def solve_variable_program(
    problem: VariableProblem, *, names: Sequence[str] = (), lazy: bool = False, seconds: float = math.inf
) -> Solution:
    """The best output; `lazy` takes in clauses only when an output breaks them.

    Raises `Infeasible`, naming the rules in conflict, where there is none.
    """
    columns = columns_of(problem.sizes, problem.pairs)
    base = variable_program(problem, columns)
    lowering = Lowering(columns)
    left: list[Clause] = list(problem.clauses) if lazy else []
    taken = 0 if lazy else take_in(lowering, problem.clauses)
    nodes = 0
    while True:
        found = solve(with_rows(base, lowering.rows(), columns.count), integer=True, seconds=seconds)
        nodes += max(found.nodes, 1)
        if found.point is None:
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        labels = _labels(found.point, columns)
        broken = [clause for clause in left if degree(clause.says, labels)]
        if not broken:
            value = problem.value(labels)
            exact = found.bound <= value + CLOSE * max(1.0, abs(value))
            return Solution(labels, value, value if exact else found.bound, exact, "integer program", taken, nodes)
        taken += take_in(lowering, broken)
        left = [clause for clause in left if clause not in broken]


def solve_variable_relaxation(problem: VariableProblem, *, names: Sequence[str] = ()) -> Solution:
    """The output nearest to the linear relaxation, and its bound; exact where both are worth the same.

    Raises `Infeasible`, naming the rules in conflict, where there is none; `Intractable` where none is found.
    """
    columns = columns_of(problem.sizes, problem.pairs)
    lowering = Lowering(columns, tight=True)
    taken = take_in(lowering, problem.clauses)
    found = solve(with_rows(variable_program(problem, columns), lowering.rows(), columns.count), integer=False)
    if found.point is None:
        raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
    labels = _labels(found.point, columns)
    value = problem.value(labels)
    if value == -math.inf:
        parts = [found.point[columns.offsets[v] : columns.offsets[v + 1]] for v in range(len(problem.scores))]
        weights = [np.where(scores > -math.inf, part, -math.inf) for part, scores in zip(parts, problem.scores)]
        near = rounded(weights, problem.clauses, dict(zip(problem.pairs, problem.pair_scores)))
        if near is not None:
            labels, value = near, problem.value(near)
    if value == -math.inf:
        raise Intractable("the linear relaxation has no legal output near it; use the integer program")
    exact = found.value <= value + CLOSE * max(1.0, abs(value))
    return Solution(labels, value, value if exact else found.value, exact, "linear relaxation", taken, 1)


def variable_program(problem: VariableProblem, columns: Columns) -> Program:
    """The program of an output without rules."""
    sizes = problem.sizes
    gain = np.concatenate([*problem.scores, *(table.ravel() for table in problem.pair_scores)])
    rows: list[Ints] = [np.arange(columns.offsets[v], columns.offsets[v + 1]) for v in range(len(sizes))]
    weights: list[Floats] = [np.ones(size) for size in sizes]
    for first, second in problem.pairs:
        place = columns.edges[first, second]
        cells = np.arange(place, place + sizes[first] * sizes[second]).reshape(sizes[first], sizes[second])
        for variable, block in ((first, cells), (second, cells.T)):
            rows += [np.append(line, columns.offsets[variable] + label) for label, line in enumerate(block)]
            weights += [np.append(np.ones(block.shape[1]), -1.0)] * len(block)
    possible = gain > -math.inf
    sums = np.zeros(len(rows))
    sums[: len(sizes)] = 1.0
    return Program(
        gain=np.where(possible, gain, 0.0),
        constant=0.0,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < columns.offsets[-1],
        starts=np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64),
        columns=np.concatenate(rows).astype(np.int64),
        weights=np.concatenate(weights),
        low=sums,
        high=sums,
    )


def feasible(problem: VariableProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys those of these clauses that are hard."""
    columns = columns_of(problem.sizes, problem.pairs)
    lowering = Lowering(columns)
    take_in(lowering, [clause for clause in clauses if clause.hard])
    program = with_rows(variable_program(problem, columns), lowering.rows(), columns.count)
    return solve(without_gain(program), integer=True).point is not None


def _labels(point: Floats, columns: Columns) -> tuple[int, ...]:
    places = columns.offsets
    return tuple(int(point[places[v] : places[v + 1]].argmax()) for v in range(len(places) - 1))

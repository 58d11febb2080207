"""Inference with rules by integer programming (Roth and Yih 2005).

The columns z of labels, and those of pairs that are scored together, are the structure's (`sequence_program`,
`factors`), whose rows define which points are outputs; rules add their own rows and columns. Local clauses are folded
into the gains. The others are added only if the best output without them breaks them: leaving out a clause never lowers
the best value, so the first output that breaks nothing is the best. Each time the linear relaxation is solved first; if
its solution is integral, it is sufficient.

The relaxation alone is a separate method. Its value is never below that of the best output. If its point is integral,
it is the best output. Otherwise outputs are derived from it (the best by the columns of labels, the best by the scores
of the used columns, and a search that follows the columns of labels), and the best legal one is returned, without a
proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import infeasible
from sidelight.inference.problem import Clause, RuledProblem, Solution
from sidelight.rules.columns import InputColumns
from sidelight.rules.lowering.rows import Lowering
from sidelight.spaces.highs import LinearProgram, Optimum, solve, with_rows

CLOSE = 1e-6
MOST_COLUMNS = 5_000_000  # a program of more takes gigabytes before it is solved


def solve_program(
    problem: RuledProblem, *, names: Sequence[str] = (), lazy: bool | None = None, seconds: float = math.inf
) -> Solution:
    """The best output under rules; `names` are the names of the rules. `lazy` defaults to that of the structure.

    Raises `Infeasible`, with the conflicting rules, if there is none; `Intractable` if the time is up before
    any output is found.
    """
    folded_problem = folded(problem, names=names)
    lazy = folded_problem.lazy if lazy is None else lazy
    columns = folded_problem.columns
    if columns.count > MOST_COLUMNS:
        raise Intractable(
            f"the integer program of {problem.length:,} tokens with {problem.n_labels} labels has {columns.count:,} "
            f"columns, and more than {MOST_COLUMNS:,} are refused; cut the input into shorter ones, or use "
            "inference='beam'"
        )
    try:
        labels, bound = folded_problem.plain()
        optimum, nodes = None, 1
    except Intractable:
        optimum, nodes = _best(folded_problem, folded_problem.program(), (), seconds), 1
    base: LinearProgram | None = None
    lowering = Lowering(columns, tight=True)
    counters: list[int] = []
    while True:
        if optimum is not None:
            nodes += max(optimum.nodes, 1)
            bound = optimum.bound
            if optimum.point is not None:
                labels = labels_of(optimum.point, columns)
        if bound == -math.inf:
            raise infeasible(problem.clauses, lambda subset: feasible(problem, subset), names)
        left = [k for k in folded_problem.counters if k not in counters]
        broken = list(folded_problem.broken(labels, left) if lazy else left)
        if not broken:
            best = tuple(labels.tolist())
            worth = problem.value(best)
            exact = bound <= worth + CLOSE * max(1.0, abs(worth))
            count = len(folded_problem.says) - len(folded_problem.counters) + len(counters)
            return Solution(best, worth, worth if exact else bound, exact, "integer program", count, nodes)
        for k in broken:
            lowering.add(folded_problem.says[k], folded_problem.prices[k])
        counters += broken
        base = folded_problem.program() if base is None else base
        optimum = _best(folded_problem, with_rows(base, lowering.rows(), columns.count), counters, seconds)


def _best(problem: Folded, program: LinearProgram, taken: Sequence[int], seconds: float) -> Optimum:
    """The best integral point: that of the relaxation, if it is integral."""
    optimum = solve(program, integer=False)
    if optimum.point is None or _whole(optimum, problem, taken):
        return optimum
    return solve(program, integer=True, seconds=seconds)


def _whole(optimum: Optimum, problem: Folded, taken: Sequence[int]) -> bool:
    """Whether a point of the relaxation is an output with the same value under the clauses in use."""
    assert optimum.point is not None
    if not is_whole(optimum.point, problem.columns):
        return False
    labels = labels_of(optimum.point, problem.columns)
    worth = problem.folded(labels) - sum(problem.prices[k] * much for k, much in problem.broken(labels, taken).items())
    return worth >= optimum.value - CLOSE * max(1.0, abs(optimum.value))


def lowered(problem: Folded) -> LinearProgram:
    """The program with the rows of all clauses."""
    lowering = Lowering(problem.columns, tight=True)
    for k in problem.counters:
        lowering.add(problem.says[k], problem.prices[k])
    return with_rows(problem.program(), lowering.rows(), problem.columns.count)


def feasible(problem: RuledProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys the hard ones of these clauses."""
    folded_problem = folded(problem.with_clauses([clause for clause in clauses if clause.hard]))
    if folded_problem.constant == math.inf:
        return False
    return solve(without_gain(lowered(folded_problem)), integer=True).point is not None


def without_gain(program: LinearProgram) -> LinearProgram:
    """The same points, none better than another."""
    zero = np.zeros_like(program.gain)
    rows = program.starts, program.columns, program.weights, program.low, program.high
    return LinearProgram(zero, 0.0, program.upper, program.whole, *rows)


def is_whole(point: Floats, columns: InputColumns) -> bool:
    """Whether the columns of labels are 0 or 1."""
    nodes = point[: columns.offsets[-1]]
    return bool(np.abs(nodes - np.round(nodes)).max(initial=0.0) <= CLOSE)


def labels_of(point: Floats, columns: InputColumns) -> Ids:
    """The label of every variable whose column is largest. # [V]"""
    return np.array([point[first:last].argmax() for first, last in pairwise(columns.offsets)], dtype=np.int32)


def solve_relaxation(problem: RuledProblem, *, names: Sequence[str] = ()) -> Solution:
    """The output of the linear relaxation, and its bound.

    Raises `Infeasible`, with the conflicting rules, if there is no output; `Intractable` if none is found.
    """
    folded_problem = folded(problem, names=names)
    optimum = Optimum(None, -math.inf, -math.inf, 0)
    if folded_problem.constant < math.inf:
        optimum = solve(lowered(folded_problem), integer=False)
    if optimum.point is None:
        raise infeasible(problem.clauses, lambda subset: feasible(problem, subset), names)
    candidates = [labels_of(optimum.point, folded_problem.columns)]
    if not is_whole(optimum.point, folded_problem.columns):
        candidates += _rounded(folded_problem, optimum.point[: folded_problem.columns.offsets[-1]])
    value, labels = max((problem.value(known), known) for known in (tuple(one.tolist()) for one in candidates))
    if value == -math.inf:
        if not feasible(problem, problem.clauses):
            raise infeasible(problem.clauses, lambda subset: feasible(problem, subset), names)
        raise Intractable("the linear relaxation has no legal output near it; use the integer program")
    exact = optimum.value <= value + CLOSE * max(1.0, abs(value))
    return Solution(
        labels, value, value if exact else optimum.value, exact, "linear relaxation", len(folded_problem.says), 1
    )


def _rounded(problem: Folded, nodes: Floats) -> Iterator[Ids]:
    rest = np.zeros(problem.columns.count - len(nodes))
    used = np.where(nodes > CLOSE, 0.0, -math.inf)
    likely = np.log(np.maximum(nodes, 1e-12)) * 1e3
    try:
        guesses = [problem.best_with(np.concatenate([used, rest]))[0]]
        guesses.append(problem.best_with(np.concatenate([likely, rest]), scored=False)[0])
    except Intractable:  # many variables, and many pairs of them
        guesses = []
    yield from guesses
    if all(problem.value(labels) == -math.inf for labels in guesses):
        searched = problem.near(nodes)
        if searched is not None:
            yield searched

"""Inference with rules by linear programming: the integer program without "whole".

Its value is never below the best output's. Where its point is whole, that is the best output; else an output is made
of it (the best by the columns of labels, the best by the scores of what the point uses, by a search that follows the
columns of labels), and the best legal one is kept, without a proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import infeasible
from sidelight.inference.methods.program import CLOSE, feasible, is_whole, labels_of, lowered
from sidelight.inference.problem import RuledProblem, Solution
from sidelight.spaces.highs import Optimum, solve


def solve_relaxation(problem: RuledProblem, *, names: Sequence[str] = ()) -> Solution:
    """The output of the linear relaxation, and its bound.

    Raises `Infeasible`, naming the rules in conflict, where there is no output; `Intractable` where none is found.
    """
    folded_problem = folded(problem, names=names)
    optimum = Optimum(None, -math.inf, -math.inf, 0)
    if folded_problem.constant < math.inf:
        optimum = solve(lowered(folded_problem), integer=False)
    if optimum.point is None:
        raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
    candidates = [labels_of(optimum.point, folded_problem.columns)]
    if not is_whole(optimum.point, folded_problem.columns):
        candidates += _rounded(folded_problem, optimum.point[: folded_problem.columns.offsets[-1]])
    value, labels = max((problem.value(known), known) for known in (tuple(one.tolist()) for one in candidates))
    if value == -math.inf:
        if not feasible(problem, problem.clauses):
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        raise Intractable("the linear relaxation has no legal output near it; use the integer program")
    exact = optimum.value <= value + CLOSE * max(1.0, abs(value))
    return Solution(
        labels, value, value if exact else optimum.value, exact, "linear relaxation", len(folded_problem.says), 1
    )


def _rounded(given: Folded, nodes: Floats) -> Iterator[Ids]:
    rest = np.zeros(given.columns.count - len(nodes))
    used = np.where(nodes > CLOSE, 0.0, -math.inf)
    likely = np.log(np.maximum(nodes, 1e-12)) * 1e3
    try:
        guesses = [given.best_with(np.concatenate([used, rest]))[0]]
        guesses.append(given.best_with(np.concatenate([likely, rest]), scored=False)[0])
    except Intractable:  # many variables, and many pairs of them
        guesses = []
    yield from guesses
    if all(given.value(labels) == -math.inf for labels in guesses):
        searched = given.near(nodes)
        if searched is not None:
            yield searched

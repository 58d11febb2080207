"""Inference with rules by linear programming: the integer program without "whole".

Its value is never below the best output's. Where its point is whole, that is the best output; else an output is made
of it (by Viterbi over the token columns, by Viterbi over the scores of what the point uses, by a search that follows
the token columns), and the best legal one is kept, without a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import Optimum, solve, with_rows
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.problem import Problem, Solution
from sidelight.inference.program import feasible, labels_of, lattice_program
from sidelight.inference.rounding import near
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering

CLOSE = 1e-6


def solve_relaxation(problem: Problem, *, names: Sequence[str] = ()) -> Solution:
    """The output of the linear relaxation, and its bound.

    Raises `Infeasible`, naming the rules in conflict, where there is no output; `Intractable` where none is found.
    """
    chain = lattice(problem, names=names)
    columns = chain_columns(problem.length, problem.n_labels)
    lowering = Lowering(columns, tight=True)
    for k in chain.counters:
        lowering.add(chain.pieces[k].says, chain.prices[k])
    found = Optimum(None, -math.inf, -math.inf, 0)
    if chain.plain()[1] > -math.inf:
        found = solve(with_rows(lattice_program(chain), lowering.rows(), columns.count), integer=False)
    if found.point is None:
        raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
    nodes = found.point[: chain.tokens.size].reshape(chain.tokens.shape)
    candidates = [tuple(labels_of(found.point, problem.length, problem.n_labels).tolist())]
    if np.abs(nodes - np.round(nodes)).max() > CLOSE:
        candidates += _rounded(problem, chain, nodes)
    value, labels = max((problem.value(labels), labels) for labels in candidates)
    if value == -math.inf:
        if not feasible(problem, problem.clauses):
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        raise Intractable("the linear relaxation has no legal output near it; use the integer program")
    exact = found.value <= value + CLOSE * max(1.0, abs(value))
    return Solution(labels, value, value if exact else found.value, exact, "linear relaxation", len(chain.pieces), 1)


def _rounded(problem: Problem, chain: Lattice, nodes: Floats) -> list[tuple[int, ...]]:
    used = np.where(nodes > CLOSE, 0.0, -math.inf)
    likely = np.log(np.maximum(nodes, 1e-12)) * 1e3
    guesses = chain.best_with(used)[0], chain.best_with(likely, scored=False)[0]
    found = [tuple(int(label) for label in labels) for labels in guesses]
    if all(problem.value(labels) == -math.inf for labels in found):
        searched = near(chain, nodes, problem.clauses)
        if searched is not None:
            found.append(searched)
    return found

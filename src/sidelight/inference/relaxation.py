"""Inference with rules by linear programming: the integer program without "whole".

Its value is never below the best output's. Where its point is whole, that is the best output; else an output is made
of it (by Viterbi over the token columns, by Viterbi over the scores of what the point uses, by a search that follows
the token columns), and the best legal one is kept, without a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import Optimum, solve, with_rows
from sidelight.inference.lattice import lattice
from sidelight.inference.problem import ChainProblem, Solution
from sidelight.inference.program import feasible, labels_of, lattice_program
from sidelight.inference.rounding import rounded
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering
from sidelight.spaces.chain_kernels import viterbi

CLOSE = 1e-6


def solve_relaxation(problem: ChainProblem, *, names: Sequence[str] = ()) -> Solution:
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
    nodes = found.point[: problem.tokens.size].reshape(problem.tokens.shape)
    candidates = [tuple(labels_of(found.point, problem.length, problem.n_labels).tolist())]
    if np.abs(nodes - np.round(nodes)).max() > CLOSE:
        candidates += _rounded(problem, nodes)
    value, labels = max((problem.value(labels), labels) for labels in candidates)
    if value == -math.inf:
        if not feasible(problem, problem.clauses):
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        raise Intractable("the linear relaxation has no legal output near it; use the integer program")
    exact = found.value <= value + CLOSE * max(1.0, abs(value))
    return Solution(labels, value, value if exact else found.value, exact, "linear relaxation", len(chain.pieces), 1)


def _rounded(problem: ChainProblem, nodes: Floats) -> list[tuple[int, ...]]:
    used = np.where(nodes > CLOSE, 0.0, -math.inf)
    likely = np.log(np.maximum(nodes, 1e-12)) * 1e3
    flat = replace(problem, transition=np.where(problem.transition > -math.inf, 0.0, -math.inf))
    found = [_viterbi(replace(problem, tokens=problem.tokens + used)), _viterbi(replace(flat, tokens=likely))]
    if all(problem.value(labels) == -math.inf for labels in found):
        weights = np.where(problem.tokens > -math.inf, nodes, -math.inf)
        weights[0, problem.start == -math.inf] = -math.inf
        weights[-1, problem.end == -math.inf] = -math.inf
        pairs = {(t - 1, t): problem.transition for t in range(1, problem.length)}
        searched = rounded(list(weights), problem.clauses, pairs)
        if searched is not None:
            found.append(searched)
    return found


def _viterbi(problem: ChainProblem) -> tuple[int, ...]:
    """The best path of a first-order chain; of a second-order one without its triples."""
    starts = np.array([0, problem.length], np.int64)
    labels = np.empty(problem.length, np.int32)
    arrays = (problem.tokens, problem.transition, problem.start, problem.end)
    tokens, transition, start, end = (np.ascontiguousarray(array, np.float64) for array in arrays)
    viterbi(starts, 0, 1, tokens, transition, start, end, labels, np.empty(1))
    return tuple(int(label) for label in labels)

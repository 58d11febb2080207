"""Inference with rules by integer programming (Roth and Yih 2005).

Columns: z[t, l] of tokens, e[t, i, j] of neighbouring pairs, f[t, i, j, k] of triples (second order only), tied by

    Σ_l z[0, l] = 1     Σ_j e[t, i, j] = z[t−1, i]     Σ_i e[t, i, j] = z[t, j]
                        Σ_k f[t, i, j, k] = e[t−1, i, j]     Σ_i f[t, i, j, k] = e[t, j, k]

whose corners are the labelings, so that only z (and the columns that rules bring) must be whole numbers. Rules are
taken in only when the best output without them breaks them: leaving out a rule never lowers the best value, so the
first output that breaks nothing is the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import Program, solve, with_rows
from sidelight.inference.problem import ChainProblem, Clause, Solution
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering
from sidelight.rules.truth import degree


def chain_program(problem: ChainProblem) -> Program:
    """The program of a chain without rules; what scores rule out is fixed at 0."""
    length, size = problem.tokens.shape
    nodes, edges = length * size, max(length - 1, 0) * size * size
    triples = 0 if problem.triple is None else max(length - 2, 0) * size**3
    gain = np.empty(nodes + edges + triples)
    gain[:nodes] = problem.tokens.ravel()
    gain[:size] += problem.start
    gain[nodes - size : nodes] += problem.end
    gain[nodes : nodes + edges].reshape(-1, size, size)[:] = problem.transition
    if problem.triple is not None:
        gain[nodes + edges :].reshape(-1, size, size, size)[:] = problem.triple
    possible = gain > -math.inf
    starts, columns, weights, low = _flow(length, size, triples > 0)
    return Program(
        gain=np.where(possible, gain, 0.0),
        constant=0.0,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < nodes,
        starts=starts,
        columns=columns,
        weights=weights,
        low=low,
        high=low,
    )


def solve_program(
    problem: ChainProblem, *, names: Sequence[str] = (), lazy: bool = True, seconds: float = math.inf
) -> Solution:
    """The best output of a chain under rules; `names` are those of the rules.

    Raises `Infeasible`, naming the rules in conflict, where there is none; `Intractable` where the time is up before
    any output is found.
    """
    base, columns = chain_program(problem), chain_columns(problem.length, problem.n_labels)
    left = list(problem.clauses)
    lowering = Lowering(columns)
    taken = nodes = 0
    if not lazy:
        taken, left = take_in(lowering, left), []
    while True:
        found = solve(with_rows(base, lowering.rows(), columns.count), integer=True, seconds=seconds)
        nodes += max(found.nodes, 1)
        if found.point is None:
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        labels = labels_of(found.point, problem)
        broken = [k for k, clause in enumerate(left) if degree(clause.says, labels)]
        if not broken:
            value = problem.value(labels)
            exact = found.bound <= value + 1e-6 * max(1.0, abs(value))
            bound = value if exact else found.bound
            return Solution(labels, value, bound, exact, "integer program", taken, nodes)
        taken += take_in(lowering, [left[k] for k in broken])
        kept = set(broken)
        left = [clause for k, clause in enumerate(left) if k not in kept]


def feasible(problem: ChainProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys these clauses."""
    base, columns = chain_program(problem), chain_columns(problem.length, problem.n_labels)
    lowering = Lowering(columns)
    take_in(lowering, [clause for clause in clauses if clause.hard])
    program = with_rows(base, lowering.rows(), columns.count)
    return solve(without_gain(program), integer=True).point is not None


def take_in(lowering: Lowering, clauses: Sequence[Clause]) -> int:
    """Lower clauses; how many."""
    for clause in clauses:
        lowering.add(clause.says, clause.penalty)
    return len(clauses)


def without_gain(program: Program) -> Program:
    """The same points, none better than another."""
    zero = np.zeros_like(program.gain)
    rows = program.starts, program.columns, program.weights, program.low, program.high
    return Program(zero, 0.0, program.upper, program.whole, *rows)


def labels_of(point: Floats, problem: ChainProblem) -> tuple[int, ...]:
    """The label of every token whose column is largest."""
    nodes = point[: problem.tokens.size].reshape(problem.tokens.shape)
    return tuple(int(label) for label in nodes.argmax(axis=1))


def _flow(length: int, size: int, triples: bool) -> tuple[Ints, Ints, Floats, Floats]:
    """The rows that tie columns together: starts, columns, weights, and what each sums to."""
    nodes = np.arange(length * size).reshape(length, size)
    edges = length * size + np.arange(max(length - 1, 0) * size * size).reshape(-1, size, size)
    blocks = [(nodes[:1], np.ones((1, size)))]
    if length > 1:
        blocks += _ties(edges, nodes[:-1], nodes[1:])
    if triples and length > 2:
        first = length * size + edges.size
        cubes = first + np.arange((length - 2) * size**3).reshape(-1, size, size, size)
        pairs = edges.reshape(len(edges), -1)
        blocks += _ties(cubes.reshape(len(cubes), size * size, size), pairs[:-1], None)
        blocks += _ties(cubes.reshape(len(cubes), size, size * size), None, pairs[1:])
    columns = np.concatenate([block.ravel() for block, _ in blocks]).astype(np.int64)
    weights = np.concatenate([weight.ravel() for _, weight in blocks]).astype(np.float64)
    sizes = np.concatenate([np.full(len(block), block.shape[1]) for block, _ in blocks])
    low = np.zeros(len(sizes))
    low[0] = 1.0
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), columns, weights, low


def _ties(joint: Ints, before: Ints | None, after: Ints | None) -> list[tuple[Ints, Floats]]:
    """Rows that say that sums of joint columns [K, A, B] over B are `before` [K, A], over A `after` [K, B]."""
    found: list[tuple[Ints, Floats]] = []
    for single, sums in ((before, joint), (after, joint.transpose(0, 2, 1))):
        if single is not None:
            rows = np.concatenate([sums, single[:, :, None]], axis=2).reshape(-1, sums.shape[2] + 1)
            weights = np.ones(rows.shape)
            weights[:, -1] = -1.0
            found.append((rows, weights))
    return found

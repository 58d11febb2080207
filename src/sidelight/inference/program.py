"""Inference with rules by integer programming (Roth and Yih 2005).

Columns: z[t, l] of tokens, e[t, i, j] of neighbouring pairs, f[t, i, j, k] of triples (second order only), tied by

    Σ_l z[0, l] = 1     Σ_j e[t, i, j] = z[t−1, i]     Σ_i e[t, i, j] = z[t, j]
                        Σ_k f[t, i, j, k] = e[t−1, i, j]     Σ_i f[t, i, j, k] = e[t, j, k]

whose corners are the labelings, so that only z (and the columns that rules bring) must be whole numbers; for
segmentations see `segment_program`. Clauses about single tokens and neighbours are folded into the gains. The others
are taken in only when the best output without them breaks them: leaving out a clause never lowers the best value, so
the first output that breaks nothing is the best. Each time the linear relaxation is solved first, and is enough where
it is whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.features.rows import offsets_of
from sidelight.inference.chain_lattice import ChainLattice
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import Optimum, Program, solve, with_rows
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.problem import Clause, Problem, Solution
from sidelight.inference.segment_lattice import SegmentLattice
from sidelight.inference.segment_program import segment_program
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering

CLOSE = 1e-6
MOST_COLUMNS = 5_000_000  # a program of more takes gigabytes before it is solved


def chain_program(tokens: Floats, edges: Floats, triple: Floats | None = None) -> Program:
    """The program of a chain without rules; what scores rule out is fixed at 0.

    `tokens` [T, L] have the scores of the start and the end added; `edges` are [T, L, L], of which the first is not
    read, or [L, L] for all tokens alike; `triple` is [L, L, L].
    """
    length, size = tokens.shape
    nodes, pairs = length * size, max(length - 1, 0) * size * size
    triples = 0 if triple is None else max(length - 2, 0) * size**3
    gain = np.empty(nodes + pairs + triples)
    gain[:nodes] = tokens.ravel()
    gain[nodes : nodes + pairs].reshape(-1, size, size)[:] = edges[1:] if edges.ndim == 3 else edges
    if triple is not None:
        gain[nodes + pairs :].reshape(-1, size, size, size)[:] = triple
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


def lattice_program(chain: Lattice) -> Program:
    """The program of a structure with all clauses about single tokens and neighbours in its scores."""
    match chain:
        case ChainLattice():
            triple = chain.triple if len(chain.triple) > 1 else None
            return replace(chain_program(chain.tokens, chain.edges, triple), constant=-chain.constant)
        case SegmentLattice():
            return segment_program(chain)
        case _:
            raise TypeError(f"there is no program of a {type(chain).__name__}")


def solve_program(
    problem: Problem, *, names: Sequence[str] = (), lazy: bool = True, seconds: float = math.inf
) -> Solution:
    """The best output of a chain under rules; `names` are those of the rules.

    Raises `Infeasible`, naming the rules in conflict, where there is none; `Intractable` where the time is up before
    any output is found.
    """
    chain = lattice(problem, names=names)
    labels, value = chain.plain()
    bound, nodes = value, 1
    if value == -math.inf:
        raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
    length, size = chain.tokens.shape
    if (count := length * size + max(length - 1, 0) * size * size) > MOST_COLUMNS:
        raise Intractable(
            f"the integer program of {length:,} tokens with {size} labels has {count:,} columns, and more than "
            f"{MOST_COLUMNS:,} are refused; cut the input into shorter ones, or use inference='beam'"
        )
    base, columns = lattice_program(chain), chain_columns(length, size)
    lowering = Lowering(columns, tight=True)
    taken: list[int] = []
    while True:
        left = [k for k in chain.counters if k not in taken]
        broken = list(chain.broken(labels, left) if lazy else left)
        if not broken:
            best = tuple(labels.tolist())
            worth = problem.value(best)
            exact = bound <= worth + CLOSE * max(1.0, abs(worth))
            count = len(chain.pieces) - len(chain.counters) + len(taken)
            return Solution(best, worth, worth if exact else bound, exact, "integer program", count, nodes)
        for k in broken:
            lowering.add(chain.pieces[k].says, chain.prices[k])
        taken += broken
        program = with_rows(base, lowering.rows(), columns.count)
        found = solve(program, integer=False)
        if found.point is not None and not _whole(found, chain, taken):
            found = solve(program, integer=True, seconds=seconds)
        nodes += max(found.nodes, 1)
        if found.point is None:
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        labels, bound = labels_of(found.point, *chain.tokens.shape), found.bound


def _whole(found: Optimum, chain: Lattice, taken: Sequence[int]) -> bool:
    """Whether a point of the relaxation is an output that is worth as much under the clauses that are taken in."""
    assert found.point is not None
    nodes = found.point[: chain.tokens.size]
    if np.abs(nodes - np.round(nodes)).max() > CLOSE:
        return False
    labels = labels_of(found.point, *chain.tokens.shape)
    worth = chain.folded(labels) - sum(chain.prices[k] * much for k, much in chain.broken(labels, taken).items())
    return worth >= found.value - CLOSE * max(1.0, abs(found.value))


def feasible(problem: Problem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys the hard ones of these clauses."""
    hard = tuple(clause for clause in clauses if clause.hard)
    chain = lattice(problem.with_clauses(hard))
    if chain.plain()[1] == -math.inf:
        return False
    columns = chain_columns(*chain.tokens.shape)
    lowering = Lowering(columns, tight=True)
    for k in chain.counters:
        lowering.add(chain.pieces[k].says)
    program = with_rows(lattice_program(chain), lowering.rows(), columns.count)
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


def labels_of(point: Floats, length: int, size: int) -> Ids:
    """The label of every token whose column is largest. # [T]"""
    return np.asarray(point[: length * size].reshape(length, size).argmax(axis=1), dtype=np.int32)


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
    return offsets_of(sizes), columns, weights, low


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

"""Inference with rules by Lagrangian relaxation (Held and Karp 1971; Rush and Collins 2012).

Clauses about one token or two neighbours are folded into the scores. The others become rows over labels, edges and
bounded columns x of their own (violations, reified parts):   A y + B x <= b.   With multipliers λ >= 0 (free for
equations)

    L(λ) = b·λ + max_y (score(y) − λ·A y) + max_x (−cost·x − λ·B x)      bounds every output's value from above

where the first maximum is a Viterbi whose edges have scores of their own at every place and the second takes each x
by itself. `ascent` says how λ is found. Every path on the way is tried as an output. Where the best of them is worth
the bound, that is a proof; else the better bound and output are returned as what they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.inference.ascent import METHOD, MOST_STEPS, Ascent, DualRows
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import legal, no_output
from sidelight.inference.problem import Problem, Solution
from sidelight.inference.rounding import near
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering


def solve_lagrangian(problem: Problem, *, names: Sequence[str] = (), most_steps: int = MOST_STEPS) -> Solution:
    """The best output met, and a bound; exact where both agree.

    Raises `Infeasible`, naming the rules in conflict, where no output is legal; `Intractable` where none was met.
    """
    chain = lattice(problem, names=names)
    labels, value = chain.plain()
    if value == -math.inf:
        raise no_output(problem, names)
    folded = len(chain.pieces) - len(chain.counters)
    if not chain.broken(labels, chain.counters):
        return Solution(tuple(labels.tolist()), value, value, True, METHOD, folded, 1)
    search = _Search(chain)
    search.run(most_steps)
    if search.best is None:
        search.repair(problem)
    if search.best is None and not legal(problem, [clause for clause in problem.clauses if clause.hard]):
        raise no_output(problem, names)
    return search.solution(len(chain.pieces))


class _Search(Ascent):
    """The ascent of one problem."""

    def __init__(self, chain: Lattice) -> None:
        columns = chain_columns(*chain.tokens.shape)
        lowering = Lowering(columns, tight=True)
        for k in chain.counters:
            lowering.add(chain.pieces[k].says, chain.prices[k])
        rows = lowering.rows()
        super().__init__(DualRows.of(rows))
        self.chain = chain
        self._upper, self._cost = rows.upper, rows.cost[columns.count :]  # of columns after those of labels and edges
        length, size = chain.tokens.shape
        self._nodes, self._edges = length * size, (length - 1) * size * size
        self._used = np.zeros((length, size))  # how often the paths went through each label
        self._seen: set[bytes] = set()

    def repair(self, problem: Problem) -> None:
        """Look for a legal output near the labels that paths used."""
        found = near(self.chain, self._used / max(self.steps, 1), problem.clauses)
        if found is not None:
            self._try(np.array(found, np.int32))

    def evaluate(self, multipliers: Floats) -> tuple[float, Floats]:
        """L(λ), and A c − b at its maximum."""
        chain, rows = self.chain, self.rows
        structural = self._nodes + self._edges
        pull = rows.pull(multipliers, structural + len(self._upper))
        edges = np.zeros_like(chain.edges)
        edges[1:] = -pull[self._nodes : structural].reshape(edges[1:].shape)
        labels, value = chain.best_with(-pull[: self._nodes].reshape(chain.tokens.shape), edges)
        gain = -self._cost - pull[structural:]
        point = np.zeros(structural + len(self._upper))
        point[structural:] = np.where(gain > 0.0, self._upper, 0.0)
        size = chain.tokens.shape[1]
        point[np.arange(chain.length) * size + labels] = 1.0
        moves = np.arange(chain.length - 1) * size * size + labels[:-1] * size + labels[1:]
        point[self._nodes + moves] = 1.0
        self._try(labels)
        total = value - chain.constant + float(multipliers @ rows.bound) + float(gain @ point[structural:])
        return total, rows.excess(point)

    def _try(self, labels: Ids) -> None:
        self._used[np.arange(len(labels)), labels] += 1.0
        key = labels.tobytes()
        if key in self._seen or self.chain.folded(labels) <= self.value:
            return
        self._seen.add(key)
        value = self.chain.value(labels)
        if value > self.value:
            self.value, self.best = value, tuple(int(label) for label in labels)

"""Inference with rules by Lagrangian relaxation (Held and Karp 1971; Rush and Collins 2012).

Clauses about one token or two neighbours are folded into the scores. The others become rows over labels, edges and
bounded columns x of their own (violations, reified parts):   A y + B x <= b.   With multipliers λ >= 0 (free for
equations)

    L(λ) = b·λ + max_y (score(y) − λ·A y) + max_x (−cost·x − λ·B x)      bounds every output's value from above

where the first maximum is a Viterbi whose edges have scores of their own at every place and the second takes each x
by itself. L is convex; b − A y − B x is a subgradient at λ. Steps follow Polyak: (L(λ) − target) / ‖direction‖², where
the target is the best value found so far, halved where the bound does not improve, along the subgradient deflected away
from the last direction (Camerini, Fratta and Maffioli 1975). Every path on the way is tried as an output. Where the
best of them is worth the bound, that is a proof; else the better bound and output are returned as what they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import legal, no_output
from sidelight.inference.problem import Problem, Solution
from sidelight.inference.rounding import near
from sidelight.rules.columns import chain_columns
from sidelight.rules.rows import Lowering

METHOD = "Lagrangian relaxation"
MOST_STEPS = 400
PATIENCE = 12  # steps without a better bound before they are halved
CLOSE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class DualRows:
    """Rows A c <= b with one multiplier each, which is free where `equal`."""

    row: Ints  # [entries]
    column: Ints  # [entries]
    weight: Floats  # [entries]
    bound: Floats  # [R]
    equal: np.ndarray  # [R] bool
    upper: Floats  # [X] of columns after those of labels and edges
    cost: Floats  # [X]

    def pull(self, multipliers: Floats, n_columns: int) -> Floats:
        """λ·A by column."""
        return _sums(self.column, self.weight * multipliers[self.row], n_columns)

    def excess(self, point: Floats) -> Floats:
        """A c − b by row."""
        return _sums(self.row, self.weight * point[self.column], len(self.bound)) - self.bound


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
    rows = _rows(chain)
    search = _Search(chain, rows)
    search.run(most_steps)
    if search.best is None:
        search.repair(problem)
    if search.best is None:
        if not legal(problem, [clause for clause in problem.clauses if clause.hard]):
            raise no_output(problem, names)
        raise Intractable(f"no legal output was met in {search.steps} steps; use another method of inference")
    exact = search.closed
    bound = search.value if exact else search.bound
    return Solution(search.best, search.value, bound, exact, METHOD, len(chain.pieces), search.steps)


class _Search:
    """The ascent of one problem."""

    def __init__(self, chain: Lattice, rows: DualRows) -> None:
        self.chain, self.rows = chain, rows
        self.best: tuple[int, ...] | None = None
        self.value, self.bound, self.steps = -math.inf, math.inf, 0
        length, size = chain.tokens.shape
        self._nodes, self._edges = length * size, (length - 1) * size * size
        self._used = np.zeros((length, size))  # how often the paths went through each label
        self._seen: set[bytes] = set()

    @property
    def closed(self) -> bool:
        """Whether the bound proves that the best output met is the best of all."""
        return self.best is not None and self.bound - self.value <= CLOSE * max(1.0, abs(self.value))

    def run(self, most_steps: int) -> None:
        rows = self.rows
        multipliers = np.zeros(len(rows.bound))
        leading = multipliers  # those of the best bound
        direction = np.zeros_like(multipliers)
        factor, waited = 1.0, 0
        while self.steps < most_steps and factor > 1e-4:
            self.steps += 1
            value, excess = self._evaluate(multipliers)
            if value < self.bound - CLOSE * max(1.0, abs(value)):
                self.bound, leading, waited = value, multipliers, 0
            else:
                waited += 1
            self.bound = min(self.bound, value)
            if self.closed or not len(multipliers):
                return
            if waited >= PATIENCE:
                factor, waited = factor / 2, 0
                multipliers, direction = leading, np.zeros_like(multipliers)
                continue
            excess = np.where((multipliers <= 0.0) & (excess < 0.0) & ~rows.equal, 0.0, excess)
            direction = excess + _deflection(excess, direction) * direction
            size = float(direction @ direction)
            if size == 0.0:
                return
            target = self.value if self.best is not None else self.bound - max(1.0, 0.1 * abs(self.bound))
            moved = multipliers + factor * max(value - target, CLOSE) / size * direction
            multipliers = np.where(rows.equal, moved, np.maximum(moved, 0.0))

    def repair(self, problem: Problem) -> None:
        """Look for a legal output near the labels that paths used."""
        found = near(self.chain, self._used / max(self.steps, 1), problem.clauses)
        if found is not None:
            self._try(np.array(found, np.int32))

    def _evaluate(self, multipliers: Floats) -> tuple[float, Floats]:
        """L(λ), and A c − b at its maximum."""
        chain, rows = self.chain, self.rows
        structural = self._nodes + self._edges
        pull = rows.pull(multipliers, structural + len(rows.upper))
        edges = np.zeros_like(chain.edges)
        edges[1:] = -pull[self._nodes : structural].reshape(edges[1:].shape)
        labels, value = chain.best_with(-pull[: self._nodes].reshape(chain.tokens.shape), edges)
        gain = -rows.cost - pull[structural:]
        point = np.zeros(structural + len(rows.upper))
        point[structural:] = np.where(gain > 0.0, rows.upper, 0.0)
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


def _sums(places: Ints, amounts: Floats, count: int) -> Floats:
    return np.bincount(places, amounts, minlength=count).astype(np.float64)


def _deflection(excess: Floats, last: Floats) -> float:
    size = float(last @ last)
    return max(0.0, -1.5 * float(excess @ last) / size) if size > 0.0 else 0.0


def _rows(chain: Lattice) -> DualRows:
    """The rows of all clauses that are not folded, as A c <= b."""
    columns = chain_columns(*chain.tokens.shape)
    lowering = Lowering(columns, tight=True)
    for k in chain.counters:
        lowering.add(chain.pieces[k].says, chain.prices[k])
    rows = lowering.rows()
    equal = rows.low == rows.high
    above, below = np.flatnonzero(np.isfinite(rows.high)), np.flatnonzero(np.isfinite(rows.low) & ~equal)
    row: list[Ints] = []
    column: list[Ints] = []
    weight: list[Floats] = []
    for number, (r, sign) in enumerate([*((r, 1.0) for r in above), *((r, -1.0) for r in below)]):
        entries = slice(int(rows.starts[r]), int(rows.starts[r + 1]))
        row.append(np.full(entries.stop - entries.start, number))
        column.append(rows.columns[entries])
        weight.append(sign * rows.weights[entries])
    none = np.zeros(0)
    return DualRows(
        row=np.concatenate([none.astype(np.int64), *row]),
        column=np.concatenate([none.astype(np.int64), *column]),
        weight=np.concatenate([none, *weight]),
        bound=np.concatenate([rows.high[above], -rows.low[below]]),
        equal=np.concatenate([equal[above], np.zeros(len(below), np.bool_)]),
        upper=rows.upper,
        cost=rows.cost[columns.count :],
    )

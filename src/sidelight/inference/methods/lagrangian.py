"""Inference with rules by Lagrangian relaxation (Held and Karp 1971; Guignard and Kim 1987; Rush and Collins 2012).

Local clauses are folded into the scores. The others become rows over the structure's columns and their own bounded
columns x (violations, reified parts):   A y + B x <= b.   With multipliers λ >= 0 (free for equations)

    L(λ) = b·λ + max_y (score(y) − λ·A y) + max_x (−cost·x − λ·B x)      bounds every output's value from above

where the first maximum is that of the structure (a Viterbi with different edge scores at every position; elimination,
or each variable and each pair separately with rows that connect them) and the second treats each x separately. Every
output found is evaluated. If the value of the best one equals the bound, it is proved optimal; otherwise the best bound
and output are returned without a proof.

L is convex, with the subgradient b − A c at its maximum c. So steps follow Polyak, (L(λ) − target) / ‖direction‖²,
where the target is the best value so far; steps are halved if the bound does not improve. The direction is the
subgradient, deflected away from the last direction (Camerini, Fratta and Maffioli 1975).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import legal, no_output
from sidelight.inference.problem import RuledProblem, Solution
from sidelight.rules.lowering.rows import LinearRows, Lowering
from sidelight.spaces.highs import LinearProgram

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

    @classmethod
    def of(cls, *sources: LinearRows | LinearProgram) -> DualRows:
        """All rows of clauses and of programs over the same columns."""
        row: list[Ints] = [np.zeros(0, np.int64)]
        column: list[Ints] = [np.zeros(0, np.int64)]
        weight: list[Floats] = [np.zeros(0)]
        bound: list[float] = []
        equal: list[bool] = []
        for rows in sources:
            same = rows.low == rows.high
            above, below = np.flatnonzero(np.isfinite(rows.high)), np.flatnonzero(np.isfinite(rows.low) & ~same)
            for r, sign in [*((r, 1.0) for r in above), *((r, -1.0) for r in below)]:
                entries = slice(int(rows.starts[r]), int(rows.starts[r + 1]))
                row.append(np.full(entries.stop - entries.start, len(bound)))
                column.append(rows.columns[entries])
                weight.append(sign * rows.weights[entries])
                bound.append(float(rows.high[r] if sign > 0.0 else -rows.low[r]))
                equal.append(bool(same[r]))
        return cls(
            row=np.concatenate(row),
            column=np.concatenate(column),
            weight=np.concatenate(weight),
            bound=np.array(bound),
            equal=np.array(equal, np.bool_),
        )

    def pull(self, multipliers: Floats, n_columns: int) -> Floats:
        """λ·A by column."""
        return _sums(self.column, self.weight * multipliers[self.row], n_columns)

    def excess(self, point: Floats) -> Floats:
        """A c − b by row."""
        return _sums(self.row, self.weight * point[self.column], len(self.bound)) - self.bound


class Ascent(ABC):
    """The search of one problem; outputs that are met on the way are tried by `evaluate`."""

    def __init__(self, rows: DualRows) -> None:
        self.rows = rows
        self.best: tuple[int, ...] | None = None
        self.value, self.bound, self.steps = -math.inf, math.inf, 0

    @abstractmethod
    def evaluate(self, multipliers: Floats) -> tuple[float, Floats]:
        """L(λ), and A c − b at its maximum."""

    @property
    def closed(self) -> bool:
        """Whether the bound proves that the best output met is the best of all."""
        return self.best is not None and self.bound - self.value <= CLOSE * max(1.0, abs(self.value))

    def solution(self, clauses: int) -> Solution:
        """The best output met, with the bound; raises `Intractable` if none was met."""
        if self.best is None:
            raise Intractable(f"no legal output was met in {self.steps} steps; use another method of inference")
        bound = self.value if self.closed else self.bound
        return Solution(self.best, self.value, bound, self.closed, METHOD, clauses, self.steps)

    def run(self, most_steps: int) -> None:
        """Go on until the bound is a proof, or nothing gets better."""
        rows = self.rows
        multipliers = np.zeros(len(rows.bound))
        leading = multipliers  # those of the best bound
        direction = np.zeros_like(multipliers)
        factor, waited = 1.0, 0
        while self.steps < most_steps and factor > 1e-4:
            self.steps += 1
            value, excess = self.evaluate(multipliers)
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


def _sums(places: Ints, amounts: Floats, count: int) -> Floats:
    return np.bincount(places, amounts, minlength=count).astype(np.float64)


def _deflection(excess: Floats, last: Floats) -> float:
    size = float(last @ last)
    return max(0.0, -1.5 * float(excess @ last) / size) if size > 0.0 else 0.0


def solve_lagrangian(problem: RuledProblem, *, names: Sequence[str] = (), most_steps: int = MOST_STEPS) -> Solution:
    """The best output met, and a bound; exact where both agree.

    Raises `Infeasible`, with the conflicting rules, if no output is legal; `Intractable` if none was met.
    """
    search = _Search(folded(problem, names=names))
    if not search.possible:
        raise no_output(problem, names)
    search.run(most_steps)
    if search.best is None:
        search.repair()
    if search.best is None and not legal(problem, [clause for clause in problem.clauses if clause.hard]):
        raise no_output(problem, names)
    return search.solution(len(search.given.says))


class _Search(Ascent):
    """The ascent of one problem."""

    def __init__(self, problem: Folded) -> None:
        lowering = Lowering(problem.columns, tight=True)
        for k in problem.counters:
            lowering.add(problem.says[k], problem.prices[k])
        rows, ties = lowering.rows(), problem.ties()
        super().__init__(DualRows.of(*(one for one in (ties, rows) if one is not None)))
        self.given = problem
        self._structural = problem.columns.count
        self._upper, self._cost = rows.upper, rows.cost
        self._constant = problem.constant + rows.constant
        self._used = np.zeros(problem.columns.offsets[-1])  # how often outputs had each label
        self._seen: set[bytes] = set()

    @property
    def possible(self) -> bool:
        """Whether there is any output without the rows."""
        return self.given.maximum(np.zeros(self._structural))[1] - self._constant > -math.inf

    def repair(self) -> None:
        """Look for a legal output near the labels that were met."""
        labels = self.given.near(self._used / max(self.steps, 1))
        if labels is not None:
            self._try(labels)

    def evaluate(self, multipliers: Floats) -> tuple[float, Floats]:
        """L(λ), and A c − b at its maximum."""
        rows, structural = self.rows, self._structural
        gain = -self._cost - rows.pull(multipliers, len(self._cost))
        labels, value, ones = self.given.maximum(gain[:structural])
        point = np.zeros(len(gain))
        point[ones] = 1.0
        point[structural:] = np.where(gain[structural:] > 0.0, self._upper, 0.0)
        self._used[ones[: len(labels)]] += 1.0
        self._try(labels)
        total = value - self._constant + float(multipliers @ rows.bound) + float(gain[structural:] @ point[structural:])
        return total, rows.excess(point)

    def _try(self, labels: Ids) -> None:
        key = labels.tobytes()
        if key in self._seen or self.given.folded(labels) <= self.value:
            return
        self._seen.add(key)
        value = self.given.value(labels)
        if value > self.value:
            self.value, self.best = value, tuple(int(label) for label in labels)

"""Lagrangian relaxation for outputs that are no chain (Guignard and Kim 1987; Komodakis, Paragios and Tziritas 2007).

All rows of the program have multipliers, but for those that give each variable one label: rows of rules, and rows that
tie the columns of scored pairs to those of their variables. What is left falls apart: every variable, every pair and
every auxiliary column is maximised by itself. The bound comes near that of the linear relaxation, without a program
solver. The labels that variables take on the way are tried as outputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.arrays import Floats
from sidelight.inference.ascent import MOST_STEPS, Ascent, DualRows
from sidelight.inference.conflict import infeasible
from sidelight.inference.highs import with_rows
from sidelight.inference.problem import Solution
from sidelight.inference.program import take_in
from sidelight.inference.rounding import rounded
from sidelight.inference.variable_program import feasible, variable_program
from sidelight.inference.variables import VariableProblem
from sidelight.rules.columns import columns_of
from sidelight.rules.rows import Lowering


def solve_variable_lagrangian(
    problem: VariableProblem, *, names: Sequence[str] = (), most_steps: int = MOST_STEPS
) -> Solution:
    """The best output met, and a bound; exact where both agree.

    Raises `Infeasible`, naming the rules in conflict, where there is no output; `Intractable` where none was met.
    """
    search = _Search(problem)
    if all(np.isfinite(table.max()) for table in (*problem.scores, *problem.pair_scores)):
        search.run(most_steps)
        if search.best is None:
            search.repair()
    if search.best is None and not feasible(problem, problem.clauses):
        raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
    return search.solution(len(problem.clauses))


class _Search(Ascent):
    """The ascent of one problem."""

    def __init__(self, problem: VariableProblem) -> None:
        columns = columns_of(problem.sizes, problem.pairs)
        lowering = Lowering(columns, tight=True)
        take_in(lowering, problem.clauses)
        program = with_rows(variable_program(problem, columns), lowering.rows(), columns.count)
        super().__init__(DualRows.of(program, first=len(problem.sizes)))
        self.problem = problem
        self._starts = np.array(columns.starts[:-1])  # of every variable and every pair: its first column
        self._structural = columns.count
        self._gain = np.where(program.upper > 0.0, program.gain, -math.inf)
        self._upper, self._constant = program.upper[columns.count :], program.constant
        self._used = [np.zeros(size) for size in problem.sizes]  # how often variables took each label
        self._seen: set[tuple[int, ...]] = set()

    def evaluate(self, multipliers: Floats) -> tuple[float, Floats]:
        """L(λ), and A c − b at its maximum."""
        gain = self._gain - self.rows.pull(multipliers, len(self._gain))
        blocks = np.split(gain[: self._structural], self._starts[1:])
        chosen = np.array([int(block.argmax()) for block in blocks])
        point = np.zeros(len(gain))
        point[self._starts + chosen] = 1.0
        rest = gain[self._structural :]
        point[self._structural :] = np.where(rest > 0.0, self._upper, 0.0)
        self._try(tuple(chosen[: len(self._used)].tolist()))
        total = self._constant + float(multipliers @ self.rows.bound)
        total += float(gain[self._starts + chosen].sum()) + float(np.maximum(rest, 0.0) @ self._upper)
        return total, self.rows.excess(point)

    def repair(self) -> None:
        """Look for a legal output near the labels that variables took."""
        problem = self.problem
        weights = [np.where(own > -math.inf, used, -math.inf) for own, used in zip(problem.scores, self._used)]
        found = rounded(weights, problem.clauses, dict(zip(problem.pairs, problem.pair_scores)))
        if found is not None:
            self._try(found)

    def _try(self, labels: tuple[int, ...]) -> None:
        for used, label in zip(self._used, labels):
            used[label] += 1.0
        if labels in self._seen:
            return
        self._seen.add(labels)
        value = self.problem.value(labels)
        if value > self.value:
            self.value, self.best = value, labels

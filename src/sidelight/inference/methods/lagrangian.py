"""Inference with rules by Lagrangian relaxation (Held and Karp 1971; Guignard and Kim 1987; Rush and Collins 2012).

Local clauses are folded into the scores. The others become rows over the structure's columns and bounded columns x of
their own (violations, reified parts):   A y + B x <= b.   With multipliers λ >= 0 (free for equations)

    L(λ) = b·λ + max_y (score(y) − λ·A y) + max_x (−cost·x − λ·B x)      bounds every output's value from above

where the first maximum is the structure's own (a Viterbi whose edges have scores of their own at every place;
elimination, or each variable and each pair by itself with rows that tie them) and the second takes each x by itself.
`ascent` says how λ is found. Every output on the way is tried. Where the best of them is worth the bound, that is a
proof; else the better bound and output are returned as what they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.inference.folded_problem import Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import legal, no_output
from sidelight.inference.methods.ascent import MOST_STEPS, Ascent, DualRows
from sidelight.inference.problem import RuledProblem, Solution
from sidelight.rules.lowering.rows import Lowering


def solve_lagrangian(problem: RuledProblem, *, names: Sequence[str] = (), most_steps: int = MOST_STEPS) -> Solution:
    """The best output met, and a bound; exact where both agree.

    Raises `Infeasible`, naming the rules in conflict, where no output is legal; `Intractable` where none was met.
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

    def __init__(self, given: Folded) -> None:
        lowering = Lowering(given.columns, tight=True)
        for k in given.counters:
            lowering.add(given.says[k], given.prices[k])
        rows, ties = lowering.rows(), given.ties()
        super().__init__(DualRows.of(*(one for one in (ties, rows) if one is not None)))
        self.given = given
        self._structural = given.columns.count
        self._upper, self._cost = rows.upper, rows.cost
        self._constant = given.constant + rows.constant
        self._used = np.zeros(given.columns.offsets[-1])  # how often outputs had each label
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

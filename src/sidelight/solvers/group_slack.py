"""Cutting planes with one slack per group of terms: CLLP's 2-slack method, and with one group the 1-slack method.

The problem, for groups g of terms i with prices C_i:

    min_w P(w) = ½ ‖w‖² + Σ_g R_g(w),     R_g(w) = Σ_{i in g} C_i max(0, v_i(w)),     v_i(w) = max offset + slope · w

Every iteration finds the worst output of every term at some point, and sums them, group by group, to one constraint
R_g(w) >= a + b · w, tight at the point, with a = Σ C_i offset_i and b = Σ C_i slope_i over the terms with v_i > 0. Then
it solves the model that the constraints make (`duals.summed_cuts`), whose value is a lower bound of min P.

The point lies between the best weights so far, b, and the model's solution w: at b + reach · (w − b). The papers use
the model's solution itself (reach 1). With few constraints it is far from the optimum, and its objective is often above
that of zero weights. If the objective falls, the reach grows; otherwise it shrinks. In the latter case, since P is
convex, the new constraint cuts w off, so no step is wasted. This takes a half to a fifth of the iterations. `plain` is
the method of the papers: every point is w itself, and the last one is the result.

It ends when P(b) is at most Σ_g ε_g Σ_{i in g} C_i above the model's value. Constraints without weight for IDLE
iterations are dropped.

If the terms change but their outputs do not (after another completion, each v_i is measured from another target), the
outputs of a constraint still give a lower bound of R_g. `turned` sums them again for the new terms, without inference,
so a new problem begins with the constraints of the old one.

Joachims, Finley and Yu (2009) for one group; Li, Zhang and Chen (CLLP, section 4.2) for two; Franc and Sonnenburg
(2009) for points between the best and the model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids
from sidelight.core.file_contents import array_like, array_of
from sidelight.core.kernels import inner
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import SummedTerms
from sidelight.solvers.duals.solver_round import SolverRound
from sidelight.solvers.duals.summed_cuts import SummedCuts

IDLE = 10
SHORTEST = 1e-3  # reach


@dataclass(slots=True)
class GroupSlack(SummedCuts):
    """The constraints so far, their weights, and the best weights."""

    best: Floats
    best_primal: float = np.inf  # inf before the first iteration
    reach: float = 1.0
    plain: bool = False  # the point is the model's solution, and counts as the best

    @classmethod
    def at(cls, weights: Floats, *, plain: bool = False) -> GroupSlack:
        """A solver without constraints; the first ones will be made at these weights."""
        return cls(weights.copy(), weights.copy(), plain=plain)

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], fresh: GroupSlack, terms: Sequence[SummedTerms]
    ) -> GroupSlack:
        """Restore the result of `state`, for groups of terms like these; raises `ModelFileError` if it is invalid."""
        best_primal, reach = array_of(arrays, "numbers", np.float64, [2], finite=False).tolist()
        weights, best = (array_like(arrays, name, fresh.weights) for name in ("weights", "best"))
        self = cls(weights, best, best_primal, min(max(reach, SHORTEST), 1.0), fresh.plain)
        self.take_up(arrays, len(terms))
        for group, row in zip(self.groups.tolist(), self.rows):
            terms[group].check_outputs(row.outputs, row.scales)
        return self

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays."""
        numbers = np.array([self.best_primal, self.reach])
        return {**self.constraints(), "weights": self.weights, "best": self.best, "numbers": numbers}

    def step(self, groups: Sequence[SummedTerms], epsilons: Sequence[float]) -> SolverRound:
        """One iteration over groups of terms with their precisions ε, which are reached if there are no new
        constraints.

        The primal is that of the iteration's point; once the precision is reached, that of the best weights.
        """
        begun = np.isfinite(self.best_primal)
        point = self.best + self.reach * (self.weights - self.best) if begun else self.best
        if self.plain:
            point = self.weights
        maxima = [terms.worst(point) for terms in groups]
        losses = (total_loss(worst.values, terms.prices, 1) for worst, terms in zip(maxima, groups))
        primal = 0.5 * inner(point, point) + sum(losses)
        if self.plain or primal < self.best_primal:
            self.best, self.best_primal = point, primal
            self.reach = min(1.0, 1.5 * self.reach)
        else:
            self.reach = max(0.5 * self.reach, SHORTEST)
        dual, size = self.bound(), len(self.rows)
        enough = sum(epsilon * float(np.sum(terms.prices)) for epsilon, terms in zip(epsilons, groups))
        if self.best_primal - dual <= enough + 1e-12 * (1.0 + abs(self.best_primal)):
            return SolverRound(self.best_primal, dual, 0, size)
        for group, (terms, worst) in enumerate(zip(groups, maxima)):
            self._sum_up(group, terms, worst.outputs, np.where(worst.values > 0, terms.prices, 0.0))
        self.solve(len(groups), most_idle=IDLE)
        return SolverRound(primal, dual, len(groups), size)

    def turned(self, groups: Sequence[SummedTerms]) -> GroupSlack:
        """New terms over the same outputs: rebuilds the constraints with weight, and keeps the best weights."""
        new = GroupSlack.at(self.best, plain=self.plain)
        new.reach = self.reach
        weighted = np.flatnonzero(self.alphas > 0)
        for j in weighted:
            group, row = int(self.groups[j]), self.rows[j]
            new._sum_up(group, groups[group], row.outputs, row.scales)
        new.alphas = self.alphas[weighted]
        if len(weighted):
            new.solve(len(groups), most_idle=IDLE)
        return new

    def _sum_up(self, group: int, terms: SummedTerms, outputs: Ids, scales: Floats) -> None:
        self.add(group, *terms.total(outputs, scales), outputs, scales)

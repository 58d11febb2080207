"""Cutting planes with one slack per group of terms: CLLP's 2-slack method, and with one group the 1-slack method.

The problem, for groups g of terms i with prices C_i:

    min_w P(w) = ½ ‖w‖² + Σ_g R_g(w),     R_g(w) = Σ_{i in g} C_i max(0, v_i(w)),     v_i(w) = max offset + slope · w

Every iteration finds the worst output of every term and adds them up, group by group, to one constraint
R_g(w') >= a + b · w', tight at w, with a = Σ C_i offset_i and b = Σ C_i slope_i over the terms with v_i(w) > 0. Then it
solves

    min_w ½ ‖w‖² + Σ_g ξ_g     ξ_g >= a_j + b_j · w for the constraints j of g,  ξ_g >= 0

in the dual: max_{α >= 0} Σ_j α_j a_j − ½ ‖Σ_j α_j b_j‖² with Σ_{j of g} α_j <= 1, over the Gram matrix of the
constraints, by steps of one or two variables. A group is done when its new constraint is violated by at most ε_g per
unit of price over its slack:  R_g(w) <= ξ_g + ε_g Σ_{i in g} C_i. A group that is done gets no constraint, so each
has a precision of its own. The dual value is a lower bound of min P. Constraints without weight for IDLE iterations are
dropped.

Joachims, Finley and Yu (2009) for one group; Li, Small, Roth and others (CLLP, section 4.2) for two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Floats, Ids, Ints
from sidelight.kernels import inner, kernel
from sidelight.objective.cuts import Terms, total_loss

IDLE = 30
PRECISE = 1e-9  # relative gap to which the small problem is solved
MOST_SWEEPS = 20_000


@dataclass(frozen=True, slots=True)
class Progress:
    """What one iteration reached."""

    primal: float
    dual: float
    new: int  # groups that got a constraint; 0 when all are within their precision
    constraints: int

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(slots=True)
class GroupSlack:
    """The constraints so far, their Gram matrix and dual variables, and the weights they make."""

    weights: Floats
    groups: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [J]
    offsets: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    alphas: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    idle: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [J] iterations without weight
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # [J, J]
    rows: list[tuple[Ids, Floats]] = field(default_factory=list)  # J sparse slopes: indices, values

    @classmethod
    def at(cls, weights: Floats) -> GroupSlack:
        """No constraints yet; the first are made at these weights."""
        return cls(weights.copy())

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> GroupSlack:
        """From what `state` gave."""
        ends = arrays["ends"]
        rows = list(zip(np.split(arrays["indices"], ends[:-1]), np.split(arrays["values"], ends[:-1])))
        return cls(
            arrays["weights"].copy(),
            arrays["groups"].copy(),
            arrays["offsets"].copy(),
            arrays["alphas"].copy(),
            arrays["idle"].copy(),
            arrays["gram"].copy(),
            rows if len(ends) else [],
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays."""
        lengths = [len(indices) for indices, _ in self.rows]
        return {
            "weights": self.weights,
            "groups": self.groups,
            "offsets": self.offsets,
            "alphas": self.alphas,
            "idle": self.idle,
            "gram": self.gram,
            "ends": np.cumsum(lengths, dtype=np.int64),
            "indices": np.concatenate([np.zeros(0, dtype=np.int32), *(indices for indices, _ in self.rows)]),
            "values": np.concatenate([np.zeros(0), *(values for _, values in self.rows)]),
        }

    def step(self, groups: Sequence[Terms], epsilons: Sequence[float]) -> Progress:
        """One iteration over groups of terms with their precisions ε."""
        primal = 0.5 * inner(self.weights, self.weights)
        dual = self.dual()
        new = 0
        slacks = self.slacks(len(groups))
        for group, terms in enumerate(groups):
            worst = terms.worst(self.weights)
            risk = total_loss(worst.values, terms.prices, 1)
            primal += risk
            if risk <= slacks[group] + epsilons[group] * float(np.sum(terms.prices)) + 1e-12 * (1.0 + abs(primal)):
                continue
            which = np.flatnonzero((worst.values > 0) & (terms.prices > 0))
            cuts = terms.cuts(worst, which)
            prices = terms.prices[which]
            total = np.zeros(len(self.weights))
            _add_rows(cuts.slopes.indptr, cuts.slopes.indices, cuts.slopes.values, prices, total)
            self._add(group, inner(prices, cuts.offsets), total)
            new += 1
        size = len(self.rows)
        if new:
            self._solve(len(groups))
        return Progress(primal, dual, new, size)

    def dual(self) -> float:
        """The dual objective, a lower bound of the primal one."""
        return inner(self.alphas, self.offsets) - 0.5 * float(self.alphas @ self.gram @ self.alphas)

    def slacks(self, count: int) -> Floats:
        """ξ of each group at the present weights. # [G]"""
        out = np.zeros(count)
        values = self.offsets - self.gram @ self.alphas
        np.maximum.at(out, self.groups, values)
        return out

    def _add(self, group: int, offset: float, slope: Floats) -> None:
        indices = np.flatnonzero(slope).astype(np.int32)
        values = slope[indices]
        products = np.array([_dot(row, amounts, slope) for row, amounts in self.rows])
        size = len(self.rows)
        gram = np.zeros((size + 1, size + 1))
        gram[:size, :size] = self.gram
        gram[size, :size] = gram[:size, size] = products
        gram[size, size] = inner(values, values)
        self.gram = gram
        self.rows.append((indices, values))
        self.groups = np.append(self.groups, group)
        self.offsets = np.append(self.offsets, offset)
        self.alphas = np.append(self.alphas, 0.0)
        self.idle = np.append(self.idle, 0)

    def _solve(self, count: int) -> None:
        _small_problem(self.gram, self.offsets, self.groups, count, self.alphas, PRECISE, MOST_SWEEPS)
        self.idle = np.where(self.alphas > 0, 0, self.idle + 1)
        keep = np.flatnonzero(self.idle <= IDLE)
        if len(keep) < len(self.rows):
            self.rows = [self.rows[j] for j in keep]
            self.gram = np.ascontiguousarray(self.gram[np.ix_(keep, keep)])
            self.groups, self.offsets, self.idle = self.groups[keep], self.offsets[keep], self.idle[keep]
            self.alphas = self.alphas[keep]
        self.weights = np.zeros(len(self.weights))
        for alpha, (indices, values) in zip(self.alphas, self.rows):
            if alpha > 0:
                self.weights[indices] -= alpha * values


@kernel
def _add_rows(indptr: Ints, indices: Ids, values: Floats, scales: Floats, out: Floats) -> None:
    for i in range(scales.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += scales[i] * values[k]


@kernel
def _dot(indices: Ids, values: Floats, dense: Floats) -> float:
    total = 0.0
    for k in range(indices.shape[0]):
        total += values[k] * dense[indices[k]]
    return total


@kernel
def _small_problem(
    gram: Floats, offsets: Floats, groups: Ints, n_groups: int, alphas: Floats, precise: float, at_most: int
) -> None:
    """Raise the dual by the best step of one variable, or of a pair within a group that is full, until none is left.

    slopes[j] = a_j − (G α)_j is the value of constraint j at the present weights. The gap of the small problem is
    Σ_g max(0, max_{j of g} slopes[j]) − Σ_j α_j slopes[j].
    """
    size = offsets.shape[0]
    slopes = offsets - gram @ alphas
    sums = np.zeros(n_groups)
    for j in range(size):
        sums[groups[j]] += alphas[j]
    tops = np.empty(n_groups)
    for _ in range(at_most):
        tops[:] = 0.0
        paid = 0.0
        value = 0.0
        for j in range(size):
            tops[groups[j]] = max(tops[groups[j]], slopes[j])
            paid += alphas[j] * slopes[j]
            value += 0.5 * alphas[j] * (slopes[j] + offsets[j])
        if np.sum(tops) - paid <= precise * (1.0 + abs(value)):
            return
        for up in range(size):
            group = groups[up]
            # with room in the group one variable moves; the partner then is the slack itself (no row, slope 0)
            curve = gram[up, up]
            if slopes[up] < 0.0 or sums[group] < 1.0:
                room = 1.0 - sums[group]
                step = slopes[up] / curve if curve > 0.0 else (room if slopes[up] > 0.0 else -alphas[up])
                step = min(max(step, -alphas[up]), room)
                if step != 0.0:
                    alphas[up] += step
                    sums[group] += step
                    for j in range(size):
                        slopes[j] -= step * gram[up, j]
            if slopes[up] > 0.0 and sums[group] >= 1.0 - 1e-15:
                down = -1
                for j in range(size):
                    if groups[j] == group and alphas[j] > 0.0 and j != up and (down < 0 or slopes[j] < slopes[down]):
                        down = j
                if down >= 0 and slopes[down] < slopes[up]:
                    curve = gram[up, up] + gram[down, down] - 2.0 * gram[up, down]
                    step = alphas[down] if curve <= 0.0 else min(alphas[down], (slopes[up] - slopes[down]) / curve)
                    alphas[up] += step
                    alphas[down] -= step
                    for j in range(size):
                        slopes[j] -= step * (gram[up, j] - gram[down, j])

"""Cutting planes with one slack per group of terms: CLLP's 2-slack method, and with one group the 1-slack method.

The problem, for groups g of terms i with prices C_i:

    min_w P(w) = ½ ‖w‖² + Σ_g R_g(w),     R_g(w) = Σ_{i in g} C_i max(0, v_i(w)),     v_i(w) = max offset + slope · w

Every iteration finds the worst output of every term at some point and adds them up, group by group, to one constraint
R_g(w) >= a + b · w, tight at the point, with a = Σ C_i offset_i and b = Σ C_i slope_i over the terms with v_i > 0. Then
it solves the model

    min_w ½ ‖w‖² + Σ_g ξ_g     ξ_g >= a_j + b_j · w for the constraints j of g,  ξ_g >= 0

in the dual: max_{α >= 0} Σ_j α_j a_j − ½ ‖Σ_j α_j b_j‖² with Σ_{j of g} α_j <= 1, over the Gram matrix of the
constraints, by steps of one or two variables. Its value is a lower bound of min P.

The point lies between the best weights so far, b, and the model's solution w: at b + reach · (w − b). The model's
solution alone (reach 1) is what the papers take; with few constraints it is far off, and its objective often above that
of zero weights. Where the objective falls the reach grows, else it shrinks; then, P being convex, the new constraint
cuts w off, so no step is lost. This takes a half to a fifth of the iterations. `plain` is the papers' way: every point
is w itself, and the last of them is the result.

It ends when P(b) is at most Σ_g ε_g Σ_{i in g} C_i above the model's value. Constraints without weight for IDLE
iterations are dropped.

Where the terms change but the outputs they are maximised over do not (another completion: each v_i is measured from
another target), a constraint's outputs still give a lower bound of R_g. `turned` adds them up again for the new terms,
which costs no inference, so that a new problem begins with the constraints that bound the old one.

Joachims, Finley and Yu (2009) for one group; Li, Zhang and Chen (CLLP, section 4.2) for two; Franc and Sonnenburg
(2009) for points between the best and the model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like, array_of
from sidelight.core.kernels import inner, kernel
from sidelight.errors import ModelFileError
from sidelight.features.counts import sparse_dot
from sidelight.objective.cuts import Worst, total_loss

IDLE = 10
SHORTEST = 1e-3  # reach
PRECISE = 1e-9  # relative gap to which the small problem is solved
MOST_SWEEPS = 20_000


class SumTerms(Protocol):
    """Terms that can add up their cuts."""

    @property
    def prices(self) -> Floats:  # [N] what one unit of loss costs
        ...

    def worst(self, weights: Floats) -> Worst:
        """The maximum of every term's argument, and the outputs that attain it."""
        ...

    def total(self, outputs: Ids, scales: Floats) -> tuple[float, Floats]:
        """Σ_i scale_i · (offset_i, slope_i) of the cuts that some outputs give."""
        ...

    def check_outputs(self, outputs: Ids, scales: Floats) -> None:
        """Raise `ModelFileError` for what `total` cannot take."""
        ...


class Constraint(NamedTuple):
    """A slope b in sparse form, and the outputs that it was made of."""

    indices: Ids
    values: Floats
    outputs: Ids  # [T of the group]
    scales: Floats  # [N of the group] C_i where the term counts, else 0


@dataclass(frozen=True, slots=True)
class GroupSlackProgress:
    """What one iteration reached."""

    primal: float  # at the point of the iteration; of the best weights when the precision is reached
    dual: float
    new: int  # constraints added; 0 when the precision is reached
    constraints: int

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(slots=True)
class GroupSlack:
    """The constraints so far, their Gram matrix and dual variables, the weights they make, and the best weights."""

    weights: Floats  # of the model
    best: Floats
    best_primal: float = np.inf  # inf before the first iteration
    reach: float = 1.0
    plain: bool = False  # the point is the model's solution, and counts as the best
    groups: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [J]
    offsets: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    alphas: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    idle: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [J] iterations without weight
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # [J, J]
    rows: list[Constraint] = field(default_factory=list)  # J

    @classmethod
    def at(cls, weights: Floats, *, plain: bool = False) -> GroupSlack:
        """No constraints yet; the first are made at these weights."""
        return cls(weights.copy(), weights.copy(), plain=plain)

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], fresh: GroupSlack, terms: Sequence[SumTerms]) -> GroupSlack:
        """From what `state` gave, over groups of terms like these; raises `ModelFileError` where it makes no sense."""
        size = len(fresh.weights)
        groups = array_of(arrays, "groups", np.int64, [None], low=0, high=len(terms) - 1)
        count = len(groups)
        kinds = zip(
            Constraint._fields, (np.int32, np.float64, np.int32, np.float64), (size - 1, np.inf, np.inf, np.inf)
        )
        pools = [
            array_of(arrays, name, kind, [None], low=-np.inf if name == "values" else 0, high=high)
            for name, kind, high in kinds
        ]
        ends = array_of(arrays, "ends", np.int64, [count, len(pools)], low=0)
        bounds = np.concatenate([np.zeros((1, len(pools)), dtype=np.int64), ends])
        whole = [len(pool) for pool in pools]
        if np.any(np.diff(bounds, axis=0) < 0) or bounds[-1].tolist() != whole or np.any(ends[:, 0] != ends[:, 1]):
            raise ModelFileError("the array 'ends' does not cut its constraints into pieces")
        rows = [
            Constraint(*(pool[a:b].copy() for pool, a, b in zip(pools, *ends))) for ends in pairwise(bounds.tolist())
        ]
        for group, row in zip(groups.tolist(), rows):
            terms[group].check_outputs(row.outputs, row.scales)
        best_primal, reach = array_of(arrays, "numbers", np.float64, [2], finite=False).tolist()
        return cls(
            array_like(arrays, "weights", fresh.weights),
            array_like(arrays, "best", fresh.weights),
            best_primal,
            min(max(reach, SHORTEST), 1.0),
            fresh.plain,
            groups,
            array_of(arrays, "offsets", np.float64, [count]),
            array_of(arrays, "alphas", np.float64, [count]),
            array_of(arrays, "idle", np.int64, [count], low=0),
            array_of(arrays, "gram", np.float64, [count, count]),
            rows,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays."""
        empty = Constraint(np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(0))
        pools = zip(Constraint._fields, zip(empty, *self.rows))
        lengths = np.array([[len(piece) for piece in row] for row in self.rows], dtype=np.int64)
        return {
            "weights": self.weights,
            "best": self.best,
            "numbers": np.array([self.best_primal, self.reach]),
            "groups": self.groups,
            "offsets": self.offsets,
            "alphas": self.alphas,
            "idle": self.idle,
            "gram": self.gram,
            "ends": np.cumsum(lengths.reshape(-1, len(empty)), axis=0),
            **{name: np.concatenate(pieces) for name, pieces in pools},
        }

    def step(self, groups: Sequence[SumTerms], epsilons: Sequence[float]) -> GroupSlackProgress:
        """One iteration over groups of terms with their precisions ε."""
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
        dual, size = self.dual(), len(self.rows)
        enough = sum(epsilon * float(np.sum(terms.prices)) for epsilon, terms in zip(epsilons, groups))
        if self.best_primal - dual <= enough + 1e-12 * (1.0 + abs(self.best_primal)):
            return GroupSlackProgress(self.best_primal, dual, 0, size)
        for group, (terms, worst) in enumerate(zip(groups, maxima)):
            self._add(group, terms, worst.outputs, np.where(worst.values > 0, terms.prices, 0.0))
        self._solve(len(groups))
        return GroupSlackProgress(primal, dual, len(groups), size)

    def turned(self, groups: Sequence[SumTerms]) -> GroupSlack:
        """New terms over the same outputs: the constraints that have weight, made anew, and the best weights."""
        new = GroupSlack.at(self.best, plain=self.plain)
        new.reach = self.reach
        kept = np.flatnonzero(self.alphas > 0)
        for j in kept:
            group, row = int(self.groups[j]), self.rows[j]
            new._add(group, groups[group], row.outputs, row.scales)
        new.alphas = self.alphas[kept]
        if len(kept):
            new._solve(len(groups))
        return new

    def dual(self) -> float:
        """The dual objective, a lower bound of the primal one."""
        return inner(self.alphas, self.offsets) - 0.5 * float(self.alphas @ self.gram @ self.alphas)

    def _add(self, group: int, terms: SumTerms, outputs: Ids, scales: Floats) -> None:
        offset, slope = terms.total(outputs, scales)
        indices = np.flatnonzero(slope).astype(np.int32)
        values = slope[indices]
        size = len(self.rows)
        gram = np.zeros((size + 1, size + 1))
        gram[:size, :size] = self.gram
        gram[size, :size] = gram[:size, size] = [sparse_dot(row.indices, row.values, slope) for row in self.rows]
        gram[size, size] = inner(values, values)
        self.gram = gram
        self.rows.append(Constraint(indices, values, outputs, scales))
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
        for alpha, row in zip(self.alphas, self.rows):
            if alpha > 0:
                _subtract(row.indices, row.values, alpha, self.weights)


@kernel
def _subtract(indices: Ids, values: Floats, scale: float, out: Floats) -> None:
    for k in range(indices.shape[0]):
        out[indices[k]] -= scale * values[k]


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

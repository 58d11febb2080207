"""Constraints that sum the cuts of many terms, and the weights from their dual variables.

The model, of constraints j in groups g:

    min_w ½ ‖w‖² + Σ_g ξ_g     ξ_g >= a_j + b_j · w for the constraints j of g,  ξ_g >= 0

is solved in the dual: max_{α >= 0} Σ_j α_j a_j − ½ ‖Σ_j α_j b_j‖² with Σ_{j of g} α_j <= 1, over the Gram matrix of the
constraints, by steps of one or two variables. Its value is a lower bound of the objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import NO_FLOATS, Floats, Ids, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner, kernel
from sidelight.errors import ModelFileError
from sidelight.features.counts import sparse_dot

PRECISE = 1e-9  # relative gap to which the model is solved
MOST_SWEEPS = 20_000
NO_IDS: Ids = np.zeros(0, dtype=np.int32)


class Constraint(NamedTuple):
    """A slope b in sparse form, and its outputs, if these are stored."""

    indices: Ids
    values: Floats
    outputs: Ids = NO_IDS  # [T of the group]
    scales: Floats = NO_FLOATS  # [N of the group] C_i where the term counts, else 0


@dataclass(slots=True)
class SummedCuts:
    """The constraints so far, their Gram matrix and dual variables, and the resulting weights."""

    weights: Floats  # of the model
    groups: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), kw_only=True)  # [J]
    offsets: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)  # [J] a
    alphas: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)  # [J]
    idle: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), kw_only=True)  # [J] solved without weight
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)  # [J, J]
    rows: list[Constraint] = field(default_factory=list, kw_only=True)  # J

    def bound(self) -> float:
        """The dual objective, a lower bound of the primal one."""
        return inner(self.alphas, self.offsets) - 0.5 * float(self.alphas @ self.gram @ self.alphas)

    def add(self, group: int, offset: float, slope: Floats, outputs: Ids = NO_IDS, scales: Floats = NO_FLOATS) -> None:
        """Add a constraint, without weight."""
        indices = np.flatnonzero(slope).astype(np.int32)
        values = slope[indices]
        size = len(self.rows)
        gram = np.zeros((size + 1, size + 1))
        gram[:size, :size] = self.gram
        gram[size, :size] = gram[:size, size] = [sparse_dot(row.indices, row.values, slope) for row in self.rows]
        gram[size, size] = inner(values, values)
        self.gram = gram
        self.rows.append(Constraint(indices, values, outputs, scales))
        self.groups, self.offsets = np.append(self.groups, group), np.append(self.offsets, offset)
        self.alphas, self.idle = np.append(self.alphas, 0.0), np.append(self.idle, 0)

    def solve(self, n_groups: int, *, most_idle: int) -> None:
        """Solve the model, and drop constraints without weight for more than `most_idle` calls; this does not change
        weights and bound.
        """
        slopes = self.offsets - self.gram @ self.alphas
        sums: Floats = np.bincount(self.groups, self.alphas, n_groups).astype(np.float64, copy=False)
        _solve(self.gram, self.offsets, self.groups, self.alphas, slopes, sums, PRECISE, MOST_SWEEPS)
        self.idle = np.where(self.alphas > 0.0, 0, self.idle + 1)
        keep = np.flatnonzero(self.idle <= most_idle)
        if len(keep) < len(self.rows):
            self.rows = [self.rows[j] for j in keep]
            self.gram = np.ascontiguousarray(self.gram[np.ix_(keep, keep)])
            for name in ("groups", "offsets", "alphas", "idle"):
                setattr(self, name, getattr(self, name)[keep])
        self.weights = np.zeros(len(self.weights))
        for alpha, row in zip(self.alphas, self.rows):
            if alpha > 0.0:
                self.weights[row.indices] -= alpha * row.values

    def constraints(self) -> dict[str, NDArray[Any]]:
        """The state without the weights, as arrays."""
        pools = zip(Constraint._fields, zip(Constraint(NO_IDS, NO_FLOATS), *self.rows))
        lengths = np.array([[len(piece) for piece in row] for row in self.rows], dtype=np.int64)
        return {
            "groups": self.groups,
            "offsets": self.offsets,
            "alphas": self.alphas,
            "idle": self.idle,
            "gram": self.gram,
            "ends": np.cumsum(lengths.reshape(-1, len(Constraint._fields)), axis=0),
            **{name: np.concatenate(pieces) for name, pieces in pools},
        }

    def take_up(self, arrays: Mapping[str, NDArray[Any]], n_groups: int) -> None:
        """Restore the result of `constraints`; raises `ModelFileError` if it is invalid."""
        size = len(self.weights)
        self.groups = array_of(arrays, "groups", np.int64, [None], low=0, high=n_groups - 1)
        count = len(self.groups)
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
        self.rows = [
            Constraint(*(pool[a:b].copy() for pool, a, b in zip(pools, *ends))) for ends in pairwise(bounds.tolist())
        ]
        self.offsets = array_of(arrays, "offsets", np.float64, [count])
        self.alphas = array_of(arrays, "alphas", np.float64, [count], low=0.0)
        self.idle = array_of(arrays, "idle", np.int64, [count], low=0)
        self.gram = array_of(arrays, "gram", np.float64, [count, count])


@kernel
def _solve(
    gram: Floats,
    offsets: Floats,
    groups: Ints,
    alphas: Floats,
    slopes: Floats,
    sums: Floats,
    precise: float,
    at_most: int,
) -> None:
    """Raise the dual by the best step of one variable, or of a pair within a full group, until there is none.

    slopes[j] = a_j − (G α)_j is the value of constraint j at the current weights, sums[g] = Σ_{j of g} α_j. The gap of
    the small problem is Σ_g max(0, max_{j of g} slopes[j]) − Σ_j α_j slopes[j].
    """
    size = offsets.shape[0]
    tops = np.empty(sums.shape[0])
    for _ in range(at_most):
        tops[:] = 0.0
        paid = 0.0
        value = 0.0
        for j in range(size):
            tops[groups[j]] = max(tops[groups[j]], slopes[j])
            paid += alphas[j] * slopes[j]
            value += 0.5 * alphas[j] * (slopes[j] + offsets[j])
        most = 0.0
        for g in range(tops.shape[0]):
            most += tops[g]
        if most - paid <= precise * (1.0 + abs(value)):
            return
        for up in range(size):
            group = groups[up]
            # if the group is not full, one variable changes; its partner is the slack itself (no row, slope 0)
            curve = gram[up, up]
            if slopes[up] < 0.0 or sums[group] < 1.0:
                room = max(0.0, 1.0 - sums[group])  # sums may exceed 1 by rounding
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

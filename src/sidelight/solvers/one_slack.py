"""Cutting planes with one slack for all terms.

The problem:  min_w P(w) = ½ ‖w‖² + R(w),  R(w) = Σ_i C_i max(0, v_i(w)),  v_i(w) = max offset + slope · w over outputs.

An iteration finds the worst output of every term at the current weights, and sums them to one constraint
R(w') >= b + g · w', tight at w: b = Σ C_i offset_i and g = Σ C_i slope_i over the terms with v_i(w) > 0. Then it solves
the model of all constraints (`duals.summed_cuts`, of one group), whose value D is a lower bound: D <= min P <= P(w).

With a cache (Joachims, Finley and Yu 2009, as the method itself), every term stores its worst outputs of the last
`remember` iterations with inference. A constraint made from these alone needs no inference. It is used if it is
violated by at least `promise` of the last gap, at most `most_cached` times in a row. Constraints without weight for
`idle` iterations are dropped; this does not change the weights and D.

Stops when P − D <= tolerance · P.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like, array_of, part_of
from sidelight.core.file_contents import offsets_of as stored_offsets
from sidelight.core.kernels import inner, kernel
from sidelight.errors import ModelFileError
from sidelight.features.counts import SparseRows, sparse_dot
from sidelight.objective.cuts import Cuts, Terms, total_loss
from sidelight.solvers.duals.solver_round import GapSolver, PartialSolverRound
from sidelight.solvers.duals.summed_cuts import SummedCuts


@dataclass(frozen=True, slots=True)
class OneSlackOptions:
    """What is cached, and for how long."""

    remember: int = 10  # iterations with inference whose outputs are cached; 0 for no cache
    promise: float = 0.3
    most_cached: int = 10
    idle: int = 50

    def __post_init__(self) -> None:
        if self.remember < 0 or self.most_cached < 0 or self.idle < 1 or not self.promise >= 0:
            raise ValueError("remember, promise and most_cached must not be negative, idle must be 1 or more")


@dataclass(slots=True)
class OneSlack(SummedCuts, GapSolver):
    """The constraints so far, their weights, and the best weights."""

    best: Floats  # weights of the lowest primal value so far
    options: OneSlackOptions
    cache: list[Cuts] = field(default_factory=list)  # oldest first
    cached_in_a_row: int = 0
    best_primal: float = np.inf
    dual: float = 0.0
    gap: float = np.inf

    @classmethod
    def fresh(cls, size: int, options: OneSlackOptions | None = None) -> OneSlack:
        """A solver without constraints and with zero weights."""
        return cls(np.zeros(size), np.zeros(size), OneSlackOptions() if options is None else options)

    def round(self, terms: Terms, *, infer: bool = False) -> PartialSolverRound:
        """One iteration, see the module's docstring; `infer` forces inference."""
        cut = None if infer or not self._may_use_cache() else self._from_cache(terms)
        slack = max(0.0, float(np.max(self._values(), initial=0.0)))
        primal = None
        if cut is not None and cut[0] - slack >= self.options.promise * self.gap:
            self.cached_in_a_row += 1
            offset, slope = cut[1], cut[2]
        else:
            self.cached_in_a_row = 0
            primal, offset, slope = self._from_inference(terms)
        self.add(0, offset, slope)
        self.solve(1, most_idle=self.options.idle)
        self.dual = self.bound()
        self.gap = self.best_primal - self.dual
        return PartialSolverRound(primal, self.dual, 1, len(self.rows))

    def _may_use_cache(self) -> bool:
        return bool(np.isfinite(self.gap)) and self.cached_in_a_row < self.options.most_cached

    def _values(self) -> Floats:
        """b + g · w of every constraint. # [K]"""
        products = [sparse_dot(row.indices, row.values, self.weights) for row in self.rows]
        return self.offsets + np.array(products, dtype=np.float64)

    def _from_inference(self, terms: Terms) -> tuple[float, float, Floats]:
        worst = terms.worst(self.weights)
        primal = 0.5 * inner(self.weights, self.weights) + total_loss(worst.values, terms.prices, 1)
        if primal < self.best_primal:
            self.best_primal = primal
            self.best[:] = self.weights
        which = np.flatnonzero((worst.values > 0.0) & (terms.prices > 0.0))
        cuts = terms.cuts(worst, which)
        if self.options.remember > 0:
            self.cache = [*self.cache, cuts][-self.options.remember :]
        scales = terms.prices[cuts.terms]
        slope = np.zeros(len(self.weights))
        _add_rows(cuts.slopes.indptr, cuts.slopes.indices, cuts.slopes.values, scales, slope)
        return primal, inner(scales, cuts.offsets), slope

    def _from_cache(self, terms: Terms) -> tuple[float, float, Floats] | None:
        """The value, offset and slope of the constraint from the cache, if there is one."""
        if not self.cache:
            return None
        best = np.zeros(len(terms))
        iterations = np.full(len(terms), -1)  # number of the cached iteration
        values = [cuts.offsets + cuts.slopes.dot(self.weights) for cuts in self.cache]
        for number, cuts in enumerate(self.cache):
            higher = values[number] > best[cuts.terms]
            best[cuts.terms[higher]] = values[number][higher]
            iterations[cuts.terms[higher]] = number
        offset, slope = 0.0, np.zeros(len(self.weights))
        for number, cuts in enumerate(self.cache):
            scales = np.where(iterations[cuts.terms] == number, terms.prices[cuts.terms], 0.0)
            offset += inner(scales, cuts.offsets)
            _add_rows(cuts.slopes.indptr, cuts.slopes.indices, cuts.slopes.values, scales, slope)
        return inner(terms.prices, best), offset, slope

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        numbers = np.array([self.best_primal, self.dual, self.gap, self.cached_in_a_row, len(self.cache)])
        arrays = {**self.constraints(), "weights": self.weights, "best": self.best, "numbers": numbers}
        for number, cuts in enumerate(self.cache):
            arrays |= {
                f"cache.{number}.terms": cuts.terms,
                f"cache.{number}.offsets": cuts.offsets,
                f"cache.{number}.indptr": cuts.slopes.indptr,
                f"cache.{number}.indices": cuts.slopes.indices,
                f"cache.{number}.values": cuts.slopes.values,
            }
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_terms: int) -> None:
        """Restore the state from such arrays, for a problem with `n_terms` terms; raises `ModelFileError` if they are
        invalid.
        """
        most = len(self.weights) - 1
        self.weights, self.best = (array_like(arrays, name, self.weights) for name in ("weights", "best"))
        self.take_up(arrays, 1)
        numbers = array_of(arrays, "numbers", np.float64, [5], finite=False)
        self.best_primal, self.dual, self.gap = (float(number) for number in numbers[:3])
        if not (0 <= numbers[3] < 2**53 and 0 <= numbers[4] <= self.options.remember):
            raise ModelFileError("the array 'numbers' has a count that is none")
        self.cached_in_a_row = int(numbers[3])
        self.cache = [_stored_cuts(part_of(arrays, f"cache.{n}."), n_terms, most) for n in range(int(numbers[4]))]


def _stored_cuts(arrays: Mapping[str, NDArray[Any]], n_terms: int, most: int) -> Cuts:
    """Cuts from a checkpoint, with entries up to `most`."""
    terms = array_of(arrays, "terms", np.int64, [None], low=0, high=n_terms - 1)
    indices = array_of(arrays, "indices", np.int32, [None], low=0, high=most)
    indptr = stored_offsets(arrays, "indptr", count=len(terms), total=len(indices))
    values = array_of(arrays, "values", np.float64, [len(indices)])
    return Cuts(terms, SparseRows(indptr, indices, values), array_of(arrays, "offsets", np.float64, [len(terms)]))


@kernel
def _add_rows(indptr: Ints, indices: Ids, values: Floats, scales: Floats, out: Floats) -> None:
    for i in range(scales.shape[0]):
        if scales[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k]] += scales[i] * values[k]

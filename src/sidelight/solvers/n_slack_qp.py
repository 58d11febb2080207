"""Cutting planes with one slack per term; every working set is solved to the optimum.

The problem:  min_w P(w) = ½ ‖w‖² + Σ_i C_i max(0, v_i(w))^p  with v_i(w) = max over outputs, offset + slope · w.

A round finds the worst output of every term, adds the cuts that are violated by ε more than the term's existing cuts,
and solves the dual of all cuts to high precision over their Gram matrix (`block_qp`). This is Algorithm 1 of
Tsochantaridis, Joachims, Hofmann and Altun (2005), with all terms between two solves. Memory grows with the square of
the number of cuts: this solver is the exact reference for small problems; `cutting_plane` is for large ones.

The dual value D of a round's working set is a lower bound, D <= min P <= P(w). Stops when P − D <= tolerance · P.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like, array_of, offsets_of
from sidelight.core.kernels import inner
from sidelight.features.counts import SparseRows, stacked
from sidelight.objective.cuts import Terms, total_loss
from sidelight.solvers.duals.block_qp import solve
from sidelight.solvers.duals.solver_round import GapSolver, SolverRound

PRECISE = 1e-10  # precision of a working set's solution, relative to its largest offset


@dataclass(slots=True)
class NSlackQP(GapSolver):
    """The cuts so far, their Gram matrix and dual variables, and the resulting weights."""

    weights: Floats
    best: Floats  # weights of the lowest primal value so far
    power: int
    terms: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [J] the term of each cut
    offsets: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    alphas: Floats = field(default_factory=lambda: np.zeros(0))  # [J]
    slopes: SparseRows = field(default_factory=lambda: stacked([]))  # [J]
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # [J, J]
    best_primal: float = np.inf
    dual: float = 0.0
    gap: float = np.inf

    @classmethod
    def fresh(cls, size: int, *, power: int) -> NSlackQP:
        """A solver without cuts and with zero weights. `power` is 1 for the hinge and 2 for its square."""
        if power not in (1, 2):
            raise ValueError(f"power is {power}; give 1 or 2")
        return cls(np.zeros(size), np.zeros(size), power)

    def round(self, terms: Terms, *, violation: float) -> SolverRound:
        """One round; `violation` is ε."""
        worst = terms.worst(self.weights)
        primal = 0.5 * inner(self.weights, self.weights) + total_loss(worst.values, terms.prices, self.power)
        if primal < self.best_primal:
            self.best_primal = primal
            self.best[:] = self.weights
        dual = self.dual
        self.gap = self.best_primal - dual
        known = np.zeros(len(terms))
        np.maximum.at(known, self.terms, self.offsets + self.slopes.dot(self.weights))
        margin = violation + 1e-12 * (1.0 + np.abs(worst.values))
        which = np.flatnonzero((worst.values > known + margin) & (terms.prices > 0.0))
        if len(which):
            cuts = terms.cuts(worst, which)
            self._add(cuts.terms, cuts.slopes, cuts.offsets)
            self._solve(terms.prices)
        return SolverRound(primal, dual, len(which), len(self.terms))

    def _add(self, terms: Ints, slopes: SparseRows, offsets: Floats) -> None:
        before, size = len(self.terms), len(self.terms) + len(terms)
        self.slopes = stacked([self.slopes, slopes])
        gram = np.zeros((size, size))
        gram[:before, :before] = self.gram
        dense = np.zeros(len(self.weights))
        for j in range(before, size):
            part = slice(self.slopes.indptr[j], self.slopes.indptr[j + 1])
            dense[self.slopes.indices[part]] = self.slopes.values[part]
            gram[j] = self.slopes.dot(dense)
            gram[:, j] = gram[j]
            dense[self.slopes.indices[part]] = 0.0
        self.gram = gram
        self.terms = np.concatenate([self.terms, terms])
        self.offsets = np.concatenate([self.offsets, offsets])
        self.alphas = np.concatenate([self.alphas, np.zeros(len(terms))])

    def _solve(self, prices: Floats) -> None:
        hinge = self.power == 1
        caps = prices if hinge else np.full(len(prices), np.inf)
        eases = np.zeros(len(prices)) if hinge else 0.5 / np.maximum(prices, 1e-300)
        tolerance = PRECISE * max(1e-12, float(np.abs(self.offsets).max()))
        self.dual = solve(self.gram, self.offsets, self.terms, caps, eases, self.alphas, tolerance=tolerance)
        self.weights = np.zeros(len(self.weights))
        for j in np.flatnonzero(self.alphas):
            part = slice(self.slopes.indptr[j], self.slopes.indptr[j + 1])
            self.weights[self.slopes.indices[part]] -= self.alphas[j] * self.slopes.values[part]

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        return {
            "weights": self.weights,
            "best": self.best,
            "terms": self.terms,
            "offsets": self.offsets,
            "alphas": self.alphas,
            "indptr": self.slopes.indptr,
            "indices": self.slopes.indices,
            "values": self.slopes.values,
            "gram": self.gram,
            "numbers": np.array([self.best_primal, self.dual, self.gap]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_terms: int) -> None:
        """Restore the state from such arrays, for a problem with `n_terms` terms; raises `ModelFileError` if they are
        invalid.
        """
        most = len(self.weights) - 1
        self.weights, self.best = (array_like(arrays, name, self.weights) for name in ("weights", "best"))
        self.terms = array_of(arrays, "terms", np.int64, [None], low=0, high=n_terms - 1)
        count = len(self.terms)
        self.offsets = array_of(arrays, "offsets", np.float64, [count])
        self.alphas = array_of(arrays, "alphas", np.float64, [count], low=0.0)
        self.gram = array_of(arrays, "gram", np.float64, [count, count])
        indices = array_of(arrays, "indices", np.int32, [None], low=0, high=most)
        values = array_of(arrays, "values", np.float64, [len(indices)])
        self.slopes = SparseRows(offsets_of(arrays, "indptr", count=count, total=len(indices)), indices, values)
        numbers = array_of(arrays, "numbers", np.float64, [3], finite=False)
        self.best_primal, self.dual, self.gap = (float(number) for number in numbers)

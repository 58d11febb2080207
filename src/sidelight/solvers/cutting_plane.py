"""Cutting planes with dual coordinate descent, one slack per term.

The problem:  min_w P(w) = ½ ‖w‖² + Σ_i C_i max(0, v_i(w))^p  with v_i(w) = max over outputs of offset + slope · w,
or the logistic loss log(1 + exp v_i) instead of the power (`objective.cuts.LOGISTIC`).

A round processes the terms block by block, in random order. For each block, it finds the worst output of each term at
the current weights (in parallel), adds the cuts that are violated by ε more than the term's existing cuts, and sweeps
the dual of the block's cuts. Then it sweeps all cuts, and finds the worst output of every term once more at the new
weights. This gives P(w), and the dual variables give a lower bound D. So every round ends with a known gap:  D <= min P
<= P(w).

Stops when P − D <= tolerance · P. Chang's thesis (2011, Algorithms 14 and 16) uses all terms as one block;
Tsochantaridis et al. (2005) use each term as a block. Blocks of some thousand tokens keep all cores busy, and need far
fewer rounds than a single block. The working set is kept between calls, so a later problem with shared terms (the next
J-LIS round) starts from the previous solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.kernels import inner
from sidelight.objective.cuts import Cuts, Terms, Worst, total_loss
from sidelight.solvers.dual_coordinate import dual_value, sweeps, worst_values
from sidelight.solvers.duals.solver_round import GapSolver, SolverRound
from sidelight.solvers.duals.working_set import WorkingSet

BLOCK_SWEEPS = 3
FIRST_SWEEPS = 2  # over all cuts, before a gap is known
MOST_SWEEPS = 1000
INNER = 0.4  # the working set is solved to this share of the last gap
IDLE_ROUNDS = 5  # a cut without weight for this many rounds may be removed


@dataclass(slots=True)
class CuttingPlane(GapSolver):
    """The state of a solver: weights, working set, random state, and results for the current problem.

    The best weights so far are stored as their dual variables, not as a vector, unless they are the initial weights of
    the problem. With an `origin`, the regulariser is ½ ‖w − origin‖²: training continues from other weights instead of
    zero.
    """

    weights: Floats
    pool: WorkingSet
    random: Keys  # [1]
    power: int  # 1 hinge, 2 squared hinge, LOGISTIC
    origin: Floats | None = None
    start: Floats | None = None  # initial weights of the problem, until better ones are found
    best_primal: float = np.inf
    gap: float = np.inf  # of the last round
    at_best: bool = True  # the current weights are the best ones so far

    @classmethod
    def fresh(
        cls, size: int, n_terms: int, *, power: int, seed: int, origin: Floats | None = None, whole: bool = False
    ) -> CuttingPlane:
        """A solver with an empty working set at its origin, by default zero; `whole` if slopes are whole numbers."""
        weights = np.zeros(size) if origin is None else origin.copy()
        pool = WorkingSet(n_terms, whole=whole and power == 2)
        return cls(weights, pool, np.array([seed], dtype=np.uint64), power, origin)

    @property
    def best(self) -> Floats:
        """The best weights so far for the current problem; do not change them."""
        if self.start is not None:
            return self.start
        return self.weights if self.at_best else self._made_from(self.pool.best_alphas)

    def new_problem(self, terms: Terms, start: Floats, worst: Worst | None = None) -> float:
        """Change to a new problem, with good initial weights; returns their objective.

        `worst` is the value of the terms at these weights, if known; otherwise one inference per term computes it. The
        working set is kept, so the caller must have removed cuts that no longer hold; the weights of the dual point are
        rebuilt from it.
        """
        self.start = start.copy()
        self.weights = self._made_from(self.pool.alphas)
        self.best_primal = self.primal(terms, start, worst)
        self.gap = np.inf
        return self.best_primal

    def primal(self, terms: Terms, weights: Floats, worst: Worst | None = None) -> float:
        """P at some weights, with one inference for every term."""
        worst = terms.worst(weights) if worst is None else worst
        return self._regulariser(weights) + total_loss(worst.values, terms.prices, self.power)

    def round(self, terms: Terms, *, violation: float, tolerance: float) -> SolverRound:
        """One round; see the module's docstring. `violation` is ε."""
        new = 0
        blocks = terms.parts()
        found_again = np.zeros(len(terms), dtype=np.bool_)
        for first, part in blocks:
            found_again[first : first + len(part)] = True
        self.pool.forget_idle(IDLE_ROUNDS, found_again=found_again)
        for index in np.random.Generator(np.random.PCG64(int(self.random[0]))).permutation(len(blocks)):
            first, part = blocks[index]
            last = first + len(part)
            worst = part.worst(self.weights)
            members = self.pool.members(first, last)
            known = worst_values(self.pool, self.weights, members, power=self.power)[first:last]
            fresh = self._add(part, worst, first, known, violation)
            new += fresh
            mine = np.concatenate([members, np.arange(len(self.pool) - fresh, len(self.pool))])
            self._sweep(mine, terms.prices, BLOCK_SWEEPS, 0.0)
        sweeps = self._sweep_all(terms, tolerance)
        primal = self.primal(terms, self.weights)
        dual = dual_value(self.pool, self.weights, terms.prices, power=self.power, origin=self.origin)
        if primal < self.best_primal:
            self.best_primal = primal
            self.start = None
            self.at_best = True
            self.pool.mark_best()
        else:
            self.at_best = False
        self.gap = self.best_primal - dual
        return SolverRound(primal, dual, new, len(self.pool), sweeps)

    def _made_from(self, alphas: Floats) -> Floats:
        weights = self.pool.weights(len(self.weights), alphas)
        if self.origin is not None:
            weights += self.origin
        return weights

    def _regulariser(self, weights: Floats) -> float:
        from_origin = weights if self.origin is None else weights - self.origin
        return 0.5 * inner(from_origin, from_origin)

    def _add(self, part: Terms, worst: Worst, first: int, known: Floats, violation: float) -> int:
        margin = violation + 1e-9 * (1.0 + np.abs(worst.values))
        which = np.flatnonzero((worst.values > known + margin) & (part.prices > 0))
        if len(which):
            cuts = part.cuts(worst, which)
            self.pool.add(Cuts(cuts.terms + first, cuts.slopes, cuts.offsets))
        return len(which)

    def _sweep(self, cuts: Ints, prices: Floats, at_most: int, enough: float) -> tuple[int, float]:
        return sweeps(
            self.pool,
            self.weights,
            prices,
            cuts=cuts,
            power=self.power,
            at_most=at_most,
            enough=enough,
            state=self.random,
        )

    def _sweep_all(self, terms: Terms, tolerance: float) -> int:
        """Sweep all cuts until the gap over the working set alone is small relative to that of the last round."""
        everything = np.arange(len(self.pool))
        if not np.isfinite(self.gap):
            return self._sweep(everything, terms.prices, FIRST_SWEEPS, 0.0)[0]
        aim = max(INNER * self.gap, 0.3 * tolerance * abs(self.best_primal))
        sweeps, step = 0, 1
        while sweeps < MOST_SWEEPS:
            sweeps += self._sweep(everything, terms.prices, step, 0.0)[0]
            step = min(2 * step, 32)
            values = worst_values(self.pool, self.weights, everything, power=self.power)
            loss = total_loss(values, terms.prices, self.power)
            dual = dual_value(self.pool, self.weights, terms.prices, power=self.power, origin=self.origin)
            if self._regulariser(self.weights) + loss - dual <= aim:
                break
        return sweeps

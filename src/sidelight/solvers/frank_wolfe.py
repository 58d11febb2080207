"""Block-coordinate Frank–Wolfe, with pairwise steps, cached outputs and gap sampling.

The problem:  min_w P(w) = ½ ‖w‖² + Σ_i C_i max(0, v_i(w))  with v_i(w) = max over outputs j, offset_ij + slope_ij · w.
Its dual:     max_α D(α) = Σ_ij α_ij offset_ij − ½ ‖w‖²,  w = −Σ_ij α_ij slope_ij,  α_ij >= 0,  Σ_j α_ij <= C_i.

A visit to example i finds its worst output at the current weights and makes a step with exact line search in its α
alone. With `steps` 0, the step goes towards that output (Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013). Otherwise
there are up to `steps` pairwise steps; each moves weight from the least violated known output to the most violated one
(Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien 2016). They use the outputs found so far, so there can also be
passes over all examples without a search for new outputs (Shah, Kolmogorov and Lampert 2015).

P − D = Σ_i gap_i, and a visit computes gap_i at its weights. Examples are visited in random order, each once per pass,
or ("gap") drawn in proportion to their last known gaps. The sum of these gaps is an estimate. Every `every` rounds, and
if the estimate is small, a pass without steps gives the true primal, dual and gap. Weights oscillate around the
optimum, so the primal is that of their mean over the last rounds, where each round has half the share of the next. With
`average`, it is that of the average of the weights with weight k after visit k, if this is lower.

Stops when P − D <= tolerance · P. A round is one pass with inference and `cached` passes without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Keys
from sidelight.core.file_contents import array_like, array_of, whole_of
from sidelight.core.kernels import GOLDEN, inner
from sidelight.objective.cuts import total_loss
from sidelight.objective.online.online_margin import ChainBlocks
from sidelight.solvers.duals.cut_blocks import CutBlocks
from sidelight.solvers.duals.solver_round import GapSolver, PartialSolverRound

OPTIMISM = 0.65  # assumed ratio of the true gap to its estimate before the first measurement


Blocks = ChainBlocks | CutBlocks  # examples with their known outputs and dual variables


@dataclass(frozen=True, slots=True)
class FrankWolfeOptions:
    """How to visit examples, and how often to measure the true gap."""

    sampling: Literal["uniform", "gap"] = "uniform"
    steps: int = 8  # maximum pairwise steps per visit; 0 is one Frank–Wolfe step
    share: float = 0.01
    cached: int = 3  # passes over known outputs after each pass with inference; none with steps 0
    average: bool = False
    every: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sampling not in ("uniform", "gap"):
            raise ValueError(f"sampling is {self.sampling!r}; give 'uniform' or 'gap'")
        if self.steps < 0 or self.cached < 0 or self.every < 1:
            raise ValueError("steps and cached must not be negative, every must be 1 or more")


@dataclass(slots=True)
class FrankWolfe(GapSolver):
    """The state of a solver; the blocks keep the dual variables."""

    weights: Floats
    gaps: Floats  # [N] as they were when each example was visited last
    options: FrankWolfeOptions
    random: Keys  # [1]
    best: Floats  # weights of the lowest primal value so far
    recent: Floats  # the mean of the weights after the last rounds
    totals: Floats | None = None
    clock: float = 0.0
    rounds: int = 0
    best_primal: float = np.inf
    gap: float = np.inf
    dual: float = field(default=0.0)
    truth: float = OPTIMISM  # ratio of the true gap to its estimate at the last measurement

    @classmethod
    def fresh(cls, size: int, count: int, options: FrankWolfeOptions) -> FrankWolfe:
        """A solver with zero weights, for `count` examples."""
        random = np.array([options.seed], dtype=np.uint64)
        totals = np.zeros(size) if options.average else None
        return cls(np.zeros(size), np.full(count, np.inf), options, random, np.zeros(size), np.zeros(size), totals)

    def round(self, blocks: Blocks, *, tolerance: float, measure: bool = False) -> PartialSolverRound:
        """One pass with inference, `cached` passes without, and, if due or requested, one for the true gap."""
        options = self.options
        drawn = options.sampling == "gap" and self.rounds > 0
        self._visit(blocks, look=True, passes=0 if drawn else 1)
        if options.steps > 0 and options.cached > 0:
            self._visit(blocks, look=False, passes=options.cached)
        self.rounds += 1
        self.dual = blocks.offset - 0.5 * inner(self.weights, self.weights)
        self.recent += self.weights
        if self.rounds > 1:
            self.recent *= 0.5
        estimate = float(self.gaps.sum())
        likely = self.truth * estimate <= tolerance * abs(self.dual)
        if measure or self.rounds % options.every == 0 or likely:
            primal = self._evaluate(blocks, tolerance)
            self.truth = min(max(primal - self.dual, 0.0) / estimate, 1.0) if estimate > 0.0 else 1.0
            return PartialSolverRound(primal, self.dual, working_set=blocks.outputs)
        return PartialSolverRound(None, self.dual, working_set=blocks.outputs)

    def average(self) -> Floats:
        """The average of the weights, weight k after visit k."""
        if self.totals is None:
            raise ValueError("no average was computed; set average=True")
        return self.weights - self.totals / max(0.5 * self.clock * (self.clock + 1.0), 1.0)

    def _visit(self, blocks: Blocks, *, look: bool, passes: int) -> None:
        """`passes` passes in random order, or with 0 one in which examples are drawn by their gaps."""
        order = None
        if passes > 0:
            self.random += GOLDEN
            rng = np.random.Generator(np.random.PCG64(int(self.random[0])))
            order = np.concatenate([rng.permutation(len(blocks)) for _ in range(passes)])
        self.clock = blocks.visit(
            self.weights,
            self.totals,
            self.gaps,
            order=order,
            look=look,
            steps=self.options.steps,
            share=self.options.share,
            clock=self.clock,
            random=self.random,
        )

    def _evaluate(self, blocks: Blocks, tolerance: float) -> float:
        """The true primal: of the mean of the last rounds, or of the weights if the mean is not good enough."""
        primal = self._primal(blocks, self.recent, blocks.evaluate(self.recent)[0])
        self._offer(primal, self.recent)
        if self.options.sampling == "gap" or primal - self.dual > tolerance * abs(primal):
            values, gaps = blocks.evaluate(self.weights)
            self.gaps[:] = np.maximum(gaps, 0.0)
            own = self._primal(blocks, self.weights, values)
            self._offer(own, self.weights)
            if own < primal:
                primal = own
                self.recent[:] = self.weights
        if self.totals is not None:
            average = self.average()
            self._offer(self._primal(blocks, average, blocks.evaluate(average)[0]), average)
        self.gap = self.best_primal - self.dual
        return primal

    def _primal(self, blocks: Blocks, weights: Floats, values: Floats) -> float:
        return 0.5 * inner(weights, weights) + total_loss(values, blocks.prices, 1)

    def _offer(self, primal: float, weights: Floats) -> None:
        if primal < self.best_primal:
            self.best_primal = primal
            self.best[:] = weights

    def state(self) -> dict[str, NDArray[Any]]:
        """The state without the blocks, as arrays, for a checkpoint."""
        arrays: dict[str, NDArray[Any]] = {
            "weights": self.weights,
            "gaps": self.gaps,
            "random": self.random,
            "best": self.best,
            "recent": self.recent,
            "numbers": np.array([self.clock, self.rounds, self.best_primal, self.gap, self.dual, self.truth]),
        }
        return arrays if self.totals is None else {**arrays, "totals": self.totals}

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_terms: int) -> None:
        """Restore the state from such arrays, for a problem with the same number of examples."""
        for name in ("weights", "random", "best", "recent"):
            setattr(self, name, array_like(arrays, name, getattr(self, name)))
        self.gaps = array_of(arrays, "gaps", np.float64, [n_terms], finite=False)
        if self.totals is not None:
            self.totals = array_like(arrays, "totals", self.totals)
        numbers = (float(number) for number in array_of(arrays, "numbers", np.float64, [6], finite=False))
        self.clock, rounds, self.best_primal, self.gap, self.dual, self.truth = numbers
        self.rounds = whole_of({"rounds": int(rounds) if np.isfinite(rounds) else -1}, "rounds")

"""The loop of completion and solving, one `Round` at a time.

Learning alternates two steps: complete the outputs that evidence leaves open, and solve the convex problem this
leaves (`objective.completion`, `solvers.cutting_plane`). With Gold alone there is nothing to complete and one convex
problem is solved: the structural SVM. With Companion evidence it is J-LIS (Chang et al. 2010, Algorithm 1): the first
weights come from Gold; every completion is followed by a solve that starts from the working sets and dual variables
of the one before; it ends when the relative decrease of the convex objective A(w_t, w_{t-1}) between two completions
is at most ν (thesis Eq. 6.11, whose quotient is negative as A falls: its size is meant).

Labels may have several hidden states each; then Gold is completed as well, and the first weights come from Gold with
states at random: the latent structural SVM (Yu and Joachims 2009).

With Unlabeled evidence it is the transductive structural SVM (Zien, Brefeld and Scheffer 2007). There the price of
completed outputs may begin low and double with every completion (`anneal`), so that the first ones, which know little,
bind less (Joachims 1999). The objective then never rises between completions of the same price.

All that a learner knows between two rounds is in its state, so that training can stop after any round and go on to
the same bits.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import number_of
from sidelight.core.records import MAX_COMPLETIONS, NO_CHANGE, NO_FALL, SMALL_GAP, Round
from sidelight.objective.completion import CompletedOutputs, LatentProblem
from sidelight.objective.cuts import Terms
from sidelight.rounds.learner import RoundByRound, State, Step, plane_state, restored_plane
from sidelight.solvers.cutting_plane import CuttingPlane

FIRST_TOLERANCE = 0.03  # relative gap to which the first convex problems are solved when more are to follow


@dataclass(frozen=True, slots=True)
class MarginOptions:
    """When to stop, and what to start from."""

    power: int = 2  # 1 hinge, 2 squared hinge, or LOGISTIC
    tolerance: float = 0.01  # relative duality gap at which a convex problem is solved
    violation: float = 1e-3  # ε: a cut is added where it is violated by more
    decrease: float = 1e-5  # ν: completions end when the objective falls by less, relatively
    max_completions: int = 50
    max_rounds: int = 1000
    random_ties: bool = False
    seed: int = 0
    anneal: int = 0  # completions before latent outputs have their full price, half as much for each one to go
    random_start: bool = False  # ties of the first completion alone at random: states of a label begin as equals


@dataclass(slots=True)
class MarginLearner(RoundByRound):
    """Structural SVM, J-LIS and latent margin learning over chains and classes."""

    KEEPS = ("completions", "rounds_here", "changed", "objective", "tolerance", "rng")

    problem: LatentProblem
    options: MarginOptions
    solver: CuttingPlane
    rng: np.random.Generator
    name: str = "jlis"
    completion: CompletedOutputs = field(default_factory=CompletedOutputs)
    completions: int = 0  # how many have been made; 0 is the start from Gold
    rounds_here: int = 0  # since the last completion
    changed: int = 0
    objective: float = np.inf
    tolerance: float = 0.0  # of the present convex problem; falls to options.tolerance as completions settle
    _terms: Terms | None = None

    @classmethod
    def fresh(
        cls,
        problem: LatentProblem,
        options: MarginOptions,
        *,
        size: int,
        start: Floats | None = None,
        origin: Floats | None = None,
        name: str = "jlis",
    ) -> MarginLearner:
        """A learner before its first round. `start` completes first instead of weights learned from Gold; with `origin`
        the regulariser draws towards these weights instead of towards zero."""
        solver = CuttingPlane.fresh(
            size,
            len(problem),
            power=options.power,
            seed=options.seed,
            origin=origin,
            whole=problem.whole_slopes,
        )
        self = cls(problem, options, solver, np.random.default_rng(options.seed), name)
        self.tolerance = options.tolerance if problem.is_convex else max(options.tolerance, FIRST_TOLERANCE)
        if start is not None:
            solver.start = start.copy()
        elif origin is None:
            self.completion = problem.begin(self.rng)
        no_gold = len(problem.gold) + problem.latent.hidden == 0
        if not problem.is_convex and (start is not None or origin is not None or no_gold):
            self._complete()
        elif start is not None:
            solver.new_problem(self._problem(), start)
        return self

    @property
    def weights(self) -> Floats:
        """The best weights so far."""
        return self.solver.best

    def step(self) -> Step:
        """One round of cutting planes, followed by a completion where the convex problem is solved."""
        solver = self.solver
        progress = solver.round(self._problem(), violation=self.options.violation, tolerance=self.tolerance)
        self.rounds_here += 1
        figures = {
            **asdict(progress),
            "completion": self.completions,
            "changed": self.changed if self.rounds_here == 1 else 0,
            "objective": solver.best_primal,
            "gap": solver.gap,
        }
        return self._next() if solver.finished(self.tolerance) else None, figures

    def _problem(self) -> Terms:
        if self._terms is None:
            first = self.completions == 0 and not self.problem.is_convex
            self._terms = self.problem.gold_only(self.completion) if first else self._convex()
        return self._terms

    def _convex(self) -> Terms:
        """The convex problem of the present completion, at the price that latent outputs have by now."""
        problem = self.problem
        if self.completions <= self.options.anneal:
            terms = problem.latent.terms
            prices = terms.prices * 0.5 ** (self.options.anneal + 1 - self.completions)
            prices[: problem.latent.hidden] = terms.prices[: problem.latent.hidden]  # Gold has its full price
            problem = replace(problem, latent=replace(problem.latent, terms=replace(terms, prices=prices)))
        return problem.convex(self.completion)

    def _next(self) -> str | None:
        """The convex problem is solved: complete again, or say why training ends.

        Early completions are solved roughly; once the objective falls by less than their tolerance, it is tightened.
        """
        before, self.objective = self.objective, self.solver.best_primal
        if self.problem.is_convex:
            return SMALL_GAP
        if self.completions >= self.options.max_completions:
            return MAX_COMPLETIONS
        if self.completions >= 2 + self.options.anneal:  # else the one before had another price
            fall = (before - self.objective) / max(abs(before), 1e-12)
            if fall <= self.tolerance and self.tolerance > self.options.tolerance:
                self.tolerance = max(self.tolerance / 3.0, self.options.tolerance)
            elif fall <= self.options.decrease:
                return NO_FALL
        elif self.completions == 0:
            self.objective = np.inf
        if not self._complete():
            self.tolerance = self.options.tolerance  # nothing left to complete: solve this problem to the end
            if self.solver.finished(self.tolerance):
                return NO_CHANGE
        return None

    def _complete(self) -> bool:
        """Complete with the best weights; returns whether that leaves another problem."""
        at_random = self.options.random_ties or (self.options.random_start and self.completions == 0)
        rng = self.rng if at_random else None
        best = self.solver.best
        self.completion, latent, positive = self.problem.complete(best, self.completion, rng)
        self.changed = len(latent) + len(positive)
        self.completions += 1
        if self.changed == 0 and self.completions > self.options.anneal + 1:
            return False
        pool = self.solver.pool
        pool.remove(latent + self.problem.first_latent)
        numbers = positive + self.problem.first_positive
        weights_before = pool.remove(numbers)
        self._terms = self._convex()
        worst = self._terms.worst(best)
        if len(numbers):
            pool.add(self._terms.cuts(worst, numbers))
            pool.give(weights_before)
        self.solver.new_problem(self._terms, best, worst)
        self.rounds_here = 0
        return True

    def has_result(self, record: Round) -> bool:
        """Whether a completion ended with this round."""
        ended = record.last or self.completions != record.completion
        return ended and (record.completion > 0 or self.problem.is_convex)

    def more_state(self) -> State:
        values, arrays = plane_state(self.solver, "")
        completed = {"latent": self.completion.latent, "positive": self.completion.positive}
        return values, arrays | {name: array for name, array in completed.items() if array is not None}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        number_of(values, "tolerance", low=0.0)
        self.solver = restored_plane((values, arrays), self.solver, "")
        self.completion = self.problem.restore(arrays)
        self._terms = None

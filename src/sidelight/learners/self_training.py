"""Self-training: a model labels inputs, learns from those it is most sure of, and labels again.

The first weights come from Gold. Then these steps are repeated: label the pool (Unlabeled, and Partial and Candidates
within their admitted outputs) with the current weights; take inputs with the highest confidence
(`objective.confidence`), at most a share of the pool, as further targets with their own price; and train again from the
current working set and dual variables (Yarowsky 1995; McClosky et al. 2006; thesis 2.5.1). With `relabel`, inputs taken
earlier are labelled again each time.

Every training ends with the transductive objective

    J(w) = ½ ‖w‖² + Σ_gold C ℓ(target y) + Σ_pool C_u ℓ(target ŷ(w)),        ŷ(w) the best admitted output under w

over the whole pool, taken or not. The result is the weights with the lowest J. Stops when J falls by no more than ν
relatively, when no input is left or confident enough and labels do not change, or after `max_completions` labelings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like, array_of, mapping_of
from sidelight.core.records import MAX_COMPLETIONS, NO_FALL, NOTHING_LEFT, NOTHING_SURE, Round
from sidelight.errors import DataError, ModelFileError
from sidelight.learners.margin import MarginOptions, MarginSpec, options_of, problem_of
from sidelight.objective.batch import Batch
from sidelight.objective.completion import LatentProblem
from sidelight.objective.confidence import Measure, confidence
from sidelight.objective.cuts import Terms
from sidelight.objective.margin import SilentTerms, StackedTerms
from sidelight.rounds import Learner
from sidelight.rounds.learner import RoundByRound, State, Step, plane_state, restored_plane
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.spaces import Paths
from sidelight.specs import Need, option
from sidelight.specs.fit_data import FitData


@dataclass(frozen=True, kw_only=True)
class SelfTraining(MarginSpec):
    """Self-training: the model labels inputs and learns from the most certain ones (Yarowsky 1995).

    After each training, the inputs with the highest confidence are taken from the pool: at most a `share` of it (1
    takes all at once), and none below `confidence`. By the `measure` "tokens", the confidence at a token is the lead of
    the best output over the best one with another label there; an input has the mean over its tokens (the default for
    chains of first order). By "output" it is the lead over the second best output, divided by the number of tokens (the
    default for second order). With `relabel`, inputs that were taken before get new labels each time.
    """

    name = "self_training"
    takes = ("gold", "unlabeled", "partial", "candidates")
    heeds = frozenset({"cost", "loss", "prices"})
    minimises = "as structural_svm, on Gold and its own labels"
    inference = "loss-augmented, argmax, second best"
    stops = "no decrease of the transductive objective, or nothing left to label"
    plain = "structural_svm"

    share: float = option(0.5, above=0, high=1)  # of the pool, at most, taken after each training
    measure: str | None = option(None, among=("tokens", "output"))  # of confidence
    confidence: float = option(0.0, low=0, infinite=True)  # inputs with a lower one are not taken
    relabel: bool = option(True)

    def needed(self) -> Mapping[Need, str]:
        more = {Need.TOKEN_MARGINS: "leave measure out"} if self.measure == "tokens" else {}
        return {**super().needed(), **more}

    def make(self, data: FitData) -> Learner:
        if data.start is None and len(data.encoded.of_kind("gold")) == 0:
            remedy = "give some, or use transductive_svm"
            raise DataError("self_training begins with Gold, and there is none", remedy=remedy)
        usual = "tokens" if Need.TOKEN_MARGINS in data.settings.output_kind.has else "output"
        return SelfTrainingLearner.fresh(
            problem_of(data),
            replace(self, measure=self.measure or usual),
            options_of(data),
            size=data.size,
            start=data.start,
            origin=data.start if data.go_on else None,
        )


@dataclass(slots=True)
class SelfTrainingLearner(RoundByRound):
    """Self-training of the structural SVM over chains and classes.

    The terms are numbered: Gold, then the pool in the order of taking.
    """

    KEEPS = ("objective", "completions", "rounds_here", "changed", "rng")

    problem: LatentProblem  # of Gold and the pool alone
    options: SelfTraining
    margin: MarginOptions
    solver: CuttingPlane
    rng: np.random.Generator
    pool: Batch  # within the admitted outputs
    name: str = "self_training"
    taken: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # in the order of taking
    targets: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))  # [T of taken]
    best: Floats | None = None  # the weights with the lowest objective
    objective: float = np.inf  # theirs
    completions: int = 0  # how often the pool has been labelled
    rounds_here: int = 0  # since the pool was labelled
    changed: int = 0
    _terms: Terms | None = None

    @classmethod
    def fresh(
        cls,
        problem: LatentProblem,
        options: SelfTraining,
        margin: MarginOptions,
        *,
        size: int,
        start: Floats | None = None,
        origin: Floats | None = None,
    ) -> SelfTrainingLearner:
        """A learner before its first round. `start` labels first, instead of weights learned from Gold; with `origin`
        the regulariser draws towards these weights instead of towards zero."""
        solver = CuttingPlane.fresh(
            size, len(problem), power=margin.power, seed=margin.seed, origin=origin, whole=problem.whole_slopes
        )
        pool, admitted = problem.latent.terms.batch, problem.latent.admitted
        if admitted is not None:
            pool = replace(pool, space=pool.space.inside(admitted))
        self = cls(problem, options, margin, solver, np.random.default_rng(margin.seed), pool)
        if start is not None:
            solver.new_problem(self._problem(), start)
            self._next()
        return self

    @property
    def weights(self) -> Floats:
        """The weights with the lowest transductive objective so far."""
        return self.solver.best if self.best is None else self.best

    def limit(self) -> int:
        return self.margin.max_rounds

    def step(self) -> Step:
        """One round of cutting planes; where the problem is solved, the pool is labelled and more of it taken."""
        completion, changed = self.completions, self.changed if self.rounds_here == 0 else 0
        margin, solver = self.margin, self.solver
        progress = solver.round(self._problem(), violation=margin.violation, tolerance=margin.tolerance)
        self.rounds_here += 1
        gap, primal = solver.gap, solver.best_primal
        stopped = self._next() if solver.finished(margin.tolerance) else None
        objective = self.objective if np.isfinite(self.objective) else primal
        figures = {"completion": completion, "changed": changed, "objective": objective, "gap": gap}
        return stopped, {**asdict(progress), **figures}

    def has_result(self, record: Round) -> bool:
        """Whether a training ended with this round."""
        return record.last or self.completions != record.completion

    def _problem(self) -> Terms:
        """The convex problem of Gold and what has been taken, with places for the rest."""
        if self._terms is None:
            whole = self.problem.latent.terms
            own = replace(whole, batch=whole.batch.take(self.taken), prices=whole.prices[self.taken])
            silent = SilentTerms.like(len(whole) - len(own))
            self._terms = StackedTerms([self.problem.gold, own.with_targets(self.targets), silent])
        return self._terms

    def _next(self) -> str | None:
        """After the convex problem is solved: label the pool and take more of it, or return why training ends."""
        margin = self.margin
        weights = self.solver.best
        if len(self.pool) == 0:
            self.best, self.objective = weights.copy(), self.solver.best_primal
            return NOTHING_LEFT
        completion = self.pool.best(weights, rng=self.rng if margin.random_ties else None)
        objective = self._transductive(weights, completion.labels)
        known = np.isfinite(self.objective)
        fall = (self.objective - objective) / max(abs(self.objective), 1e-12) if known else np.inf
        if fall > 0:
            self.best, self.objective = weights.copy(), objective
        if fall <= margin.decrease:
            return NO_FALL
        if self.completions >= margin.max_completions:
            return MAX_COMPLETIONS
        if self._take(weights, completion):
            return None
        return NOTHING_LEFT if len(self.taken) == len(self.pool) else NOTHING_SURE

    def _transductive(self, weights: Floats, labels: Ids) -> float:
        """J at some weights, which give the pool these labels."""
        terms = self.problem.latent.terms.with_targets(labels)
        return self.solver.primal(StackedTerms([self.problem.gold, terms]), weights)

    def _take(self, weights: Floats, best: Paths) -> bool:
        """Take the surest inputs of those left; returns whether there is anything new to learn from."""
        new = self._surest(weights, best)
        old = self.targets
        if self.options.relabel and len(self.taken):
            old = best.labels[self.pool.slots_of(self.taken)]
            places = np.concatenate([[0], np.cumsum(self.pool.lengths[self.taken])[:-1]])
            relabelled = np.flatnonzero(np.add.reduceat((old != self.targets).astype(np.int64), places))
        else:
            relabelled = np.zeros(0, dtype=np.int64)
        if len(new) == 0 and len(relabelled) == 0:
            return False
        self.changed = len(new) + len(relabelled)
        self.completions += 1
        self.taken = np.concatenate([self.taken, new])
        self.targets = np.concatenate([old, best.labels[self.pool.slots_of(new)]])
        self._terms = None
        self.solver.pool.remove(relabelled + len(self.problem.gold))
        self.solver.new_problem(self._problem(), weights)
        self.rounds_here = 0
        return True

    def _surest(self, weights: Floats, best: Paths) -> Ints:
        """The inputs with the highest confidence among those not taken; in case of a tie the first."""
        left = np.setdiff1d(np.arange(len(self.pool)), self.taken)
        if len(left) == 0:
            return left
        own = Paths(best.labels[self.pool.slots_of(left)], best.values[left], best.targets)
        sure = confidence(self.pool.take(left), weights, own, measure=cast(Measure, self.options.measure))
        first = np.argsort(-sure, kind="stable")[: int(np.ceil(self.options.share * len(self.pool)))]
        return np.sort(left[first[sure[first] >= self.options.confidence]])

    def more_state(self) -> State:
        solver, arrays = plane_state(self.solver, "plane.")
        arrays |= {"taken": self.taken, "targets": self.targets}
        return {"solver": solver}, arrays | ({} if self.best is None else {"best": self.best})

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.solver = restored_plane((mapping_of(values, "solver"), arrays), self.solver, "plane.")
        self.taken = array_of(arrays, "taken", np.int64, [None], low=0, high=len(self.pool) - 1)
        if len(np.unique(self.taken)) < len(self.taken):
            raise ModelFileError("the array 'taken' has an input twice")
        tokens = int(self.pool.lengths[self.taken].sum())
        most = self.pool.space.n_labels - 1
        self.targets = array_of(arrays, "targets", np.int32, [tokens], low=0, high=most)
        self.best = array_like(arrays, "best", self.solver.weights) if "best" in arrays else None
        self._terms = None

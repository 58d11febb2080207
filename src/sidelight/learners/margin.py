"""Structural SVM, J-LIS and latent margin learning: Gold, companion answers, and what is to be completed.

Learning alternates two steps: complete the outputs that evidence leaves open, and solve the convex problem this
leaves (`objective.completion`, `solvers.cutting_plane`). With Gold alone there is nothing to complete and one convex
problem is solved: the structural SVM. With Companion evidence it is J-LIS (Chang et al. 2010, Algorithm 1): the first
weights come from Gold; every completion is followed by a solve that starts from the working sets and dual variables
of the one before; it ends when the relative decrease of the convex objective A(w_t, w_{t-1}) between two completions
is at most ν (thesis Eq. 6.11, whose quotient is negative as A falls: its size is meant).

Gold whose labels have several states is completed within these; it keeps its price, and the first weights come from
Gold with states at random. Since the cost of an output counts labels, the best states minimise its term exactly: the
latent structural SVM (Yu and Joachims 2009).

With Unlabeled evidence it is the transductive structural SVM (Zien, Brefeld and Scheffer 2007). There the price of
completed outputs may begin low and double with every completion (`anneal`), so that the first ones, which know little,
bind less (Joachims 1999). The objective then never rises between completions of the same price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import NO_FLOATS, Bytes, Floats, Ints
from sidelight.core.file_contents import number_of
from sidelight.core.records import MAX_COMPLETIONS, NO_CHANGE, NO_FALL, SMALL_GAP, Round
from sidelight.objective.batch import Batch
from sidelight.objective.completion import CompletedOutputs, Latent, LatentProblem, Positive
from sidelight.objective.cuts import POWERS, Terms
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.rounds import Learner
from sidelight.rounds.learner import RoundByRound, State, Step, plane_state, restored_plane
from sidelight.rounds.restarts import Restarts
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed

LABELS = ("gold", "partial", "candidates", "unlabeled")  # kinds of evidence: all but companion answers and votes
MARGIN_KIN = {"partial": "latent_svm or cllp", "candidates": "latent_svm or cllp", "unlabeled": "transductive_svm"}
MOST_ROUNDS = 1000
BEST_ALONE: frozenset[Heed] = frozenset({"cost", "loss", "prices", "rules_in_training"})
COMPLETING: frozenset[Heed] = BEST_ALONE | {"states"}
COMPLETED = "relative decrease, or no change, between completions; duality gap with Gold alone"


@dataclass(frozen=True, kw_only=True)
class MarginSpec(LearnerSpec):
    """The base of margin learners with completion."""

    heeds = COMPLETING
    inference = "loss-augmented, argmax"
    stops = COMPLETED
    no_partial_fit = ""
    sums_losses = True
    alone = ""
    compile_seconds = 6.0

    def make(self, data: FitData) -> Learner:
        return margin_learner(data, options_of(data))


@dataclass(frozen=True, kw_only=True)
class RestartedSpec(MarginSpec):
    """The base of learners with restarts."""

    restarts: int = option(1, low=1)  # runs with different seeds and random ties; the lowest objective is kept

    def needed(self) -> Mapping[Need, str]:
        more = {Need.TIES: "leave restarts at 1"} if self.restarts > 1 else {}
        return {**super().needed(), **more}

    def make(self, data: FitData) -> Learner:
        if self.restarts == 1:
            return super().make(data)
        if data.start is not None:
            remedy = "leave restarts at 1 for partial_fit" if data.go_on else "leave warm_start out"
            raise ValueError(f"restarts begin at random, not from earlier weights; {remedy}")
        alone = replace(data, settings=replace(data.settings, n_jobs=1))  # each run on one thread, runs abreast
        problem, options, size = problem_of(alone), options_of(data), data.size

        def one(seed: int) -> MarginLearner:
            own = replace(options, random_ties=True, seed=seed)
            return MarginLearner.fresh(problem, own, size=size, name=self.name)

        n_jobs = 1 if data.place.remote else data.settings.n_jobs  # the workers are busy with one run
        return Restarts(one, range(options.seed, options.seed + self.restarts), n_jobs=n_jobs)


@dataclass(frozen=True, kw_only=True)
class Jlis(RestartedSpec):
    """J-LIS: margin learning from every kind of evidence (Chang, Srikumar, Goldwasser and Roth 2010).

    `restarts` is for learning without Gold (thesis 6.5.4): that many runs, with ties broken at random, are made on all
    cores, and the run with the lowest objective is kept. Restart r, counted from 0, has the seed `seed` + r. So two
    estimators whose seeds differ by less than `restarts` share runs. To avoid this, choose seeds further apart.
    """

    name = "jlis"
    takes = ("gold", "partial", "candidates", "companion", "unlabeled")
    minimises = "½‖w‖² + C1 Σ margin loss on Gold and completed outputs + C2 Σ loss on companion answers"


@dataclass(frozen=True, kw_only=True)
class LatentSvm(RestartedSpec):
    """The latent structural SVM: labels with hidden states, partial and candidate labels (Yu and Joachims 2009).

    The objective is that of jlis without companion answers. Training begins with random hidden states (`states` of the
    estimators) and ends in a local optimum; of several `restarts`, seeded as those of `jlis`, the one with the lowest
    objective is kept. `open_slots` is about slots whose label the evidence leaves open. If "completed", they have a
    cost like all others, measured against the completion. If "latent", no label costs anything there: only known labels
    can be wrong, and an open slot takes whatever label helps the rest.
    """

    name = "latent_svm"
    takes = LABELS
    minimises = "½‖w‖² + C Σ margin between the best output of all and the best admitted one"
    plain = "structural_svm"
    beside = ("partial", "candidates")

    open_slots: str = option("completed", among=("completed", "latent"))


@dataclass(frozen=True, kw_only=True)
class TransductiveSvm(MarginSpec):
    """The transductive structural SVM: unlabelled inputs are completed with a margin (Zien et al. 2007).

    The objective is that of jlis without companion answers. With `anneal`, completed outputs have their full price only
    after that many completions; each completion before that has half the price of the next (after Joachims 1999).
    """

    name = "transductive_svm"
    takes = ("gold", "unlabeled", "partial", "candidates")
    minimises = "½‖w‖² + C Σ margin loss on Gold + C_u Σ margin loss on completed outputs"
    plain = "structural_svm"

    anneal: int = option(0, low=0)

    def make(self, data: FitData) -> Learner:
        options = options_of(data)
        if self.anneal >= options.max_completions:
            limits = f"anneal is {self.anneal} and max_completions {options.max_completions}"
            raise ValueError(f"{limits}; the full price comes too late")
        return margin_learner(data, replace(options, anneal=self.anneal))


@dataclass(frozen=True, kw_only=True)
class SemiSvm(MarginSpec):
    """The semi-Markov model with margins instead of likelihood; a learner of `SegmentTagger`.

    This is `latent_svm` over segments. `max_length` is as for `semi_crf`.
    """

    name = "semi_svm"
    takes = LABELS
    minimises = "½‖w‖² + C Σ margin loss over segmentations"
    inference = "loss-augmented over segmentations"
    needs = frozenset({Need.BEST, Need.SEGMENTS})
    sums_losses = False
    compile_seconds = 12.0

    max_length: int | None = option(None, low=1)  # the most tokens of a segment

    def needed(self) -> Mapping[Need, str]:
        return {**super().needed(), Need.SEGMENTS: f"use SegmentTagger(learner={self.name!r})"}

    @property
    def longest(self) -> int | None:
        return self.max_length


def options_of(data: FitData) -> MarginOptions:
    """The settings that concern margin learners."""
    settings = data.settings
    return MarginOptions(
        POWERS[settings.loss],
        settings.tolerance,
        settings.violation,
        settings.fall,
        settings.completions,
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        settings.random_ties,
        settings.seed,
        random_start=data.labels.hidden,
    )


def problem_of(data: FitData) -> LatentProblem:
    """The four groups of terms."""
    encoded, rows = data.encoded, data.rows
    costs, prices, sizes = data.costs(), data.prices(), data.sizes()
    gold, hidden = encoded.gold()
    latent = np.concatenate([hidden, encoded.of_kind("partial", "candidates", "unlabeled")])
    negative = np.flatnonzero(encoded.answers == -1)
    positive = np.flatnonzero(encoded.answers == 1)
    gold_cost = Cost(encoded.targets[rows.tokens_of(gold)], costs, NO_FLOATS)
    latent_tokens = rows.tokens_of(latent)
    admitted = None if encoded.admitted is None else encoded.admitted[latent_tokens]
    nothing_known = np.zeros(len(latent_tokens), dtype=np.int32)
    latent_cost = Cost(nothing_known, costs, _known(data, latent_tokens, admitted))

    def limited(which: Ints) -> Batch:
        batch = data.batch(which)
        admitted = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(which)]
        return batch if admitted is None or np.all(admitted) else batch.inside(admitted)

    return LatentProblem(
        TargetTerms(data.batch(gold), gold_cost, prices[gold]),
        Latent(TargetTerms(data.batch(latent), latent_cost, prices[latent]), admitted, len(hidden)),
        NegativeTerms(limited(negative), sizes[negative], prices[negative]),
        Positive(limited(positive), sizes[positive], prices[positive]),
    )


def _known(data: FitData, tokens: Ints, admitted: Bytes | None) -> Floats:
    """1 if a slot's label is known, 0 if it is open; empty if open slots are charged as completed. # [T]"""
    learner = data.settings.learner
    if not isinstance(learner, LatentSvm) or learner.open_slots == "completed":
        return NO_FLOATS
    if admitted is None:
        return np.zeros(len(tokens))
    of_label = np.zeros((admitted.shape[1], len(data.labels.classes)))  # [states, labels]
    of_label[np.arange(len(of_label)), data.labels.label_of] = 1.0
    labels = np.count_nonzero(admitted @ of_label, axis=1)
    return np.asarray(labels == 1, dtype=np.float64)


def margin_learner(data: FitData, options: MarginOptions) -> MarginLearner:
    """The loop of completion and solving, from zero or from the weights of an earlier fit."""
    return MarginLearner.fresh(
        problem_of(data),
        options,
        size=data.size,
        start=data.start,
        origin=data.start if data.go_on else None,
        name=data.settings.learner.name,
    )


FIRST_TOLERANCE = 0.03  # relative gap to which the first convex problems are solved when more are to follow


@dataclass(frozen=True, slots=True)
class MarginOptions:
    """When to stop, and what to start from."""

    power: int = 2  # 1 hinge, 2 squared hinge, or LOGISTIC
    tolerance: float = 0.01  # relative duality gap at which a convex problem is solved
    violation: float = 1e-3  # ε: a cut is added if it is violated by more
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
        """After the convex problem is solved: complete again, or return why training ends.

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

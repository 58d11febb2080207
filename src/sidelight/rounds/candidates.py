"""Learning from candidate labels: CLLP and MMS, by completion rounds of the concave–convex procedure.

A round of CCCP completes every input within its candidates (the first time: as given, by a CRF, or at random) and
solves the resulting convex problem (`objective.candidates`) to a given precision. After every round the precision is
divided by a discount d, until it reaches a threshold. Precise solutions of the first rounds fix the initial labels. So
the first solutions should be rough if the initial labels are random (CLLP, section 5.2), but precise if a model chose
them, since a rough solution loses most of their information. Precisions that are not set follow the data: they are
shares of the mean loss at zero weights (`shares`). There are two solvers of the convex problem: the 2-slack cutting
plane of the paper (`solvers.group_slack`), and one slack per term with dual coordinate descent
(`solvers.cutting_plane`).

If labels are mostly wrong, the best solution may be zero weights, whose ties are meaningless. A round that ends with
zero weights completes by votes instead: every feature votes for the labels with which it occurred.

A convex problem counts as solved when its duality gap is at most ε1 Σ C1 + ε2 Σ C2. Training ends when the precision is
at its threshold and a completion changes nothing, or the objective J(w, ŷ) no longer falls by more than `decrease`,
relatively.

The best candidate under w may have a higher J than the previous completion, because the charges Δ(ŷ, ·) depend on it
too. So training ends with the weights of the lowest J, over all completions whose convex problem was solved to the last
precision.

`as_printed` leaves out everything that is not in the paper: a round ends with the solution of its cutting plane's last
model instead of the best weights found, zero weights complete by their ties, and training ends with the weights of its
last round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like, array_of, mapping_of, numbers_of, part_of
from sidelight.core.records import MAX_COMPLETIONS, NO_CHANGE, NO_FALL, Round
from sidelight.errors import ModelFileError
from sidelight.objective.candidates import CandidateProblem
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import StackedTerms, SummedTerms
from sidelight.rounds.learner import RoundByRound, State, Step, plane_state, restored_plane
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.group_slack import GroupSlack

ROUGH = (2.0 / 3.0, 0.04)  # `shares` if the initial labels are random
FINE = (0.01, 0.01)  # where a model did


@dataclass(frozen=True, slots=True)
class CandidateOptions:
    """How precisely each round is solved, and when to stop."""

    solver: Literal["two_slack", "dual_coordinate"] = "two_slack"
    precision: tuple[float | None, float | None] = (None, None)  # ε1, ε2 of the first round, per unit of price
    thresholds: tuple[float | None, float | None] = (None, None)  # t1, t2: the precision of the last rounds
    shares: tuple[float, float] = ROUGH  # ε and t, if not set, as shares of the loss at zero weights
    discount: float = 2.0  # d
    decrease: float = 1e-4
    max_completions: int = 30
    max_rounds: int = 5000
    violation: float = 1e-3  # for one slack per term only: a cut is added if it is violated by more
    as_printed: bool = False  # two_slack alone
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """The weights of the lowest objective so far, among completions solved to the last precision."""

    weights: Floats
    labels: Ids  # [T] the completion
    primal: float
    dual: float  # of the same convex problem


@dataclass(slots=True)
class CandidateLearner(RoundByRound):
    """CLLP or MMS over chains and classes."""

    KEEPS = ("best_primal", "objective", "completions", "changed", "best")

    problem: CandidateProblem
    options: CandidateOptions
    labels: Ids  # [T] the present completion
    best: Floats  # the weights with the lowest objective of the current convex problem
    name: str = "cllp"
    best_primal: float = np.inf
    precision: tuple[float, ...] = ()  # of each group of terms now
    thresholds: tuple[float, ...] = ()
    slack: GroupSlack | None = None
    plane: CuttingPlane | None = None
    completions: int = 1
    changed: int = 0
    objective: float = np.inf  # of the last round of CCCP
    kept: Kept | None = None
    _groups: list[SummedTerms] = field(default_factory=list)

    @classmethod
    def fresh(
        cls,
        problem: CandidateProblem,
        options: CandidateOptions,
        *,
        size: int,
        initial: Ids | None = None,
        start: Floats | None = None,
        name: str = "cllp",
    ) -> CandidateLearner:
        """A learner before its first round, completed by `initial`, by the weights `start`, or at random."""
        if initial is not None:
            labels = initial
        elif start is not None:
            labels = problem.complete(start)
        else:
            labels = problem.random(np.random.default_rng(options.seed))
        weights = np.zeros(size) if start is None else start.copy()
        self = cls(problem, options, labels, weights, name, changed=len(problem))
        self._groups = problem.convex(labels)
        self._set_precision()
        if options.solver == "two_slack":
            self.slack = GroupSlack.at(weights, plain=options.as_printed)
        else:
            terms = sum(map(len, self._groups))
            self.plane = CuttingPlane.fresh(size, terms, power=1, seed=options.seed)
            if start is not None:
                self.best_primal = self.plane.new_problem(StackedTerms(self._groups), start)
        return self

    @property
    def weights(self) -> Floats:
        """The best weights of the current convex problem; at the end those of the lowest objective."""
        return self.finish() if self.done else self.best

    def finish(self) -> Floats:
        """The weights of the lowest objective: the stored ones, or those of the current convex problem."""
        return self.best if self.kept is None or self.best_primal < self.kept.primal else self.kept.weights

    def step(self) -> Step:
        """One iteration of the convex solver, followed by a completion if its precision is reached."""
        completion, changed = self.completions, self.changed
        self.changed = 0
        primal, dual, new, size, solved = self._two_slack() if self.slack is not None else self._per_term()
        objective, bound = self.best_primal, dual
        lowest = self.kept is None or objective < self.kept.primal
        if solved and lowest and self.precision == self.thresholds and not self.options.as_printed:
            self.kept = Kept(self.best.copy(), self.labels.copy(), objective, dual)
        stopped = self._next() if solved else None
        last = stopped is not None or self.rounds >= self.limit()
        if last and self.kept is not None and self.kept.primal < objective:
            objective, bound = self.kept.primal, self.kept.dual
        figures = {"completion": completion, "changed": changed, "objective": objective, "primal": primal}
        figures |= {"dual": bound, "gap": objective - bound, "new_cuts": new, "working_set": size}
        return stopped, {**figures, "own_precision": True}

    def has_result(self, record: Round) -> bool:
        """Whether a round of CCCP ended."""
        return record.last or self.completions != record.completion

    def _set_precision(self) -> None:
        count = len(self._groups)
        precision, thresholds = [], []
        zero = np.zeros_like(self.best)
        precisions = zip(self._groups, self.options.precision[-count:], self.options.thresholds[-count:])
        for terms, first, last in precisions:
            loss = total_loss(terms.worst(zero).values, terms.prices, 1) / max(float(np.sum(terms.prices)), 1e-12)
            rough, fine = self.options.shares
            thresholds.append(max(fine * loss, 1e-6) if last is None else last)
            precision.append(max(rough * loss if first is None else first, thresholds[-1]))
        self.precision, self.thresholds = tuple(precision), tuple(thresholds)

    def _two_slack(self) -> tuple[float, float, int, int, bool]:
        assert self.slack is not None
        progress = self.slack.step(self._groups, self.precision)
        solved = progress.new_cuts == 0
        self.best_primal, self.best = self.slack.best_primal, self.slack.best
        return progress.primal, progress.dual, progress.new_cuts, progress.working_set, solved

    def _per_term(self) -> tuple[float, float, int, int, bool]:
        assert self.plane is not None
        prices = [float(np.sum(terms.prices)) for terms in self._groups]
        enough = sum(epsilon * price for epsilon, price in zip(self.precision, prices))
        aim = enough / max(self.plane.best_primal, 1e-12) if np.isfinite(self.plane.best_primal) else 0.1
        violation = min(self.options.violation, *self.precision)
        progress = self.plane.round(StackedTerms(self._groups), violation=violation, tolerance=aim)
        solved = progress.gap <= enough + 1e-12
        if progress.primal < self.best_primal:
            self.best, self.best_primal = self.plane.weights.copy(), progress.primal
        return progress.primal, progress.dual, progress.new_cuts, progress.working_set, solved

    def _next(self) -> str | None:
        """After the convex problem is solved: complete again with a finer precision, or return why training ends."""
        before, self.objective = self.objective, self.best_primal
        options = self.options
        finest = self.precision == self.thresholds
        fall = (before - self.objective) / max(abs(before), 1e-12) if np.isfinite(before) else np.inf
        voting = not np.any(self.best) and not options.as_printed
        labels = self.problem.voted(self.labels) if voting else self.problem.complete(self.best)
        starts = self.problem.batch.starts
        differs = np.add.reduceat((labels != self.labels).astype(np.int64), starts[:-1])
        which = np.flatnonzero(differs)
        if finest and len(which) == 0:
            return NO_CHANGE
        if finest and fall <= options.decrease:
            return NO_FALL
        if self.completions >= options.max_completions:
            return MAX_COMPLETIONS
        self.precision = tuple(max(e / options.discount, t) for e, t in zip(self.precision, self.thresholds))
        self.completions += 1
        self.changed = len(which)
        if len(which):
            self._turn_to(labels, which)
        return None

    def _turn_to(self, labels: Ids, which: Ints) -> None:
        """Change to another completion: cuts against the old outputs are rebuilt or dropped."""
        self.labels = labels
        self._groups = self.problem.convex(labels)
        if self.slack is not None:
            self.slack = self.slack.turned(self._groups)
            self.best_primal = np.inf
        else:
            assert self.plane is not None
            self.plane.pool.remove(self.problem.term_numbers(which))
            self.best_primal = self.plane.new_problem(StackedTerms(self._groups), self.best)

    def more_state(self) -> State:
        values: dict[str, Any] = {"precision": list(self.precision), "thresholds": list(self.thresholds)}
        arrays: dict[str, NDArray[Any]] = {"labels": self.labels}
        if self.kept is not None:
            values["kept"] = [self.kept.primal, self.kept.dual]
            arrays |= {"kept": self.kept.weights, "kept.labels": self.kept.labels}
        if self.slack is not None:
            arrays |= {f"slack.{name}": array for name, array in self.slack.state().items()}
        if self.plane is not None:
            values["plane"], held = plane_state(self.plane, "plane.")
            arrays |= held
        return values, arrays

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        for name in ("precision", "thresholds"):
            numbers = numbers_of(values, name)
            if len(numbers) != len(getattr(self, name)) or min(numbers, default=0.0) < 0.0:
                raise ModelFileError(f"{name!r} is not that of such candidates")
            setattr(self, name, tuple(numbers))
        self.labels = self._stored_labels(arrays, "labels")
        if "kept" in arrays:
            primal, dual = numbers_of(values, "kept", finite=False)
            weights = array_like(arrays, "kept", self.best)
            self.kept = Kept(weights, self._stored_labels(arrays, "kept.labels"), primal, dual)
        self._groups = self.problem.convex(self.labels)
        if self.slack is not None:
            self.slack = GroupSlack.restored(part_of(arrays, "slack."), self.slack, self._groups)
        if self.plane is not None:
            self.plane = restored_plane((mapping_of(values, "plane"), arrays), self.plane, "plane.")

    def _stored_labels(self, arrays: Mapping[str, NDArray[Any]], name: str) -> Ids:
        """A completion from a checkpoint; its labels must be among the candidates."""
        present = self.problem.batch.space.n_labels
        return array_of(arrays, name, np.int32, self.labels.shape, low=0, high=present - 1)

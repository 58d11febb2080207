"""Learning to segment: a semi-Markov conditional random field, and a margin-trained semi-Markov tagger.

The first minimises `objective.segment_likelihood` by L-BFGS. F is ½ ‖w‖² and, with Gold, convex functions besides, so
that at any weights F(w) − min F <= ½ ‖∇F(w)‖²; it stops where this is at most tolerance · F. With token masks the bound
is only a measure of how flat F is there.

The second minimises the terms of `objective.segments` by cutting planes, and stops at a duality gap of tolerance times
the objective. Inputs with token masks are completed to their best admitted segmentation and are then targets; a new
completion is taken only where it does not raise its term, so that the joint objective never rises. While completions go
on, problems are solved roughly, and better once the objective falls by less than their tolerance.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.kernels import inner
from sidelight.learners.stopping import (
    FLAT,
    MAX_COMPLETIONS,
    MAX_ROUNDS,
    NO_CHANGE,
    NO_DESCENT,
    NO_FALL,
    SMALL_GAP,
)
from sidelight.objective.cuts import Terms
from sidelight.objective.margin import SilentTerms, StackedTerms
from sidelight.objective.segment_likelihood import SegmentLikelihood
from sidelight.objective.segments import SegmentBatch, SegmentTerms
from sidelight.records import Callback, Round
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.spaces.segments import Segments

MEMORY = 10  # steps that L-BFGS remembers
FIRST_TOLERANCE = 0.03  # to which problems are solved while more completions are to follow
ValueAndGradient = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, slots=True)
class SegmentOptions:
    """When to stop."""

    tolerance: float = 0.01
    max_rounds: int = 1000
    power: int = 2  # of margin terms: 1 hinge, 2 squared hinge, or LOGISTIC
    violation: float = 1e-3  # ε: a cut is added where it is violated by more
    decrease: float = 1e-5  # ν: completions end when the objective falls by less, relatively
    max_completions: int = 50
    seed: int = 0


def minimise(
    function: ValueAndGradient,
    start: Floats,
    *,
    max_rounds: int,
    enough: Callable[[float, Floats], bool],
    n_jobs: int | None = None,
) -> Floats:
    """Minimise a smooth function by L-BFGS; after a step `enough` is told value and gradient, and says when to stop."""
    run = Lbfgs.fresh(start, LbfgsOptions(memory=MEMORY, epsilon=0.0, delta=0.0), n_jobs=n_jobs)

    def evaluate(weights: Floats, gradient: Floats) -> float:
        value, gradient[:] = function(weights)
        return value

    run.step(evaluate)
    for _ in range(max_rounds):
        before = run.iterations
        run.step(evaluate)
        if run.iterations == before or enough(run.value, run.gradient):
            break
    return run.weights


def learn_semi_crf(objective: SegmentLikelihood, options: SegmentOptions, report: Callback) -> Floats:
    """The weights of a semi-Markov conditional random field; every L-BFGS step is a round."""
    began = time.perf_counter()
    number = 0
    stopped: str | None = None

    def enough(value: float, gradient: Floats) -> bool:
        nonlocal number, stopped
        number += 1
        gap = 0.5 * inner(gradient, gradient)
        if gap <= options.tolerance * abs(value):
            stopped = FLAT
        elif number >= options.max_rounds:
            stopped = MAX_ROUNDS
        _tell(report, number, began, primal=value, gap=gap, stopped=stopped)
        return stopped is not None

    start = np.zeros(objective.batch.layout.size)
    found = minimise(
        objective.value_and_gradient,
        start,
        max_rounds=options.max_rounds,
        enough=enough,
        n_jobs=objective.batch.n_jobs,
    )
    if stopped is None:
        value, gradient = objective.value_and_gradient(found)
        gap = 0.5 * inner(gradient, gradient)
        why = FLAT if gap <= options.tolerance * abs(value) else NO_DESCENT
        _tell(report, number + 1, began, primal=value, gap=gap, stopped=why)
    return found


def _tell(report: Callback, number: int, began: float, *, primal: float, gap: float, stopped: str | None) -> None:
    report(
        Round(
            number,
            "semi_crf",
            time.perf_counter() - began,
            objective=primal,
            primal=primal,
            dual=primal - gap,
            gap=gap,
            last=stopped is not None,
            stopped=stopped,
        )
    )


@dataclass(frozen=True, slots=True)
class OpenSegments:
    """Inputs to be completed within what they admit, then treated as targets."""

    terms: SegmentTerms  # with any targets
    admitted: SegmentBatch  # the same inputs
    decode: Callable[[Segments], Ids]  # token labels of a segmentation

    def complete(self, weights: Floats, before: SegmentTerms | None) -> tuple[SegmentTerms, Ints]:
        """Terms with the best admitted targets, and which of them changed."""
        found = self.admitted.best(weights).segments
        starts = self.admitted.rows.starts
        if before is not None:
            old = before.cost.targets
            raises = self._with(found).worst(weights).values > before.worst(weights).values
            keep = np.repeat(raises, np.diff(starts))
            found = Segments(np.where(keep, old.labels, found.labels), np.where(keep, old.begins, found.begins))
            different = (found.labels != old.labels) | (found.begins != old.begins)
            changed = np.flatnonzero(np.add.reduceat(different.astype(np.int64), starts[:-1]))
        else:
            changed = np.arange(len(self.terms), dtype=np.int64)
        return self._with(found), changed

    def _with(self, targets: Segments) -> SegmentTerms:
        return self.terms.with_targets(targets, self.decode(targets))


def learn_semi_svm(gold: SegmentTerms, latent: OpenSegments, options: SegmentOptions, report: Callback) -> Floats:
    """The weights of a margin-trained semi-Markov tagger; a round is one of cutting planes."""
    began = time.perf_counter()
    batch = gold.batch
    count = len(gold) + len(latent.terms)
    solver = CuttingPlane.fresh(batch.layout.size, count, power=options.power, seed=options.seed, whole=batch.is_binary)
    terms: Terms = StackedTerms([gold, SilentTerms.like(len(latent.terms))])
    completed: SegmentTerms | None = None
    completions = changed = 0
    objective = np.inf
    tolerance = max(options.tolerance, FIRST_TOLERANCE) if len(latent.terms) else options.tolerance

    def complete() -> bool:
        """Complete with the best weights; returns whether anything changed."""
        nonlocal terms, completed, completions, changed
        best = solver.best
        completed, which = latent.complete(best, completed)
        completions += 1
        changed = len(which)
        if changed:
            solver.pool.remove(which + len(gold))
            terms = StackedTerms([gold, completed])
            solver.new_problem(terms, best)
        return changed > 0

    def settled() -> str | None:
        """The problem of the moment is solved: complete again, or say why training ends."""
        nonlocal objective, tolerance
        if len(latent.terms) == 0:
            return SMALL_GAP
        if completions >= options.max_completions:
            return MAX_COMPLETIONS
        before, objective = objective, solver.best_primal if completions else np.inf
        if completions >= 2:
            fall = (before - objective) / max(abs(before), 1e-12)
            if fall <= tolerance and tolerance > options.tolerance:
                tolerance = max(tolerance / 3.0, options.tolerance)
            elif fall <= options.decrease:
                return NO_FALL
        if complete():
            return None
        tolerance = options.tolerance  # nothing left to complete: solve this problem to the end
        return NO_CHANGE if solver.finished(tolerance) else None

    if len(gold) == 0:
        complete()
    number = 0
    stopped: str | None = None
    while stopped is None:
        number += 1
        completion, fresh = completions, changed
        changed = 0
        progress = solver.round(terms, violation=options.violation, tolerance=tolerance)
        record = Round(
            number,
            "semi_svm",
            time.perf_counter() - began,
            completion=completion,
            changed=fresh,
            objective=solver.best_primal,
            primal=progress.primal,
            dual=progress.dual,
            gap=solver.gap,
            new_cuts=progress.new_cuts,
            working_set=progress.working_set,
            sweeps=progress.sweeps,
        )
        stopped = settled() if solver.finished(tolerance) else None
        if stopped is None and number >= options.max_rounds:
            stopped = MAX_ROUNDS
        report(replace(record, last=stopped is not None, stopped=stopped))
    return solver.best.copy()

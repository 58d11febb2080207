"""Learning by likelihood, one `Round` at a time: CRFs, CRFs from candidates, contrastive estimation.

A round is one iteration of L-BFGS (OWL-QN with an L1 norm), one epoch of stochastic gradient descent, or one epoch of
exponentiated gradient, which reports a duality gap. The objective of a round is that of the best weights so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_like, flag_of, mapping_of, number_of, numbers_of, random_of, whole_of
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.core.records import FLAT, NO_DESCENT, NO_FALL, SMALL_GAP
from sidelight.objective.companion_likelihood import CompanionTerms
from sidelight.objective.duals.likelihood_duals import BatchDuals, ChainDuals
from sidelight.objective.likelihood import LikelihoodProblem, LikelihoodTerms, LogLinearTerms
from sidelight.objective.online.online_likelihood import LikelihoodBlocks, OnlineLikelihood, stacked_terms
from sidelight.objective.online.plain_likelihood import PlainLikelihood
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.solvers.exponentiated_gradient import DualProblem, ExponentiatedGradient
from sidelight.solvers.lbfgs import Lbfgs, LbfgsOptions
from sidelight.solvers.sgd import Sgd
from sidelight.spaces import ChainSpace

SOLVERS = ("lbfgs", "sgd", "eg")
WHY = {"gradient": FLAT, "decrease": NO_FALL, "no step falls": NO_DESCENT}  # the words of L-BFGS
PERIOD = 5  # minimum number of epochs over which the gain of stochastic gradient descent is measured


@dataclass(frozen=True, slots=True)
class LikelihoodOptions:
    """How to solve, and when to stop."""

    max_rounds: int = 100
    lbfgs: LbfgsOptions = field(default_factory=LbfgsOptions)
    solver: str = "lbfgs"
    tolerance: float = 1e-3  # sgd: least relative fall over the latter half of the epochs; eg: relative duality gap
    depth: float = 10.0  # eg: how close to the gold labels it begins
    seed: int = 0  # sgd, eg: order of the examples

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver is {self.solver!r}; there are {', '.join(SOLVERS)}")
        if self.solver != "lbfgs" and self.lbfgs.l1 > 0:
            raise ValueError(f"the solver {self.solver} has no L1 norm; use lbfgs")


class Figures(NamedTuple):
    """What a round reached."""

    objective: float  # of the best weights so far
    primal: float | None = None  # of the current weights, if these differ
    dual: float | None = None


@dataclass(slots=True)
class LikelihoodLearner(RoundByRound):
    """Minimises a likelihood objective over weights."""

    problem: LikelihoodProblem
    options: LikelihoodOptions
    engine: _LbfgsEngine | _SgdEngine | _DualEngine
    name: str = "crf"

    @classmethod
    def fresh(
        cls,
        problem: LikelihoodProblem,
        options: LikelihoodOptions,
        *,
        start: Floats | None = None,
        costs: Floats | None = None,
        name: str = "crf",
    ) -> LikelihoodLearner:
        """A learner before its first round; `start` has the full layout, and is zero unless given.

        sgd and eg take a `LikelihoodProblem` of `LikelihoodTerms` with an L2 norm; for eg it must be of Gold alone. eg
        begins near the gold labels and takes no start. With costs [right, predicted] of a token, it minimises the
        margin loss instead of the log-loss. Raises `ValueError` otherwise.
        """
        if costs is not None and options.solver != "eg":
            raise ValueError(f"the solver {options.solver} has no costs; use eg")
        weights = np.zeros(problem.size) if start is None else problem.shorten(start)
        engine: _LbfgsEngine | _SgdEngine | _DualEngine
        if options.solver == "lbfgs":
            engine = _LbfgsEngine.fresh(problem, options, weights)
        elif options.solver == "sgd":
            engine = _SgdEngine.fresh(_with_l2(problem, "sgd"), options, weights)
        elif start is not None:
            raise ValueError("the solver eg takes no first weights; use lbfgs or sgd")
        else:
            engine = _DualEngine.fresh(_with_l2(problem, "eg"), options, costs)
        return cls(problem, options, engine, name)

    @property
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""
        return self.problem.expand(self.engine.weights)

    def step(self) -> Step:
        """One iteration or epoch."""
        figures = self.engine.round()
        gap = None if figures.dual is None else figures.objective - figures.dual
        return self.engine.stopped, {**figures._asdict(), "gap": gap}

    def more_state(self) -> State:
        numbers, arrays = self.engine.state()
        return {"solver": numbers}, arrays

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.engine.resume((mapping_of(values, "solver"), arrays))


def _with_l2(problem: LikelihoodProblem, solver: str) -> LikelihoodProblem:
    if not problem.l2 > 0:
        raise ValueError(f"the solver {solver} needs a likelihood problem with an L2 norm; use lbfgs")
    return problem


def _online_of(terms: Sequence[LogLinearTerms]) -> OnlineLikelihood | PlainLikelihood | LikelihoodBlocks:
    """Epochs in one kernel, or one kernel call per block, for first-order chains; for other structures one input after
    another.
    """
    if isinstance(terms, OneAtATime):
        return LikelihoodBlocks.of_terms(terms)
    known = [part for part in terms if isinstance(part, LikelihoodTerms)]
    answers = [part for part in terms if isinstance(part, CompanionTerms)]
    if len(known) + len(answers) < len(terms):
        raise ValueError("the solver sgd takes likelihood terms and companion answers only; use lbfgs")
    parts: list[LikelihoodTerms | CompanionTerms] = [*known, *answers]
    if all(isinstance(part.space, ChainSpace) for part in parts) and all(part.bonus is None for part in known):
        return OnlineLikelihood.of_terms(parts)
    if answers:
        raise ValueError("the solver sgd takes companion answers of first-order chains only; use lbfgs")
    return PlainLikelihood.of_terms(known)


@dataclass(slots=True)
class _LbfgsEngine:
    problem: LikelihoodProblem
    solver: Lbfgs

    @classmethod
    def fresh(cls, problem: LikelihoodProblem, options: LikelihoodOptions, weights: Floats) -> _LbfgsEngine:
        scales = 1.0 / np.sqrt(problem.curvature())
        return cls(problem, Lbfgs.fresh(weights, options.lbfgs, scales=scales, n_jobs=problem.n_jobs))

    @property
    def weights(self) -> Floats:
        return self.solver.weights

    @property
    def stopped(self) -> str | None:
        return WHY[self.solver.stopped] if self.solver.stopped else None

    def round(self) -> Figures:
        """One iteration; the first one also evaluates the initial weights."""
        if np.isnan(self.solver.value):
            self.solver.step(self.problem.value_and_gradient)
        value = self.solver.step(self.problem.value_and_gradient)
        if self.solver.options.gap == 0.0:
            return Figures(value)
        return Figures(value, value, value - 0.5 * self.solver.gradient_norm**2)

    def state(self) -> State:
        return self.solver.state()

    def resume(self, state: State) -> None:
        self.solver.resume(*state)


@dataclass(slots=True)
class _SgdEngine:
    """An epoch is judged by its last weights or by the average, whichever is better.

    Progress has stalled if the best objective fell by at most `tolerance`, relatively, in the latter half of the
    epochs. Over fewer epochs, the noise of the steps hides a slow fall; and if the objective falls as 1/t, the latter
    half gains as much as remains to be gained. If the objective of the weights themselves is then above the best one by
    more than that, they oscillate, and steps are halved; otherwise training ends. With tolerance 0 it continues.
    """

    problem: LikelihoodProblem
    online: OnlineLikelihood | PlainLikelihood | LikelihoodBlocks
    solver: Sgd
    rng: np.random.Generator
    tolerance: float
    best: Floats
    values: list[float] = field(default_factory=list)  # best objectives after each epoch
    halved: int = 0  # number of epochs when steps were last halved
    ended: bool = False

    @classmethod
    def fresh(cls, problem: LikelihoodProblem, options: LikelihoodOptions, weights: Floats) -> _SgdEngine:
        total = float(sum(part.prices.sum() for part in problem.terms))
        if not total > 0:
            raise ValueError("all prices are 0, so sgd has nothing to learn from; give prices above 0, or use lbfgs")
        online = _online_of(problem.terms)
        solver = Sgd.fresh(online, online.vector(weights), decay=problem.l2 / total)
        return cls(problem, online, solver, np.random.default_rng(options.seed), options.tolerance, weights)

    @property
    def weights(self) -> Floats:
        return self.best

    @property
    def stopped(self) -> str | None:
        return NO_FALL if self.ended else None

    def round(self) -> Figures:
        self.solver.epoch(self.online, self.rng)
        candidates = [
            self.online.weights(self.solver.v, self.solver.scale),
            self.online.weights(self.solver.average(), 1.0),
        ]
        reached = self.problem.values(candidates)
        now = min(reached)
        before = self.values[-1] if self.values else np.inf
        if now < before:
            self.best = candidates[reached.index(now)]
        self.values.append(min(now, before))
        if self._stand_still():
            if reached[0] - self.values[-1] > self.tolerance * abs(self.values[-1]):
                self.solver.halve()
                self.halved = len(self.values)
            else:
                self.ended = self.tolerance > 0
        return Figures(self.values[-1], now)

    def _stand_still(self) -> bool:
        values, count = self.values, len(self.values)
        span = max(PERIOD, count // 2)
        if count <= span or count - self.halved < PERIOD:
            return False
        return values[-1 - span] - values[-1] <= self.tolerance * abs(values[-1])

    def state(self) -> State:
        solver = self.solver
        numbers = {name: getattr(solver, name) for name in ("scale", "clock", "epochs", "looks")}
        arrays = {"v": solver.v, "total": solver.total, "best": self.best}
        numbers |= {"values": list(self.values), "halved": self.halved, "ended": self.ended}
        return numbers | {"rng": self.rng.bit_generator.state}, arrays

    def resume(self, state: State) -> None:
        numbers, arrays = state
        fresh = self.solver
        self.solver = Sgd(
            array_like(arrays, "v", fresh.v),
            fresh.decay,
            number_of(numbers, "scale", low=1e-300),
            number_of(numbers, "clock", low=0.0),
            whole_of(numbers, "epochs"),
            array_like(arrays, "total", fresh.v),
            whole_of(numbers, "looks"),
        )
        self.best, self.values = array_like(arrays, "best", self.best), numbers_of(numbers, "values")
        self.halved, self.ended = whole_of(numbers, "halved"), flag_of(numbers, "ended")
        random_of(numbers, "rng", self.rng)


@dataclass(slots=True)
class _DualEngine:
    """Exponentiated gradient on prices divided by λ; objectives are multiplied by it."""

    duals: DualProblem[Any]
    solver: ExponentiatedGradient[Any]
    rng: np.random.Generator
    tolerance: float
    l2: float

    @classmethod
    def fresh(cls, problem: LikelihoodProblem, options: LikelihoodOptions, costs: Floats | None) -> _DualEngine:
        duals = _duals_of(problem, costs)
        solver = ExponentiatedGradient[Any].fresh(duals, duals.first(options.depth))
        return cls(duals, solver, np.random.default_rng(options.seed), options.tolerance, problem.l2)

    @property
    def weights(self) -> Floats:
        return self.solver.best

    @property
    def stopped(self) -> str | None:
        return SMALL_GAP if self.solver.finished(self.tolerance) else None

    def round(self) -> Figures:
        progress = self.solver.epoch(self.duals, self.rng)
        return Figures(self.l2 * self.solver.best_primal, self.l2 * progress.primal, self.l2 * progress.dual)

    def state(self) -> State:
        numbers, arrays = self.solver.state()
        more, held = self.solver.potentials.state()
        return {**numbers, **more, "rng": self.rng.bit_generator.state}, {**arrays, **held}

    def resume(self, state: State) -> None:
        numbers, arrays = state
        self.solver.resume(self.solver.potentials.stored(numbers, arrays), numbers, arrays)
        random_of(numbers, "rng", self.rng)


def _duals_of(problem: LikelihoodProblem, costs: Floats | None) -> ChainDuals | BatchDuals:
    """The dual of Gold terms: one distribution after another for first-order chains, otherwise all together."""
    terms = [part for part in problem.terms if isinstance(part, LikelihoodTerms) and part.targets is not None]
    if len(terms) < len(problem.terms):
        raise ValueError("the solver eg learns from Gold only; use lbfgs or sgd")
    if all(isinstance(part.space, ChainSpace) for part in terms):
        features, space, prices, targets, _ = stacked_terms(terms)
        assert targets is not None
        return ChainDuals.of(features, space, prices / problem.l2, targets, costs=costs, n_jobs=problem.n_jobs)
    if len(terms) > 1:
        raise ValueError("the solver eg takes one batch of Gold, and there are several; use lbfgs")
    alone = replace(terms[0], prices=terms[0].prices / problem.l2)
    return BatchDuals.of(alone, costs=costs, n_jobs=problem.n_jobs)

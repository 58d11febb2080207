"""MIRA, passive–aggressive learning (`solvers.mira`) and AROW (`solvers.arow`), an epoch at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.records import NO_STEPS
from sidelight.learners.margin import MARGIN_KIN
from sidelight.learners.structural_svm import gold_terms
from sidelight.objective.batch import Batch
from sidelight.objective.entries import Examples, examples_of, has_kernels
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online import plain_epochs
from sidelight.objective.online.online_steps import arow_epoch, mira_epoch
from sidelight.objective.scorers.chain_scorer import chain_of
from sidelight.rounds.learner import Learner, RoundByRound, State, Step
from sidelight.solvers.arow import Arow, ArowOptions
from sidelight.solvers.mira import Mira, MiraOptions
from sidelight.spaces import Cost
from sidelight.specs import LearnerSpec, option
from sidelight.specs.fit_data import FitData

Outputs = Literal["max_loss", "prediction"]
Margin = Literal["cost", "root"]
EPOCHS = 10
OUTPUTS, MARGINS = get_args(Outputs), get_args(Margin)


@dataclass(frozen=True, kw_only=True)
class OnlineSpec(LearnerSpec):
    """The base of learners that correct one example after another."""

    heeds = frozenset({"cost", "rules_in_training"})
    kin = MARGIN_KIN
    inference = "loss-augmented or argmax"
    stops = "epochs, or no updates"
    no_partial_fit = "use the perceptron, or fit with warm_start"
    alone = "sets one example right after another"

    def steps(self) -> MiraOptions | ArowOptions:
        """How weights change."""
        raise NotImplementedError

    def make(self, data: FitData) -> Learner:
        terms, settings = gold_terms(data), data.settings
        assert isinstance(terms.cost, Cost)
        return OnlineLearner.fresh(
            terms.batch,
            terms.cost,
            data.encoded.weights,
            self.steps(),
            max_rounds=EPOCHS if settings.max_rounds is None else settings.max_rounds,
            seed=settings.seed,
            start=data.start,
        )


@dataclass(frozen=True, kw_only=True)
class OnlineMira(OnlineSpec):
    """MIRA on Gold: the smallest update that corrects the k best outputs (McDonald, Crammer and Pereira 2005).

    Each of the k best outputs must score below the target by its cost. `outputs` says which outputs these are:
    "max_loss", the best by score plus cost, or "prediction", the best by score (Algorithm 3 of Chang's thesis, whose
    steps have no cap and a margin of 1). `aggressiveness` caps a step.
    """

    name = "mira"
    minimises = "change of the weights, online"
    inference = "k best, loss-augmented or not"

    k: int = option(1, low=1)
    aggressiveness: float = option(1.0, above=0, infinite=True)
    outputs: str = option("max_loss", among=OUTPUTS)

    def steps(self) -> MiraOptions:
        return MiraOptions("MIRA", self.k, self.aggressiveness, cast(Outputs, self.outputs))


@dataclass(frozen=True, kw_only=True)
class PassiveAggressive(OnlineSpec):
    """Passive–aggressive learning on Gold (Crammer et al. 2006).

    `rule` is "PA", "PA-I" or "PA-II". `outputs` says which output is corrected: "max_loss" or "prediction" (as in
    `mira`). `margin` is the "cost" of that output, or with "prediction" also the square root of the cost ("root").
    """

    name = "passive_aggressive"
    minimises = "change of the weights, online"

    rule: str = option("PA-I", among=("PA", "PA-I", "PA-II"))
    aggressiveness: float = option(1.0, above=0, infinite=True)
    outputs: str = option("max_loss", among=OUTPUTS)
    margin: str = option("cost", among=MARGINS)

    def check(self) -> None:
        self.steps()

    def steps(self) -> MiraOptions:
        rule = cast(Literal["PA", "PA-I", "PA-II"], self.rule)
        sides = cast(Outputs, self.outputs), cast(Margin, self.margin)
        return MiraOptions(rule, 1, self.aggressiveness, *sides)


@dataclass(frozen=True, kw_only=True)
class OnlineArow(OnlineSpec):
    """AROW on Gold: weights of frequent features change little, rare ones much (Crammer, Kulesza and Dredze 2009).

    `variance` is the initial variance of every weight. The larger `r`, the less one example changes the weights; 10 or
    100 may be better if many labels are noisy. `outputs` and `margin` are as for `passive_aggressive`.
    """

    name = "arow"
    minimises = "change of the weights and of their variances, online"

    variance: float = option(1.0, above=0)
    r: float = option(1.0, above=0)
    outputs: str = option("max_loss", among=OUTPUTS)
    margin: str = option("cost", among=MARGINS)

    def check(self) -> None:
        self.steps()

    def steps(self) -> ArowOptions:
        return ArowOptions(self.variance, self.r, cast(Outputs, self.outputs), cast(Margin, self.margin))


@dataclass(slots=True)
class OnlineLearner(RoundByRound):
    """MIRA, passive–aggressive learning or AROW over outputs of any structure."""

    KEEPS = ("rng",)

    terms: TargetTerms
    data: Examples | None  # for epochs in one kernel, where there are any
    importance: Floats
    solver: Mira | Arow
    rng: np.random.Generator
    max_rounds: int

    @classmethod
    def fresh(
        cls,
        batch: Batch,
        cost: Cost,
        importance: Floats,
        options: MiraOptions | ArowOptions,
        *,
        max_rounds: int = 10,
        seed: int = 0,
        start: Floats | None = None,
    ) -> OnlineLearner:
        """A learner before its first epoch, at zero or at the weights `start`.

        Chains of order 1 have epochs in one kernel.
        """
        if max_rounds < 1:
            raise ValueError(f"max_rounds is {max_rounds}; give 1 or more")
        size = batch.scorer.size
        solver = Arow.fresh(size, options) if isinstance(options, ArowOptions) else Mira.fresh(size, options)
        if start is not None:
            solver.weights[:] = start
        data = examples_of(batch, cost) if has_kernels(batch) else None
        terms = TargetTerms(batch, cost, np.ones(len(batch)))
        return cls(terms, data, importance, solver, np.random.default_rng(seed), max_rounds)

    @property
    def weights(self) -> Floats:
        """The average of all weights so far; of AROW the means."""
        return self.solver.result()

    @property
    def name(self) -> str:
        """The name of the solver."""
        return self.solver.name

    def limit(self) -> int:
        return self.max_rounds

    def step(self) -> Step:
        """One epoch."""
        moved = self._epoch()
        return None if moved else NO_STEPS, {"mistakes": moved}

    def _epoch(self) -> int:
        solver, terms, data, count = self.solver, self.terms, self.data, len(self.terms)
        if isinstance(solver, Arow):
            rates = solver.options.rates(self.importance)
            if data is None:
                return solver.epoch(partial(plain_epochs.arow_epoch, terms, rates), count, self.rng)
            return solver.epoch(partial(arow_epoch, data, chain_of(terms.batch).layout, rates), count, self.rng)
        limits = solver.options.caps(self.importance), solver.options.eases(self.importance)
        if data is None:
            return solver.epoch(partial(plain_epochs.mira_epoch, terms, *limits), count, self.rng)
        return solver.epoch(partial(mira_epoch, data, chain_of(terms.batch).layout, *limits), count, self.rng)

    def more_state(self) -> State:
        return self.solver.state()

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.solver.resume(values, arrays)

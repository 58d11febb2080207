"""HMMs: supervised, and by EM from any mixture of labels.

Gold is counted. Partial, Candidates and Unlabeled inputs are completed within their admitted labelings, and so is Gold
whose labels have several hidden states. The counts of an input are multiplied by its weight, and by the price of its
kind if set; without prices, all kinds count equally. The loop is in `rounds.hmm`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import DataError, Intractable
from sidelight.features.rows import Rows, offsets_of
from sidelight.generative.completion import Completion, Free
from sidelight.generative.em import EmProblem, InputBlocks, Inputs, sharded
from sidelight.generative.emissions import Emissions
from sidelight.generative.hmm import Hmm
from sidelight.generative.hmm_counts import HmmCounts, HmmSmoothing
from sidelight.generative.hmm_starts import STARTS, Start
from sidelight.generative.smoothing import KINDS, Smoothing
from sidelight.inference.methods.choose import check_method
from sidelight.inference.ruled_inputs import Ruled
from sidelight.rounds import Learner
from sidelight.rounds.hmm import Annealing, EmOptions, HmmLearner, Schedule
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData


def completion_under_rules(data: FitData, *, beta: float | None, gamma: float) -> Ruled | None:
    """The completion of an HMM's E-steps under rules, or None without rules.

    Raises `Intractable` for beliefs (gamma ≥ 0) in second order.
    """
    inputs = data.ruled_inputs(data.to_complete())
    if not inputs.rules:
        return None
    if data.layout.order == 2 and gamma >= 0.0:
        name = data.settings.learner.name
        problem = f"{name} has rules and a gamma of {gamma:g}, and beliefs under rules are for chains of first order"
        raise Intractable(f"{problem}; use codl over an HMM, a gamma of -inf, or leave order out")
    return Ruled(inputs, data.gold_penalties(inputs), beta, check_method(data.settings.inference))


BETA = 0.9  # of EM beside inputs without labels


@dataclass(frozen=True, slots=True)
class EmPlan:
    """The EM options besides counting."""

    options: EmOptions = field(default_factory=lambda: EmOptions(iterations=0))
    start: str | None = None  # where EM begins: a name of `generative.hmm_starts`; None is gold, or uniform without any
    noise: float = 0.1  # of uniform
    beta: float | None = None
    beta_if_unlabeled: float | None = None  # in place of beta, where Gold is beside inputs without labels and price
    mix_logs: bool = False  # beta mixes logarithms instead of probabilities


@dataclass(frozen=True, kw_only=True)
class HmmSpec(LearnerSpec):
    """What all HMMs share: `emission` and `transition` say how counts are smoothed (`generative.smoothing`),
    `emission_amount` and `transition_amount` by how much."""

    takes: ClassVar[tuple[str, ...]] = ("gold", "partial", "candidates", "unlabeled")
    needs = frozenset({Need.GENERATIVE})
    heeds = frozenset({"states"})
    kin: ClassVar[Mapping[str, str]] = {"classes": "naive_bayes"}
    alone = ""
    compile_seconds = 22.0
    blocks = True

    emission: str = option("mass", among=KINDS)
    emission_amount: float = option(250.0, low=0)  # per label
    transition: str = option("additive", among=KINDS)
    transition_amount: float = option(0.01, low=0)  # per entry
    vocabulary: int = option(50_000, low=0)
    rare: int = option(0, low=0)  # words seen at most so often count as unknown
    reserve: float = option(0.0, low=0, below=1)
    ends: bool = option(False)

    @property
    def emits(self) -> bool:
        return True

    @property
    def smoothing(self) -> HmmSmoothing:
        """How counts become probabilities."""
        emission = _part("emission", self.emission, self.emission_amount)
        transition = _part("transition", self.transition, self.transition_amount)
        return HmmSmoothing(emission, transition, ends=self.ends, reserve=self.reserve, vocabulary=self.vocabulary)

    def check(self) -> None:
        _ = self.smoothing

    def em(self) -> EmPlan:
        """The EM options besides counting Gold."""
        return EmPlan()

    def make(self, data: FitData) -> Learner:
        plan = self.em()
        ruled = "rules" in self.heeded() and data.stored is None  # which has no rules
        under = completion_under_rules(data, beta=plan.beta, gamma=plan.options.gamma) if ruled else None
        return hmm_learner(data, self, plan, completion=under)


@dataclass(frozen=True, kw_only=True)
class HiddenMarkov(HmmSpec):
    """The hidden Markov model, estimated by counting Gold (Rabiner 1989; thesis 3.2.1).

    `emission` and `transition` are ways of smoothing: "none", "additive" (an amount for each entry), "mass" (an amount
    for each label, spread over the words), "uniform" and "unigram" (a share of another distribution), "witten_bell".
    `vocabulary` is the assumed number of words. Words seen at most `rare` times count as unknown. `reserve` is the
    share of unknown words, the same for all labels. `ends` models which labels end a sequence.
    """

    name = "hmm"
    takes = ("gold",)
    heeds = frozenset()
    kin: ClassVar[Mapping[str, str]] = {
        **HmmSpec.kin,
        **dict.fromkeys(("partial", "candidates", "unlabeled"), "em or hard_em"),
    }
    minimises = "−log P(x, y) − log prior"
    inference = "none"
    stops = "closed form"
    no_partial_fit = "fit it on all evidence at once"
    compile_seconds = 1.0


@dataclass(frozen=True, kw_only=True)
class EmSpec(HmmSpec):
    """The base of HMMs trained by EM."""

    plain = "hmm"

    iterations: int = option(50, low=1)
    start: str | None = option(None, among=STARTS)
    noise: float = option(0.1, low=0)

    def needs_memory(self) -> str | None:
        if self.start in (None, "gold", "uniform", "em"):
            return None
        return f"the start {self.start!r} needs all data in memory; use gold, uniform or em, or train in memory"

    def plan(self, options: EmOptions, beta: float | None) -> EmPlan:
        """From the start that was chosen."""
        return EmPlan(options, self.start, self.noise, beta)


@dataclass(frozen=True, kw_only=True)
class Em(EmSpec):
    """The HMM, trained by expectation maximisation (Dempster, Laird and Rubin 1977).

    `start` is "gold", "uniform" (with some `noise`), "labels" (those of candidates), "emission", "em", "emission_em"
    or "min_greedy" (see `generative.hmm_starts`). With `beta`, the parameters are beta times those of Gold and 1 − beta
    times those of completed inputs (thesis Algorithm 8); with none, their counts are added. "auto" is 0.9 if there is
    Gold and the other inputs have neither labels nor a price of their own, because the counts of many unlabelled inputs
    would outweigh those of Gold. Otherwise "auto" is none. The other options are those of `hmm`.
    """

    name = "em"
    minimises = "Σ −log P(x, y) on Gold + Σ −log P(x, admitted) − log prior"
    inference = "marginal within what is admitted"
    stops = "relative decrease, or iterations"

    beta: float | str | None = option("auto", low=0, high=1, among=("auto",))

    def em(self) -> EmPlan:
        own = None if isinstance(self.beta, str) else self.beta
        plan = self.plan(EmOptions(1.0, self.iterations), own)
        return replace(plan, beta_if_unlabeled=BETA) if self.beta == "auto" else plan


@dataclass(frozen=True, kw_only=True)
class HardEm(EmSpec):
    """The HMM, trained by hard EM: the best labeling is treated as the right one (thesis 2.5.1, 3.2.2).

    The options are those of `em`. One iteration with `start` "em" is what Garrette and Baldridge 2012 call
    auto-supervised.
    """

    name = "hard_em"
    minimises = "Σ −log P(x, y) on Gold + Σ −log max P(x, admitted) − log prior"
    inference = "argmax within what is admitted"
    stops = "no label changes, relative decrease, or iterations"

    beta: float | None = option(None, low=0, high=1)

    def em(self) -> EmPlan:
        return self.plan(EmOptions(-math.inf, self.iterations), self.beta)


@dataclass(frozen=True, kw_only=True)
class UnifiedEm(EmSpec):
    """The HMM, trained by unified EM: gamma is −inf for hard EM, 1 for EM, inf for uniform (thesis chapter 4).

    With `anneal_from`, gamma begins at that value and reaches its own in `anneal_steps`, by a "linear" or "geometric"
    schedule: deterministic annealing (Rose 1998). The other options are those of `em`.
    """

    name = "unified_em"
    heeds = frozenset({"states", "rules"})
    minimises = "Σ −log P(x, y) on Gold − Σ max_q (E_q log P(x, h) + γ H(q)) − log prior"
    inference = "marginal of powers, or argmax, within what is admitted"
    stops = "relative decrease, no label changes (γ ≤ 0), or iterations"

    gamma: float = option(1.0, infinite=True)
    anneal_from: float | None = option(None, above=0)
    anneal_steps: int = option(10, low=1)
    schedule: str = option("linear", among=("linear", "geometric"))
    beta: float | None = option(None, low=0, high=1)

    def check(self) -> None:
        super().check()
        far = self.gamma == math.inf or (self.schedule == "geometric" and self.gamma <= 0.0)
        if self.anneal_from is not None and far:
            raise ValueError(f"gamma is {self.gamma}, and no {self.schedule} schedule comes there; use another one")

    def em(self) -> EmPlan:
        annealing = None
        if self.anneal_from is not None:
            annealing = Annealing(self.anneal_from, self.anneal_steps, cast(Schedule, self.schedule))
        return self.plan(EmOptions(self.gamma, self.iterations, annealing=annealing), self.beta)


def hmm_learner(data: FitData, own: HmmSpec, plan: EmPlan, *, completion: Completion | None = None) -> HmmLearner:
    """The HMM of Gold, and EM from it.

    A `completion` other than `Free` gets all inputs that are not counted, in the order of the evidence
    (`Given.to_complete`).
    """
    name = data.settings.learner.name
    _check_layout(data, name)
    emissions, gold, inputs = _in_memory(data, own) if data.stored is None else _in_blocks(data, own)
    beta = _beta(data, plan) if gold is not None and len(inputs) else plan.beta
    if gold is None and beta is not None:
        lacking = "the states of its labels are hidden" if data.labels.hidden else "there is no Gold"
        raise DataError(f"beta weighs the model of Gold, and {lacking}", remedy=f"give {name} a beta of none")
    mixing = beta, data.settings.n_jobs, plan.mix_logs
    problem = EmProblem(emissions, gold, inputs, own.smoothing, *mixing)
    options = replace(plan.options, decrease=data.settings.fall)
    if data.settings.max_rounds is not None:
        options = replace(options, iterations=min(options.iterations, data.settings.max_rounds))
    hmm = _start(data, own, plan, problem)
    under = Free() if completion is None else completion
    if options.iterations:
        problem = sharded(problem, under, data.place)
    return HmmLearner(problem, data.layout, options, hmm, name, completion=under)


def _in_memory(data: FitData, own: HmmSpec) -> tuple[Emissions, HmmCounts | None, Inputs]:
    """The emissions, the counts of Gold, and the inputs to be completed."""
    emissions, symbols = Emissions.of(data.chain()[0], rare=own.rare)
    weights = multiplicities(data)
    completed = data.to_complete()
    inputs = _inputs(data, completed, symbols, weights, emissions.size)
    counted = np.setdiff1d(np.arange(len(data.rows)), completed)
    if not len(counted):
        return emissions, None, inputs
    labelled = _inputs(data, counted, symbols, weights, emissions.size)
    return emissions, labelled.counts_of_labels(data.encoded.targets[data.rows.tokens_of(counted)]), inputs


def _in_blocks(data: FitData, own: HmmSpec) -> tuple[Emissions, HmmCounts | None, InputBlocks]:
    """The same for data in files."""
    assert data.stored is not None
    emissions = Emissions.seen(data.stored.of().map(_rows), rare=own.rare)

    gold: HmmCounts | None = None
    for part in data.stored.of("gold"):
        counts = _of_block(part, emissions).counts_of_labels(part.encoded.targets)
        gold = counts if gold is None else gold.plus(counts)
    kinds = "partial", "unlabeled"
    hidden = data.stored.of(*kinds)
    lengths = [np.empty(0, dtype=np.int64), *(part.rows.lengths for part in hidden)]
    blocks, starts = hidden.map(lambda part: _of_block(part, emissions)), offsets_of(np.concatenate(lengths))
    held = data.stored.held(data.place, *kinds).derive(_of_block, emissions) if len(blocks) > 1 else None
    return emissions, gold, InputBlocks(blocks, starts, held)


def _rows(part: FitData) -> Rows:
    return part.chain()[0]


def _of_block(part: FitData, emissions: Emissions) -> Inputs:
    every = np.arange(len(part.rows))
    return _inputs(part, every, emissions.emitted(part.rows), multiplicities(part), emissions.size)


def _beta(data: FitData, plan: EmPlan) -> float | None:
    """The plan's beta, or the one beside inputs without any labels and without a price."""
    if plan.beta is not None or plan.beta_if_unlabeled is None:
        return plan.beta
    unlabelled = set(data.encoded.kinds) <= {"gold", "unlabeled"} and "unlabeled" not in (data.settings.prices or {})
    return plan.beta_if_unlabeled if unlabelled else None


def multiplicities(data: FitData) -> Floats:
    """How often each input counts. # [N]"""
    prices = data.settings.prices or {}
    return np.asarray(data.encoded.weights * np.array([prices.get(kind, 1.0) for kind in data.encoded.kinds]))


def _check_layout(data: FitData, name: str) -> None:
    """Refuse weights that have no place for all probabilities."""
    if not data.layout.bias:
        raise ValueError(f"{name} keeps its first probabilities in the start weights; give bias=True")
    if not data.layout.chain:
        raise DataError("an HMM has transitions, and the features have none", remedy="use features.emissions()")


def _inputs(data: FitData, which: Ints, symbols: Ids, weights: Floats, size: int) -> Inputs:
    tokens = data.rows.tokens_of(which)
    space = data.batch(which).space
    masks: Bytes | None = data.encoded.admitted
    if masks is not None:
        space = space.inside(masks[tokens])
    return Inputs.of(symbols[tokens], space, weights[which], size=size)


def _start(data: FitData, own: HmmSpec, plan: EmPlan, problem: EmProblem) -> Hmm:
    """Parameters of an earlier fit, or what the plan names; Gold is the first choice where none is named."""
    if data.start is not None:
        return Hmm.of_weights(data.start, data.layout, problem.emissions, ends=own.ends)
    if not plan.options.iterations or not len(problem.all_inputs):
        if problem.gold is None:
            raise DataError("nothing to learn from", remedy="give some evidence with labels")
        return problem.estimate(None)
    name = plan.start
    if name is None:
        name = "uniform" if problem.gold is None else "gold"
    initial = np.empty(0, dtype=np.int32)
    if data.stored is None:
        initial = data.encoded.initial[data.rows.tokens_of(data.to_complete())]
    return Start(problem, initial, plan.noise, np.random.default_rng(data.settings.seed)).named(name)


def _part(option: str, name: str, amount: float) -> Smoothing:
    """One of the two smoothings; an error names its options, of which the amount may be a default."""
    try:
        return Smoothing.of(name, amount)
    except ValueError as error:
        raise ValueError(f"{option} is {name!r} with {option}_amount {amount}: {error}") from None

"""Constraint-driven learning: rules choose the labels that a model learns from (Chang 2011, Algorithm 8).

    w_0, ρ_0 = learn(L)
    repeat N times:
        ŷ = argmax_y w·Φ(x, y) − Σ_k ρ_k d_k(x, y)  for every unlabelled x, within what is admitted;  T = {(x, ŷ)}
        (w, ρ) = β (w_0, ρ_0) + (1 − β) learn(T)

Without β, w = learn(L and T) instead, where T has its price. Without rules, this is hard EM for a discriminative model.
For an HMM it is hard EM under rules (`rounds.hmm`). Any other base only has to learn weights from labelled inputs,
repeatedly: a round is one cycle, the first is learn(L), and training ends when a completion repeats the previous one.
Rules come from the estimator (`Tagger(rules=…)`) and from the evidence (`unlabeled(xs, rules=…)`); the base is a name,
or a recipe with options, such as `codl(base=hmm(rare=1))`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of, whole_of
from sidelight.core.records import MAX_COMPLETIONS, NO_CHANGE
from sidelight.errors import DataError
from sidelight.inference.batches import batch_scores
from sidelight.inference.methods.choose import Method, check_method
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.learners.bases import base_of
from sidelight.learners.contrastive import Contrastive
from sidelight.learners.hmm import HmmSpec, completion_under_rules, hmm_learner
from sidelight.objective.batch import Batch
from sidelight.parallel.place import Held, Place, ThreadPlace, pieces_of
from sidelight.rounds import Learner
from sidelight.rounds.hmm import EmOptions
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rules.lowering.penalties import mixed
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData, learner_of
from sidelight.specs.learner import Heed
from sidelight.specs.settings import price_when_completed
from sidelight.structures.labels.encoding import Encoded


@dataclass(frozen=True, kw_only=True)
class RuledSpec(LearnerSpec):
    """The base of learners that drive another one under rules."""

    takes = ("gold", "partial", "candidates", "unlabeled")
    and_takes = ", rules"
    heeds = frozenset({"rules"})
    about_rules = True

    base: str | LearnerSpec = option("hmm")

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", base_of(self.base, self.name))
        super().__post_init__()

    @property
    def base_spec(self) -> LearnerSpec:
        """The base with its options."""
        assert isinstance(self.base, LearnerSpec)
        return self.base

    @property
    def plain_form(self) -> str:
        return self.base_spec.plain_form or self.base_spec.name

    @property
    def emits(self) -> bool:
        return self.base_spec.emits

    def stays(self) -> str:
        return self.base_spec.stays()

    @property
    def over_hmm(self) -> bool:
        """Whether the base is an HMM."""
        return isinstance(self.base, HmmSpec)


@dataclass(frozen=True, kw_only=True)
class CodlSpec(RuledSpec):
    """Both forms of it."""

    inference = "argmax under rules"
    step_size = "as its base"
    stops = "no label changes (over an HMM: relative decrease), or cycles"
    no_partial_fit = "use fit"
    compile_seconds = 1.0
    mix_logs = False

    cycles: int = option(10, low=1)

    def check(self) -> None:
        if isinstance(self.base, Contrastive):
            problem = f"the base is {self.base.name}, and {self.name} labels what a base learns from"
            raise ValueError(f"{problem}; give crf or another")
        if isinstance(self.base, RuledSpec):
            raise ValueError(f"the base is {self.base.name}, which has its own base; give that one")

    @property
    def share(self) -> float | None:
        """beta."""
        raise NotImplementedError

    @property
    def called(self) -> str:
        return self.name if self.over_hmm else f"{self.name} over {self.base_spec.name}"

    @property
    def seconds_to_compile(self) -> float:
        return self.compile_seconds + (0.0 if self.over_hmm else self.base_spec.seconds_to_compile)

    @property
    def prices_gold_alone(self) -> bool:
        return not self.over_hmm and self.share is not None

    @property
    def longest(self) -> int | None:
        return self.base_spec.longest

    def stored_options(self) -> Mapping[str, Any]:
        return {"base": self.base_spec.name, "beta": self.share, "cycles": self.cycles}

    def needed(self) -> Mapping[Need, str]:
        needs = {Need.COMPLETION: "", **self.base_spec.needed()}
        if Need.SEGMENTS in needs:
            needs[Need.SEGMENTS] = f"use SegmentTagger(learner=recipes.{self.name}(base={self.base_spec.name!r}))"
        if self.over_hmm and Need.GENERATIVE in needs:
            needs[Need.GENERATIVE] = f"use recipes.{self.name}(base='crf')"
        return needs

    def heeded(self) -> frozenset[Heed]:
        own: frozenset[Heed] = frozenset({"rules"})
        if self.over_hmm:
            return own | {"states"}
        return own | (self.base_spec.heeded() & {"cost", "loss", "prices"})

    def make(self, data: FitData) -> Learner:
        if isinstance(self.base, HmmSpec):
            plan = replace(
                self.base.em(),
                options=EmOptions(-math.inf, self.cycles),
                beta=self.share,
                beta_if_unlabeled=None,
                mix_logs=self.mix_logs,
            )
            under = completion_under_rules(data, beta=self.share, gamma=-math.inf)
            return hmm_learner(data, self.base, plan, completion=under)
        return driven_learner(data, self)


@dataclass(frozen=True, kw_only=True)
class Codl(CodlSpec):
    """Constraint-driven learning: rules choose the labels that a model learns from (Chang, Ratinov and Roth 2007).

    In each of `cycles`, unlabelled inputs get the labels that are best under the rules and the present model. The
    learner `base` learns a new model from these labels. It is mixed with the model of Gold: `beta` times the model of
    Gold and 1 − `beta` times the new one. With `beta` none, one model learns from Gold and completed inputs together.
    If the base is "hmm", `beta` mixes probabilities, otherwise weights; `codl_as_printed` always mixes weights. With
    the base "semi_crf" or "semi_svm" it is a learner of `SegmentTagger`.
    """

    name = "codl"
    minimises = "the objective of its base on Gold, and on max_y (score − penalties) elsewhere"

    base: str | LearnerSpec = option("crf")
    beta: float | None = option(0.9, low=0, high=1)

    @property
    def share(self) -> float | None:
        return self.beta


@dataclass(frozen=True, kw_only=True)
class CodlAsPrinted(CodlSpec):
    """Constraint-driven learning as the thesis prints it: `beta` mixes weights, also of an HMM (Algorithm 8, line 8).

    The weights of an HMM are logarithms of probabilities. So if one of the two models has a probability near zero, it
    is near zero in the mixture too, whatever the other model says. Everything else is as in `codl`.
    """

    name = "codl_as_printed"
    minimises = "as codl; beta mixes the logarithms of an HMM"
    mix_logs = True

    beta: float = option(0.9, low=0, high=1)

    @property
    def share(self) -> float:
        return self.beta


def driven_learner(data: FitData, own: CodlSpec) -> DrivenLearner:
    """Completion under rules and learning by turns, over a base that is not an HMM."""
    gold, rest = data.encoded.of_kind("gold"), data.to_complete()
    if not len(gold):
        remedy = "give some labelled inputs"
        raise DataError(f"{own.name} begins with a model of Gold, and there is none", remedy=remedy)
    inputs = data.ruled_inputs(rest)
    tokens = data.rows.tokens_of(rest)
    batch = data.batch(rest)
    if data.encoded.admitted is not None:
        batch = batch.inside(data.encoded.admitted[tokens])
    method = check_method(data.settings.inference)
    kinds, known = data.encoded.kinds, max(data.settings.price("gold"), 1e-300)
    shares = [price_when_completed(data.settings.prices, kinds[i]) / known for i in rest]
    first = data.gold_penalties(inputs)
    held = _held(data.place, batch.here(), inputs)

    def learn(labels: Ids | None) -> Floats:
        if labels is None:
            part = _as_gold(data, gold, data.encoded.targets[data.rows.tokens_of(gold)], own, 1.0)
        elif own.share is not None:
            part = _as_gold(data, rest, labels, own, 1.0)
        else:
            both = np.concatenate([gold, rest])
            targets = np.concatenate([data.encoded.targets[data.rows.tokens_of(gold)], labels])
            part = _as_gold(data, both, targets, own, np.array([1.0] * len(gold) + shares))
        learner = learner_of(part)
        for _ in learner.run():
            pass
        return learner.finish()

    def complete(weights: Floats, penalties: Sequence[float]) -> Ids:
        return np.concatenate(held.each(_best_under, weights, penalties, method, held.n_jobs))

    def count(labels: Ids | None) -> list[float]:
        return first if labels is None else inputs.counted(labels, batch.space.starts)

    size = data.size
    return DrivenLearner(learn, complete, count, inputs, batch.space.starts, own.cycles, own.share, size, own.name)


def _held(place: Place, batch: Batch, inputs: AnyRuled) -> Held:
    """Inputs with their rules in a place, where it makes several shards of them."""
    lots = pieces_of(batch.starts, place.shard_tokens)
    if len(lots) <= 1:
        return ThreadPlace(batch.n_jobs).hold([(batch, inputs)])
    return place.hold([(batch.part(lo, hi), inputs.take(np.arange(lo, hi))) for lo, hi in lots])


def _best_under(
    piece: tuple[Batch, AnyRuled], weights: Floats, penalties: Sequence[float], method: Method, n_jobs: int | None
) -> Ids:
    """The best outputs under rules. # [T]"""
    batch, inputs = piece
    scores = batch_scores(replace(batch, n_jobs=n_jobs).scores(weights), batch.space)
    solutions = inputs.solutions(scores, penalties, method=method)
    return np.array([label for solution in solutions for label in solution.labels], dtype=np.int32)


def _as_gold(data: FitData, which: Ints, targets: Ids, own: CodlSpec, shares: Any) -> FitData:
    """Some inputs with all their labels, for the base."""
    rows = data.rows.take(which)
    weights = data.encoded.weights[which] * shares
    encoded = Encoded.of_kinds(["gold"] * len(which), weights, rows.starts, targets.astype(np.int32))
    settings = replace(data.settings, learner=own.base_spec, checkpoint=None, rules=())
    evidence = [data.evidence[i] for i in which.tolist()]
    return replace(data, settings=settings, evidence=evidence, rows=rows, encoded=encoded, start=None)


Learn = Callable[[Ids | None], Floats]  # the labels of the unlabelled inputs [T], or None for Gold alone, to weights
Complete = Callable[[Floats, Sequence[float]], Ids]  # weights and penalties to the labels of the unlabelled inputs
Count = Callable[[Ids | None], list[float]]  # labels as above to penalties


@dataclass(slots=True)
class DrivenLearner(RoundByRound):
    """Completion under rules and learning by turns: one round for the labelled inputs, then one a cycle."""

    LIMIT = MAX_COMPLETIONS

    learn: Learn
    complete: Complete
    count: Count
    inputs: AnyRuled  # the unlabelled inputs with their rules
    starts: Ints  # [N + 1] of the unlabelled inputs
    cycles: int
    beta: float | None
    size: int  # of the weights
    name: str = "codl"
    now: Floats = field(default_factory=lambda: np.zeros(0))
    first: Floats = field(default_factory=lambda: np.zeros(0))  # w_0
    penalties: list[float] = field(default_factory=list)
    first_penalties: list[float] = field(default_factory=list)  # ρ_0
    labels: Ids | None = None

    @property
    def weights(self) -> Floats:
        """The weights of the last cycle."""
        return self.now

    def learned_penalties(self) -> tuple[AnyRuled, list[float]]:
        return self.inputs, self.penalties

    def limit(self) -> int:
        """No cycle has anything to complete where all inputs are labelled."""
        return 1 + self.cycles if len(self.starts) > 1 else 1

    def step(self) -> Step:
        """Learn from Gold, or complete and learn."""
        if self.rounds == 1:
            self.first = self.now = self.learn(None)
            self.first_penalties = self.penalties = self.count(None)
            return None, {}
        labels = self.complete(self.now, self.penalties)
        changed = self._changed(labels)
        self.labels = labels
        same = changed == 0 and self.rounds > 2
        if not same:
            self._learn(labels)
        return NO_CHANGE if same else None, {"completion": self.rounds - 1, "changed": changed}

    def _learn(self, labels: Ids) -> None:
        new_weights = self.learn(labels)
        if self.beta is None:
            self.now, self.penalties = new_weights, self.count(labels)
            return
        self.now = self.beta * self.first + (1.0 - self.beta) * new_weights
        self.penalties = mixed(self.first_penalties, self.count(labels), self.beta)

    def _changed(self, labels: Ids) -> int:
        if self.labels is None:
            return len(self.starts) - 1
        return int(np.count_nonzero(np.add.reduceat(labels != self.labels, self.starts[:-1], dtype=np.int64)))

    def more_state(self) -> State:
        arrays: dict[str, NDArray[Any]] = {"weights": self.now, "first": self.first}
        arrays |= {"penalties": np.array(self.penalties), "first_penalties": np.array(self.first_penalties)}
        return {}, arrays | ({} if self.labels is None else {"labels": self.labels})

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        values.setdefault("done", False)  # missing in earlier files
        whole_of(values, "rounds", low=1)
        self.now, self.first = (array_of(arrays, name, np.float64, [self.size]) for name in ("weights", "first"))
        self.penalties, self.first_penalties = (
            array_of(arrays, name, np.float64, [len(self.inputs.rules)], low=0.0, finite=False).tolist()
            for name in ("penalties", "first_penalties")
        )
        tokens = int(self.starts[-1])
        self.labels = array_of(arrays, "labels", np.int32, [tokens], low=0) if "labels" in arrays else None

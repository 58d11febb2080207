"""Constrained conditional models: rules over a scorer that was learned without them (Chang 2011, chapter 3).

    ŷ = argmax_y  w·Φ(x, y) − Σ_k ρ_k d_k(x, y)

The scorer is any model of this library (HMM, CRF, SVM, perceptron, …), or scores that a user hands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import DataError
from sidelight.features.rows import Rows
from sidelight.features.rows import scores as linear_scores
from sidelight.inference.batches import BatchScores, ChainBatchScores
from sidelight.inference.choose import check_method
from sidelight.inference.explanation import Explanation, explain_rules
from sidelight.inference.problem import Solution
from sidelight.inference.rule_set import RuleSet
from sidelight.inference.ruled import RuledInputs
from sidelight.inference.segment_batches import SegmentBatchScores
from sidelight.manners import accuracy
from sidelight.model import Model
from sidelight.probabilities import Clamp, mask_of
from sidelight.rules import Domain, Rule, Sentence
from sidelight.rules.penalties import SMOOTHING, penalties_of
from sidelight.segment_model import SegmentModel
from sidelight.spaces import ChainSpace
from sidelight.spaces.chain import GivenScores


class Scorer(Protocol):
    """Gives labels, and the scores of some inputs."""

    @property
    def names(self) -> Sequence[Any]: ...

    @property
    def sequences(self) -> bool:
        """Whether an output is a list of labels; else it is one label, `y[0]` to a rule, and `x[0]` the input."""
        ...

    @property
    def learned(self) -> Mapping[str, float]:
        """The penalties that training left, by the names of rules."""
        ...

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> BatchScores: ...


@dataclass(frozen=True, slots=True)
class ModelScorer:
    """A trained model as a scorer."""

    model: Model

    @property
    def names(self) -> Sequence[Any]:
        if self.model.labels.hidden:
            raise DataError("rules speak of labels, and the model has hidden states", remedy="train without states")
        return self.model.labels.names

    @property
    def sequences(self) -> bool:
        return self.model.sequences

    @property
    def learned(self) -> Mapping[str, float]:
        return _penalties_in(self.model.about)

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> ChainBatchScores:
        batch = self.model.batch(xs, n_jobs=n_jobs)
        if clamp is not None:
            batch = replace(batch, space=batch.space.inside(mask_of(self.model.labels, batch.rows, clamp)))
        return ChainBatchScores.of(linear_scores(batch.rows, batch.layout, self.model.weights), batch.space)


@dataclass(frozen=True, slots=True)
class SegmentScorer:
    """A trained segmenter as a scorer; rules about it speak of the labels of tokens."""

    model: SegmentModel

    @property
    def names(self) -> Sequence[Any]:
        return self.model.scheme.tokens.names

    @property
    def sequences(self) -> bool:
        return True

    @property
    def learned(self) -> Mapping[str, float]:
        return _penalties_in(self.model.about)

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> SegmentBatchScores:
        batch, scheme = self.model.batch(xs, n_jobs=n_jobs), self.model.scheme
        if clamp is not None:
            batch = batch.inside(*scheme.masks(mask_of(scheme.tokens, batch.rows, clamp)))
        return SegmentBatchScores.of(batch.scores(self.model.weights), batch.space, scheme)


@dataclass(frozen=True, slots=True)
class HandedScores:
    """Scores that a user hands in: a function of an input gives those of its tokens.

    >>> from sidelight.rules import gallery
    >>> flat = HandedScores(["A", "B"], lambda x: np.array([[0.0, 1.0]] * len(x)))
    >>> Constrained(flat, [gallery.at_most(1, "B")]).predict([["x", "y"]])
    [['A', 'B']]
    """

    labels: Sequence[Any]
    tokens: Any  # a function of an input: [T, L]
    transition: Floats | None = None  # [L, L], 0 if left out
    start: Floats | None = None  # [L]
    end: Floats | None = None  # [L]

    @property
    def names(self) -> Sequence[Any]:
        return self.labels

    @property
    def sequences(self) -> bool:
        return True

    @property
    def learned(self) -> Mapping[str, float]:
        return {}

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> ChainBatchScores:
        size = len(self.labels)
        blocks = [np.asarray(self.tokens(x), dtype=np.float64) for x in xs]
        for i, (x, block) in enumerate(zip(xs, blocks)):
            if block.shape != (len(x), size) or np.isnan(block).any():
                problem = f"the scores of input {i} have the shape {block.shape}, or are not numbers"
                raise DataError(problem, remedy=f"give one number for each of {len(x)} tokens and {size} labels")
        starts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int64)
        tokens = np.concatenate([np.zeros((0, size)), *blocks])
        if clamp is not None:
            number = {label: k for k, label in enumerate(self.labels)}
            for t, label in enumerate(label for labels in clamp for label in labels):
                if label is not None:
                    tokens[t, np.arange(size) != number[label]] = -np.inf
        shapes = ((self.transition, (size, size)), (self.start, (size,)), (self.end, (size,)))
        parts = [np.zeros(shape) if given is None else np.asarray(given, dtype=float) for given, shape in shapes]
        return ChainBatchScores.of(GivenScores(tokens, *parts), ChainSpace(starts, size, None))


class Constrained:
    """A scorer under rules.

    `scorer` is an estimator that has been fitted, a `Model`, a `SegmentModel`, or `HandedScores`. `penalties` are one
    number a rule, the rules' own if left out; those of soft rules without a number are learned by `learn_penalties`.
    `method` is a name of `inference.choose`. Raises `DataError` where a rule speaks of a label that does not exist.

    >>> from sidelight import Tagger
    >>> from sidelight.rules import gallery
    >>> tagger = Tagger(max_rounds=5).fit([["light", "on"], ["light", "off"]], [["N", "P"], ["N", "P"]])
    >>> Constrained(tagger, [gallery.at_most(0, "P")]).predict([["light", "on"]])
    [['N', 'N']]
    """

    def __init__(
        self,
        scorer: Any,
        rules: Sequence[Rule],
        *,
        penalties: Sequence[float] | None = None,
        method: str = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.scorer = _scorer_of(scorer)
        self.rules = tuple(rules)
        self.method = check_method(method)
        self.n_jobs = n_jobs
        self.domain = Domain(self.scorer.names)
        made_up = [Sentence([f"word{t}" for t in range(length)]) for length in (1, 4)]
        for rule in self.rules:
            rule.probe(self.domain, made_up)
        self.penalties = None if penalties is None else list(penalties)

    def learn_penalties(
        self, xs: Sequence[Any], ys: Sequence[Sequence[Any]], *, smoothing: float = SMOOTHING
    ) -> Constrained:
        """Count how often labelled sequences break the rules whose penalty is to be learned (Algorithm 7)."""
        self.penalties = penalties_of(self.rules, self._wrapped(xs), self._wrapped(ys), smoothing=smoothing)
        return self

    def predict(self, xs: Sequence[Any], *, clamp: Clamp | None = None) -> list[Any]:
        """The best output of each input under the rules; raises `Infeasible` where hard rules leave none."""
        names = self.domain.labels
        outputs = [[names[label] for label in found.labels] for found in self.solutions(xs, clamp=clamp)]
        return outputs if self.scorer.sequences else [output[0] for output in outputs]

    def solutions(self, xs: Sequence[Any], *, clamp: Clamp | None = None) -> list[Solution]:
        """The same with what each is worth, how it was found, and whether it is proved to be the best."""
        if isinstance(xs, Rows):
            raise DataError("rules read inputs, and these are features", remedy="give inputs, not prepared features")
        if not len(xs):
            return []
        inputs = RuledInputs.of(self._wrapped(xs), self.domain.labels, self.rules, None)
        batch = self.scorer.scores(xs, clamp=clamp, n_jobs=self.n_jobs)
        return inputs.solutions(batch, self.prices(), method=self.method)

    def violations(self, xs: Sequence[Any], ys: Sequence[Sequence[Any]]) -> list[list[int]]:
        """How often each rule is broken by known outputs. # [N][rules]"""
        return [
            [rule.violations(Sentence(x), list(y), example=i) for rule in self.rules]
            for i, (x, y) in enumerate(zip(self._wrapped(xs), self._wrapped(ys)))
        ]

    def explain_rules(self, x: Any) -> Explanation:
        """How each rule was lowered for an input, whether the output without rules breaks it, and what it changed."""
        batch = self.scorer.scores([x], clamp=None, n_jobs=self.n_jobs)
        rules = RuleSet(self.rules, self.domain, penalties=self.prices())
        sentence = Sentence(x if self.scorer.sequences else [x])
        return explain_rules(rules, sentence, batch.own(0), batch.shared, method=self.method)

    def score(self, xs: Sequence[Any], ys: Sequence[Sequence[Any]]) -> float:
        """Token accuracy between 0 and 1 (for classes: accuracy)."""
        return accuracy(self.predict(xs), ys, sequences=self.scorer.sequences)

    def _wrapped(self, items: Sequence[Any]) -> Sequence[Any]:
        """Inputs or outputs as sequences: of one, for classes."""
        return items if self.scorer.sequences else [[item] for item in items]

    def prices(self) -> list[float]:
        """What breaking each rule costs: as given, the rules' own, or as training left it in the model."""
        if self.penalties is not None:
            return self.penalties
        stored = self.scorer.learned
        prices = []
        for rule in self.rules:
            price = stored.get(rule.name) if rule.penalty is None else rule.penalty
            if price is None:
                raise DataError(
                    f"the penalty of the rule {rule.name} has not been learned",
                    remedy="train with it, use learn_penalties, or give soft(…) a number",
                )
            prices.append(float(price))
        return prices


def _scorer_of(scorer: Any) -> Scorer:
    model = getattr(scorer, "model_", scorer)
    match model:
        case Model():
            return ModelScorer(model)
        case SegmentModel():
            return SegmentScorer(model)
        case ModelScorer() | SegmentScorer() | HandedScores():
            return model
    raise DataError(
        f"{type(scorer).__name__} does not score labels of tokens",
        remedy="give a fitted Tagger or SegmentTagger, a Model or HandedScores",
    )


def _penalties_in(about: Mapping[str, Any]) -> Mapping[str, float]:
    found: Mapping[str, float] = about.get("penalties", {})
    return found

"""Constrained conditional models: rules over a scorer that was trained without them (Chang 2011, chapter 3).

    ŷ = argmax_y  w·Φ(x, y) − Σ_k ρ_k d_k(x, y)

The scorer is any model of this library (HMM, CRF, SVM, perceptron, …), or scores passed in by the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import is_hashable, is_listed, is_number, real_numbers, shown, whole
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.estimators.base_estimator import accuracy
from sidelight.features.inputs import as_sequences, check_sequences
from sidelight.features.rows import Rows
from sidelight.inference.batches import BatchScores, ChainBatchScores, batch_scores
from sidelight.inference.explanation import RuleExplanation, explain_rules
from sidelight.inference.folded_problem import WIDTH
from sidelight.inference.legal import legal
from sidelight.inference.methods.choose import check_method
from sidelight.inference.problem import Solution
from sidelight.inference.proofs import warn_of_unproved
from sidelight.inference.rule_set import RuleSet
from sidelight.inference.ruled_inputs import RuledInputs
from sidelight.models.model import Model
from sidelight.models.probabilities import clamped_too_much
from sidelight.rules import Domain, Rule, Sentence
from sidelight.rules.expr import is_true
from sidelight.rules.lowering.penalties import SMOOTHING, penalties_of
from sidelight.rules.rule import checked_rules
from sidelight.rules.trials import try_rules
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain import GivenScores
from sidelight.structures import LabelSet
from sidelight.structures.labels.token_labels import Clamp, TokenLabels, mask_of


@dataclass(frozen=True, slots=True)
class ModelScorer:
    """A trained model as a scorer."""

    model: Model

    @property
    def names(self) -> Sequence[Any]:
        if not isinstance(self.model.structure, TokenLabels):
            kind = self.model.structure.outputs_are
            raise Intractable(f"these rules are about labels of tokens or inputs, and {kind} are none; leave rules out")
        if self.model.labels.hidden:
            raise DataError("rules speak of labels, and the model has hidden states", remedy="train without states")
        return self.model.labels.names

    @property
    def sequences(self) -> bool:
        return self.model.sequences

    @property
    def learned(self) -> Mapping[str, float]:
        return _penalties_in(self.model.about)

    def scores(self, xs: Sequence[Any], *, clamp: Clamp | None, n_jobs: int | None) -> BatchScores:
        rows = self.model.prepare(xs, n_jobs=n_jobs)
        batch = self.model.batch(rows, n_jobs=n_jobs)
        if clamp is not None:
            batch = batch.inside(self.model.structure.mask(rows, clamp))
        scores: BatchScores = batch_scores(batch.scores(self.model.weights), batch.space)
        return scores


@dataclass(frozen=True, slots=True)
class HandedScores:
    """Scores from elsewhere: a function of an input returns the scores of its tokens.

    −inf forbids a label or a transition. Raises `DataError` for scores of the wrong shape, NaN or +inf, and for
    duplicate labels.

    >>> from sidelight.estimators.constrained import Constrained
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

    def __post_init__(self) -> None:
        listed = isinstance(self.labels, str) or is_listed(self.labels)
        if not listed or not all(map(is_hashable, self.labels)):
            raise DataError(
                f"labels is {shown(self.labels)}", remedy="give a list of labels, in the order of their scores"
            )
        twice = [label for label in dict.fromkeys(self.labels) if list(self.labels).count(label) > 1]
        if twice:
            raise DataError(f"the label {twice[0]!r} is listed twice", remedy="give every label once")
        if not len(self.labels):
            raise DataError("there are no labels to score", remedy="give the labels in the order of their scores")
        if not callable(self.tokens):
            problem = f"the scores of tokens are a {type(self.tokens).__name__}"
            raise DataError(problem, remedy="give a function of an input: lambda x: …")
        self._shared()

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
        blocks = [
            _numbers(self.tokens(x), (len(x), size), f"the scores of input {i}", f"{len(x)} tokens and {size} labels")
            for i, x in enumerate(xs)
        ]
        lengths = [len(block) for block in blocks]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = np.concatenate([np.zeros((0, size)), *blocks])
        if clamp is not None:
            tokens[mask_of(LabelSet(tuple(self.labels)), lengths, clamp) == 0] = -np.inf
        return ChainBatchScores.of(GivenScores(tokens, *self._shared()), ChainSpace(starts, size, None))

    def _shared(self) -> list[Floats]:
        """Scores of transitions, of the first label and of the last."""
        size = len(self.labels)
        parts = (
            (self.transition, (size, size), "the scores of transitions", f"{size} labels and the next"),
            (self.start, (size,), "the scores of first labels", f"{size} labels"),
            (self.end, (size,), "the scores of last labels", f"{size} labels"),
        )
        return [np.zeros(shape) if own is None else _numbers(own, shape, *names) for own, shape, *names in parts]


def _numbers(values: Any, shape: tuple[int, ...], what: str, expected: str) -> Floats:
    """Scores as an array of this shape."""
    remedy = f"give one number for each of {expected}"
    try:
        array = real_numbers(what, values)
    except (TypeError, ValueError):
        raise DataError(f"{what} are not numbers in rows of one length", remedy=remedy) from None
    if array.shape != shape:
        raise DataError(f"{what} have the shape {array.shape} and not {shape}", remedy=remedy)
    if np.isnan(array).any() or np.isposinf(array).any():
        raise DataError(f"{what} have nan or inf among them", remedy="give finite numbers, or -inf for what cannot be")
    return array


def scorer_of(scorer: Any) -> ModelScorer | HandedScores:
    """A fitted estimator, a model or handed scores as a scorer; raises `DataError` for anything else."""
    model = getattr(scorer, "model_", scorer)
    match model:
        case Model():
            return ModelScorer(model)
        case ModelScorer() | HandedScores():
            return model
    raise DataError(
        f"{type(scorer).__name__} does not score labels of tokens",
        remedy="give a fitted Tagger or SegmentTagger, a Model or HandedScores",
    )


def _penalties_in(about: Mapping[str, Any]) -> Mapping[str, float]:
    penalties: Mapping[str, float] = about.get("penalties", {})
    return penalties


class Constrained:
    """A fitted model, or scores, under rules.

    `scorer` is a fitted estimator, a `Model`, a `SegmentModel`, or `HandedScores`. `penalties` is one number per rule,
    by default that of the rule; `learn_penalties` estimates those of soft rules without a number. `method` is a name
    from `inference.choose`, and `beam_width` the number of prefixes that "beam" keeps. Raises `DataError` if the rules
    are not a list of rules or mention a label that does not exist, and if the penalties are negative or not one per
    rule.

    >>> from sidelight import Tagger
    >>> from sidelight.rules import gallery
    >>> tagger = Tagger(max_rounds=5).fit([["light", "on"], ["light", "off"]], [["N", "P"], ["N", "P"]])
    >>> Constrained(tagger, [gallery.at_most(0, "P")]).predict([["light", "on"]])
    [['N', 'N']]
    """

    def __init__(
        self,
        scorer: Any,
        rules: Sequence[Rule] | None,
        *,
        penalties: Sequence[float] | None = None,
        method: str = "auto",
        beam_width: int = WIDTH,
        n_jobs: int | None = -1,
    ) -> None:
        self.scorer = scorer_of(scorer)
        rules_in_order = checked_rules(rules)
        self.rules = tuple(dict.fromkeys(rules_in_order))
        self.method = check_method(method)
        self.beam_width = beam_width
        self.n_jobs = n_jobs
        self.domain = Domain(self.scorer.names)
        try_rules(self.rules, self.domain)
        if whole("beam_width", beam_width, least=0) < 1:
            raise DataError(f"beam_width is {beam_width}", remedy="a beam is at least 1 wide")
        self.penalties = None if penalties is None else _one_a_rule(rules_in_order, penalties)

    def learn_penalties(
        self, xs: Sequence[Any], ys: Sequence[Sequence[Any]], *, smoothing: float = SMOOTHING
    ) -> Constrained:
        """Estimate learned penalties by counting how often labelled sequences break the rules (Algorithm 7).

        Raises `DataError` if the outputs do not fit the inputs or have an unknown label.
        """
        self._check_outputs(xs, ys)
        self.penalties = penalties_of(self.rules, self._wrapped(xs), self._wrapped(ys), smoothing=smoothing)
        return self

    def predict(self, xs: Sequence[Any], *, clamp: Clamp | None = None) -> list[Any]:
        """The best output of each input under the rules; raises `Infeasible` if hard rules leave none.

        Warns (`sidelight.errors.NotProved`) if the method did not prove outputs optimal.
        """
        solutions = self.solutions(xs, clamp=clamp)
        warn_of_unproved(solutions)
        return self.outputs(solutions)

    def outputs(self, solutions: Sequence[Solution]) -> list[Any]:
        """The outputs of solutions: lists of labels, or labels."""
        names = self.domain.labels
        outputs = [[names[label] for label in solution.labels] for solution in solutions]
        return outputs if self.scorer.sequences else [output[0] for output in outputs]

    def solutions(self, xs: Sequence[Any], *, clamp: Clamp | None = None) -> list[Solution]:
        """The outputs of `predict`, with the value of each, how it was found, and whether it is proved optimal.

        Labels are numbers, in the order of the scorer's labels; `outputs` converts them.
        """
        if isinstance(xs, Rows):
            raise DataError("rules read inputs, and these are features", remedy="give inputs, not prepared features")
        xs = as_sequences(xs, sequences=True) if self.scorer.sequences else self._listed("xs", xs)
        if not len(xs):
            return []
        inputs = RuledInputs.of(self._wrapped(xs), self.domain.labels, self.rules, None)
        batch = self.scorer.scores(xs, clamp=clamp, n_jobs=self.n_jobs)
        try:
            return inputs.solutions(batch, self.prices(), method=self.method, beam_width=self.beam_width)
        except Infeasible as error:
            if clamp is None or error.example is None or not self._possible_unclamped(xs[error.example], error.rules):
                raise
            names = [self.rules[number].name for number in error.rules]
            raise _clamped_too_much(error.example, names) from None

    def violations(self, xs: Sequence[Any], ys: Sequence[Sequence[Any]]) -> list[list[int]]:
        """How often each rule is broken by known outputs; raises `DataError` as `learn_penalties`. # [N, rules]"""
        self._check_outputs(xs, ys)
        return [
            [rule.violations(Sentence(x), list(y), example=i) for rule in self.rules]
            for i, (x, y) in enumerate(zip(self._wrapped(xs), self._wrapped(ys)))
        ]

    def coverage(self, xs: Sequence[Any]) -> list[list[bool]]:
        """Whether each rule applies to an input, so that some output might break it. # [N, rules]"""
        return [
            [not is_true(rule.on_labels(Sentence(x), self.domain, example=i)) for rule in self.rules]
            for i, x in enumerate(self._wrapped(self._listed("xs", xs)))
        ]

    def explain_rules(self, x: Any) -> RuleExplanation:
        """How each rule was lowered for an input, whether the output without rules breaks it, and what it changed."""
        batch = self.scorer.scores([x], clamp=None, n_jobs=self.n_jobs)
        rules = RuleSet(self.rules, self.domain, penalties=self.prices(), beam_width=self.beam_width)
        sentence = Sentence(x if self.scorer.sequences else [x])
        return explain_rules(rules, sentence, batch.own(0), batch.shared, method=self.method)

    def score(self, xs: Sequence[Any], ys: Sequence[Sequence[Any]]) -> float:
        """Token accuracy between 0 and 1 (for classes: accuracy)."""
        return accuracy(self.predict(xs), ys, sequences=self.scorer.sequences)

    def _wrapped(self, items: Sequence[Any]) -> Sequence[Any]:
        """Inputs or outputs as sequences; those of classes become sequences of one."""
        return items if self.scorer.sequences else [[item] for item in items]

    def _listed(self, name: str, items: Any) -> Sequence[Any]:
        """Inputs or outputs as a list; raises `DataError` for other values, and for inputs that are not sequences."""
        if not is_listed(items):
            raise DataError(f"{name} is {shown(items)}", remedy="give a list, one for each input")
        inputs = items if isinstance(items, Sized) else list(items)
        if self.scorer.sequences:
            check_sequences(inputs)  # type: ignore[arg-type]
        return inputs  # type: ignore[return-value]

    def _check_outputs(self, xs: Sequence[Any], ys: Sequence[Any]) -> None:
        xs, ys = self._listed("xs", xs), self._listed("ys", ys)
        if len(xs) != len(ys):
            raise DataError(f"there are {len(xs)} inputs and {len(ys)} outputs", remedy="give every input one output")
        for i, (x, y) in enumerate(zip(self._wrapped(xs), self._wrapped(ys))):
            if len(x) != len(y):
                problem = f"output {i} has {len(y)} labels for {len(x)} tokens"
                raise DataError(problem, remedy="give one label per token")
            for label in y:
                try:
                    self.domain.number(label)
                except DataError as error:
                    raise DataError(f"output {i}: {error.problem}", remedy=error.remedy) from None

    def _possible_unclamped(self, x: Any, rules: Sequence[int]) -> bool:
        """Whether some output of an input obeys these hard rules if no label is clamped."""
        free = self.scorer.scores([x], clamp=None, n_jobs=self.n_jobs)
        every = RuleSet(self.rules, self.domain, penalties=self.prices())
        problem = every.problem(Sentence(self._wrapped([x])[0]), free.own(0), free.shared)
        return legal(problem, [clause for clause in problem.clauses if clause.hard and clause.rule in rules])

    def prices(self) -> list[float]:
        """The penalty of each rule: as set, that of the rule itself, or as stored in the model by training."""
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


def _one_a_rule(rules: Sequence[Rule], penalties: Sequence[float]) -> list[float]:
    """The penalty of each rule; a rule that is given twice has its first penalty."""
    if not is_listed(penalties) or not isinstance(penalties, Sized):
        raise DataError(f"penalties is {shown(penalties)}", remedy="give a list with a number for every rule")
    if len(penalties) != len(rules):
        raise DataError(f"{len(penalties)} penalties for {len(rules)} rules", remedy="give every rule one")
    price_of: dict[Rule, float] = {}
    for rule, price in zip(rules, penalties):
        if not is_number(price) or not price >= 0:
            raise DataError(f"the penalty of {rule.name} is {price}", remedy="give a number that is not negative")
        price_of.setdefault(rule, float(price))
    return list(price_of.values())


def _clamped_too_much(example: int, names: Sequence[str]) -> Infeasible:
    if not names:
        return clamped_too_much(example)
    rules = f"the rule {names[0]}" if len(names) == 1 else f"the rules {', '.join(names[:-1])} and {names[-1]}"
    soft = "it" if len(names) == 1 else "one of them"
    return Infeasible(
        f"example {example}: no output has the clamped labels and obeys {rules}; clamp fewer, or make {soft} soft",
        example=example,
    )


__all__ = ["Constrained", "HandedScores"]

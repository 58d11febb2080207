"""Constrained conditional models: rules over a scorer that was learned without them (Chang 2011, chapter 3).

    ŷ = argmax_y  w·Φ(x, y) − Σ_k ρ_k d_k(x, y)

The scorer is any model of this library (HMM, CRF, SVM, perceptron, …), or scores that a user hands in.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from sidelight.core.checks import is_listed, is_number, shown, whole
from sidelight.errors import DataError, Infeasible
from sidelight.estimators.base_estimator import accuracy
from sidelight.estimators.scorers import HandedScores, scorer_of
from sidelight.features.inputs import as_sequences, check_sequences
from sidelight.features.rows import Rows
from sidelight.inference.explanation import RuleExplanation, explain_rules
from sidelight.inference.folded_problem import WIDTH
from sidelight.inference.legal import legal
from sidelight.inference.methods.choose import check_method
from sidelight.inference.problem import Solution
from sidelight.inference.proofs import warn_of_unproved
from sidelight.inference.rule_set import RuleSet
from sidelight.inference.ruled_inputs import RuledInputs
from sidelight.models.probabilities import clamped_too_much
from sidelight.rules import Domain, Rule, Sentence
from sidelight.rules.expr import is_true
from sidelight.rules.lowering.penalties import SMOOTHING, penalties_of
from sidelight.rules.rule import checked_rules
from sidelight.rules.unseen import read_unseen
from sidelight.structures.labels.token_labels import Clamp


class Constrained:
    """A scorer under rules.

    `scorer` is an estimator that has been fitted, a `Model`, a `SegmentModel`, or `HandedScores`. `penalties` are one
    number a rule, the rules' own if left out; those of soft rules without a number are learned by `learn_penalties`.
    `method` is a name of `inference.choose`, and `beam_width` how many prefixes "beam" keeps. Raises `DataError` for
    what is no list of rules, where a rule speaks of a label that does not exist, and for penalties that are not one a
    rule, or negative.

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
        read_unseen(self.rules, self.domain)
        if whole("beam_width", beam_width, least=0) < 1:
            raise DataError(f"beam_width is {beam_width}", remedy="a beam is at least 1 wide")
        self.penalties = None if penalties is None else _one_a_rule(rules_in_order, penalties)

    def learn_penalties(
        self, xs: Sequence[Any], ys: Sequence[Sequence[Any]], *, smoothing: float = SMOOTHING
    ) -> Constrained:
        """Count how often labelled sequences break the rules whose penalty is to be learned (Algorithm 7).

        Raises `DataError` where the outputs do not fit the inputs or have a label that does not exist.
        """
        self._check_outputs(xs, ys)
        self.penalties = penalties_of(self.rules, self._wrapped(xs), self._wrapped(ys), smoothing=smoothing)
        return self

    def predict(self, xs: Sequence[Any], *, clamp: Clamp | None = None) -> list[Any]:
        """The best output of each input under the rules; raises `Infeasible` where hard rules leave none.

        Warns (`sidelight.errors.NotProved`) where the method did not prove that outputs are the best.
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
        """The same with what each is worth, how it was found, and whether it is proved to be the best.

        Labels are numbers there, in the order of the scorer's labels; `outputs` names them.
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
        """Whether each rule says anything about an input, so that some output might break it. # [N, rules]"""
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
        """Inputs or outputs as sequences: of one, for classes."""
        return items if self.scorer.sequences else [[item] for item in items]

    def _listed(self, name: str, items: Any) -> Sequence[Any]:
        """Inputs or outputs that can be counted; raises `DataError` for what are none, or no sequences."""
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
        """Whether some output of an input obeys these hard rules where no label of it is clamped."""
        free = self.scorer.scores([x], clamp=None, n_jobs=self.n_jobs)
        every = RuleSet(self.rules, self.domain, penalties=self.prices())
        problem = every.problem(Sentence(self._wrapped([x])[0]), free.own(0), free.shared)
        return legal(problem, [clause for clause in problem.clauses if clause.hard and clause.rule in rules])

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


def _one_a_rule(rules: Sequence[Rule], penalties: Sequence[float]) -> list[float]:
    """What each rule costs, one that is given twice as the first time."""
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

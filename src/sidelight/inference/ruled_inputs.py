"""Inputs with their own rules: their best outputs, and beliefs about them in EM.

Rules of the estimator apply to all inputs, and rules of the evidence to some. Inputs with the same rules are solved
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import DataError, Intractable
from sidelight.generative.completion import Free, StateBeliefs, point
from sidelight.inference.batches import BatchScores, ChainBatchScores
from sidelight.inference.expected.expected import ExpectationBatch
from sidelight.inference.folded_problem import WIDTH
from sidelight.inference.methods.choose import Method
from sidelight.inference.problem import Solution, clauses_of
from sidelight.inference.rule_set import RuleSet
from sidelight.rules import Domain, Rule, Sentence
from sidelight.rules.columns import chain_columns
from sidelight.rules.lowering.expectations import Expectations, expectations
from sidelight.rules.lowering.penalties import mixed, penalty_of
from sidelight.spaces import Space
from sidelight.spaces.second_order.second_order import SecondOrderScores

BLOCK = 256  # inputs whose scores are in memory at once


class AnyRuled(Protocol):
    """Inputs of any structure, with the rules of each."""

    @property
    def rules(self) -> tuple[Rule, ...]: ...

    def __len__(self) -> int: ...

    def take(self, which: Ints) -> Self:
        """Some of the inputs, each once."""
        ...

    def solutions(self, batch: Any, penalties: Sequence[float], *, method: Method = "auto") -> list[Solution]:
        """The best output of every input under its rules at these prices; `batch` is that of `batch_scores`."""
        ...

    def counted(self, labels: Ids, starts: Ints) -> list[float]:
        """The penalties learned from outputs, each from the inputs of its rule; fixed penalties are unchanged."""
        ...

    def degrees(self, labels: Ids, starts: Ints, needed: Sequence[bool]) -> list[tuple[int, dict[int, int]]]:
        """The violations of the `needed` rules by each output, by rule number, input by input."""
        ...


@dataclass(frozen=True, slots=True)
class RuledInputs:
    """Sequences with the rules of each."""

    rules: tuple[Rule, ...]
    domain: Domain
    sentences: tuple[Sentence, ...]
    groups: tuple[tuple[tuple[int, ...], Ints], ...]  # numbers of rules, and their inputs
    places: tuple[int, ...]  # numbers of the inputs in the user's data, for errors

    @classmethod
    def of(
        cls,
        xs: Sequence[Any],
        labels: Sequence[Any],
        common: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None,  # from the evidence, not yet checked
        *,
        places: Sequence[int] | None = None,
    ) -> RuledInputs:
        """Common rules and the rules of each input; raises `DataError` for an unknown label, or for values that are not
        rules.
        """
        for rule in (rule for rules in own or () for rule in rules):
            if not isinstance(rule, Rule):
                remedy = "make a rule of a function with @sidelight.rules.rule"
                raise DataError(f"the rules of an input have {rule!r}", remedy=remedy)
        domain = Domain(labels)
        every = tuple(dict.fromkeys([*common, *(rule for rules in own or () for rule in rules)]))
        number = {rule: k for k, rule in enumerate(every)}
        sentences = tuple(Sentence(x) for x in xs)
        for rule in every:
            rule.probe(domain, sentences[:3])
        members: dict[tuple[int, ...], list[int]] = {}
        for i in range(len(sentences)):
            mine = dict.fromkeys([*common, *(own[i] if own is not None else ())])
            members.setdefault(tuple(number[rule] for rule in mine), []).append(i)
        groups = tuple((rules, np.array(which, dtype=np.int64)) for rules, which in members.items())
        return cls(every, domain, sentences, groups, tuple(range(len(xs)) if places is None else places))

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, which: Ints) -> RuledInputs:
        """Some of the inputs, each once."""
        place = {int(i): k for k, i in enumerate(which)}
        members = [(rules, [place[i] for i in own.tolist() if i in place]) for rules, own in self.groups]
        groups = tuple((rules, np.array(sorted(mine), dtype=np.int64)) for rules, mine in members if mine)
        sentences = tuple(self.sentences[i] for i in place)
        return replace(self, sentences=sentences, groups=groups, places=tuple(self.places[i] for i in place))

    def solutions(
        self,
        batch: BatchScores,
        penalties: Sequence[float],
        *,
        method: Method = "auto",
        beam_width: int = WIDTH,
    ) -> list[Solution]:
        """The best output of every input under its rules at these prices."""
        shared = batch.shared
        solutions: list[Solution | None] = [None] * len(self)
        for numbers, which in self.groups:
            own_rules, prices = [self.rules[k] for k in numbers], [penalties[k] for k in numbers]
            rules = RuleSet(own_rules, self.domain, penalties=prices, beam_width=beam_width)
            for first in range(0, len(which), BLOCK):
                some = which[first : first + BLOCK].tolist()
                own = [batch.own(i) for i in some]
                sentences = [self.sentences[i] for i in some]
                solved = rules.decode(sentences, own, shared, method=method, examples=[self.places[i] for i in some])
                for i, solution in zip(some, solved):
                    solutions[i] = solution
        return [solution for solution in solutions if solution is not None]

    def expected(self, penalties: Sequence[float]) -> ExpectationBatch:
        """The constraints of the rules on beliefs about every input."""
        size = len(self.domain.labels)
        readings: list[Expectations | None] = [None] * len(self)
        for numbers, which in self.groups:
            for i in which.tolist():
                sentence = self.sentences[i]
                says = [self.rules[k].on_labels(sentence, self.domain, example=self.places[i]) for k in numbers]
                clauses = clauses_of(says, [penalties[k] for k in numbers])
                readings[i] = expectations(
                    [clause.says for clause in clauses],
                    [clause.penalty for clause in clauses],
                    chain_columns(len(sentence), size),
                    names=[self.rules[numbers[clause.rule]].name for clause in clauses],
                )
        known = [reading for reading in readings if reading is not None]
        return ExpectationBatch([len(sentence) for sentence in self.sentences], size, known).called(self.places)

    def counted(self, labels: Ids, starts: Ints) -> list[float]:
        """The penalties learned from outputs, each from the inputs of its rule; fixed penalties are unchanged."""
        return counted_by(self, labels, starts)

    def degrees(self, labels: Ids, starts: Ints, needed: Sequence[bool]) -> list[tuple[int, dict[int, int]]]:
        """The violations of the `needed` rules by each output, by rule number, input by input."""
        every, bounds, broken = labels.tolist(), starts.tolist(), []
        for numbers, which in self.groups:
            mine = [k for k in numbers if needed[k]]
            rules = RuleSet([self.rules[k] for k in mine], self.domain, penalties=[1.0] * len(mine))
            for i in which.tolist() if mine else ():
                output = every[bounds[i] : bounds[i + 1]]
                degrees = rules.violations(self.sentences[i], output, example=self.places[i])
                broken.append((i, dict(zip(mine, degrees))))
        return broken


def counted_by(inputs: AnyRuled, labels: Ids, starts: Ints) -> list[float]:
    """The result of `AnyRuled.counted`, from the violations of rules by outputs."""
    broken, slots = [0.0] * len(inputs.rules), [0.0] * len(inputs.rules)
    for i, degrees in inputs.degrees(labels, starts, [rule.learned for rule in inputs.rules]):
        for k, often in degrees.items():
            broken[k] += often
            slots[k] += int(starts[i + 1] - starts[i])
    return [
        penalty_of(often, count) if rule.penalty is None else rule.penalty
        for rule, often, count in zip(inputs.rules, broken, slots)
    ]


@dataclass(slots=True)
class Ruled:
    """A completion (`generative.completion`) whose outputs or beliefs obey rules.

    γ < 0 is the best output under rules (CoDL). With β, learned penalties follow the completed outputs: β times the
    penalties from Gold plus 1 − β times those from completed outputs. γ ≥ 0 gives beliefs that obey the rules in
    expectation (`inference.expected`): constrained LP-EM, posterior regularisation, and everything between and beyond.
    """

    inputs: RuledInputs
    first: list[float]  # penalties of Gold
    beta: float | None = None
    method: Method = "auto"
    penalties: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)  # penalties of the last E-step, which may be repeated
    _readings: ExpectationBatch | None = None
    multipliers: Floats | None = None  # of the previous E-step, where the next one begins
    began: Floats | None = None  # where the last one began, so that it can be repeated

    def __post_init__(self) -> None:
        if not self.penalties:
            self.penalties = list(self.first)

    @property
    def of_weights(self) -> list[float]:
        """The penalties learned from the same outputs as the weights of the last E-step."""
        return self.used or self.penalties

    def part(self, lo: int, hi: int) -> Ruled:
        """The completion of the inputs lo..hi; it does not change penalties, which are learned from all inputs
        together.
        """
        inputs = self.inputs.take(np.arange(lo, hi))
        return Ruled(inputs, list(self.first), None, self.method, list(self.penalties))

    @property
    def prices(self) -> list[float]:
        """The penalties of the next E-step."""
        return self.penalties

    @property
    def memory(self) -> Floats | None:
        return self.multipliers

    def at(self, prices: Sequence[float], memory: Floats | None) -> None:
        self.penalties, self.multipliers = list(prices), memory

    def completed(self, labels: Ids | None, starts: Ints) -> None:
        """After an E-step: update the learned penalties from its outputs."""
        self.used = list(self.penalties)
        if labels is not None and any(rule.learned for rule in self.inputs.rules) and self.beta is not None:
            self.penalties = mixed(self.first, self.inputs.counted(labels, starts), self.beta)

    def rows(self) -> int:
        """The number of multipliers."""
        return len(self._expectations().bound)

    def _expectations(self) -> ExpectationBatch:
        if self._readings is None:
            self._readings = self.inputs.expected(self.penalties)
        return self._readings

    def complete(
        self,
        scores: SecondOrderScores,
        space: Space,
        *,
        gamma: float,
        weights: Floats | None = None,
        n_jobs: int | None = None,
    ) -> StateBeliefs:
        """The best q of every sequence among those that obey the rules."""
        if not self.inputs.rules:
            return Free().complete(scores, space, gamma=gamma, weights=weights, n_jobs=n_jobs)
        batch = ChainBatchScores.of(scores, space)
        if gamma >= 0.0:
            beliefs = self._believed(batch, gamma, weights, n_jobs)
            self.completed(None, space.starts)
            return beliefs
        solutions = self.inputs.solutions(batch, self.penalties, method=self.method)
        labels = np.array([label for solution in solutions for label in solution.labels], dtype=np.int32)
        values = np.array([solution.value for solution in solutions])
        self.completed(labels, space.starts)
        return point(labels, values, space, weights=weights)

    def _believed(
        self, batch: ChainBatchScores, gamma: float, weights: Floats | None, n_jobs: int | None
    ) -> StateBeliefs:
        if batch.triple is not None:
            raise Intractable("beliefs under rules are for chains of first order; leave order out")
        starts = batch.space.starts
        self.began = self.multipliers
        tokens = np.concatenate([batch.tokens(i) for i in range(len(batch))])
        shared = batch.transition, batch.start, batch.end
        beliefs = self._expectations().beliefs(tokens, *shared, gamma=gamma, warm=self.multipliers, n_jobs=n_jobs)
        self.multipliers = beliefs.multipliers
        each = np.ones(len(batch)) if weights is None else weights
        weighted = beliefs.tokens * np.repeat(each, np.diff(starts))[:, None]
        moves = np.einsum("n,nij->ij", each, beliefs.moves)
        start, end = weighted[starts[:-1]].sum(axis=0), weighted[starts[1:] - 1].sum(axis=0)
        return StateBeliefs(beliefs.values, weighted, moves, start, end)

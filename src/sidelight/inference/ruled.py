"""Inputs whose outputs obey rules, each its own: the best output of all of them, and what is believed of them in EM.

Rules come from the estimator, for all inputs, and from the evidence, for some. Inputs with the same rules are solved
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.arrays import Floats, Ids, Ints
from sidelight.generative.beliefs import Beliefs, point
from sidelight.generative.completion import Free
from sidelight.inference.batches import ChainBatchScores
from sidelight.inference.choose import Method
from sidelight.inference.problem import Solution
from sidelight.inference.rule_set import ChainScores, RuleSet
from sidelight.rules import Domain, Rule, Sentence
from sidelight.rules.penalties import mixed, penalties_of
from sidelight.spaces import Space
from sidelight.spaces.second_order import SecondOrderScores


@dataclass(frozen=True, slots=True)
class RuledInputs:
    """Inputs and the rules about each of them."""

    rules: tuple[Rule, ...]
    domain: Domain
    sentences: tuple[Sentence, ...]
    groups: tuple[tuple[tuple[int, ...], Ints], ...]  # numbers of rules, and the inputs that they are about

    @classmethod
    def of(
        cls, xs: Sequence[Any], labels: Sequence[Any], common: Sequence[Rule], own: Sequence[Sequence[Rule]] | None
    ) -> RuledInputs:
        """Rules for all inputs, and those of each; raises `DataError` where one speaks of an unknown label."""
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
        return cls(every, domain, sentences, groups)

    def __len__(self) -> int:
        return len(self.sentences)

    def solutions(
        self, batch: ChainBatchScores, penalties: Sequence[float], *, method: Method = "auto"
    ) -> list[Solution]:
        """The best output of every input under its rules at these prices."""
        shared = ChainScores(batch.transition, batch.start, batch.end, batch.triple)
        found: list[Solution | None] = [None] * len(self)
        for numbers, which in self.groups:
            rules = RuleSet([self.rules[k] for k in numbers], self.domain, penalties=[penalties[k] for k in numbers])
            some = which.tolist()
            tokens = [batch.tokens(i) for i in some]
            solved = rules.decode([self.sentences[i] for i in some], tokens, shared, method=method)
            for i, solution in zip(some, solved):
                found[i] = solution
        return [solution for solution in found if solution is not None]

    def names(self, labels: Ids, starts: Ints) -> list[list[Any]]:
        """Outputs by the names of their labels."""
        every = [self.domain.labels[label] for label in labels.tolist()]
        return [every[a:b] for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())]

    def counted(self, labels: Ids, starts: Ints) -> list[float]:
        """The penalties that outputs say; those that are not learned stay."""
        return penalties_of(self.rules, [sentence.tokens for sentence in self.sentences], self.names(labels, starts))


@dataclass(slots=True)
class Ruled:
    """A completion whose outputs, or beliefs, obey rules (`generative.completion`).

    γ = −∞ is the best output under rules (CoDL). With β, penalties that are learned follow the completed outputs: β
    times those of Gold and the rest times theirs.
    """

    inputs: RuledInputs
    first: list[float]  # penalties of Gold
    beta: float | None = None
    method: Method = "auto"
    penalties: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.penalties:
            self.penalties = list(self.first)

    def complete(
        self,
        scores: SecondOrderScores,
        space: Space,
        *,
        gamma: float,
        weights: Floats | None = None,
        n_jobs: int | None = None,
    ) -> Beliefs:
        """The best q of every sequence among those that obey the rules."""
        if not self.inputs.rules:
            return Free().complete(scores, space, gamma=gamma, weights=weights, n_jobs=n_jobs)
        batch = ChainBatchScores.of(scores, space)
        if gamma >= 0.0:
            raise NotImplementedError
        solutions = self.inputs.solutions(batch, self.penalties, method=self.method)
        labels = np.array([label for solution in solutions for label in solution.labels], dtype=np.int32)
        values = np.array([solution.value for solution in solutions])
        if any(rule.learned for rule in self.inputs.rules) and self.beta is not None:
            self.penalties = mixed(self.first, self.inputs.counted(labels, space.starts), self.beta)
        return point(labels, values, space, weights=weights)

"""Inputs whose decisions are variables, with the rules of each: the counterpart of `ruled_inputs.RuledInputs` for
sequences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sidelight.core.arrays import Ids, Ints
from sidelight.errors import Infeasible
from sidelight.inference.batches import VariableBatchScores
from sidelight.inference.methods.choose import Method, solve
from sidelight.inference.problem import Solution, clauses_of
from sidelight.inference.ruled_inputs import counted_by
from sidelight.rules import Domain, Rule
from sidelight.rules.expr import Expr
from sidelight.rules.output import ChosenVariable, Groups, VariableGroup

Variable = tuple[str, Any]  # kind and key


@dataclass(frozen=True, slots=True)
class RuledVariables:
    """Inputs, the names of their variables, and the rules of each; a choice is a label of a kind."""

    rules: tuple[Rule, ...]
    domains: Mapping[str, Domain]  # of every kind, in order
    xs: tuple[Any, ...]
    called: tuple[tuple[Variable, ...], ...]
    numbers: tuple[tuple[int, ...], ...]  # numbers of the rules of each input
    places: tuple[int, ...]  # numbers of the inputs in the user's data, for errors
    expressions: dict[tuple[int, int], Expr] = field(default_factory=dict)  # by place and rule: its expression

    @classmethod
    def of(
        cls,
        xs: Sequence[Any],
        called: Sequence[Sequence[Variable]],
        domains: Mapping[str, Domain],
        common: Sequence[Rule],
        own: Sequence[Sequence[Rule]] | None,
        *,
        places: Sequence[int] | None = None,
    ) -> RuledVariables:
        """Common rules, and the rules of each input."""
        each = [dict.fromkeys([*common, *(own[i] if own is not None else ())]) for i in range(len(xs))]
        every = tuple(dict.fromkeys([*common, *(rule for mine in each for rule in mine)]))
        number = {rule: k for k, rule in enumerate(every)}
        numbers = tuple(tuple(number[rule] for rule in mine) for mine in each)
        where = tuple(range(len(xs)) if places is None else places)
        return cls(every, domains, tuple(xs), tuple(map(tuple, called)), numbers, where)

    def __len__(self) -> int:
        return len(self.xs)

    def take(self, which: Ints) -> RuledVariables:
        """Some of the inputs."""
        some = which.tolist()
        return replace(
            self,
            xs=tuple(self.xs[i] for i in some),
            called=tuple(self.called[i] for i in some),
            numbers=tuple(self.numbers[i] for i in some),
            places=tuple(self.places[i] for i in some),
        )

    def solutions(
        self, batch: VariableBatchScores, penalties: Sequence[float], *, method: Method = "auto"
    ) -> list[Solution]:
        """The best output of every input under its rules at these prices; labels are choices."""
        solutions = []
        for i, problem in enumerate(batch.problems):
            mine = self.numbers[i]
            clauses = clauses_of([self._says(i, k) for k in mine], [penalties[k] for k in mine])
            try:
                best = solve(replace(problem, clauses=clauses), method=method, names=[self.rules[k].name for k in mine])
            except Infeasible as error:
                place = self.places[i]
                raise Infeasible(f"example {place}: {error}", example=place, rules=error.rules) from None
            first = self._first(i)
            choices = tuple(int(label) + at for label, at in zip(best.labels, first))
            solutions.append(replace(best, labels=choices))
        return solutions

    def counted(self, labels: Ids, starts: Ints) -> list[float]:
        """The penalties learned from outputs, each from the inputs of its rule; fixed penalties are unchanged."""
        return counted_by(self, labels, starts)

    def degrees(self, labels: Ids, starts: Ints, needed: Sequence[bool]) -> list[tuple[int, dict[int, int]]]:
        """The violations of the `needed` rules by each output, by rule number, input by input."""
        broken = []
        for i, x in enumerate(self.xs):
            mine = [k for k in self.numbers[i] if needed[k]]
            if mine:
                y = self._known(i, labels[starts[i] : starts[i + 1]])
                often = {k: self.rules[k].violations(x, y, example=self.places[i]) for k in mine}
                broken.append((i, often))
        return broken

    def _known(self, i: int, choices: Ids) -> Groups:
        """The output of an input in the form for rules."""
        labels = (choices - np.array(self._first(i), dtype=np.int64)).tolist()
        members: dict[str, dict[Any, Any]] = {kind: {} for kind in self.domains}
        for (kind, key), label in zip(self.called[i], labels):
            members[kind][key] = self.domains[kind].labels[label]
        return groups_of(members)

    def _says(self, i: int, k: int) -> Expr:
        place = self.places[i]
        if (place, k) not in self.expressions:
            y = symbolic_groups(self.called[i], self.domains)
            self.expressions[place, k] = self.rules[k].on(self.xs[i], y, example=place)
        return self.expressions[place, k]

    def _first(self, i: int) -> list[int]:
        """The first choice of the kind of every variable."""
        ends, at = {}, 0
        for kind, domain in self.domains.items():
            ends[kind] = at
            at += len(domain.labels)
        return [ends[kind] for kind, _ in self.called[i]]


def groups_of(members: Mapping[str, Mapping[Any, Any]]) -> Groups:
    """An output by kind and key, in the form for rules."""
    return Groups({kind: VariableGroup(kind, group) for kind, group in members.items()})


def symbolic_groups(called: Sequence[Variable], domains: Mapping[str, Domain]) -> Groups:
    """A symbolic output, on which rules are read."""
    members: dict[str, dict[Any, Any]] = {kind: {} for kind in domains}
    for number, (kind, key) in enumerate(called):
        members[kind][key] = ChosenVariable(number, domains[kind])
    return groups_of(members)

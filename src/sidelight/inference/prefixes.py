"""Outputs that are no chain, laid out along an order of their variables, for searches that label one after another.

A prefix p labels the first variables of the order. Its value is what these score, less the violations that no
completion can avoid; with

    rest[p] = Σ over the variables after them of  max_l (s_v[l] + Σ_(u,v) max_i s_uv[i, l]),   u before v in the order

value + rest[p] is never below the value of any completion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.arrays import Floats
from sidelight.inference.problem import Clause
from sidelight.inference.variables import VariableProblem
from sidelight.rules.expr import variables
from sidelight.rules.truth import OPEN, degree


class Prefix(NamedTuple):
    """Labels of the first variables of the order, and what they are worth."""

    value: float
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Prefixes:
    """A problem along an order of its variables."""

    problem: VariableProblem
    order: tuple[int, ...]  # variables by their places
    rest: Floats  # [n + 1] the most that variables from a place on can add
    pairs: tuple[tuple[tuple[int, Floats], ...], ...]  # of each place: the place of another before it, and their scores
    clauses: tuple[tuple[Clause, ...], ...]  # of each place: those that speak of its variable
    constant: float  # penalties of what no output avoids; inf where that is hard

    @classmethod
    def of(cls, problem: VariableProblem) -> Prefixes:
        """Along an order that soon brings together what belongs together."""
        order = _order(problem)
        place = {variable: p for p, variable in enumerate(order)}
        pairs: list[list[tuple[int, Floats]]] = [[] for _ in order]
        for (v, w), table in zip(problem.pairs, problem.pair_scores):
            first, second, scores = (v, w, table) if place[v] < place[w] else (w, v, table.T)
            pairs[place[second]].append((place[first], scores))
        most = [
            float((problem.scores[variable] + sum((scores.max(axis=0) for _, scores in own), start=0.0)).max())
            for variable, own in zip(order, pairs)
        ]
        clauses: list[list[Clause]] = [[] for _ in order]
        for clause in problem.clauses:
            for variable in variables(clause.says):
                clauses[place[variable]].append(clause)
        nothing = [OPEN] * len(order)
        broken = [(clause.penalty, degree(clause.says, nothing)) for clause in problem.clauses]
        return cls(
            problem,
            order,
            np.array([*np.cumsum(most[::-1])[::-1], 0.0]),
            tuple(map(tuple, pairs)),
            tuple(map(tuple, clauses)),
            sum(penalty * often for penalty, often in broken if often),
        )

    @property
    def first(self) -> Prefix:
        """The prefix that labels nothing."""
        return Prefix(-self.constant, ())

    def bound(self, prefix: Prefix) -> float:
        """No completion is worth more."""
        return prefix.value + float(self.rest[len(prefix.labels)])

    def longer(self, prefix: Prefix) -> Iterator[Prefix]:
        """The prefixes with one label more that may have a legal completion."""
        at = len(prefix.labels)
        variable = self.order[at]
        gains = self.problem.scores[variable].copy()
        for place, scores in self.pairs[at]:
            gains += scores[prefix.labels[place]]
        known = [OPEN] * len(self.order)
        for place, label in enumerate(prefix.labels):
            known[self.order[place]] = label
        before = [degree(clause.says, known) for clause in self.clauses[at]]
        for label in np.flatnonzero(gains > -math.inf).tolist():
            known[variable] = label
            value = prefix.value + float(gains[label])
            for clause, often in zip(self.clauses[at], before):
                more = degree(clause.says, known) - often
                if more:
                    value -= clause.penalty * more
            if value > -math.inf:
                yield Prefix(value, (*prefix.labels, label))

    def output(self, prefix: Prefix) -> tuple[int, ...]:
        """The labels of a complete prefix, variable by variable."""
        found = [0] * len(self.order)
        for variable, label in zip(self.order, prefix.labels):
            found[variable] = label
        return tuple(found)


def _order(problem: VariableProblem) -> tuple[int, ...]:
    """Always the variable that shares most pairs and clauses with those before it; ties go to the first."""
    scopes = [*map(set, problem.pairs), *(variables(clause.says) for clause in problem.clauses)]
    shared = [0] * len(problem.scores)
    left, order = dict.fromkeys(range(len(shared))), []
    of: list[list[set[int]]] = [[scope for scope in scopes if v in scope] for v in left]
    while left:
        variable = max(left, key=lambda v: (shared[v], -v))
        del left[variable]
        order.append(variable)
        for scope in of[variable]:
            for other in scope:
                shared[other] += 1
    return tuple(order)

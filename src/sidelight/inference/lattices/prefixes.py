"""Outputs that are no chain, laid out along an order of their variables, for searches that label one after another:
a beam, which is quick, and A*, which is exact.

A prefix p labels the first variables of the order. Its value is what these score, less the violations that no
completion can avoid; with

    rest[p] = Σ over the variables after them of  max_l (s_v[l] + Σ_(u,v) max_i s_uv[i, l]),   u before v in the order

value + rest[p] is never below the value of any completion.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.inference.folded_problem import Reached
from sidelight.rules.expr import Expr, variables
from sidelight.rules.lowering.truth import OPEN, degree

MOST_NODES = 100_000  # prefixes that A* looks at
Pairs = Mapping[tuple[int, int], Floats]
Priced = tuple[Expr, float]  # what a clause says, and what breaking it once costs


class Prefix(NamedTuple):
    """Labels of the first variables of the order, and their value."""

    value: float
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Prefixes:
    """A problem along an order of its variables."""

    scores: Sequence[Floats]  # of each variable
    order: tuple[int, ...]  # variables by their places
    rest: Floats  # [n + 1] the most that variables from a place on can add
    pairs: tuple[tuple[tuple[int, Floats], ...], ...]  # of each place: the place of another before it, and their scores
    clauses: tuple[tuple[Priced, ...], ...]  # of each place: those that speak of its variable
    constant: float  # unavoidable penalties; inf for hard clauses

    @classmethod
    def of(cls, scores: Sequence[Floats], both: Pairs, clauses: Sequence[Priced], constant: float) -> Prefixes:
        """Along an order in which connected variables follow each other."""
        order = _order(len(scores), [*map(set, both), *(variables(says) for says, _ in clauses)])
        place = {variable: p for p, variable in enumerate(order)}
        pairs: list[list[tuple[int, Floats]]] = [[] for _ in order]
        for (v, w), table in both.items():
            first, second, own = (v, w, table) if place[v] < place[w] else (w, v, table.T)
            pairs[place[second]].append((place[first], own))
        most = [
            float((scores[variable] + sum((table.max(axis=0) for _, table in own), start=0.0)).max())
            for variable, own in zip(order, pairs)
        ]
        by_place: list[list[Priced]] = [[] for _ in order]
        for clause in clauses:
            for variable in variables(clause[0]):
                by_place[place[variable]].append(clause)
        nothing = [OPEN] * len(order)
        broken = [(price, degree(says, nothing)) for says, price in clauses]
        return cls(
            scores,
            order,
            np.array([*np.cumsum(most[::-1])[::-1], 0.0]),
            tuple(map(tuple, pairs)),
            tuple(map(tuple, by_place)),
            constant + sum(price * often for price, often in broken if often),
        )

    def beam(self, width: int) -> Reached:
        """The best `width` prefixes of each length."""
        prefixes, lost, nodes = [self.first] if self.constant < math.inf else [], -math.inf, 0
        for _ in self.order:
            longer = [more for prefix in prefixes for more in self.longer(prefix)]
            nodes += len(longer)
            longer.sort(key=lambda prefix: (-prefix.value, prefix.labels))  # all of one length: the rest adds the same
            lost = max([lost, *(self.bound(prefix) for prefix in longer[width : width + 1])])
            prefixes = longer[:width]
        if not prefixes:
            return Reached(None, -math.inf, lost, nodes)
        return Reached(self.output(prefixes[0]), prefixes[0].value, max(prefixes[0].value, lost), nodes)

    def best_first(self, most_nodes: int | None) -> tuple[Reached, bool]:
        """A*: the best output and True; or, if the prefixes are used up, an upper bound and False."""
        most_nodes = MOST_NODES if most_nodes is None else most_nodes
        first, nodes = self.first, 0
        # the best bound first, of equal ones the longest prefix
        waiting: list[tuple[float, int, Prefix]] = [(-self.bound(first), 0, first)] if first.value > -math.inf else []
        while waiting:
            reach, _, prefix = heapq.heappop(waiting)
            if len(prefix.labels) == len(self.order):
                return Reached(self.output(prefix), prefix.value, prefix.value, nodes), True
            for longer in self.longer(prefix):
                nodes += 1
                heapq.heappush(waiting, (-self.bound(longer), -len(longer.labels), longer))
            if nodes > most_nodes:
                return Reached(None, -math.inf, -reach, nodes), False
        return Reached(None, -math.inf, -math.inf, nodes), True

    @property
    def first(self) -> Prefix:
        """The prefix that labels nothing."""
        return Prefix(-self.constant, ())

    def bound(self, prefix: Prefix) -> float:
        """An upper bound of all completions."""
        return prefix.value + float(self.rest[len(prefix.labels)])

    def longer(self, prefix: Prefix) -> Iterator[Prefix]:
        """The prefixes with one label more that may have a legal completion."""
        at = len(prefix.labels)
        variable = self.order[at]
        gains = self.scores[variable].copy()
        for place, scores in self.pairs[at]:
            gains += scores[prefix.labels[place]]
        known = [OPEN] * len(self.order)
        for place, label in enumerate(prefix.labels):
            known[self.order[place]] = label
        before = [degree(says, known) for says, _ in self.clauses[at]]
        for label in np.flatnonzero(gains > -math.inf).tolist():
            known[variable] = label
            value = prefix.value + float(gains[label])
            for (says, price), often in zip(self.clauses[at], before):
                more = degree(says, known) - often
                if more:
                    value -= price * more
            if value > -math.inf:
                yield Prefix(value, (*prefix.labels, label))

    def output(self, prefix: Prefix) -> Ids:
        """The labels of a complete prefix, variable by variable."""
        labels = np.zeros(len(self.order), np.int32)
        labels[list(self.order)] = prefix.labels
        return labels


def _order(count: int, scopes: Sequence[set[int]]) -> tuple[int, ...]:
    """The next variable is the one that shares most pairs and clauses with the previous ones; ties go to the first."""
    shared = [0] * count
    left, order = dict.fromkeys(range(count)), []
    of: list[list[set[int]]] = [[scope for scope in scopes if v in scope] for v in left]
    while left:
        variable = max(left, key=lambda v: (shared[v], -v))
        del left[variable]
        order.append(variable)
        for scope in of[variable]:
            for other in scope:
                shared[other] += 1
    return tuple(order)

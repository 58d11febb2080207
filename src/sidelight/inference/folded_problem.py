"""The problem of one input in the form for all inference methods, for every structure.

Clauses about one variable, or about two that are scored together, are *folded* into the scores at no cost. The others
are numbered (`counters`), and a method may use only some of them. A structure provides only the search for the best
output with additional scores (dynamic programming, elimination) and its linear program.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.rules.columns import InputColumns
from sidelight.rules.expr import Expr, variables
from sidelight.rules.lowering.truth import OPEN, degree, truth
from sidelight.spaces.highs import LinearProgram

MOST_VISITS = 50  # per variable


def rounded(
    weights: Sequence[Floats],  # [labels of v] for each variable: −inf if a label is not allowed
    says: Sequence[Expr],  # what it must obey
    pairs: Mapping[tuple[int, int], Floats],  # v < w: −inf where two labels do not go together
) -> tuple[int, ...] | None:
    """A legal output that follows the weights, or None if none was found.

    Labels are chosen by weight, most certain variables first, with backtracking if clauses forbid them: a depth-first
    search that gives up after some visits. The result obeys every hard clause, but need not be the best.
    """
    order = sorted(range(len(weights)), key=lambda v: (-float(np.max(weights[v])), v))
    hard: list[list[Expr]] = [[] for _ in weights]
    for one in says:
        for variable in variables(one):
            hard[variable].append(one)
    near: list[list[tuple[int, Floats]]] = [[] for _ in weights]
    for (first, second), table in pairs.items():
        near[first].append((second, table))
        near[second].append((first, table.T))
    labels = [OPEN] * len(weights)
    visits = 0

    def fits(variable: int) -> bool:
        for other, table in near[variable]:
            if labels[other] != OPEN and table[labels[variable], labels[other]] == -math.inf:
                return False
        return all(truth(one, labels)[1] for one in hard[variable])

    def ranked(variable: int) -> list[int]:
        """Its labels, the best last."""
        mine = weights[variable]
        allowed = [label for label in range(len(mine)) if mine[label] > -math.inf]
        return sorted(allowed, key=lambda label: (mine[label], -label))

    depth, left = 0, [ranked(order[0])]
    while depth >= 0:
        variable, fitting = order[depth], False
        while left[depth] and not fitting:
            labels[variable] = left[depth].pop()
            fitting = fits(variable)
            visits += 1
        if not fitting:
            labels[variable] = OPEN
            left.pop()
            depth -= 1
        elif depth + 1 == len(order):
            return tuple(labels)
        else:
            depth += 1
            left.append(ranked(order[depth]))
        if visits > MOST_VISITS * len(order):
            return None
    return None


WIDTH = 32  # default width of a beam


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """The result of a search."""

    labels: Ids | None  # None if no output is left
    value: float
    lost: float  # upper bound for the outputs that were dropped
    nodes: int


def slack(value: float) -> float:
    """A tolerance for rounding of a value."""
    return 1e-9 * (1.0 + abs(value))


class Folded(ABC):
    """The folded scores of one input, and the clauses that are not in them.

    Values of `best`, `best_with`, `maximum` and `path_value` are without `constant`.
    """

    __slots__ = ("constant", "counters", "names", "prices", "rules", "says")

    method = "dynamic programming"  # the method of `under`
    plain_method = "viterbi"  # the method of `best`
    lazy = True  # clauses are added when they are broken; else all at once
    tries_a_star = True  # if `under` is too expensive, before the integer program

    def __init__(
        self, says: Sequence[Expr], rules: Sequence[int], prices: Sequence[float], names: Sequence[str]
    ) -> None:
        self.says, self.rules, self.prices, self.names = says, rules, prices, names  # of clauses; names are of rules
        self.constant = 0.0  # unavoidable penalties
        self.counters: list[int] = []  # clauses that were not folded

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of tokens or variables."""

    @property
    @abstractmethod
    def columns(self) -> InputColumns:
        """The columns that rules refer to, which are the first ones of the program."""

    @abstractmethod
    def tables(self) -> tuple[Sequence[Floats], Mapping[tuple[int, int], Floats]]:
        """The scores of variables and of pairs, as far as they show which labels are possible."""

    @abstractmethod
    def program(self) -> LinearProgram:
        """The linear program of all outputs without counters."""

    @abstractmethod
    def best(self) -> tuple[Ids, float]:
        """The best output without counters."""

    @abstractmethod
    def best_with(self, bonus: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        """The best output without counters, with a bonus for every one of `columns`.

        If not `scored`, its own scores are only used to exclude impossible outputs.
        """

    @abstractmethod
    def path_value(self, labels: Ids) -> float:
        """The score of an output, −inf if it is impossible."""

    @abstractmethod
    def under(self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None) -> Reached:
        """The exact best output under some clauses; outputs with a value below `floor` may be ignored.

        Raises `Intractable` if this is too expensive.
        """

    @abstractmethod
    def best_first(
        self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None, tighten: int = 0
    ) -> tuple[Reached, bool]:
        """A*: the best output under some clauses and True; or, if the nodes are used up, an upper bound and False."""

    @abstractmethod
    def beam(self, *, width: int, look_ahead: bool = True) -> tuple[Reached, str]:
        """Beam search under all clauses, and its name; here `lost` is an upper bound for all outputs."""

    @abstractmethod
    def maximum(self, bonus: Floats) -> tuple[Ids, float, Ints]:
        """As `best_with`, and the `columns` that are 1; without the rows of `ties`."""

    def ties(self) -> LinearProgram | None:
        """Rows of the program that `maximum` ignores, because they would be too expensive."""
        return None

    def name(self, clause: int) -> str:
        """The name of the rule that a clause belongs to."""
        rule = self.rules[clause]
        return self.names[rule] if rule < len(self.names) else f"number {rule}"

    def plain(self) -> tuple[Ids, float]:
        """The best output without counters, and its value, which bounds every output's."""
        labels, value = self.best()
        return labels, value - self.constant

    def folded(self, labels: Ids) -> float:
        """The value of an output without counters."""
        return self.path_value(labels) - self.constant

    def broken(self, labels: Ids, among: Sequence[int]) -> dict[int, int]:
        """The clauses that an output breaks, with degrees."""
        known = labels.tolist()
        degrees = ((k, degree(self.says[k], known)) for k in among)
        return {k: much for k, much in degrees if much}

    def value(self, labels: Ids) -> float:
        """The score minus all penalties."""
        broken = self.broken(labels, self.counters)
        return self.folded(labels) - sum(self.prices[k] * much for k, much in broken.items())

    def near(self, weights: Floats) -> Ids | None:
        """A legal output that follows weights of the label columns, or None if none was found."""
        own, pairs = self.tables()
        blocks = np.split(weights, self.columns.offsets[1:-1])
        possible = [np.where(scores > -math.inf, block, -math.inf) for scores, block in zip(own, blocks)]
        hard = [self.says[k] for k in self.counters if self.prices[k] == math.inf]
        labels = rounded(possible, hard, pairs)
        return None if labels is None else np.array(labels, np.int32)

"""One input's problem as every method of inference sees it, whatever the structure of its outputs.

Clauses that cost nothing are *folded* into the scores: those about one variable, or about two that are scored
together. The others are numbered, `counters`, and a method may take in only some of them. What a structure has of its
own is how it finds the best output with scores added to it (dynamic programming, elimination), and its linear program.
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
    weights: Sequence[Floats],  # [labels of v] for each variable: −inf where a label is not allowed
    says: Sequence[Expr],  # what it must obey
    pairs: Mapping[tuple[int, int], Floats],  # v < w: −inf where two labels do not go together
) -> tuple[int, ...] | None:
    """A legal output that follows the weights, or None where none was found.

    Labels are chosen by weight, most certain variables first, going back where clauses forbid it: a depth-first search
    that gives up after some visits. What it gives obeys every hard clause, but is not the best.
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


WIDTH = 32  # of a beam, unless said otherwise


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """What a search came to."""

    labels: Ids | None  # None where no output is left
    value: float
    lost: float  # no output that was given up is worth more
    nodes: int


def slack(value: float) -> float:
    """What rounding may do to a value."""
    return 1e-9 * (1.0 + abs(value))


class Folded(ABC):
    """The folded scores of one input, and the clauses that are not in them.

    Values of `best`, `best_with`, `maximum` and `path_value` are without `constant`.
    """

    __slots__ = ("constant", "counters", "names", "prices", "rules", "says")

    method = "dynamic programming"  # by which `under` works
    plain_method = "viterbi"  # by which `best` does
    lazy = True  # clauses are taken in where they are broken; else all at once
    tries_a_star = True  # where `under` takes too much, before the integer program

    def __init__(
        self, says: Sequence[Expr], rules: Sequence[int], prices: Sequence[float], names: Sequence[str]
    ) -> None:
        self.says, self.rules, self.prices, self.names = says, rules, prices, names  # of clauses; names are of rules
        self.constant = 0.0  # penalties that no output avoids
        self.counters: list[int] = []  # clauses that were not folded

    @property
    @abstractmethod
    def length(self) -> int:
        """How many tokens or variables there are."""

    @property
    @abstractmethod
    def columns(self) -> InputColumns:
        """The columns that rules speak of, which are the first ones of the program."""

    @abstractmethod
    def tables(self) -> tuple[Sequence[Floats], Mapping[tuple[int, int], Floats]]:
        """The scores of variables and of pairs of them, as far as each tells which labels are possible."""

    @abstractmethod
    def program(self) -> LinearProgram:
        """The program of all outputs without counters, of any value."""

    @abstractmethod
    def best(self) -> tuple[Ids, float]:
        """The best output without counters."""

    @abstractmethod
    def best_with(self, bonus: Floats, *, scored: bool = True) -> tuple[Ids, float]:
        """The best output without counters, with a bonus for every one of `columns`.

        Where not `scored`, its own scores only say what is possible.
        """

    @abstractmethod
    def path_value(self, labels: Ids) -> float:
        """What an output scores, −inf where it is not possible."""

    @abstractmethod
    def under(self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None) -> Reached:
        """The best output under some clauses, exactly; what is worth less than `floor` may be left out.

        Raises `Intractable` where that takes too much.
        """

    @abstractmethod
    def best_first(
        self, clauses: Sequence[int], *, floor: float = -math.inf, most_nodes: int | None = None, tighten: int = 0
    ) -> tuple[Reached, bool]:
        """A*: the best output under some clauses and True, or what bounds every output and False when out of nodes."""

    @abstractmethod
    def beam(self, *, width: int, look_ahead: bool = True) -> tuple[Reached, str]:
        """Beam search under all clauses, and its name; here `lost` bounds every output."""

    @abstractmethod
    def maximum(self, bonus: Floats) -> tuple[Ids, float, Ints]:
        """As `best_with`, and those of `columns` that are 1; where `ties` are left out, of the rest."""

    def ties(self) -> LinearProgram | None:
        """Rows of the program that `maximum` does not keep, because keeping them would take too much."""
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
        """Which of some clauses an output breaks, and how much."""
        known = labels.tolist()
        degrees = ((k, degree(self.says[k], known)) for k in among)
        return {k: much for k, much in degrees if much}

    def value(self, labels: Ids) -> float:
        """The score less all penalties."""
        broken = self.broken(labels, self.counters)
        return self.folded(labels) - sum(self.prices[k] * much for k, much in broken.items())

    def near(self, weights: Floats) -> Ids | None:
        """A legal output that follows weights of the columns of labels, or None where none was found."""
        own, pairs = self.tables()
        blocks = np.split(weights, self.columns.offsets[1:-1])
        possible = [np.where(scores > -math.inf, block, -math.inf) for scores, block in zip(own, blocks)]
        hard = [self.says[k] for k in self.counters if self.prices[k] == math.inf]
        labels = rounded(possible, hard, pairs)
        return None if labels is None else np.array(labels, np.int32)

"""The inference problem of one input: scores (for example, of a chain) and rules about the labels of its tokens or
variables.

    max_y  w·Φ(x, y) − Σ_k ρ_k d_k(x, y)      over y with d_k(x, y) = 0 where ρ_k is infinite

This is the inference of a constrained conditional model (Chang 2011, Eq. 3.3 and 3.4). The sum over rules is split into
*clauses*, the pieces of each rule whose degrees add up, so that a method may use only some of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.errors import DataError
from sidelight.rules.expr import Expr, pieces
from sidelight.rules.lowering.truth import degree
from sidelight.spaces.segments.token_reading import TokenReading


@dataclass(frozen=True, slots=True, eq=False)  # == between expressions makes an expression
class Clause:
    """A piece of a rule for this output, and the penalty of one violation."""

    rule: int  # its number among the rules
    says: Expr
    penalty: float = math.inf

    @property
    def hard(self) -> bool:
        return self.penalty == math.inf


class RuledProblem(ABC):
    """The scores of outputs (a label for every token or variable) and clauses; problems are frozen dataclasses."""

    __slots__ = ()
    clauses: tuple[Clause, ...]

    @property
    @abstractmethod
    def length(self) -> int: ...

    @property
    @abstractmethod
    def n_labels(self) -> int: ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of labels of each token or variable."""
        return (self.n_labels,) * self.length

    @abstractmethod
    def score(self, labels: Sequence[int]) -> float:
        """The score of an output without penalties; −inf if it is not allowed."""

    def with_clauses(self, clauses: Sequence[Clause]) -> Self:
        """The same scores under other clauses."""
        return replace(self, clauses=tuple(clauses))  # type: ignore[type-var]

    def degrees(self, labels: Sequence[int]) -> list[int]:
        """The degree of violation of each clause. # [clauses]"""
        return [degree(clause.says, labels) for clause in self.clauses]

    def value(self, labels: Sequence[int]) -> float:
        """The score minus penalties; −inf if a hard clause is broken."""
        value = self.score(labels)
        for clause, broken in zip(self.clauses, self.degrees(labels)):
            if broken:
                value -= clause.penalty * broken
        return value


@dataclass(frozen=True, slots=True, eq=False)
class ChainProblem(RuledProblem):
    """Scores of one sequence and clauses about its labels; −inf for labels and transitions that are not allowed."""

    tokens: Floats  # [T, L] score of label l at token t
    transition: Floats  # [L, L] of label j after label i; for order 2 see `triple`
    start: Floats  # [L]
    end: Floats  # [L]
    clauses: tuple[Clause, ...] = ()
    triple: Floats | None = None  # [L, L, L] of label k after i and j, beside `transition`; None for first order

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def n_labels(self) -> int:
        return len(self.start)

    def score(self, labels: Sequence[int]) -> float:
        """The score of an output without penalties."""
        score = float(self.start[labels[0]] + self.end[labels[-1]])
        for t, label in enumerate(labels):
            score += float(self.tokens[t, label])
            if t:
                score += float(self.transition[labels[t - 1], label])
            if t > 1 and self.triple is not None:
                score += float(self.triple[labels[t - 2], labels[t - 1], label])
        return score


@dataclass(frozen=True, slots=True, eq=False)
class VariableProblem(RuledProblem):
    """Scores of variables and pairs of variables, and clauses; −inf for labels that are not allowed.

    max_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(y)      over y with d_k(y) = 0 where ρ_k is infinite

    Entities and relations are such outputs (Roth and Yih 2004).
    """

    scores: tuple[Floats, ...]  # [labels of v] for each variable v
    pairs: tuple[tuple[int, int], ...] = ()  # v < w, each at most once
    pair_scores: tuple[Floats, ...] = ()  # [labels of v, labels of w] for each pair
    clauses: tuple[Clause, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.pairs)) < len(self.pairs) or not all(0 <= v < w < len(self.scores) for v, w in self.pairs):
            raise DataError("pairs of variables are v < w, each once", remedy="order and merge them")
        if [table.shape for table in self.pair_scores] != [(self.sizes[v], self.sizes[w]) for v, w in self.pairs]:
            raise DataError("the scores of a pair are [labels of v, labels of w]", remedy="give one table per pair")

    @property
    def length(self) -> int:
        return len(self.scores)

    @property
    def n_labels(self) -> int:
        """The maximum number of labels of a variable."""
        return max(self.sizes, default=0)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(scores) for scores in self.scores)

    def score(self, labels: Sequence[int]) -> float:
        score = sum(float(scores[label]) for scores, label in zip(self.scores, labels))
        return score + sum(float(table[labels[v], labels[w]]) for (v, w), table in zip(self.pairs, self.pair_scores))


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An output, its value, and how it was found."""

    labels: tuple[int, ...]
    value: float  # score minus penalties
    bound: float  # upper bound of all values; equal to `value` (up to rounding) if the method was exact
    exact: bool  # whether the output is proved optimal
    method: str
    taken_in: int = 0  # number of clauses that were used
    steps: int = 0  # states, nodes, iterations: the method's own measure of work


def clauses_of(says: Sequence[Expr], penalties: Sequence[float]) -> tuple[Clause, ...]:
    """The clauses of rules for one output; a penalty of 0 leaves a rule out."""
    return tuple(
        Clause(k, piece, float(price))
        for k, (expression, price) in enumerate(zip(says, penalties))
        if price > 0
        for piece in pieces(expression)
    )


def enumerated(problem: RuledProblem) -> tuple[tuple[int, ...], float]:
    """The best output by enumeration, for tests and tiny problems."""
    best: tuple[int, ...] = ()
    value = -math.inf
    for labels in np.ndindex(*problem.sizes):
        worth = problem.value(labels)
        if worth > value:
            best, value = labels, worth
    return best, value


@dataclass(frozen=True, slots=True, eq=False)
class SegmentProblem(RuledProblem):
    """Scores of the segmentations of one sequence (Sarawagi and Cohen 2004), and the clauses about its token labels.

    An output is the token labeling of a segmentation (`spaces.segments.token_reading`).
    """

    totals: Floats  # [T, M, L] of a segment by its last token, length − 1 and label, tokens and all
    transition: Floats  # [L, L] of a segment of label j after one of label i
    start: Floats  # [L]
    end: Floats  # [L]
    reading: TokenReading
    clauses: tuple[Clause, ...] = ()

    @property
    def length(self) -> int:
        return len(self.totals)

    @property
    def n_labels(self) -> int:
        return self.reading.n_labels

    def score(self, labels: Sequence[int]) -> float:
        segments = self.reading.segments(labels)
        if segments is None:
            return -math.inf
        total = float(self.start[segments[0][2]] + self.end[segments[-1][2]])
        for k, (first, last, label) in enumerate(segments):
            total += float(self.totals[last, last - first, label])
            if k:
                total += float(self.transition[segments[k - 1][2], label])
        return total

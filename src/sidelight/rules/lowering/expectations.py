"""Rules as constraints on beliefs: bounds on expectations over labels and neighbouring pairs (thesis Eq. 4.4, 4.6).

A clause becomes rows φ over the columns of tokens and edges such that an output obeys it exactly where φ(y) <= b. A
belief q, which may be spread over many outputs, must then satisfy

    E_q[φ_r] <= b_r + share_r · ξ_g,   ξ_g >= 0,   at the price ρ_g ξ_g        (hard: without ξ)

A hard clause about one token or one pair excludes columns. A soft clause about them has an expected degree that is a
sum over columns, so it costs ρ per unit of belief and needs no row. E_q[φ] <= b is implied by "q gives no weight to
outputs that break the clause", but is weaker: counts must hold only on average.

A clause without such rows, such as "two A require a B", is lowered to its *counter*, the automaton that computes its
degree: a hard clause excludes the outputs that break it, a soft one costs ρ times its expected degree. Sums then range
over labels and states of counters (`inference.expected`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.errors import Intractable
from sidelight.rules.columns import ColumnForm, InputColumns, chain_columns, degree_form
from sidelight.rules.expr import TRUE, Between, Expr, KnownValue, children, pieces, variables
from sidelight.rules.lowering.counters import Counter, counter
from sidelight.rules.lowering.rows import LinearRows, Lowering, Signed
from sidelight.rules.lowering.tables import truth_table

HARD = -1  # the group of a row without ξ
MOST_STATES = 400  # of counters times labels: the time of sums over both grows with its square


@dataclass(frozen=True, slots=True, eq=False)
class RowlessClause:
    """A clause without rows."""

    clause: int
    counter: Counter
    price: float  # ρ, infinite for a hard rule


@dataclass(frozen=True, slots=True, eq=False)
class Expectations:
    """The clauses about one output, lowered to expectations."""

    ruled_out: Ints  # columns that must have no belief, ascending
    cost: Floats  # [columns] per unit of belief
    constant: float  # cost that cannot be avoided
    starts: Ints  # [R + 1] of the entries of a row φ
    columns: Ints
    weights: Floats
    bound: Floats  # [R] b
    group: Ints  # [R] the ξ of a row, or HARD; rows of a group stand together
    share: Floats  # [R] of ξ in a row; 0 for hard rows
    price: Floats  # [G] ρ
    counted: NDArray[np.bool_]  # [clauses] whether Σ ρ ξ and costs of one output are exactly ρ · degree
    names: tuple[str, ...]  # [clauses] of their rules
    clause: Ints  # [R] whose row it is
    outs: Ints  # [O, 2] a clause, and a column that it rules out
    counters: tuple[RowlessClause, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.bound)

    def slack(self, means: Floats) -> Floats:
        """ξ of every group, given E_q[φ] of every row. # [G]"""
        slack = np.zeros(len(self.price))
        soft = self.group != HARD
        np.maximum.at(slack, self.group[soft], (means - self.bound)[soft] / self.share[soft])
        return slack

    def violation(self, means: Floats) -> float:
        """The largest violation of a hard row."""
        hard = self.group == HARD
        return float(max(0.0, (means - self.bound)[hard].max(initial=0.0)))

    @property
    def hard_rules(self) -> tuple[str, ...]:
        """The names of the rules that beliefs must obey."""
        counted = [one.clause for one in self.counters if one.price == math.inf]
        clauses = np.concatenate([self.clause[self.group == HARD], self.outs[:, 0], np.array(counted, np.int64)])
        return tuple(dict.fromkeys(self.names[k] for k in np.unique(clauses).tolist()))

    def only(self, rules: Collection[str]) -> Expectations:
        """Only the hard clauses of some rules."""
        mine = np.array([name in rules for name in self.names], np.bool_)
        rows = np.flatnonzero((self.group == HARD) & mine[self.clause])
        sizes = np.diff(self.starts)
        entries = np.repeat(np.isin(np.arange(self.n_rows), rows), sizes)
        outs = self.outs[mine[self.outs[:, 0]]]
        return replace(
            self,
            ruled_out=np.unique(outs[:, 1]),
            cost=np.zeros_like(self.cost),
            constant=0.0,
            starts=np.concatenate([[0], np.cumsum(sizes[rows])]).astype(np.int64),
            columns=self.columns[entries],
            weights=self.weights[entries],
            bound=self.bound[rows],
            group=self.group[rows],
            share=self.share[rows],
            price=np.zeros(0),
            clause=self.clause[rows],
            outs=outs,
            counters=tuple(one for one in self.counters if one.price == math.inf and mine[one.clause]),
        )


def expectations(
    says: Sequence[Expr], penalties: Sequence[float], columns: InputColumns, *, names: Sequence[str] = ()
) -> Expectations:
    """Read clauses as bounds on expectations; `names` are those of their rules.

    Raises `Intractable`, with the name of the rule, if a clause has no rows and its counter has too many states.

    >>> from sidelight.rules.columns import chain_columns
    >>> from sidelight.rules.expr import OneOf
    >>> at_most_one = Between(((1, OneOf(0, (0,))), (1, OneOf(2, (0,)))), None, 1)
    >>> found = expectations([at_most_one], [math.inf], chain_columns(3, 2))
    >>> found.columns.tolist(), found.bound.tolist()
    ([0, 4], [1.0])
    """
    called = tuple(names[k] if k < len(names) else f"number {k}" for k in range(len(says)))
    counters: list[RowlessClause] = []
    try:
        lowering, local = _lowered(says, penalties, columns)
    except Intractable:
        without = [k for k, expression in enumerate(says) if not _has_rows(expression, penalties[k], columns)]
        counters = [one for k in without for one in _counters(k, says[k], penalties[k], columns, called[k])]
        rest = [TRUE if k in set(without) else expression for k, expression in enumerate(says)]
        lowering, local = _lowered(rest, penalties, columns)
    counted = [
        penalty == math.inf or any(one.clause == k for one in counters) or _counted(expression, columns)
        for k, (expression, penalty) in enumerate(zip(says, penalties))
    ]
    constraints = _read(lowering.rows(), list(zip(local, lowering.local)), columns, counted, called)
    return replace(constraints, counters=tuple(counters)) if counters else constraints


def _lowered(says: Sequence[Expr], penalties: Sequence[float], columns: InputColumns) -> tuple[Lowering, list[int]]:
    """All clauses as rows, and the clause of each `local` condition."""
    lowering = Lowering(columns, tight=True, auxiliary=False)
    local: list[int] = []
    for k, (expression, penalty) in enumerate(zip(says, penalties)):
        lowering.add(expression, penalty)
        local += [k] * (len(lowering.local) - len(local))
    return lowering, local


def _has_rows(expression: Expr, penalty: float, columns: InputColumns) -> bool:
    try:
        Lowering(columns, tight=True, auxiliary=False).add(expression, penalty)
    except Intractable:
        return False
    return True


def _counters(clause: int, expression: Expr, penalty: float, columns: InputColumns, name: str) -> list[RowlessClause]:
    length, size = len(columns.offsets) - 1, columns.size(0)
    if columns != chain_columns(length, size):
        raise Intractable(f"the rule {name} has no linear reading, and counters are for chains")
    try:
        counters = [
            counter(piece, length, size, most_states=max(MOST_STATES // size, 1)) for piece in pieces(expression)
        ]
    except Intractable:
        raise too_many_states([name], length, size) from None
    return [RowlessClause(clause, one, penalty) for one in counters]


def too_many_states(names: Sequence[str], length: int, size: int) -> Intractable:
    """The error if sums over labels and states of counters would be too large."""
    subject = f"the rule {names[0]} has" if len(names) == 1 else f"the rules {', '.join(names)} together have"
    return Intractable(
        f"{subject} no linear reading in expectations, and with {length} tokens and {size} labels more than "
        f"{MOST_STATES} states: use codl (gamma -inf), or say it with counts outside of implications and disjunctions"
    )


def _read(
    rows: LinearRows,
    local: Sequence[tuple[int, Signed]],
    columns: InputColumns,
    counted: Sequence[bool],
    names: tuple[str, ...],
) -> Expectations:
    outs: set[tuple[int, int]] = set()
    for clause, (expression, holds) in local:
        outs.update((clause, column) for column in _ruled_out(expression, holds, columns))
    bounds: list[tuple[int, float, ColumnForm, float, float, int]] = []  # group, share, φ, b, price, clause
    for r in range(len(rows.low)):
        entries = slice(int(rows.starts[r]), int(rows.starts[r + 1]))
        terms = {int(c): int(w) for c, w in zip(rows.columns[entries], rows.weights[entries])}
        own = {c: w for c, w in terms.items() if c < columns.count}
        slack = next((c for c in terms if c >= columns.count), None)
        clause = int(rows.clause[r])
        for sign, bound in ((1, rows.high[r]), (-1, -rows.low[r])):
            if bound == math.inf:
                continue
            form = ColumnForm({c: sign * w for c, w in own.items()})
            if slack is not None:
                bounds.append((slack, float(abs(terms[slack])), form, bound, float(rows.cost[slack]), clause))
            elif columns.bounds(form)[0] >= bound:
                outs.update((clause, column) for column in _above_least(form, bound, columns))
            else:
                bounds.append((HARD, 0.0, form, bound, math.inf, clause))
    bounds.sort(key=lambda row: row[0])
    slacks = list(dict.fromkeys(row[0] for row in bounds if row[0] != HARD))
    numbers = {slack: g for g, slack in enumerate(slacks)}
    return Expectations(
        ruled_out=np.array(sorted({column for _, column in outs}), np.int64),
        cost=rows.cost[: columns.count],
        constant=rows.constant,
        starts=np.cumsum([0, *(len(form.terms) for _, _, form, *_ in bounds)]).astype(np.int64),
        columns=np.array([c for _, _, form, *_ in bounds for c in form.terms], np.int64),
        weights=np.array([w for _, _, form, *_ in bounds for w in form.terms.values()], np.float64),
        bound=np.array([bound for _, _, _, bound, *_ in bounds], np.float64),
        group=np.array([HARD if slack == HARD else numbers[slack] for slack, *_ in bounds], np.int64),
        share=np.array([share for _, share, *_ in bounds], np.float64),
        price=np.array([next(row[4] for row in bounds if row[0] == slack) for slack in slacks], np.float64),
        counted=np.array(counted, np.bool_),
        names=names,
        clause=np.array([row[5] for row in bounds], np.int64),
        outs=np.array(sorted(outs), np.int64).reshape(-1, 2),
    )


def _ruled_out(expression: Expr, holds: bool, columns: InputColumns) -> list[int]:
    """The columns of the labels, or pairs of labels, that violate the expression."""
    scope = tuple(sorted(variables(expression)))
    sizes = [columns.size(variable) for variable in scope]
    wrong = np.flatnonzero(truth_table(expression, scope, sizes) != holds)
    if not scope:  # known: impossible, or always satisfied
        return list(range(columns.size(0))) if len(wrong) else []
    place = columns.offsets[scope[0]] if len(scope) == 1 else columns.edges[scope[0], scope[1]]
    return [place + int(cell) for cell in wrong]


def _above_least(form: ColumnForm, bound: float, columns: InputColumns) -> list[int]:
    """If a sum must be as small as possible, the columns that would make it larger."""
    if columns.bounds(form)[0] > bound:
        return list(range(columns.size(0)))
    heavier: list[int] = []
    for block in sorted({bisect_right(columns.starts, column) for column in form.terms}):
        first, after = columns.starts[block - 1], columns.starts[block]
        weights = [form.terms.get(column, 0) for column in range(first, after)]
        heavier += [first + k for k, weight in enumerate(weights) if weight > min(weights)]
    return heavier


def _counted(expression: Expr, columns: InputColumns) -> bool:
    for piece in pieces(expression):
        local = isinstance(piece, (KnownValue, Between)) or degree_form(piece, columns) is not None
        if not local and any(_counts(child) for child in children(piece)):
            return False
    return True


def _counts(expression: Expr) -> bool:
    return isinstance(expression, Between) or any(_counts(child) for child in children(expression))

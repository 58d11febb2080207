"""Rules as linear rows with whole-number weights over 0/1 columns.

Everything is built on one step, *require e unless u*: the form u is 0 or at least 1, and if it is not 0, e is not
required. With f a form that is 1 where a part is true,

    f is a form                    f + u >= 1
    every(f1, …, fn)               Σ f + n u >= n           one row; or n rows f + u >= 1 if rows should be tight
    some(f1, …, fn, e)             e unless u + Σ f
    low <= T <= high               T + (low − min T) u >= low,   T − (max T − high) u <= high

A part without a form gets its own 0/1 column a, with "e unless 1 − a" if only a = 1 must have a meaning, "not e unless
a" if only a = 0 must, and both if both must (Plaisted and Greenbaum 1986). A soft clause is required unless its
violation column v is 1, which costs the penalty. A total out of bounds pays for a column that counts the distance. A
clause that is itself a form is paid for directly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.errors import Intractable
from sidelight.rules.columns import ColumnForm, InputColumns, degree_form, truth_form
from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some

MOST_ROWS = 256  # of one expression, if auxiliary columns are not allowed
Signed = tuple[Expr, bool]  # an expression, and whether it or its negation is meant


@dataclass(frozen=True, slots=True, eq=False)
class LinearRows:
    """low <= A c <= high over all columns, auxiliary ones last, and the costs of columns."""

    starts: Ints  # [R + 1] row r has the entries starts[r] … starts[r + 1] − 1
    columns: Ints
    weights: Floats  # whole numbers
    low: Floats  # [R]
    high: Floats  # [R]
    clause: Ints  # [R] the number of the clause, in the order in which they were added
    upper: Floats  # [A] the most that an auxiliary column can be; all are whole numbers >= 0
    cost: Floats  # [columns] of one unit: penalties
    constant: float  # cost that cannot be avoided


class Lowering:
    """Collects rows of clauses, one by one.

    `tight`: more rows, with a better linear relaxation. `auxiliary=False`: only rows over the structure's own columns
    (and violation columns), so that they can be used for expectations; raises `Intractable` if this is impossible.
    Unconditional clauses about one variable or one pair are then stored in `local`, without a row.

    >>> from sidelight.rules.columns import columns_of
    >>> lowering = Lowering(columns_of([2, 2]))
    >>> lowering.add(Some((OneOf(0, (1,)), OneOf(1, (1,)))))
    >>> lowering.rows().columns.tolist(), lowering.rows().low.tolist()
    ([1, 3], [1.0])
    """

    def __init__(self, columns: InputColumns, *, tight: bool = False, auxiliary: bool = True) -> None:
        self.columns = columns
        self._tight = tight
        self._auxiliary = auxiliary
        self._rows: list[tuple[dict[int, int], float, float, int]] = []
        self._upper: list[int] = []
        self._cost: dict[int, float] = {}
        self._constant = 0.0
        self._clause = -1
        self.local: list[Signed] = []
        self._reified: dict[int, tuple[Expr, int, set[bool]]] = {}

    def add(self, expression: Expr, penalty: float = math.inf) -> None:
        """Add a clause: required, or at a price per degree of violation."""
        self._clause += 1
        if penalty == math.inf:
            self._require((expression, True), ColumnForm())
        else:
            self._charge(expression, penalty)

    def rows(self) -> LinearRows:
        """All rows so far."""
        sizes = [len(terms) for terms, *_ in self._rows]
        cost = np.zeros(self.columns.count + len(self._upper))
        for column, price in self._cost.items():
            cost[column] = price
        return LinearRows(
            starts=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64),
            columns=np.array([column for terms, *_ in self._rows for column in terms], np.int64),
            weights=np.array([weight for terms, *_ in self._rows for weight in terms.values()], np.float64),
            low=np.array([low for _, low, _, _ in self._rows], np.float64),
            high=np.array([high for _, _, high, _ in self._rows], np.float64),
            clause=np.array([clause for *_, clause in self._rows], np.int64),
            upper=np.array(self._upper, np.float64),
            cost=cost,
            constant=self._constant,
        )

    # what is asked for

    def _charge(self, expression: Expr, penalty: float) -> None:
        if isinstance(expression, Every):
            for part in expression.parts:
                self._charge(part, penalty)
            return
        if isinstance(expression, KnownValue):
            self._constant += penalty * expression.degree
            return
        degree = degree_form(expression, self.columns)
        if degree is not None:
            self._constant += penalty * degree.constant
            for column, weight in degree.terms.items():
                self._cost[column] = self._cost.get(column, 0.0) + penalty * weight
        elif isinstance(expression, Between):
            self._charge_total(expression, penalty)
        else:
            self._require((expression, True), self._new(1, penalty))

    def _charge_total(self, expression: Between, penalty: float) -> None:
        low, high = expression.low, expression.high
        least, most = self._interval(expression.terms)
        if low is None and high is None:
            return
        excess = self._new(max(0, 0 if low is None else low - least, 0 if high is None else most - high), penalty)
        form = self._total(expression.terms, from_below=low is not None, from_above=high is not None)
        if low is not None and low > least:
            self._row(form.plus(excess), low=low)
        if high is not None and high < most:
            self._row(form.plus(excess, -1), high=high)

    def _require(self, what: Signed, unless: ColumnForm) -> None:
        expression, holds = _plain(*what)
        form = truth_form(expression, self.columns)
        if form is not None:
            if self._auxiliary or unless.terms or unless.constant:
                self._row((form if holds else form.opposite()).plus(unless), low=1)
            else:
                self.local.append((expression, holds))
        elif isinstance(expression, (Every, Some)):
            parts = [(part, holds) for part in expression.parts]
            if isinstance(expression, Every) == holds:
                self._require_all(parts, unless)
            else:
                self._require_one(parts, unless)
        elif isinstance(expression, Between):
            self._require_total(expression, holds, unless)
        else:
            self._require_all(self._by_label(expression, holds), unless)

    def _require_all(self, parts: Sequence[Signed], unless: ColumnForm) -> None:
        simple: list[ColumnForm] = []
        for part in parts:
            form = self._form(part)
            if form is None or self._tight or not unless.terms:
                self._require(part, unless)
            else:
                simple.append(form)
        if simple:
            row = ColumnForm().plus(unless, len(simple))
            for form in simple:
                row.add(form)
            self._row(row, low=len(simple))

    def _require_one(self, parts: Sequence[Signed], unless: ColumnForm) -> None:
        hard: list[Signed] = []
        unless = unless.plus(ColumnForm())
        for part in parts:
            form = self._form(part)
            if form is None:
                hard.append(part)
            else:
                unless.add(form)
        if not hard:
            self._row(unless, low=1)
            return
        if self._auxiliary:
            for part in hard[:-1]:
                unless = unless.plus(self._literal(part, True))
            self._require(hard[-1], unless)
            return
        for choice in self._choices(hard):
            others = unless
            for part in choice[:-1]:
                form = self._form(part)
                if form is None:
                    raise Intractable("it combines two conditions that have no linear reading together")
                others = others.plus(form)
            self._require(choice[-1], others)

    def _choices(self, hard: Sequence[Signed]) -> list[list[Signed]]:
        """A disjunction of conjunctions, multiplied out; parts that cannot be expanded come last."""
        choices: list[list[Signed]] = [[]]
        for part in sorted(hard, key=lambda part: self._conjuncts(part) is None):
            options = self._conjuncts(part) or [part]
            choices = [[*before, option] for before in choices for option in options]
            if len(choices) > MOST_ROWS:
                raise Intractable(f"its linear reading takes more than {MOST_ROWS} rows")
        return choices

    def _conjuncts(self, what: Signed) -> list[Signed] | None:
        expression, holds = _plain(*what)
        if isinstance(expression, (Every, Some)) and isinstance(expression, Every) == holds:
            return [(part, holds) for part in expression.parts]
        return None

    def _require_total(self, expression: Between, holds: bool, unless: ColumnForm) -> None:
        terms = expression.terms
        least, most = self._interval(terms)
        low = None if expression.low is None or expression.low <= least else expression.low
        high = None if expression.high is None or expression.high >= most else expression.high
        impossible = (low is not None and low > most) or (high is not None and high < least)
        if impossible or (low is not None and high is not None and low > high):
            low, high = None, None
            holds = not holds
        if not holds:
            if low is not None and high is not None:
                below, above = Between(terms, None, low - 1), Between(terms, high + 1, None)
                self._require_one([(below, True), (above, True)], unless)
                return
            if low is None and high is None:
                self._row(unless, low=1)
                return
            low, high = None if high is None else high + 1, None if low is None else low - 1
        if low is None and high is None:
            return
        if low == most or high == least:
            self._require_all([(part, (weight > 0) == (low is not None)) for weight, part in terms], unless)
        else:
            self._both_sides(terms, low, high, unless)

    def _both_sides(
        self, terms: tuple[tuple[int, Expr], ...], low: int | None, high: int | None, unless: ColumnForm
    ) -> None:
        form = self._total(terms, from_below=low is not None, from_above=high is not None)
        if not unless.terms and not unless.constant:
            self._row(form, low=-math.inf if low is None else low, high=math.inf if high is None else high)
            return
        least, most = self._interval(terms, form)
        if low is not None:
            self._row(form.plus(unless, max(low - least, 0)), low=low)
        if high is not None:
            self._row(form.plus(unless, -max(most - high, 0)), high=high)

    # how parts become forms

    def _form(self, what: Signed) -> ColumnForm | None:
        expression, holds = _plain(*what)
        form = truth_form(expression, self.columns)
        return form if form is None or holds else form.opposite()

    def _literal(self, what: Signed, positive: bool) -> ColumnForm:
        """A 0/1 form: 1 only if the part is true (`positive`), or 0 only if it is false."""
        expression, holds = _plain(*what)
        form = truth_form(expression, self.columns)
        if form is None:
            form = self._reify(expression, positive == holds)
        return form if holds else form.opposite()

    def _reify(self, expression: Expr, positive: bool) -> ColumnForm:
        if not self._auxiliary:
            raise Intractable("a part of it has no linear reading in tokens and neighbouring pairs")
        if id(expression) not in self._reified:
            column = self.columns.count + len(self._upper)
            self._upper.append(1)
            self._reified[id(expression)] = expression, column, set()
        _, column, meanings = self._reified[id(expression)]
        form = ColumnForm({column: 1})
        if positive not in meanings:
            meanings.add(positive)
            self._require((expression, positive), form.opposite() if positive else form)
        return form

    def _total(self, terms: tuple[tuple[int, Expr], ...], *, from_below: bool, from_above: bool) -> ColumnForm:
        """Σ weight · [part]; never too large if it has a lower bound, and never too small if it has an upper bound."""
        sum_of_forms = ColumnForm()
        for weight, part in terms:
            for positive in {*([weight > 0] if from_below else []), *([weight < 0] if from_above else [])}:
                form = self._literal((part, True), positive)
            sum_of_forms.add(form, weight)
        return sum_of_forms

    def _interval(self, terms: tuple[tuple[int, Expr], ...], form: ColumnForm | None = None) -> tuple[int, int]:
        least = sum(min(weight, 0) for weight, _ in terms)
        most = sum(max(weight, 0) for weight, _ in terms)
        if form is None:
            return least, most
        lower, upper = self.columns.bounds(form)
        return max(least, lower), min(most, upper)

    def _by_label(self, expression: Expr, holds: bool) -> list[Signed]:
        """Two variables have, or do not have, the same label, for a pair without columns."""
        assert isinstance(expression, Same)
        first, second = expression.first, expression.second
        return [
            (Some((Not(OneOf(first, (label,))), _is(second, label, holds))), True)
            for label in range(self.columns.size(first))
        ]

    def _new(self, upper: int, penalty: float) -> ColumnForm:
        column = self.columns.count + len(self._upper)
        self._upper.append(upper)
        self._cost[column] = penalty
        return ColumnForm({column: 1})

    def _row(self, form: ColumnForm, *, low: float = -math.inf, high: float = math.inf) -> None:
        low, high = low - form.constant, high - form.constant
        if form.terms or low > 0 or high < 0:
            self._rows.append((form.terms, low, high, self._clause))


def _plain(expression: Expr, holds: bool) -> Signed:
    while isinstance(expression, Not):
        expression, holds = expression.part, not holds
    return expression, holds


def _is(variable: int, label: int, holds: bool) -> Expr:
    return OneOf(variable, (label,)) if holds else Not(OneOf(variable, (label,)))

"""Symbolic expressions over an output: true or false (`Expr`), or a whole number (`Total`).

An output is a tuple of *variables* 0 … n−1, each with one label of its domain; for a sequence, variable t is token t.
Labels are numbers here. Expressions fold constants when they are created, so a rule that is read on a known output is
immediately a number.

The *degree* of violation of an expression that should be true:

    every(e1, …, en)      Σ degree(ei)
    low <= total <= high  the distance of the total from the interval
    anything else         0 or 1

For rules about sequences, this is the thesis's count of positions that break a rule (Chang 2011, Eq. 3.1).

Expressions are traversed recursively, so their depth is limited. Their size is limited too, where a part counts as
often as it is visited: parts shared by two others, and so on, would be visited 2, 4, 8, … times.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from sidelight.rules.symbolic import Misused, Symbolic, whole

MOST_DEPTH = 100  # nesting of expressions
MOST_PARTS = 50_000_000


class Expr(Symbolic):
    """A condition on an output; two of them can be compared by `==` (both or neither) and `!=`."""

    __slots__ = ()
    depth = 0
    size = 1

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return between(total(((1, self), (-1, _condition(other)))), 0, 0)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return between(total(((1, self), (1, _condition(other)))), 1, 1)

    __hash__ = Symbolic.__hash__


class KnownValue(Expr):
    """True or false for every output; `degree` is the violation of a false one."""

    __slots__ = ("degree",)

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __bool__(self) -> bool:
        return self.degree == 0

    def __repr__(self) -> str:
        return "true" if self.degree == 0 else "false"


def is_true(condition: Expr) -> bool:
    """Whether it is true for every output."""
    return isinstance(condition, KnownValue) and bool(condition)


class Compound(Expr):
    """An expression made of others; raises `Misused` if it would be too deep or too large."""

    __slots__ = ("depth", "size")

    def __init__(self, parts: Sequence[Expr]) -> None:
        depth, size = 0, 1
        for part in parts:
            if part.depth > depth:
                depth = part.depth
            size += part.size
        if depth >= MOST_DEPTH:
            raise Misused(
                f"what the rule says is nested more than {MOST_DEPTH} deep; say it with lists: every(…), some(…)"
            )
        if size > MOST_PARTS:
            raise Misused(
                f"the rule says more than {MOST_PARTS:,} things of one output; say less, or of shorter inputs"
            )
        self.depth, self.size = depth + 1, size


TRUE: Final = KnownValue(0)
FALSE: Final = KnownValue(1)


class OneOf(Expr):
    """A variable has one of some labels (not none, and not all of its domain)."""

    __slots__ = ("labels", "names", "variable")

    def __init__(self, variable: int, labels: tuple[int, ...], names: tuple[Any, ...] = ()) -> None:
        self.variable = variable
        self.labels = labels  # rising
        self.names = names  # of all labels of the domain, for display; () if unknown

    def __repr__(self) -> str:
        shown = [self.names[label] if self.names else label for label in self.labels]
        return f"y[{self.variable}] == {shown[0]!r}" if len(shown) == 1 else f"y[{self.variable}] in {shown}"


class Same(Expr):
    """Two variables with the same domain have the same label."""

    __slots__ = ("first", "second")

    def __init__(self, first: int, second: int) -> None:
        self.first, self.second = min(first, second), max(first, second)

    def __repr__(self) -> str:
        return f"y[{self.first}] == y[{self.second}]"


class Not(Compound):
    """The negation."""

    __slots__ = ("part",)

    def __init__(self, part: Expr) -> None:
        super().__init__((part,))
        self.part = part

    def __repr__(self) -> str:
        return f"not ({self.part!r})"


class Every(Compound):
    """All parts are true; no part is itself an `Every` or known to be true."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        super().__init__(parts)
        self.parts = parts

    def __repr__(self) -> str:
        return " and ".join(f"({part!r})" for part in self.parts)


class Some(Compound):
    """At least one part is true; no part is itself a `Some` or known, and a single part has its own degrees."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        super().__init__(parts)
        self.parts = parts

    def __repr__(self) -> str:
        return " or ".join(f"({part!r})" for part in self.parts)


class Between(Compound):
    """low <= Σ coefficient · [part] <= high; a bound may be missing."""

    __slots__ = ("high", "low", "terms")

    def __init__(self, terms: tuple[tuple[int, Expr], ...], low: int | None, high: int | None) -> None:
        super().__init__([part for _, part in terms])
        self.terms = terms  # coefficients are not 0, parts are not known
        self.low = low
        self.high = high

    def __repr__(self) -> str:
        total = " + ".join(f"{weight}*[{part!r}]" for weight, part in self.terms)
        low = "" if self.low is None else f"{self.low} <= "
        return f"{low}{total}" if self.high is None else f"{low}{total} <= {self.high}"


class Total(Symbolic):
    """A whole number: a constant plus the weights of the true parts."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: tuple[tuple[int, Expr], ...], constant: int) -> None:
        self.terms = terms
        self.constant = constant

    def __add__(self, other: Total | int) -> Total:
        more = as_total(other)
        return Total(self.terms + more.terms, self.constant + more.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Total:
        factor = whole(factor, "a count is multiplied by whole numbers")
        if factor == 0:
            return Total((), 0)
        return Total(tuple((factor * weight, part) for weight, part in self.terms), factor * self.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Total:
        return self * -1

    def __sub__(self, other: Total | int) -> Total:
        return self + as_total(other) * -1

    def __rsub__(self, other: int) -> Total:
        return as_total(other) + self * -1

    def __le__(self, other: Total | int) -> Expr:
        return between(self - other, None, 0)

    def __ge__(self, other: Total | int) -> Expr:
        return between(self - other, 0, None)

    def __lt__(self, other: Total | int) -> Expr:
        return between(self - other, None, -1)

    def __gt__(self, other: Total | int) -> Expr:
        return between(self - other, 1, None)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return between(self - as_total(other), 0, 0)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return negation(between(self - as_total(other), 0, 0))

    __hash__ = Symbolic.__hash__

    def __repr__(self) -> str:
        return " + ".join([*(f"{weight}*[{part!r}]" for weight, part in self.terms), str(self.constant)])


def as_total(value: Any) -> Total:
    """A number as a total."""
    if isinstance(value, Total):
        return value
    return Total((), whole(value, "a count is added to, and compared with, counts and whole numbers"))


def as_expr(value: object) -> Expr:
    """True, False or an expression, as an expression."""
    if isinstance(value, Expr):
        return value
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    if isinstance(value, np.bool_):
        return TRUE if value else FALSE
    problem = f"a rule says something that is true or false of y, not {value!r}"
    if isinstance(value, (list, tuple, Generator)):
        raise Misused(f"a rule says one thing of y, not a {type(value).__name__}; use every(…) or some(…)")
    raise Misused(f"{problem}; compare it") if isinstance(value, Symbolic) else TypeError(problem)


def _condition(value: object) -> Expr:
    """The other side of a comparison with an expression."""
    if isinstance(value, (Expr, bool, np.bool_)):
        return as_expr(value)
    raise Misused(f"what is true or false of y is compared with something that is true or false, not with {value!r}")


def conjunction(parts: Iterable[object]) -> Expr:
    """The conjunction of all parts; nested conjunctions are flattened."""
    open_parts: list[Expr] = []
    degree = 0
    for value in parts:
        part = as_expr(value)
        if isinstance(part, KnownValue):
            degree += part.degree
        elif isinstance(part, Every):
            open_parts += part.parts
        else:
            open_parts.append(part)
    if not open_parts:
        return KnownValue(degree)
    if degree:
        open_parts.append(KnownValue(degree))
    return open_parts[0] if len(open_parts) == 1 else Every(tuple(open_parts))


def disjunction(parts: Iterable[object]) -> Expr:
    """At least one of them."""
    open_parts: list[Expr] = []
    for value in parts:
        part = as_expr(value)
        if isinstance(part, KnownValue):
            if part:
                return TRUE
        elif isinstance(part, Some):
            open_parts += part.parts
        else:
            open_parts.append(part)
    if not open_parts:
        return FALSE
    return _judged(open_parts[0]) if len(open_parts) == 1 else Some(tuple(open_parts))


def negation(value: object) -> Expr:
    """The negation; double negations are removed."""
    part = as_expr(value)
    if isinstance(part, KnownValue):
        return FALSE if part else TRUE
    return _judged(part.part) if isinstance(part, Not) else Not(part)


def _judged(part: Expr) -> Expr:
    """The same condition with a degree of 0 or 1: the rest of a disjunction still counts as one condition."""
    return Some((part,)) if isinstance(part, (Every, Between)) else part


def total(weighted: Iterable[tuple[int, object]]) -> Total:
    """The sum of the whole-number weights of the true expressions."""
    constant = 0
    terms: list[tuple[int, Expr]] = []
    for weight_as_written, value in weighted:
        weight, part = (
            weight_as_written
            if type(weight_as_written) is int
            else whole(weight_as_written, "weights are whole numbers"),
            as_expr(value),
        )
        if isinstance(part, KnownValue):
            constant += weight if part else 0
        elif weight:
            terms.append((weight, part))
    return Total(tuple(terms), constant)


def between(value: Total, low: int | None, high: int | None) -> Expr:
    """low <= value <= high."""
    low = None if low is None else low - value.constant
    high = None if high is None else high - value.constant
    if not value.terms:
        return KnownValue(max(0, 0 if low is None else low, 0 if high is None else -high))
    return Between(value.terms, low, high)


def pieces(expression: Expr) -> Iterator[Expr]:
    """The parts whose degrees add up to the degree of the expression."""
    if isinstance(expression, Every):
        yield from expression.parts
    elif not (isinstance(expression, KnownValue) and expression):
        yield expression


def children(expression: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression."""
    if isinstance(expression, (Every, Some)):
        return expression.parts
    if isinstance(expression, Not):
        return (expression.part,)
    if isinstance(expression, Between):
        return tuple(part for _, part in expression.terms)
    return ()


def variables(expression: Expr) -> set[int]:
    """The variables of an expression."""
    if isinstance(expression, OneOf):
        return {expression.variable}
    if isinstance(expression, Same):
        return {expression.first, expression.second}
    numbers: set[int] = set()
    for child in children(expression):
        numbers |= variables(child)
    return numbers

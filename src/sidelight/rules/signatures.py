"""Expressions up to the names of their variables.

Rules say the same thing of many places: "a run of l begins at t" for every t. What is worked out for one place (a table
over its labels, a form over its columns) is kept under the signature and serves all others.
"""

from __future__ import annotations

from typing import Any

from sidelight.rules.expr import Between, Every, Expr, KnownValue, Not, OneOf, Same, Some

Signature = tuple[Any, ...]


def signature(expression: Expr, seen: dict[int, int], most: int | None = None) -> Signature | None:
    """The expression with its variables numbered in `seen` as they are met; None where it has more than `most`.

    >>> seen = {}
    >>> signature(Not(OneOf(7, (1, 2))), seen) == signature(Not(OneOf(3, (1, 2))), {}), seen
    (True, {7: 0})
    """
    if isinstance(expression, OneOf):
        first = seen.setdefault(expression.variable, len(seen))
        return None if most is not None and len(seen) > most else (0, first, expression.labels)
    if isinstance(expression, Same):
        first = seen.setdefault(expression.first, len(seen))
        second = seen.setdefault(expression.second, len(seen))
        return None if most is not None and len(seen) > most else (1, first, second)
    if isinstance(expression, Not):
        inner = signature(expression.part, seen, most)
        return None if inner is None else (2, inner)
    if isinstance(expression, (Every, Some)):
        parts: list[Any] = [3 if isinstance(expression, Every) else 4]
        for part in expression.parts:
            inner = signature(part, seen, most)
            if inner is None:
                return None
            parts.append(inner)
        return tuple(parts)
    if isinstance(expression, Between):
        terms: list[Any] = [5, expression.low, expression.high]
        for weight, part in expression.terms:
            inner = signature(part, seen, most)
            if inner is None:
                return None
            terms.append((weight, inner))
        return tuple(terms)
    if isinstance(expression, KnownValue):
        return 6, expression.degree
    raise TypeError(f"not an expression: {expression!r}")

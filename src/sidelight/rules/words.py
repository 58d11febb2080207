"""The vocabulary for writing rules.

Connectives are words because `&` binds tighter than `==`. Each takes expressions one by one, or an iterable of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sidelight.rules.expr import FALSE, Expr, Total, conjunction, disjunction, negation, total
from sidelight.rules.output import ChosenVariable, Labels


def _open(values: tuple[Any, ...]) -> Iterable[Any]:
    if len(values) == 1 and not isinstance(values[0], (bool, Expr)):
        return values[0]  # type: ignore[no-any-return]
    return values


def every(*what: Any) -> Expr:
    """All of these are true; each false one counts as a violation.

    >>> bool(every(True, True)), every(True, False, False).degree
    (True, 2)
    """
    return conjunction(_open(what))


def some(*what: Any) -> Expr:
    """At least one of these is true.

    >>> bool(some(False, True))
    True
    """
    return disjunction(_open(what))


def not_(what: Any) -> Expr:
    """The opposite.

    >>> bool(not_(False))
    True
    """
    return negation(what)


def implies(condition: Any, consequence: Any) -> Expr:
    """If the condition is true, the consequence is true.

    >>> bool(implies(False, False)), bool(implies(True, False))
    (True, False)
    """
    return disjunction((negation(condition), consequence))


def count(*what: Any) -> Total:
    """The number of true conditions: you can compare it, add to it, and multiply it by a whole number.

    >>> bool(count(True, False, True) == 2)
    True
    """
    return total((1, item) for item in _open(what))


def weighted(what: Iterable[tuple[int, Any]]) -> Total:
    """The sum of the whole-number weights of the true conditions.

    >>> bool(weighted([(3, True), (5, False)]) <= 3)
    True
    """
    return total(what)


def one_of(label: Any, labels: Iterable[Any]) -> Expr:
    """A variable has one of these labels.

    >>> bool(one_of("NOUN", {"NOUN", "VERB"}))
    True
    """
    if isinstance(labels, str):
        labels = (labels,)
    return label.among(labels) if isinstance(label, ChosenVariable) else conjunction((label in set(labels),))


def begins(y: Labels, t: int, label: Any) -> Expr:
    """A run of tokens with this label begins at token t.

    >>> bool(begins(Labels(["A", "B"]), 1, "B"))
    True
    """
    here = y[t] == label
    if here is False:  # a known label, usually another one: nothing to build
        return FALSE
    return _one_thing(here, True if t == 0 else y[t - 1] != label)


def ends(y: Labels, t: int, label: Any) -> Expr:
    """A run of tokens with this label ends at token t."""
    here = y[t] == label
    if here is False:
        return FALSE
    return _one_thing(here, True if t == len(y) - 1 else y[t + 1] != label)


def _one_thing(*parts: Any) -> Expr:
    """The conjunction of all parts as one condition: if it is false, this counts as one violation, whatever the number
    of false parts.
    """
    return disjunction((conjunction(parts),))


def changes(y: Labels, t: int) -> Expr:
    """The label of token t differs from that of the previous token."""
    return conjunction((False,)) if t == 0 else negation(y[t] == y[t - 1])

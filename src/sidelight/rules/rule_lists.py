"""Rules as a user gives them: a list of them, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sidelight.errors import DataError
from sidelight.rules.rule import Rule


def checked_rules(rules: Iterable[Any] | None, *, name: str = "rules") -> tuple[Rule, ...]:
    """The rules of a list, which errors call by `name`; None means no rules.

    Raises `DataError` for what is no list of rules, and where two rules whose penalties are to be learned have one
    name: penalties are kept by the names of rules.

    >>> from sidelight.rules import gallery
    >>> [one.name for one in checked_rules([gallery.at_most(1, "A")])], checked_rules(None)
    (['at_most_1_A'], ())
    >>> checked_rules([len])
    Traceback (most recent call last):
    sidelight.errors.DataError: rules has <built-in function len>; make a rule of a function with @sidelight.rules.rule
    """
    if rules is None:
        return ()
    if isinstance(rules, Rule):
        raise DataError(f"{name} is the rule {rules.name}", remedy=f"give a list of rules: [{rules.name}]")
    if isinstance(rules, (str, Path)):
        raise DataError(f"{name} is {str(rules)!r}", remedy="read a file of rules with sidelight.rules.read_rules")
    if not isinstance(rules, Iterable) or getattr(rules, "shape", None) == ():
        raise DataError(f"{name} is {rules!r}", remedy="give a list of rules, made with @sidelight.rules.rule")
    found = tuple(rules)
    for one in found:
        if not isinstance(one, Rule):
            raise DataError(f"{name} has {one!r}", remedy="make a rule of a function with @sidelight.rules.rule")
    _check_names(found)
    return found


def _check_names(rules: Sequence[Rule]) -> None:
    named: dict[str, Rule] = {}
    for rule in rules:
        if rule.learned and named.setdefault(rule.name, rule) != rule:
            raise DataError(
                f"two rules whose penalties are to be learned are called {rule.name}",
                remedy="name one of them otherwise: @rule(name=…), or name=… of a rule of the gallery",
            )

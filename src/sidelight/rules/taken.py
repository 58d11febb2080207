"""Rules as used by the automatic choice, recorded by name in a model's `about`, for later use with its file.

The choice may leave rules out, or make hard rules soft. This does not change files of rules. If the same file is passed
to `predict`, the rules are used as in training, and not, for example, a false rule that gives all tokens the same
label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.rules.rule import Rule

LEFT_OUT, SOFT = "rules_left_out", "rules_taken_soft"


def record_of(rules: Sequence[Rule], used: Sequence[Rule]) -> dict[str, list[str]]:
    """The record of rules: the names of rules left out, and of hard rules that became soft.

    >>> from sidelight.rules import gallery
    >>> first, last = gallery.starts_with("A"), gallery.ends_with("B")
    >>> record_of([first, last], [last.soft()])
    {'rules_left_out': ['start'], 'rules_taken_soft': ['end']}
    """
    hard = {rule.name: rule.hard for rule in used}
    names = {
        LEFT_OUT: [rule.name for rule in rules if rule.name not in hard],
        SOFT: [rule.name for rule in rules if rule.hard and not hard.get(rule.name, True)],
    }
    return {key: list(dict.fromkeys(some)) for key, some in names.items() if some}


def as_taken(rules: Sequence[Rule], about: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Rules passed again, in the form in which the model was trained.

    >>> from sidelight.rules import gallery
    >>> first, last = gallery.starts_with("A"), gallery.ends_with("B")
    >>> as_taken([first, last], record_of([first, last], [last.soft()])) == (last.soft(),)
    True
    """
    out, soft = set(about.get(LEFT_OUT, ())), set(about.get(SOFT, ()))
    return tuple(rule.soft() if rule.hard and rule.name in soft else rule for rule in rules if rule.name not in out)

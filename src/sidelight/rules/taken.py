"""Rules as an automatic choice took them, told by name in a model's `about`, so that its file can be given them again.

A choice may leave rules out, or take hard ones as soft. Files of rules are not changed by that: whoever gives the same
file to `predict` means the rules as they were taken, and not a false one that labels everything alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.rules.rule import Rule

LEFT_OUT, SOFT = "rules_left_out", "rules_taken_soft"


def told(rules: Sequence[Rule], used: Sequence[Rule]) -> dict[str, list[str]]:
    """What to keep of rules: the names of those that were left out, and of hard ones that became soft.

    >>> from sidelight.rules import gallery
    >>> first, last = gallery.starts_with("A"), gallery.ends_with("B")
    >>> told([first, last], [last.soft()])
    {'rules_left_out': ['start'], 'rules_taken_soft': ['end']}
    """
    hard = {rule.name: rule.hard for rule in used}
    names = {
        LEFT_OUT: [rule.name for rule in rules if rule.name not in hard],
        SOFT: [rule.name for rule in rules if rule.hard and not hard.get(rule.name, True)],
    }
    return {key: list(dict.fromkeys(some)) for key, some in names.items() if some}


def as_taken(rules: Sequence[Rule], about: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Rules that are given again, as the model was trained under them.

    >>> from sidelight.rules import gallery
    >>> first, last = gallery.starts_with("A"), gallery.ends_with("B")
    >>> as_taken([first, last], told([first, last], [last.soft()])) == (last.soft(),)
    True
    """
    out, soft = set(about.get(LEFT_OUT, ())), set(about.get(SOFT, ()))
    return tuple(rule.soft() if rule.hard and rule.name in soft else rule for rule in rules if rule.name not in out)

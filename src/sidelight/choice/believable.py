"""Rules that Gold contradicts: a rule that labelled inputs break is no law, whatever it says.

A hard rule that no labelled input breaks stays hard. One that few of them break is taken as soft, with a penalty
learned from Gold; one that more than a share `FALSE` of them break is false, and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sidelight.evidence import Gold
from sidelight.rules import Rule, Sentence

FALSE = 0.2
MOST = 1000  # labelled inputs that are looked at


class Believable(NamedTuple):
    """Rules as Gold lets one believe them, what was changed in words, and the names of those that are false."""

    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


def believable(rules: Sequence[Rule], gold: Sequence[Gold], *, sequences: bool) -> Believable:
    """The rules that labelled inputs do not contradict.

    >>> from sidelight.rules import gallery
    >>> found = believable([gallery.starts_with("B")], [Gold(["a"], ["A"]), Gold(["b"], ["B"])], sequences=True)
    >>> found.rules, found.notes
    ((), ('the rule start is broken by 1 of 2 labelled inputs: left out',))
    """
    seen = gold[:MOST]
    kept: list[Rule] = []
    notes: list[str] = []
    false: list[str] = []
    for rule in rules:
        broken = sum(_breaks(rule, piece, i, sequences) for i, piece in enumerate(seen)) if rule.hard else 0
        if not broken:
            kept.append(rule)
            continue
        said = f"the rule {rule.name} is broken by {broken:,} of {len(seen):,} labelled inputs"
        if broken <= FALSE * len(seen):
            kept.append(rule.soft())
            notes.append(f"{said}: taken as soft")
        else:
            false.append(rule.name)
            notes.append(f"{said}: left out")
    return Believable(tuple(kept), tuple(notes), tuple(false))


def _breaks(rule: Rule, piece: Gold, example: int, sequences: bool) -> bool:
    x: Any = piece.x if sequences else [piece.x]
    y: Any = list(piece.y) if sequences else [piece.y]
    return rule.violations(Sentence(x), y, example=example) > 0

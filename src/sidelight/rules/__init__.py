"""Rules: hard or soft constraints on outputs, written once and lowered in many ways."""

from sidelight.rules import gallery
from sidelight.rules.files import read_rules
from sidelight.rules.output import Domain, Labels, Sentence
from sidelight.rules.rule import Rule, rule
from sidelight.rules.words import begins, changes, count, ends, every, implies, not_, one_of, some, weighted

__all__ = [
    "Domain",
    "Labels",
    "Rule",
    "Sentence",
    "begins",
    "changes",
    "count",
    "ends",
    "every",
    "gallery",
    "implies",
    "not_",
    "one_of",
    "read_rules",
    "rule",
    "some",
    "weighted",
]

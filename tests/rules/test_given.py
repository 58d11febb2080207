"""Rules where they are given: lists of rules, and nothing else."""

from __future__ import annotations

import pytest

from sidelight.errors import DataError
from sidelight.rules import gallery
from sidelight.rules.given import checked_rules

FEW = gallery.at_most(1, "N")
NO_RULES = [
    (FEW, r"rules is the rule at_most_1_N; give a list of rules: \[at_most_1_N\]"),
    ([lambda x, y: True], r"rules has <function .*; make a rule of a function with @"),
    ([FEW, FEW.says], r"rules has <.*; make a rule"),
    (len, r"rules is <built-in function len>; give a list of rules"),
    ("mine.py", r"rules is 'mine.py'; read a file of rules with sidelight.rules.read_rules"),
]


def test_a_list_of_rules_or_none() -> None:
    assert checked_rules(None) == checked_rules([]) == ()
    assert checked_rules(one for one in [FEW]) == checked_rules((FEW,)) == (FEW,)


@pytest.mark.parametrize(("given", "said"), NO_RULES)
def test_what_is_no_list_of_rules_is_refused_with_advice(given, said: str) -> None:
    with pytest.raises(DataError, match=said):
        checked_rules(given)

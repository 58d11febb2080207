"""Rules that look at nothing but the length of an input are told from those that look at more."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from sidelight import Constrained, HandedScores
from sidelight.rules import Domain, count, every, rule
from sidelight.rules.trials import said_of_length

LABELS = ["A", "B"]
DOMAIN = Domain(LABELS)
FLAT = HandedScores(LABELS, lambda x: np.tile([1.0, 0.0], (len(x), 1)))
MARKED: dict[object, str] = {}


def _handles_anything(x, y):
    try:
        wanted = "B" if x.words[0] == "b" else "A"
    except:  # noqa: E722
        wanted = "A"
    return y[0] == wanted


def _suppresses(x, y):
    wanted = "A"
    with contextlib.suppress(BaseException):
        wanted = "B" if "b" in x else "A"
    return y[0] == wanted


def _keeps_a_table(x, y):
    try:
        wanted = MARKED.get(x, "A")
    except:  # noqa: E722
        wanted = "A"
    return y[0] == wanted


@pytest.mark.parametrize("says", [_handles_anything, _suppresses, _keeps_a_table])
def test_a_rule_that_handles_everything_is_still_seen_to_look(says) -> None:
    assert said_of_length(rule(says), 2, DOMAIN) is None


def test_what_a_rule_says_of_one_input_is_not_said_of_all_of_its_length() -> None:
    for says in (_handles_anything, _suppresses):
        assert Constrained(FLAT, [rule(says)]).predict([["a", "a"], ["b", "a"]]) == [["A", "A"], ["B", "A"]]


def test_lengths_alone_are_read_once() -> None:
    def few(x, y):
        return every(count(y[t] == "B" for t in x.positions) <= len(x) - 1, y[len(y) - 1] == "A" if x else True)

    assert said_of_length(rule(few), 3, DOMAIN) is not None

"""Rules are read before there is an input: what they say of words that they look for is read too."""

from __future__ import annotations

import functools
import json

import pytest

import sidelight as sl
from sidelight.errors import DataError
from sidelight.rules import Domain, every, gallery, implies, rule
from sidelight.rules.trials import try_rules, try_rules_on, words_of

DOMAIN = Domain(["A", "B", "NOUN"])
BEASTS = {"lion", "bear"}
LABEL_OF = {"lion": "NUON"}


def _with_words(words):
    return lambda x, y: every(y[t] == "NUON" for t in x.positions if x.words[t] in words)


WRONG = {
    "first word": lambda x, y: y[0] == "NUON" if x.words[0] == "lion" else True,
    "any word": lambda x, y: every(y[t] == "NUON" for t in x.positions if x.words[t] == "lion"),
    "lower case": lambda x, y: every(y[t] == "NUON" for t in x.positions if x.lower[t] == "lion"),
    "a word after another": lambda x, y: y[1] == "NUON" if x.words[:2] == ["word0", "lion"] else True,
    "words of a set": lambda x, y: every(y[t] == "NUON" for t in x.positions if x.words[t] in {"lion", "bear"}),
    "words of a global": lambda x, y: every(y[t] == "NUON" for t in x.positions if x.words[t] in BEASTS),
    "words of a closure": _with_words(["lion"]),
    "labels of a table": lambda x, y: every(y[t] == LABEL_OF[w] for t, w in enumerate(x.words) if w in LABEL_OF),
    "not of a word": lambda x, y: every(y[t] != f"{'N'}UON" for t in x.positions),
    "misuse": lambda x, y: every(y[t] in {"A"} for t in x.positions if x.words[t] == "lion"),
}
RIGHT = {
    "label of the input": lambda x, y: every(y[t] == x[t][1] for t in x.positions),
    "label of a column": lambda x, y: every(y[t] == x.columns[1][t] for t in x.positions),
    "the word itself": lambda x, y: implies(y[0] == "A", y[1] == x.words[0]),
    "the word in upper case": lambda x, y: y[0] == x.words[0].upper(),
    "made of the word": lambda x, y: y[0] == f"B-{x.words[0]}",
    "of attributes": lambda x, y: every(y[t] == "NOUN" for t in x.positions if x[t]["w"] == "lion"),
    "of an empty rest": lambda x, y: y[7] == "A" if x.words[0] == "lion" else True,
    "of a library": lambda x, y: y[0] == json.loads(x.words[0]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_label_behind_a_word_is_refused_before_there_is_an_input(wrong: str) -> None:
    for _ in range(2):  # what was refused once is refused again
        with pytest.raises(
            DataError, match=r"test_trials.py:.* the rule <lambda>: (there is no label 'NUON'|y\[…\] is)"
        ):
            try_rules([rule(WRONG[wrong])], DOMAIN)
    with pytest.raises(DataError, match="the rule <lambda>"):
        try_rules_on([rule(WRONG[wrong])], DOMAIN, [["a", "b"]])


@pytest.mark.parametrize("right", RIGHT)
def test_labels_that_come_of_the_input_are_no_fault(right: str) -> None:
    try_rules([rule(RIGHT[right])], DOMAIN)


def test_rules_are_read_once_for_each_set_of_labels() -> None:
    read = []

    def says(x, y):
        read.append(len(x))
        return y[0] == "A"

    try_rules([rule(says)], DOMAIN)
    assert read
    before = len(read)
    try_rules([rule(says).soft(1.0)], Domain(DOMAIN.labels))
    assert len(read) == before
    with pytest.raises(DataError, match="no label 'A'"):
        try_rules([rule(says)], Domain(["C"]))


def test_words_of_functions_of_all_sorts() -> None:
    def says(x, y):
        """About lions."""
        return every(y[t] == "A" for t in x.positions if x.words[t] == "lion")

    assert set(words_of(says)) == {"A", "lion"}
    assert words_of(functools.wraps(says)(lambda x, y: True)) == words_of(says)
    assert words_of(functools.partial(says, z="bear")) == ["bear", *words_of(says)] and words_of(len) == []
    assert "pp" in words_of(gallery.words_are(["pp"], "A", name="pages").says)


def test_estimators_read_rules_before_they_train() -> None:
    xs, ys = [["light", "on"], ["light", "off"]], [["A", "B"], ["A", "B"]]
    for estimator in (sl.Tagger, sl.SegmentTagger):
        with pytest.raises(DataError, match="no label 'NUON'"):
            estimator(rules=[rule(WRONG["any word"])]).fit(xs, ys)


def test_rules_over_a_scorer_are_read_when_they_are_given() -> None:
    scorer = sl.HandedScores(list(DOMAIN.labels), lambda x: [[0.0, 1.0, 2.0]] * len(x))
    for wrong in WRONG.values():
        with pytest.raises(DataError, match="the rule <lambda>"):
            sl.Constrained(scorer, [rule(wrong)])
    column = sl.Constrained(scorer, [rule(RIGHT["label of a column"])])
    assert column.predict([[("x", "B"), ("y", "A")]]) == [["B", "A"]]

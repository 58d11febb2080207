"""Asking functions: forms of returns, tables, conversions, and what is refused."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import sidelight as sl

X = ["Mr.", "Al", "Holt", "ran"]


def one(function, **options):
    return sl.votes([X], {"f": function}, **options)[0].votes["f"]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (None, None),
        ([], None),
        ([None] * 4, None),
        (["A", None, "B", None], ["A", None, "B", None]),
        (("A", None, "B", None), ["A", None, "B", None]),
        (np.array(["A", "B", "A", "A"]), ["A", "B", "A", "A"]),
        ((label for label in "ABAB"), ["A", "B", "A", "B"]),
        ([{"A", "B"}, None, "A", None], [frozenset("AB"), None, "A", None]),
        ("A", ["A"] * 4),
        (7, [7] * 4),
        (np.int64(7), [7] * 4),
        ({"A", "B"}, [frozenset("AB")] * 4),
        ({1: "A", 3: {"B"}}, [None, "A", None, frozenset("B")]),
        ([(1, 2, "PER")], [None, "PER", "PER", None]),
        ([(0, 0, "T"), (1, 2, {"P", "Q"})], ["T", frozenset("PQ"), frozenset("PQ"), None]),
    ],
)
def test_forms_of_returns(returned, expected):
    assert one(lambda words: returned) == expected


def test_spans_are_read_by_a_scheme():
    """As `SegmentTagger.predict_segments` counts: the last token is part of the span."""
    assert one(lambda words: [(1, 2, "PER"), (3, 3, "X")], scheme="BIO") == [None, "B-PER", "I-PER", "B-X"]
    sets = one(lambda words: [(1, 2, {"PER", "ORG"})], scheme="BIO")
    assert sets == [None, {"B-PER", "B-ORG"}, {"I-PER", "I-ORG"}, None]


def test_tokens_that_nobody_votes_on_are_outside_unless_a_function_says_what_is():
    def names(words):
        return [(1, 2, "PER")]

    def small(words):
        return {t: "O" for t, word in enumerate(words) if word.islower()}

    assert sl.votes([X], [names], scheme="BIO")[0].votes["outside"] == ["O", None, None, "O"]
    assert "outside" not in sl.votes([X], [names, small], scheme="BIO")[0].votes
    assert "outside" not in sl.votes([X], [names], scheme="BIO", outside=None)[0].votes
    assert "outside" not in sl.votes([X], [names])[0].votes
    everywhere = sl.labelling_function(outside="O", scheme="BIO")(names)
    assert sl.votes([X], [everywhere])[0].votes == {"names": ["O", "B-PER", "I-PER", "O"]}


def test_a_declared_form_is_kept_to():
    spans = sl.labelling_function(name="s", returns="spans")(lambda words: ["A"] * 4)
    with pytest.raises(sl.DataError, match=r"the function 's', input 0: .* where spans were declared"):
        sl.votes([X], [spans])
    tokens = sl.labelling_function(name="t", returns="tokens")(lambda words: [(0, 1, "label")] * 4)
    with pytest.raises(sl.DataError, match="the function 't', input 0: the vote"):
        sl.votes([X], [tokens])


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (["A"], "1 votes for 4 tokens"),
        ([(0, 4, "A")], "a span from token 0 to 4 of 4"),
        ([(2, 1, "A")], "a span from token 2 to 1 of 4"),
        ([(0, 1, "A"), (1, 2, "B")], "two spans with token 1"),
        ([(0, 1, None)], "a span without a label"),
        ((0, 1, "A"), "a span alone"),
        ({4: "A"}, "a vote on token 4 of 4"),
        ({-1: "A"}, "a vote on token -1 of 4"),
        ([set(), None, None, None], "the vote set()"),
        ([{None}, None, None, None], "the vote {None}"),
        ([["A"], None, None, None], "the vote ['A']"),
        ([float("nan")] * 4, "the vote nan"),
        (float("nan"), "the vote nan"),
    ],
)
def test_bad_returns_are_named_by_function_and_input(returned, problem):
    with pytest.raises(sl.DataError) as caught:
        sl.votes([X, X], {"good": lambda words: None, "f": lambda words: returned})
    assert str(caught.value).startswith(f"the function 'f', input 0: {problem}")


def test_a_function_that_fails_on_tuples_is_told_of_them():
    asked = {"low": lambda words: ["O" if word.islower() else None for word in words]}
    with pytest.raises(sl.DataError, match=r"'islower'; fix the function: tokens are tuples here, a text for each col"):
        sl.votes([[("Ann",), ("sleeps",)]], asked)
    with pytest.raises(sl.DataError, match=r"fix the function$"):
        sl.votes([["Ann", 3]], asked)


def test_a_function_that_fails_is_named():
    with pytest.raises(sl.DataError, match=r"the function 'f', gold input 1: KeyError: 'x'; fix the function"):
        sl.votes([], {"f": lambda words: {}["x"] if len(words) == 1 else None}, gold=sl.gold([X, ["a"]], [X, ["b"]]))


@pytest.mark.parametrize(
    ("functions", "problem"),
    [
        ([], "no labelling functions"),
        ("ab", "a str instead of labelling functions"),
        ([lambda x: None], "has no name"),
        ([functools.partial(print)], "has no name"),
        (["x"], "'x' among the labelling functions"),
        ([X.count, X.count], "two functions are called 'count'"),
        ({"outside": print}, "a function is called 'outside'"),
        ({3: print}, "a function is called 3"),
    ],
)
def test_what_are_no_functions(functions, problem):
    with pytest.raises(sl.DataError, match=problem):
        sl.votes([X], functions)


def test_the_table_counts_tokens():
    functions = {
        "a": lambda words: ["A", "A", "A", None],
        "b": lambda words: ["A", "B", {"A", "B"}, None],
        "c": lambda words: [None, None, None, "A"],
    }
    table = sl.votes([X, X], functions, gold=sl.gold([X], [["A", "B", "B", "B"]])).table
    rows = {row.function: row for row in (*table.functions, table.together)}
    assert [(rows[k].votes, rows[k].overlap, rows[k].conflict) for k in "abc"] == [(6, 6, 2), (6, 6, 2), (2, 0, 0)]
    assert [(rows[k].judged, rows[k].right) for k in "abc"] == [(3, 1), (3, 3), (1, 0)]
    together = rows["together"]
    assert (together.votes, together.overlap, together.conflict, together.right) == (8, 6, 2, 1)
    of_b = {row.label: (row.votes, row.judged, row.right) for row in table.labels if row.function == "b"}
    assert of_b == {"A": (4, 2, 2), "B": (4, 2, 2)}
    told = json.loads(json.dumps(table.as_dict()))
    assert told["tokens"] == 8 and told["functions"][0]["coverage"] == 0.75 and told["functions"][2]["accuracy"] == 0.0
    assert "33.3% of 3" in str(table) and "b B" in table.by_label()


def test_conversions_are_of_the_inputs_alone():
    functions = {
        "a": lambda words: ["A", "A", None, "B"],
        "b": lambda words: ["A", "B", None, {"B", "C"}],
        "c": lambda words: ["B", None, None, None],
    }
    found = sl.votes([X], functions, gold=sl.gold([X], [["A"] * 4]))
    (majority,), (candidates,) = found.majority(), found.candidates()
    assert majority.y == ["A", None, None, "B"]
    assert candidates.y == [("A", "B"), ("A", "B"), None, ("B", "C")]
    assert len(found) == 2 and found[:1] == (found[0],)


def test_inputs_with_one_label():
    functions = {"n": lambda words: "long" if len(words) > 2 else None, "m": lambda words: {"long", "short"}}
    found = sl.votes([["a"] * 3, ["b"]], functions, single=True, gold=[sl.Gold(["a"] * 4, "long")])
    assert found[0].votes == {"n": ["long"], "m": [frozenset({"long", "short"})]}
    assert found.table.functions[0].right == 1
    assert sl.votes([{"w": 1.0}], {"n": lambda x: "A"})[0].votes == {"n": ["A"]}


def test_inputs_with_one_label_have_one_where_nobody_votes():
    found = sl.votes([["a"] * 3, ["b"]], {"n": lambda words: "long" if "b" in words else None}, single=True)
    assert found.table.tokens == 2 and "50.0%" in str(found)
    assert [piece.y for piece in found.majority()] == [[None], ["long"]]
    assert [piece.y for piece in found.candidates()] == [[None], [("long",)]]
    sl.Classifier(learner="partial_crf", labels=["long", "short"]).fit([*found])

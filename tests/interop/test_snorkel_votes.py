"""Snorkel's labelling functions and label matrices as votes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.interop import snorkel_functions, votes_of_matrix

NAMES = ["spam", "ham"]
RAW = [["cheap", "pills", "http"], ["hi", "ann"], ["buy", "it", "now"], ["dear", "bob", "see", "you"]]


class Alike:
    """What Snorkel's `LabelingFunction` is to who calls it."""

    def __init__(self, name: str, f: Callable[[Any], int]) -> None:
        self.name = name
        self._f = f

    def __call__(self, x: Any) -> int:
        return self._f(x)


def point(words: list[str]) -> SimpleNamespace:
    return SimpleNamespace(text=" ".join(words))


def made(kind: Callable[..., Any]) -> list[Any]:
    return [
        kind(name="has_link", f=lambda x: 0 if "http" in x.text else -1),
        kind(name="is_short", f=lambda x: 1 if len(x.text) < 8 else -1),
        kind(name="greets", f=lambda x: np.int64(1) if x.text.startswith(("hi", "dear")) else np.int64(-1)),
    ]


def functions(whose: str) -> list[Any]:
    if whose == "alike":
        return made(Alike)
    return made(pytest.importorskip("snorkel.labeling", reason="needs snorkel, which brings torch").LabelingFunction)


@pytest.mark.parametrize("whose", ["alike", "snorkel"])
def test_functions_vote_for_classes(whose: str) -> None:
    asked = snorkel_functions(functions(whose), labels=NAMES, point=point)
    votes = sl.votes(RAW, asked, single=True)
    assert [piece.votes["has_link"] for piece in votes] == [["spam"], None, [None], None]
    assert [piece.votes["greets"] for piece in votes] == [None, ["ham"], [None], ["ham"]]
    model = sl.Classifier(learner="partial_crf").fit([*votes])
    assert model.predict([RAW[0], RAW[3]]) == NAMES


@pytest.mark.parametrize("whose", ["alike", "snorkel"])
def test_the_matrix_says_what_the_functions_say(whose: str) -> None:
    own = functions(whose)
    if whose == "snorkel":
        from snorkel.labeling import LFApplier

        matrix = LFApplier(own).apply([point(x) for x in RAW], progress_bar=False)
    else:
        matrix = np.array([[one(point(x)) for one in own] for x in RAW])
    gold = sl.gold(RAW[:2], NAMES)
    names = [one.name for one in own]
    asked = sl.votes(RAW, snorkel_functions(own, labels=NAMES, point=point), gold=gold, single=True)
    read = votes_of_matrix(RAW, matrix, labels=NAMES, names=names, gold=gold, gold_matrix=matrix[:2])
    assert read.pieces == asked.pieces
    assert read.tried == asked.tried
    assert str(read) == str(asked)


@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_matrix_goes_to_votes_and_back(matrix: list[list[int]]) -> None:
    read = votes_of_matrix([["x"]] * len(matrix), matrix)
    assert [[-1 if vote in (None, [None]) else vote[0] for vote in piece.votes.values()] for piece in read] == matrix


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: snorkel_functions([len], labels=NAMES)[0](["a"] * 3), "the function 'len' voted for class 3"),
        (lambda: snorkel_functions([Alike("f", lambda x: "spam")])[0]("x"), "the function 'f' returned 'spam'"),
        (lambda: snorkel_functions([Alike("f", lambda x: -2)])[0]("x"), "voted for class -2"),
        (lambda: snorkel_functions([Alike("f", lambda x: True)])[0]("x"), "returned True"),
        (lambda: snorkel_functions(len), "builtin_function_or_method instead of labelling functions"),
        (lambda: snorkel_functions([3]), "3 among the functions"),
        (lambda: votes_of_matrix(RAW, [[0]]), r"shape \(1, 1\) for 4 inputs"),
        (lambda: votes_of_matrix(RAW, np.zeros((4, 1))), "matrix is an array of float64"),
        (lambda: votes_of_matrix(RAW, [[0]] * 4, names=["a", "b"]), "names is"),
        (lambda: votes_of_matrix(RAW, [[0]] * 4, gold=sl.gold(RAW[:1], ["x"])), "gold_matrix is an array"),
        (
            lambda: votes_of_matrix(RAW, [[0]] * 4, gold=sl.gold(RAW[:1], ["x"]), gold_matrix=[[0, 1]]),
            "matrix has 1 columns, and gold_matrix 2",
        ),
    ],
)
def test_mistakes(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(sl.DataError, match=told):
        call()

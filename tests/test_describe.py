"""A description counts what is there and finds what contradicts."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.describe import Conflict, KindSummary, describe
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Chunk, Companion, Evidence, Gold, Origin, Partial, Unlabeled


def problems(*evidence: Evidence) -> list[tuple[int, int, str]]:
    return [(found.first, found.second, found.problem) for found in describe(evidence).conflicts]


def test_counts_per_kind() -> None:
    found = describe(
        [
            Unlabeled(["a", "b"], weight=0.5),
            Gold(["a", "b"], ["X", "Y"], weight=2),
            Gold({"f": 1.0, "g": 2.0}, "X"),
            Partial(["c", "d"], ["X", None]),
            Candidates(["e", "f"], [("X", "Y"), ("Z",)]),
            Candidates(["g"], [None]),
            Companion(["a"], 1),
            Companion(["b"], -1),
            Companion(["c"], -1),
            Companion(np.ones(4), -1),
        ]
    )
    assert found.kinds == (
        KindSummary("gold", 2, 3, 3.0),
        KindSummary("partial", 1, 2, 1.0, labels_per_token=2.0, ambiguous=0.5),
        KindSummary("candidates", 2, 3, 2.0, labels_per_token=2.0, ambiguous=2 / 3),
        KindSummary("companion", 4, 4, 4.0),
        KindSummary("unlabeled", 1, 2, 0.5),
    )
    assert found.label_counts == {"X": 3, "Y": 1}
    assert (found.good, found.bad, found.duplicates, found.conflicts) == (1, 3, 0, ())


def test_nothing_known_of_the_labels() -> None:
    (row,) = describe([Partial(["a"], [None])]).kinds
    assert (row.labels_per_token, row.ambiguous) == (None, 1.0)


def test_the_text() -> None:
    origin = Origin("a.txt", range(3, 4))
    text = str(
        describe(
            [
                Gold(["a"], ["X"], origin=origin),
                Gold(["a"], ["Y"]),
                Gold(["b"], ["Y"]),
                Candidates(["b"], [None]),
                Companion(["c"], 1, weight=1234.5),
                Unlabeled(object()),
            ]
        )
    )
    assert text == (
        "kind        examples  tokens   weight  ambiguity\n"
        "gold               3       3        3\n"
        "candidates         1       1        1  2.00 labels a token, 100.0% ambiguous\n"
        "companion          1       1  1,234.5  1 good, 0 bad\n"
        "unlabeled          1       1        1\n"
        "total              6       6  1,239.5\n"
        "\n"
        "label  count  share\n"
        "Y          2  66.7%\n"
        "X          1  33.3%\n"
        "\n"
        "duplicates: 0\n"
        "\n"
        "conflicts: 1\n"
        "  evidence 0 (a.txt:3) and evidence 1: the same input with different gold outputs"
    )
    assert str(describe([])) == "no evidence"


def test_long_lists_are_cut() -> None:
    text = str(describe([Gold(["a"], [f"L{n:02}"]) for n in range(25)]))
    assert "L19" in text
    assert "L20" not in text
    assert text.count("… and 5 more") == 1  # 25 labels
    assert text.count("… and 4 more") == 1  # 24 conflicts


def test_conflicts() -> None:
    other = "the same input with different gold outputs"
    assert problems(Gold(["a"], ["X"]), Gold(["a"], ["X"]), Gold(["a"], ["Y"])) == [(0, 2, other)]
    both = "the same input is both good and bad"
    assert problems(Companion(["a"], -1), Companion(["b"], 1), Companion(["a"], 1)) == [(0, 2, both)]
    assert problems(Candidates(["a", "b"], [None, {"Y"}]), Gold(["a", "b"], ["X", "X"])) == [
        (1, 0, "the gold label 'X' is outside the candidates at token 1")
    ]
    assert problems(Gold({"f": 1.0}, "X"), Partial({"f": 1.0}, ["Y"])) == [
        (0, 1, "the gold label 'X' is not the known label 'Y' at token 0")
    ]
    assert problems(Gold(["a"], ["X"]), Partial(["a"], [None]), Candidates(["a"], [("X", "Y")])) == []
    origins = (Origin("a.txt", [2]), Origin("b.txt", []))
    assert str(Conflict(0, 7, "both", origins)) == "evidence 0 (a.txt:2) and evidence 7 (b.txt): both"


@dataclass
class Page:
    words: list[str]


@dataclass(frozen=True)
class Tree:
    heads: tuple[int, ...]


PAGE = Page(["a"])


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (["a", "b"], ("a", "b"), True),
        ([("a", "N")], [["a", "N"]], True),
        ([{"f": 1.0, "g": 2.0}], [{"g": 2.0, "f": 1.0}], True),
        ([{"f": 1.0}], [{"f": 2.0}], False),
        ([{"f": [1, {"g": 2}]}], [{"f": [1, {"g": 2}]}], True),
        (np.ones(2), np.ones(2), True),
        ({"a", "b"}, frozenset("ab"), True),
        ("a", ["a"], False),
        (PAGE, PAGE, True),
        (Page(["a"]), Page(["a"]), False),
        (Tree((0, 1)), Tree((0, 1)), True),
    ],
)
def test_the_same_input(one: Any, two: Any, same: bool) -> None:
    assert describe([Unlabeled(one), Unlabeled(two)]).duplicates == same
    assert bool(problems(Gold(one, "X"), Gold(two, "Y"))) == same


def test_duplicates_say_the_same_of_the_same_input() -> None:
    assert describe([Gold(["a"], ["X"]), Unlabeled(["a"]), Gold(["a"], ["Y"])]).duplicates == 0
    assert describe([Candidates(["a"], [{"X", "Y"}]), Candidates(["a"], [("Y", "X")])]).duplicates == 1
    assert describe([Companion(["a"], 1), Companion(["a"], -1), Companion(["a"], 1)]).duplicates == 1


def test_equal_outputs_do_not_conflict() -> None:
    assert problems(Gold(["a"], ["X"]), Gold(["a"], ("X",)), Gold(["a"], np.array(["X"]))) == []
    assert problems(Gold("text", Tree((0,))), Gold("text", Tree((0,)))) == []


def test_things_that_are_not_evidence() -> None:
    with pytest.raises(DataError, match="evidence 1 is a list; wrap the input"):
        describe([Unlabeled(["a"]), ["a"]])  # type: ignore[list-item]


WORDS = st.lists(st.sampled_from("ab"), min_size=1, max_size=2)


@settings(deadline=None)
@given(st.lists(WORDS.flatmap(lambda x: st.tuples(st.just(x), st.lists(st.sampled_from("XY"), min_size=len(x))))))
def test_adding_a_copy_adds_only_duplicates(pairs: list[tuple[list[str], list[str]]]) -> None:
    evidence = [Gold(x, y[: len(x)]) for x, y in pairs]
    once, twice = describe(evidence), describe([*evidence, *(replace(piece) for piece in evidence)])
    assert once.label_counts == Counter(label for piece in evidence for label in piece.y)
    assert twice.duplicates == once.duplicates + len(evidence)
    assert {found.first for found in twice.conflicts} == {found.first for found in once.conflicts}


def test_many_pieces_about_one_input_are_described_quickly() -> None:
    evidence = [Gold(["a", "b"], ["X", str(n)]) for n in range(10_000)]
    started = time.perf_counter()
    found = describe([*evidence, *(Companion(["a", "b"], 1 - 2 * (n % 2)) for n in range(10_000))])
    assert time.perf_counter() - started < 5.0  # a small part of this on an idle machine; quadratic time would not fit
    assert len(found.conflicts) == 9_999 + 9_999


def test_the_tokens_of_a_chunk_have_the_labels_of_its_labelings() -> None:
    chunk = Chunk(0, [("B", "I"), ("O", "I")])
    piece, other = (
        Candidates(["a", "b", "c"], [None, None, {"O"}], chunks=[one]) for one in (chunk, Chunk(0, [("B", "I")]))
    )
    found = describe([piece])
    assert found.kinds[0].labels_per_token == pytest.approx(4 / 3)
    assert describe([piece, other]).duplicates == 0 and describe([piece, piece]).duplicates == 1
    assert describe([Gold(["a", "b", "c"], ["B", "O", "O"]), piece]).conflicts[0].problem.endswith("at token 1")

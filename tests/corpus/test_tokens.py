"""Words and marks come apart, and stay apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.corpus import parse
from sidelight.corpus.tokens import write


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A. B. Holt", ["A", ".", "B", ".", "Holt"]),
        ("pp. 45-67.", ["pp", ".", "45", "-", "67", "."]),
        ("pp. 45–67", ["pp", ".", "45", "–", "67"]),
        ("12(3):45-67", ["12", "(", "3", ")", ":", "45", "-", "67"]),
        ("J.-P. O'Neil", ["J", ".", "-", "P", ".", "O'Neil"]),
        ("real-time Müller", ["real-time", "Müller"]),
        ("CS-TR-93-12", ["CS-TR", "-", "93", "-", "12"]),
        ("“Deep trees,” 24th", ["“", "Deep", "trees", ",", "”", "24th"]),
        ("  \t\n ", []),
    ],
)
def test_examples(text: str, tokens: list[str]) -> None:
    assert parse(text) == tokens
    assert parse(write(tokens)) == tokens


@given(st.text())
def test_nothing_but_space_is_lost(text: str) -> None:
    assert "".join(parse(text)) == "".join(text.split())


@given(st.text() | st.text("aZ9.-'’–,:;()[]\"“”/ _&", max_size=20))
def test_tokens_joined_by_spaces_parse_to_themselves(text: str) -> None:
    tokens = parse(text)
    assert parse(" ".join(tokens)) == tokens


@given(st.text() | st.text("aZ9.-'’–,:;()[]\"“”/ _&", max_size=20))
def test_written_tokens_parse_to_themselves(text: str) -> None:
    tokens = parse(text)
    assert parse(write(tokens)) == tokens

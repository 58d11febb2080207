"""Votes in JSON lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.data import load_evidence
from sidelight.data.json_lines.votes import votes_as_lines
from sidelight.errors import DataError
from sidelight.evidence import Voted

LABEL = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
VOTE = st.none() | LABEL | st.frozensets(LABEL, min_size=1, max_size=3)


@st.composite
def pieces(draw):
    x = draw(st.lists(LABEL, min_size=1, max_size=4))
    votes = st.none() | st.lists(VOTE, min_size=len(x), max_size=len(x))
    named = draw(st.dictionaries(LABEL, votes, min_size=1, max_size=3))
    return Voted(x, named, weight=draw(st.sampled_from([1.0, 0.5])))


@given(st.lists(pieces(), min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("votes") / "votes.jsonl"
    path.write_text(votes_as_lines(made), encoding="utf-8")
    assert load_evidence(path, "votes") == made


def test_single_inputs_have_one_vote(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text(votes_as_lines([Voted({"w": 1.0}, {"f": ["A"], "g": None, "h": [{"A", "B"}]})]))
    assert path.read_text() == '{"features": {"w": 1.0}, "votes": {"f": "A", "g": null, "h": ["A", "B"]}}\n'
    assert load_evidence(path, "votes")[0].votes == {"f": ["A"], "g": None, "h": [frozenset("AB")]}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"tokens": ["a"]}', 'no "votes"'),
        ('{"tokens": ["a"], "votes": []}', '"votes" is []'),
        ('{"tokens": ["a"], "votes": {}}', '"votes" is {}'),
        ('{"tokens": ["a"], "votes": {"f": ["A", "B"]}}', "1 tokens but 2 votes of 'f'"),
        ('{"tokens": ["a"], "votes": {"f": "A"}}', "\"votes of 'f'\" is not a list"),
        ('{"tokens": ["a"], "votes": {"f": [[]]}}', "token 0: 'f' votes []"),
        ('{"tokens": ["a"], "votes": {"f": [3]}}', "token 0: 'f' votes 3"),
        ('{"tokens": ["a"], "votes": {"f": [[""]]}}', "token 0: 'f' votes"),
    ],
)
def test_bad_lines(tmp_path, line, problem):
    path = tmp_path / "votes.jsonl"
    path.write_text(line)
    with pytest.raises(DataError) as caught:
        load_evidence(path, "votes")
    assert problem in str(caught.value) and "votes.jsonl:1" in str(caught.value)


def test_columns_have_no_votes(tmp_path):
    path = tmp_path / "votes.txt"
    path.write_text("a A\n")
    with pytest.raises(DataError, match="votes need JSON lines"):
        load_evidence(path, "votes")

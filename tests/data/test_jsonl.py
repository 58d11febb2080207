"""JSON lines: every form that a line may take, and every way it may be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data import Corpus, read_jsonl
from sidelight.data.json_lines.lines import read_records
from sidelight.errors import DataError


def read(tmp_path: Path, *lines: object) -> Corpus:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return read_jsonl(path)


def failure(tmp_path: Path, *lines: object) -> str:
    with pytest.raises(DataError) as caught:
        read(tmp_path, *lines)
    assert caught.value.remedy
    return str(caught.value).removeprefix(str(tmp_path) + "/")


def test_three_sorts_of_tokens(tmp_path: Path) -> None:
    corpus = read(
        tmp_path,
        {"tokens": ["a", "b"], "labels": ["X", None]},
        "",
        {"tokens": [["a", "N"], ["b", "V"]], "labels": ["X", "Y"]},
        {"tokens": [{"w=a": 1, "cap": True}, {}], "labels": ["X", "Y"]},
    )
    assert corpus.xs == [["a", "b"], [("a", "N"), ("b", "V")], [{"w=a": 1.0, "cap": 1.0}, {}]]
    assert corpus.ys == [["X", None], ["X", "Y"], ["X", "Y"]]
    assert [origin.line(0) for origin in corpus.origins] == [1, 3, 4]
    assert [origin.line(1) for origin in corpus.origins] == [1, 3, 4]


def test_features_and_one_label(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"features": {"long": 2}, "label": "x"}, {"features": {}, "label": None})
    assert (corpus.xs, corpus.ys) == ([{"long": 2.0}, {}], ["x", None])


def test_no_labels_at_all(tmp_path: Path) -> None:
    assert read(tmp_path, {"tokens": ["a"]}, {"features": {}}).ys is None


def test_everything_a_line_may_say(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"tokens": ["a", "b"], "candidates": [["A", "B", "A"], null], "labels": ["A", null], "weight": 2}\n'
        '{"tokens": ["a"], "good": false}\n'
        '{"features": {"f": 1}, "candidates": ["A", "B"]}\n'
    )
    one, two, three = read_records(path)
    assert (one.candidates, one.labels, one.weight, one.good) == ([("A", "B"), None], ["A", None], 2.0, None)
    assert (two.good, two.weight) == (False, 1.0)
    assert (three.x, three.candidates) == ({"f": 1.0}, [("A", "B")])


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(st.text(), st.text(min_size=1) | st.none()), min_size=1), min_size=1))
def test_what_is_dumped_is_read(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str | None]]]
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    entries = [{"tokens": [w for w, _ in sentence], "labels": [y for _, y in sentence]} for sentence in sentences]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    corpus = read_jsonl(path)
    assert corpus.xs == [entry["tokens"] for entry in entries]
    assert corpus.ys == [entry["labels"] for entry in entries]


GOOD = {"tokens": ["a"], "labels": ["X"]}


def test_other_keys_are_let_be(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**GOOD, "id": 7, "text": "a", "meta": {}, "predicted": ["Y"]}) + "\n")
    assert read_jsonl(path).ys == [["X"]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"tokens": ["a"}', "not JSON (Expecting ',' delimiter at column 16); write one JSON object on each line"),
        ("[1]", "not a JSON object; write one object a line"),
        ({"tokens": ["a"], "lables": ["X"]}, "unknown key 'lables'; write 'labels' if it is meant"),
        ({"tokens": ["a"], "Weight": 2}, "unknown key 'Weight'; write 'weight' if it is meant"),
        ({"labels": ["X"]}, 'one of "tokens" and "features" is needed'),
        ({**GOOD, "features": {}}, 'one of "tokens" and "features" is needed'),
        ({"tokens": ["a", "b"], "labels": ["X"]}, "2 tokens but 1 labels; give one element of labels per token"),
        ({"tokens": ["a"], "candidates": [["X"], None]}, "1 tokens but 2 candidates"),
        ({"tokens": ["a"], "labels": "X"}, '"labels" is not a list'),
        ({"tokens": []}, '"tokens" is empty; give at least one token, or leave the line out'),
        ({"tokens": "a b"}, '"tokens" is not a list'),
        ({"tokens": ["a", 3]}, "token 1 is 3; make all tokens strings, lists of strings, or objects"),
        ({"tokens": [None, "a"]}, "token 0 is null; make all tokens strings, lists of strings, or objects"),
        ({"tokens": ["a", ["b"]]}, 'token 1 is ["b"]; make all tokens strings, lists of strings, or objects'),
        ({"tokens": [["a"], 3]}, "token 1 is 3"),
        ({"tokens": [["a", "b"], ["c"]]}, "token 1 has 1 columns where 2 were expected"),
        ({"tokens": [[]]}, "token 0 has 0 columns"),
        ({"tokens": [["a", 1]]}, "token 0 has a column that is not a string"),
        ({"tokens": [{}, {"f": float("nan")}]}, "NaN is not a finite number; give a finite number, or leave it out"),
        ({"tokens": [{"f": float("-inf")}]}, "-Infinity is not a finite number"),
        ('{"tokens": [{}, {"f": 1e999}]}', "token 1: the value of attribute 'f' is not finite"),
        ({"tokens": [{"f": 10**400}]}, "token 0: the value of attribute 'f' is not finite"),
        ('{"tokens": [{"f": ' + "9" * 5000 + "}]}", "JSON that cannot be used"),
        ("[" * 200_000, "JSON that cannot be used"),
        ({"tokens": [{"w": "on"}]}, "token 0: the value \"on\" of attribute 'w' is not a number; write a word into"),
        ('{"tokens": [{"f": 1, "f": 2}]}', "the key 'f' is given twice; give it once"),
        ('{"tokens": ["\\ud800"]}', "a \\u escape for half of a surrogate pair"),
        ({"features": [1]}, '"features" is not an object'),
        ({"features": {}, "labels": ["X"]}, '"labels" beside "features"; write "label", with one label'),
        ({"tokens": ["a"], "label": "X"}, '"label" beside "tokens"; write "labels"'),
        ({"tokens": ["a", "b"], "labels": ["X", 1]}, "token 1: the label 1; write a label as a string"),
        ({"tokens": ["a"], "labels": [""]}, 'token 0: the label ""'),
        ({"tokens": ["a", "b"], "candidates": [["A"], []]}, "token 1: an empty candidate set; give at least one label"),
        ({"tokens": ["a"], "candidates": ["A"]}, 'token 0: the candidates "A"; write a list'),
        ({"tokens": ["a"], "candidates": [["A", None]]}, "token 0: the candidate null"),
        ({"tokens": ["a"], "good": 1}, '"good" is 1; write true or false'),
        ({"tokens": ["a"], "good": None}, '"good" is null; write true or false'),
        ({"tokens": ["a"], "weight": -1}, '"weight" is -1; give a number, 0 or more'),
        ({"tokens": ["a"], "weight": True}, '"weight" is true'),
        ({"tokens": ["a"], "weight": "1"}, '"weight" is "1"'),
        ('{"tokens": ["a"], "weight": 1e999}', '"weight" is not finite'),
    ],
    ids=str,
)
def test_bad_lines_are_named(tmp_path: Path, line: object, problem: str) -> None:
    message = failure(tmp_path, GOOD, "", line)
    assert message.startswith(f"a.jsonl:3: {problem}")


def test_bad_files(tmp_path: Path) -> None:
    assert failure(tmp_path, "", " ").startswith("a.jsonl: no inputs; write one JSON object a line")
    assert failure(tmp_path, GOOD, GOOD, {"tokens": ["a"]}) == (
        "a.jsonl:3: no labels, though 2 other lines have them; label every line, or none"
    )

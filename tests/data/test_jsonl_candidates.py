"""Known labels, initial labels and chunks in JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sidelight as sl
from sidelight.data import load_evidence
from sidelight.errors import DataError

CHUNK = {"first": 0, "labelings": [["B", "I"], ["O", "O"]]}
LINE = {"tokens": ["a", "b", "c"], "candidates": [None, None, ["B", "O"]], "chunks": [CHUNK]}


def lines(folder: Path, *entries: Any) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def test_what_python_can_say_a_line_can(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {**LINE, "known": [None, None, "O"], "initial": ["B", "I", None]},
        {"tokens": ["a", "b"], "chunks": [CHUNK]},
        {"features": {"f": 1}, "candidates": ["A", "B"], "initial": "B"},
        {"features": {"f": 1}, "candidates": ["A", "B"], "known": "A"},
    )
    chunk = sl.Chunk(0, [("B", "I"), ("O", "O")])
    assert load_evidence(path, "candidates") == [
        sl.Candidates(
            ["a", "b", "c"],
            [None, None, ("B", "O")],
            known=[None, None, "O"],
            initial=["B", "I", None],
            chunks=(chunk,),
        ),
        sl.Candidates(["a", "b"], [None, None], chunks=(chunk,)),
        sl.Candidates({"f": 1.0}, [("A", "B")], initial=["B"]),
        sl.Candidates({"f": 1.0}, [("A", "B")], known=["A"]),
    ]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"chunks": {"first": 0}}, '"chunks" is not a list; give a list of chunks'),
        ({"chunks": [[0, ["B"]]]}, 'the chunk [0, ["B"]]; write e.g.'),
        ({"chunks": [{**CHUNK, "last": 1}]}, "the chunk {"),
        ({"chunks": [{**CHUNK, "first": "0"}]}, 'a chunk from token "0" on; count tokens from 0'),
        ({"chunks": [{**CHUNK, "first": True}]}, "a chunk from token true on"),
        ({"chunks": [{**CHUNK, "labelings": ["B"]}]}, "the labelings of a chunk are not a list of lists"),
        ({"chunks": [{**CHUNK, "labelings": [["B", None]]}]}, "a labeling of a chunk has the label null"),
        ({"initial": ["B"]}, "3 tokens but 1 initial"),
        ({"initial": "B"}, '"initial" is not a list'),
        ({"known": [None, None, 3]}, "token 2: the label 3; write a label as a string"),
        ({"known": [None, None, "X"]}, "token 2: the known label 'X' is not among the candidates"),
        ({"known": [None] * 3, "labels": [None] * 3}, '"known" beside "labels"; write one of them'),
        ({"chunk": []}, "unknown key 'chunk'; write 'chunks' if it is meant"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_lines_are_named(tmp_path: Path, more: dict[str, Any], problem: str) -> None:
    entry = {key: value for key, value in LINE.items() if key != "chunks" or "chunk" not in more}
    with pytest.raises(DataError) as caught:
        load_evidence(lines(tmp_path, LINE, {**entry, **more}), "candidates")
    assert str(caught.value).removeprefix(str(tmp_path) + "/").startswith(f"a.jsonl:2: {problem}")


def test_an_input_by_its_features_has_no_chunks(tmp_path: Path) -> None:
    path = lines(tmp_path, {"features": {"f": 1}, "candidates": None, "chunks": [CHUNK]})
    with pytest.raises(DataError, match='"chunks" beside "features"'):
        load_evidence(path, "candidates")


def test_the_file_and_line_of_a_chunk_that_does_not_fit(tmp_path: Path) -> None:
    path = lines(tmp_path, LINE, {**LINE, "chunks": [{**CHUNK, "first": 2}]})
    with pytest.raises(DataError, match=r"a\.jsonl:2: .*a chunk of 2 tokens from token 2 on, where there are 3"):
        sl.Tagger(learner="cllp").fit(load_evidence(path, "candidates"))


def test_other_kinds_leave_the_keys_alone(tmp_path: Path) -> None:
    path = lines(tmp_path, {"tokens": ["a"], "labels": ["X"], "chunks": "NP", "initial": "a", "known": 7, "unknown": 1})
    assert load_evidence(path, "gold") == [sl.Gold(["a"], ["X"])]

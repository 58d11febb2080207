"""`sidelight votes`, and training from what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FUNCTIONS = """
import re

def _small(word):
    return word.islower()

def names(words):
    return [(t, t, "PER") for t, word in enumerate(words) if t and word.istitle()]

def small(words):
    return ["O" if _small(word) else None for word in words]
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "raw.txt").write_text("the\nman\nAl\nsaw\nIda\n\nwe\nsaw\nBo\n\n")
    (tmp_path / "gold.txt").write_text("the O\nman O\nEd B-PER\n\nUs O\n")
    (tmp_path / "f.py").write_text(FUNCTIONS)
    return tmp_path


def test_from_functions_to_a_model(run, files):
    asked = run("votes", "raw.txt", "--functions", "f.py", "--gold", "gold.txt", "--scheme", "BIO", "--out", "v.jsonl",
                "--json", "t.json").out  # fmt: skip
    assert asked.splitlines()[1].split() == ["names", "3", "37.5%", "0.0%", "0.0%", "100.0%", "of", "1"]
    lines = [json.loads(line) for line in (files / "v.jsonl").read_text().splitlines()]
    assert lines[1] == {
        "tokens": ["we", "saw", "Bo"],
        "votes": {"names": [None, None, "B-PER"], "small": ["O", "O", None]},
    }
    assert len(lines) == 4
    assert json.loads((files / "t.json").read_text())["functions"][0]["votes"] == 3
    trained = run("train", "--gold", "gold.txt", "--votes", "v.jsonl", "--learner", "partial_crf", "--features",
                  "words", "--out", "m.sidelight").out  # fmt: skip
    assert "function  votes  right  by its votes" in trained and "small" in trained
    assert "8 votes of 2 functions" not in trained
    assert "votes of 2 functions" in run("describe", "--votes", "v.jsonl").out
    found = run("predict", "m.sidelight", "raw.txt").out.split()
    assert found[4:6] == ["Al", "B-PER"]


def test_a_list_of_functions_is_taken_as_it_is(run, files):
    (files / "g.py").write_text(FUNCTIONS + "\nFUNCTIONS = {'one': small}\n")
    assert "one O" in run("votes", "raw.txt", "--functions", "g.py", "--by-label").out


def test_mistakes_are_one_line(run, files):
    (files / "none.py").write_text("x = 1\n")
    (files / "bad.py").write_text("def f(words):\n    return [1, 2]\n")
    (files / "line.py").write_text("\nimport nothing_of_the_sort\n")
    for name, problem in (("none.py", "no labelling functions"), ("bad.py", "the function 'f', input 0: 2 votes for 5"),
                          ("line.py", "line.py:2"), ("missing.py", "there is no such file")):  # fmt: skip
        assert problem in run("votes", "raw.txt", "--functions", name, code=2).err
    error = run("train", "--votes", "gold.txt", "--learner", "partial_crf", "--out", "m.sidelight", code=2).err
    assert "votes need JSON lines" in error
    run("votes", "raw.txt", "--functions", "f.py", "--out", "v.jsonl")
    refused = run("train", "--votes", "v.jsonl", "--learner", "crf", "--out", "m.sidelight", code=2).err
    assert "use the learner partial_crf" in refused

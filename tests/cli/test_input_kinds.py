"""Inputs of another kind than the model of a file was trained on, and inputs of which it knows nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

WORDS = [["the", "Light", "is", "on"], ["a", "Lamp", "was", "off"]]
LABELS = [["D", "N", "V", "P"]] * 2
DICTS = [[{f"w={word}": 1, "title": word.istitle()} for word in x] for x in WORDS]
UNLIKE = ["zq" * 3 + str(n) for n in range(30)]


def test_other_inputs_than_in_training_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "columns.txt").write_text("\n".join(f"{w} {y}" for w, y in zip(WORDS[0], LABELS[0])) + "\n")
    dicts = [{"tokens": x, "labels": y} for x, y in zip(DICTS, LABELS)]
    (tmp_path / "dicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in dicts))
    for name in ("columns.txt", "dicts.jsonl"):
        run("train", "--gold", name, "--out", f"{name}.model", "--learner", "crf", "--quiet")
    (tmp_path / "words.txt").write_text("the\nlight\n")
    found = run("predict", "dicts.jsonl.model", "words.txt", code=2)
    assert found.err.startswith("error: words.txt:1: columns where the model looks at attributes; give attributes")
    assert "give columns" in run("predict", "columns.txt.model", "dicts.jsonl", code=2).err
    assert run("evaluate", "dicts.jsonl.model", "columns.txt", code=2).err.count("\n") == 1
    strange = [{"tokens": [{f"word={w}": 1} for w in UNLIKE], "labels": ["N"] * 30}]
    (tmp_path / "strange.jsonl").write_text(json.dumps(strange[0]) + "\n")
    assert "note: the model knows 0 of the 30 features" in run("predict", "dicts.jsonl.model", "strange.jsonl").err
    assert "note: the model knows" in run("evaluate", "dicts.jsonl.model", "strange.jsonl").err

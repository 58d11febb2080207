"""`sidelight export`: JSON and ONNX files of a model, and what cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sidelight as sl
from sidelight.rules import gallery


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.sidelight"
    sl.Tagger(learner="perceptron", max_rounds=1).fit([["light", "on"]], [["N", "P"]]).save(path)
    return str(path)


def test_json(run, model):
    done = run("export", model, "--to", "json", "--out", "model.json")
    assert done.out.startswith("model.json: ")
    held = json.loads(Path("model.json").read_text(encoding="utf-8"))
    assert (held["format"], held["version"], held["task"]) == ("sidelight export", 1, "tokens")


def test_onnx(run, model):
    onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
    run("export", model, "--to", "onnx", "--out", "model.onnx")
    assert {one.name for one in onnx.load("model.onnx").graph.output} == {"labels", "scores"}


def test_rules_are_no_part_of_it(run, tmp_path):
    rules = [gallery.at_most(1, "N")]
    tagger = sl.Tagger(learner="perceptron", max_rounds=1, rules=rules, rules_in="training")
    tagger.fit([["light", "on"]], [["N", "P"]]).save(tmp_path / "ruled.sidelight")
    done = run("export", "ruled.sidelight", "--to", "json", "--out", "model.json")
    assert "was trained under the rules at_most_1_N, which are not in the exported file" in done.err


def test_what_cannot_be_written(run, model, tmp_path):
    assert "pmml" in run("export", model, "--to", "pmml", "--out", "model.x", code=2).err
    assert "would write over it" in run("export", model, "--to", "json", "--out", model, code=2).err
    sl.SegmentTagger(learner="perceptron", max_rounds=1).fit([["light", "on"]], [["N", "P"]]).save("segments.sidelight")
    failed = run("export", "segments.sidelight", "--to", "json", "--out", "model.json", code=2)
    assert failed.err.count("\n") == 1
    assert "a model of segments cannot be exported in this form; export that of a Tagger or a Classifier" in failed.err
    assert not Path("model.json").exists()

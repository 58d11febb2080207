"""Label Studio's own library takes what is written for it, and finds the same labels in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sidelight.annotation_tools import document, label_studio

interface = pytest.importorskip("label_studio_sdk.label_interface", reason="needs label-studio-sdk")
converter = pytest.importorskip("label_studio_sdk.converter", reason="needs label-studio-sdk")

CONFIG = """<View>
  <Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>
  <Text name="text" value="$text"/>
</View>"""
TEXTS = ("Ann Holt left Oslo .\nBob met Eve", "nobody came", "🙂 Bob Berg in New York")
ROWS = (
    ("B-PER", "I-PER", "O", "B-LOC", "O"),
    ("B-PER", "O", "B-PER"),
    ("O", "O"),
    ("O", "B-PER", "I-PER", "O", "B-LOC", "I-LOC"),
)


@pytest.fixture
def tasks() -> list[dict[str, Any]]:
    """What is written of predictions, with how sure they are."""
    sure = [[0.5 + 0.05 * t for t, _ in enumerate(row)] for row in ROWS]
    found = json.loads(label_studio.text_of([document(text) for text in TEXTS], ROWS, confidence=sure))
    assert len(found) == len(TEXTS)
    return found


def test_its_interface_takes_the_predictions(tasks: list[dict[str, Any]]) -> None:
    project = interface.LabelInterface(CONFIG)
    for task in tasks:
        assert project.validate_task({"data": task["data"]})
        for prediction in task["predictions"]:
            assert project.validate_prediction(prediction, return_errors=True) == []


def test_its_interface_would_refuse_others(tasks: list[dict[str, Any]]) -> None:
    [prediction] = tasks[0]["predictions"]
    prediction["result"][0]["value"]["labels"] = ["ORG"]
    assert interface.LabelInterface(CONFIG).validate_prediction(prediction, return_errors=True)


def test_its_converter_finds_the_same_labels(tasks: list[dict[str, Any]], tmp_path: Path) -> None:
    """Predictions that an annotator has taken over, exported as CoNLL 2003 and read again by us too."""
    taken = [{**task, "id": k, "annotations": [{"id": k, **task["predictions"][0]}]} for k, task in enumerate(tasks)]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(taken), encoding="utf-8")
    converter.Converter(CONFIG, str(tmp_path)).convert_to_conll2003(str(path), str(tmp_path / "out"), is_dir=False)
    lines = (tmp_path / "out/result.conll").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split()[-1] for line in lines if line] == [label for row in ROWS for label in row]
    assert [tuple(piece.y) for piece in label_studio.read(path).evidence] == list(ROWS)

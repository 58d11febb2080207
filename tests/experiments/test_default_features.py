"""What the groups of the standard features are worth: the tasks, the means, and the corpora where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sidelight.experiments import default_features as experiment
from sidelight.experiments import reproduce
from sidelight.experiments.default_features import METHODS, STANDARD, FeatureTask, TaggedPart, features_of, score
from sidelight.experiments.grid import LabelledExamples
from sidelight.features import standard, window

XS = [["the", "Light", "is", "on"], ["a", "Lamp", "was", "off"], ["no", "Candle", "is", "lit"]]
YS = [["D", "N", "V", "P"]] * 3


def small(columns: int = 1) -> TaggedPart:
    xs = XS if columns == 1 else [[(word, word[0]) for word in x] for x in XS]
    return TaggedPart(LabelledExamples(xs[:2], YS[:2]), LabelledExamples(xs[2:], YS[2:]), spans=False)


def test_methods_leave_one_group_out_each():
    assert features_of(STANDARD, columns=2) == standard(2) and features_of("window", columns=2) == window()
    sizes = {method: len(features_of(method, columns=2).templates) for method in METHODS if "without" in method}
    assert len(sizes) == 8 and all(size < len(standard(2).templates) for size in sizes.values())


def test_the_score_is_of_the_development_sentences():
    corpus = small()
    assert score({"small": corpus}, FeatureTask("small", STANDARD, 2, 0)) == 100.0
    wrong = corpus._replace(development=LabelledExamples(corpus.development.xs, [["X"] * 4]))
    assert score({"small": wrong}, FeatureTask("small", STANDARD, 2, 0)) == 0.0


def test_rows_means_and_json(monkeypatch, tmp_path: Path):
    study = {"names, news": small(), "tags, web": small(), "chunks, with tags": small(columns=2)}
    monkeypatch.setattr(experiment, "corpora", lambda data: study)
    monkeypatch.setattr(experiment, "SIZES", (1, 2))
    monkeypatch.setattr(experiment, "DRAWS", 2)
    told: list[str] = []
    rows = reproduce("features", data=tmp_path, json_path=tmp_path / "rows.json", n_jobs=1, report=told.append)
    assert json.loads((tmp_path / "rows.json").read_text()) == rows
    of = {(row["setting"], row["method"]): row for row in rows}
    assert len(of) == len(rows)
    for method in ("standard", "without word", "window"):
        values = [of[f"{name}, 2", method]["value"] for name in study]
        assert of["all corpora, 2", method]["value"] == pytest.approx(sum(values) / 3)
    assert ("chunks, with tags, 1", "without columns") in of and ("tags, web, 1", "without columns") not in of
    assert ("all corpora, 1", "without columns") not in of
    assert of["names, news, 1000", "spelling"]["draws"] == 1
    assert "learner crf" in told[-2]


def test_the_corpora():
    if "SIDELIGHT_DATA" not in os.environ:
        pytest.skip("SIDELIGHT_DATA does not name the folder of the corpora")
    found = experiment.corpora(Path(os.environ["SIDELIGHT_DATA"]))
    assert len(found) == 8
    for name, corpus in found.items():
        assert len(corpus.development.xs) == (100 if name.startswith("fields") else 300)
        assert len(corpus.train.xs) >= max(experiment.SIZES)
        assert corpus.spans == any(label.startswith("B-") for y in corpus.train.ys for label in y)
    assert len(found["names, news"].train.xs) >= experiment.MUCH

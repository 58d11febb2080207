"""`sidelight train --structure segments` and `--rules-in training`."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLD = "ed\tname\nholt\tname\n1994\tyear\n\nal\tname\n1995\tyear\n\n"
RULES = "from sidelight.rules import gallery\n\none_year = gallery.at_most(1, 'year')\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.txt").write_text(GOLD, encoding="utf-8")
    (tmp_path / "raw.txt").write_text("al\nholt\n1994\n\n", encoding="utf-8")
    (tmp_path / "rules.py").write_text(RULES, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("learner", ["auto", "jlis", "perceptron", "partial_crf"])
def test_segments_by_any_learner(run, files, learner):
    model, more = files / "model.sidelight", ["--learner", learner]
    run("train", "--gold", files / "gold.txt", "--structure", "segments", *more, "--out", model)
    told = run("predict", model, files / "raw.txt").out
    assert [line.split("\t")[-1] for line in told.splitlines() if line] == ["name", "name", "year"]


def test_learners_that_do_not_fit_segments_say_why(run, files):
    failed = run(
        "train",
        "--gold",
        files / "gold.txt",
        "--structure",
        "segments",
        "--learner",
        "hmm",
        "--out",
        files / "m",
        code=2,
    )
    assert "hmm needs a generative model, which segments do not have" in failed.err


@pytest.mark.parametrize("segments", [[], ["--structure", "segments"]])
def test_rules_in_training(run, files, segments):
    model, rules = files / "model.sidelight", ["--rules", files / "rules.py", "--rules-in", "training"]
    run("train", "--gold", files / "gold.txt", "--learner", "jlis", *rules, *segments, "--out", model)
    failed = run("train", "--gold", files / "gold.txt", "--learner", "crf", *rules, "--out", files / "m", code=2)
    assert "rules_in is 'training', and crf needs more than the best output" in failed.err

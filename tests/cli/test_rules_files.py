"""Files of rules through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLD = "Light\tN\nshines\tV\n\nDogs\tN\nbark\tV\nloud\tA\n\n"
NO = "from sidelight.rules import gallery\nno = gallery.at_most(0, {!r})\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.txt").write_text(GOLD)
    for label in "NV":
        (tmp_path / f"no_{label}.py").write_text(NO.format(label))
    return tmp_path


def _labels(found: str) -> set[str]:
    return {line.split("\t")[-1] for line in found.splitlines() if line}


def test_all_files_of_rules_are_obeyed(run, files):
    train = "train", "--gold", "gold.txt", "--features", "words", "--out", "m.sidelight"
    both = "--rules", "no_N.py", "--rules", "no_V.py"
    run(*train, "--quiet")
    assert _labels(run("predict", "m.sidelight", "gold.txt", "--rules", "no_V.py").out) == {"N", "A"}
    assert _labels(run("predict", "m.sidelight", "gold.txt", *both).out) == {"A"}
    shown = run("explain", "m.sidelight", "--text", "Dogs bark", *both).out
    assert "at_most_0_N" in shown and "at_most_0_V" in shown
    found = run("evaluate", "m.sidelight", "gold.txt", *both, "--inference", "ilp").out
    assert "accuracy:  20.00%" in found
    assert "2, not in the model file" in run(*train, *both, "--learner", "crf").out


def test_a_file_that_ends_the_program_says_so(run, files):
    run("train", "--gold", "gold.txt", "--features", "words", "--out", "m.sidelight", "--quiet")
    (files / "exits.py").write_text("import sys\n\nsys.exit()\n")
    found = run("predict", "m.sidelight", "gold.txt", "--rules", "exits.py", code=2)
    assert "exits.py:3: the file ends the program" in found.err and found.err.count("\n") == 1

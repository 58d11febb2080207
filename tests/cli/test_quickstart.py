"""The quickstart shows its table, tags a reference and leaves files that the other commands can use."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sidelight import quickstart
from sidelight.data import load_corpus
from sidelight.models.model_file import load_model

Run = Callable[..., Any]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MORE", 10), ("GOOD", 20), ("TEST", 20)):
        monkeypatch.setattr(quickstart, name, value)


def test_the_parts_have_nothing_in_common() -> None:
    data = quickstart.split(3)
    texts = [reference.text for part in (data.labelled, data.good, data.test) for reference in part]
    assert [len(data.labelled), len(data.good), len(data.test)] == [50, 1000, 500]
    assert len(set(texts)) == len(texts)
    assert quickstart.split(3) == data != quickstart.split(4)


@pytest.mark.usefixtures("small")
def test_the_command(run: Run) -> None:
    shown = run("quickstart", "--seed", 3, "--text", "D. Holt. Deep trees. 1994.", "--out", "made/here")
    assert "D. Holt. Deep trees. 1994." in " ".join(shown.out.split()).replace(" .", ".")
    for name in ("5 labelled ", "5 labelled + 20 good + 20 shuffled", "5 labelled + 20 unlabelled + ", "10 labelled"):
        assert f" {name}" in shown.out
    test = load_corpus("made/here/test.txt")
    assert len(test) == 20
    lines = [line.split()[1:] for line in shown.out.splitlines() if line.startswith("  sidelight ")]
    assert [line[0] for line in lines] == ["evaluate", "explain"]
    evaluated, explained = (run(*line).out for line in lines)
    shares = [line.split("│")[3] for line in shown.out.splitlines() if "unlabelled" in line]
    accuracy = re.search(r"accuracy: +([0-9.]+)%", evaluated)
    assert accuracy is not None and float(accuracy[1]) == pytest.approx(float(shares[0]), abs=0.06)
    assert "appears_once" in explained
    again = run("quickstart", "--seed", 3, "--out", "again")
    assert "Structured output learning" in " ".join(again.out.split())
    one, other = (load_model(f"{folder}/model.sidelight") for folder in ("made/here", "again"))
    assert one.weights.tobytes() == other.weights.tobytes()


@pytest.mark.usefixtures("small")
def test_fields_have_colours() -> None:
    screen = io.StringIO()
    quickstart.show(Path("out"), text="Holt, D.", console=Console(file=screen, force_terminal=True, width=100))
    assert "\x1b[36m" in screen.getvalue()  # cyan: the author
    plain = io.StringIO()
    Console(file=plain, width=40).print(quickstart.tagged(["Holt", ",", "1994"], ["author", "author", "date"]))
    assert [line.split() for line in plain.getvalue().splitlines()] == [
        ["Holt,", "1994"],
        [],
        ["author", "Holt,"],
        ["date", "1994"],
    ]


def test_bad_arguments(run: Run) -> None:
    Path("file").write_text("")
    assert run("quickstart", "--text", " ", code=2).err == "error: --text has no tokens; type a reference\n"
    failed = run("quickstart", "--out", "file/folder", code=2)
    assert failed.err.startswith("error: file/folder: the folder cannot be made") and failed.err.count("\n") == 1


def test_reproduce_wants_a_name_and_data(run: Run) -> None:
    names = [line.split()[0] for line in run("reproduce", "--list").out.splitlines()]
    assert names
    for arguments, problem in (
        (("nonsense",), "no experiment is called 'nonsense'; choose one of "),
        ((), "no experiment was named; choose one of "),
        (names[:1], "no data folder; give --data DIR, or set SIDELIGHT_DATA\n"),
        ((names[0], "--data", "nowhere"), "nowhere: there is no such folder; give --data DIR, or set SIDELIGHT_DATA\n"),
    ):
        found = run("reproduce", *arguments, code=2)
        assert found.err.startswith(f"error: {problem}") and found.err.count("\n") == 1


def test_reproduce_refuses_what_cannot_be_chosen(run: Run) -> None:
    for name, choice, problem in (
        ("jlis-alignment", "sizes=20", "jlis-alignment has nothing to choose; leave --choose out\n"),
        ("strangers", "sizes", "--choose sizes has no =; write it as NAME=VALUE\n"),
        ("strangers", "corpora=poems", "there is no 'poems' here; choose from "),
    ):
        found = run("reproduce", name, "--data", ".", "--choose", choice, code=2)
        assert found.err.startswith(f"error: {problem}") and found.err.count("\n") == 1

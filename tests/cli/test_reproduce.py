"""`sidelight reproduce` into a folder: results, the page about them, what fails and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PAGE = Path("out/report.html")


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()


def test_results_and_their_page(run):
    told = run("reproduce", "examples", "--data", "data", "--out", "out").err
    assert "examples begins" in told and "examples is done; 1 of 1 experiments are done" in told
    page = PAGE.read_bytes()
    found = json.loads(Path("out/examples.json").read_text(encoding="utf-8"))
    assert found["rows"] and found["settings"] and found["run"]["versions"]["python"] and found["data"] == {}
    assert "generated references" in page.decode() and page.decode().count("not run") > 20
    assert (
        "1 of 1 experiments are finished already" in run("reproduce", "examples", "--data", "data", "--out", "out").err
    )
    assert sorted(path.name for path in Path("out").iterdir()) == ["examples.json", "report.html"]
    PAGE.unlink()
    run("reproduce", "--page-only", "--out", "out")
    assert PAGE.read_bytes() == page


def test_an_experiment_that_fails_is_told_at_the_end(run):
    found = run("reproduce", "trees", "--data", "data", "--out", "out", "--quick", code=1).err
    assert "trees failed: " in found and "ud_english_ewt: there is no such folder" in found
    assert found.endswith("1 of 1 experiments failed; run the command again to continue\n")
    assert "No experiment has run." in PAGE.read_text(encoding="utf-8")


def test_what_it_refuses(run):
    Path("file").touch()
    Path("out").mkdir()
    Path("out/trees.json").write_text('{"experiment": "tr')
    for arguments, problem in (
        (("all", "--data", "data"), "no folder for the results; give --out DIR"),
        (("--page-only",), "no folder for the results; give --out DIR"),
        (("all", "--data", "data", "--out", "file"), "file: this is not a folder"),
        (("all", "--data", "data", "--out", "data/out"), "data/out: results would be among the corpora"),
        (("all", "--data", "data", "--out", "out", "--json", "x"), "--json and --choose are for one experiment"),
        (("all", "--data", "data", "--out", "out", "--choose", "a=b"), "--json and --choose are for one experiment"),
        (("--page-only", "--out", "out"), "out/trees.json: not the result of an experiment; remove it"),
        (("all", "--out", "out", "--data", "nowhere"), "nowhere: there is no such folder"),
    ):
        found = run("reproduce", *arguments, code=2)
        assert found.err.startswith(f"error: {problem}") and found.err.count("\n") == 1

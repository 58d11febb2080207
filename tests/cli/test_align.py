"""`sidelight align` from files to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.rounds.word_alignment import AlignmentLearner
from translating import made_up

Run = Callable[..., Any]
SOURCES, TARGETS, LINKS = made_up(150)


def lines(sentences: list[list[str]]) -> str:
    return "".join(" ".join(sentence) + "\n" for sentence in sentences)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str, str]:
    Path("a.en").write_text(lines(SOURCES))
    Path("a.fr").write_text(lines(TARGETS))
    gold = [f"{n} {i + 1} {j + 1} S\n" for n, links in enumerate(LINKS, 1) for i, j in sorted(links)]
    Path("gold.wa").write_text("".join(gold))
    return "--source", "a.en", "--target", "a.fr"


def test_from_text_to_scores(run: Run, files: tuple[str, ...]) -> None:
    trained = run("align", "train", *files, "--out", "m", "--links", "trained.links", "--history", "h.jsonl")
    assert trained.out.startswith("150 pairs, ") and ": m, " in trained.out
    rounds = [json.loads(line) for line in Path("h.jsonl").read_text().splitlines()]
    assert len(rounds) == 10 and rounds[-1]["learner"] == "hmm" and rounds[-1]["disagreement"] >= 0.0
    run("align", "apply", "m", *files, "--out", "applied.links")
    assert Path("applied.links").read_text() == Path("trained.links").read_text()
    assert run("align", "apply", "m", *files).out == Path("applied.links").read_text()
    judged = run("align", "evaluate", "applied.links", "gold.wa", "--json", "scores.json")
    assert judged.out.startswith("AER ")
    assert json.loads(Path("scores.json").read_text())["aer"] < 0.1


def test_an_interrupted_training_goes_on(run: Run, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    command = "align", "train", *files, "--quiet", "--out"
    run(*command, "whole")
    step = AlignmentLearner.step

    def interrupted(learner: AlignmentLearner) -> Any:
        if learner.rounds == 7:
            raise KeyboardInterrupt
        return step(learner)

    with monkeypatch.context() as patched:
        patched.setattr(AlignmentLearner, "step", interrupted)
        found = run(*command, "m", "--checkpoint", "check", code=130)
        assert found.err == "interrupted; no model was written; the same command continues from check\n"
        assert run(*command, "m", code=130).err == "interrupted; nothing was written\n"
    run(*command, "m", "--checkpoint", "check", "--history", "h.jsonl")
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    assert [json.loads(line)["number"] for line in Path("h.jsonl").read_text().splitlines()] == [7, 8, 9, 10]
    assert run(*command, "check", "--checkpoint", "check", code=2).err.startswith("error: check: ")
    other = run(*command, "m", "--checkpoint", "check", "--gamma", 1, code=2).err
    assert other.startswith("error: check: the checkpoint is of other data or settings; ")


def test_giza_says_the_same(run: Run, files: tuple[str, ...]) -> None:
    run("align", "train", *files, "--out", "m", "--no-agreement", "--gamma", 1, "--quiet")
    for format in ("pharaoh", "giza"):
        run("align", "apply", "m", *files, "--format", format, "--out", f"links.{format}", "--combine", "union")
        run("align", "evaluate", f"links.{format}", "gold.wa", "--format", format, "--json", f"{format}.json")
    assert Path("pharaoh.json").read_text() == Path("giza.json").read_text()
    head, target, words = Path("links.giza").read_text().splitlines()[:3]
    assert head.startswith("# Sentence pair (1) source length ")
    assert target == " ".join(TARGETS[0]) and words.startswith("NULL ({ ")


def test_empty_sentences(run: Run, files: tuple[str, ...]) -> None:
    Path("a.en").write_text("\n" + lines(SOURCES[1:]))
    wrong = run("align", "train", *files, "--out", "m", code=2)
    assert wrong.err.startswith("error: a.en:1: an empty sentence; ") and "--skip-empty" in wrong.err
    assert not Path("m").exists()
    trained = run("align", "train", *files, "--out", "m", "--skip-empty", "--links", "links", "--hmm", 1)
    assert trained.out.startswith("149 pairs, 1 skipped")
    written = Path("links").read_text().split("\n")
    assert len(written) == 151 and written[0] == "" and written[1]
    run("align", "apply", "m", *files, "--skip-empty", "--out", "links.pharaoh")
    run("align", "apply", "m", *files, "--skip-empty", "--format", "giza", "--out", "links.giza")
    entries = Path("links.giza").read_text().splitlines()
    assert len(entries) == 450 and entries[:3] == [entries[0], "", "NULL ({ })"]
    assert entries[0].startswith("# Sentence pair (1) source length 0 ") and entries[3].startswith(
        "# Sentence pair (2) "
    )
    scores = {
        run("align", "evaluate", f"links.{name}", "gold.wa", "--format", name).out for name in ("pharaoh", "giza")
    }
    assert len(scores) == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda: Path("a.fr").write_text("x\n"), "a.fr: 1 lines where a.en has 150"),
        (lambda: Path("a.fr").write_bytes(b"x\n\xff\n"), "a.fr:2: the byte 0xff is not UTF-8"),
        (lambda: Path("a.fr").unlink(), "a.fr: there is no such file"),
        (lambda: (Path("a.en").write_text(""), Path("a.fr").write_text("")), "a.en: no sentence pairs"),
    ],
)
def test_text_that_cannot_be_used(run: Run, files: tuple[str, ...], change: Callable[[], object], problem: str) -> None:
    change()
    wrong = run("align", "train", *files, "--out", "m", code=2)
    assert wrong.out == "" and wrong.err.startswith(f"error: {problem}") and wrong.err.count("\n") == 1
    assert not Path("m").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--gamma", "-1"), "gamma is -1.0; give"),
        (("--combine", "magic"), "combine is 'magic'; there are"),
        (("--threshold", "2"), "threshold is 2.0; give"),
        (("--model1", "0", "--hmm", "0"), "there is nothing to learn with; give"),
        (("--format", "xml"), "Invalid value for '--format'"),
        (("--links", "nowhere/links"), "nowhere/links: there is no folder nowhere"),
        (("--nonsense",), "No such option"),
    ],
)
def test_options_that_cannot_be_used(run: Run, files: tuple[str, ...], options: tuple[str, ...], problem: str) -> None:
    wrong = run("align", "train", *files, "--out", "m", *options, code=2)
    assert wrong.err.startswith(f"error: {problem}") and wrong.err.count("\n") == 1
    assert not Path("m").exists()


def test_models_and_gold_that_cannot_be_used(run: Run, files: tuple[str, ...]) -> None:
    Path("m").write_text("not a model")
    assert run("align", "apply", "m", *files, code=2).err.startswith("error: m: ")
    assert run("align", "apply", "nowhere", *files, code=2).err.startswith("error: nowhere: no such file")
    Path("links").write_text("0-0\n")
    wrong = run("align", "evaluate", "links", "gold.wa", code=2).err
    assert wrong.startswith("error: gold.wa:") and "sentence 2 where there are 1" in wrong


def test_models_of_other_commands(run: Run, files: tuple[str, ...], model: Path) -> None:
    Path("gold.txt").write_text("Pages pages\n12 pages\n\nMIT location\n\n")
    run("train", "--gold", "gold.txt", "--out", "m", "--checkpoint", "check", "--quiet")
    run("align", "train", *files, "--out", "links", "--model1", "1", "--hmm", "0", "--quiet")
    found = run("align", "apply", model, *files, code=2)
    assert found.err == f"error: {model}: a sidelight model; it is for sidelight predict\n"
    for name, use in (
        ("links", "a sidelight alignment model; it is for sidelight align apply"),
        (
            "check",
            "a sidelight checkpoint; it is for sidelight train --checkpoint, or sidelight align train --checkpoint",
        ),
    ):
        for command in ("predict", "evaluate", "explain"):
            assert run(command, name, "gold.txt", code=2).err == f"error: {name}: {use}\n"


def test_help_says_how(run: Run) -> None:
    assert "apply" in run("align", "--help").out
    alone = run("align")  # as sidelight alone
    assert alone.out.strip() == run("align", "--help").out.strip() and alone.err == ""
    for command in ("train", "apply", "evaluate"):
        assert "Example: sidelight align" in run("align", command, "--help").out
    assert "align" in run("--help").out

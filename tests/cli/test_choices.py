"""Prices chosen by a validation file, two models compared, rounds written down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sidelight.evaluate import compare
from sidelight.evaluate.paired import Metric
from sidelight.models.model_file import load_model

Write = Callable[..., Path]
Run = Callable[..., Any]


def rows_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.split("\n\n")[0].splitlines()]


def test_the_grid_keeps_the_best_model(run: Run, write: Write, tmp_path: Path) -> None:
    train, valid = write("train", "columns", 0, 8), write("valid", "columns", 40, 60)
    common = ("--gold", train, "--max-rounds", 30)
    made = run(
        "train", *common, "--valid", valid, "--learner", "jlis", "--grid", "10,0.001,0.1", "--out", "best.sidelight"
    )
    header, *rows = rows_of(made.out)
    assert header == ["C1", "accuracy"]
    assert [row[0] for row in rows] == ["0.001", "0.1", "10"]
    scores = [float(row[1].rstrip("%")) for row in rows]
    assert len(set(scores)) > 1
    best = scores.index(max(scores))
    assert [len(row) for row in rows] == [3 if number == best else 2 for number in range(3)]
    run("train", *common, "--learner", "jlis", "--c1", rows[best][0], "--out", "alone.sidelight")
    assert np.array_equal(load_model("best.sidelight").weights, load_model("alone.sidelight").weights)
    assert f"accuracy: {max(scores):6.2f}%" in run("evaluate", "best.sidelight", valid).out


def test_the_grid_has_two_sides_with_companion_evidence(run: Run, write: Write) -> None:
    evidence = ("--gold", write("train", "columns", 0, 5), "--good", write("good", "columns", 10, 15, labels=False))
    rest = (
        "--shuffle-good",
        1,
        "--valid",
        write("valid", "columns", 40, 45),
        "--learner",
        "jlis",
        "--grid",
        "1,0.1",
        "--max-rounds",
        5,
    )
    both = run("train", *evidence, *rest, "--out", "model.sidelight", "--history", "rounds.jsonl")
    assert [row[:2] for row in rows_of(both.out)] == [
        ["C1", "C2"], ["0.1", "0.1"], ["0.1", "1"], ["1", "0.1"], ["1", "1"],
    ]  # fmt: skip
    seen = {(line["c1"], line["c2"]) for line in map(json.loads, Path("rounds.jsonl").read_text().splitlines())}
    assert seen == {(0.1, 0.1), (0.1, 1.0), (1.0, 0.1), (1.0, 1.0)}
    fixed = run("train", *evidence, *rest, "--c1", 7, "--out", "model.sidelight")
    assert [row[:2] for row in rows_of(fixed.out)] == [["C1", "C2"], ["7", "0.1"], ["7", "1"]]


def test_prices_of_all_evidence_that_is_there_are_chosen(run: Run, write: Write) -> None:
    evidence = (
        "--gold",
        write("train", "columns", 0, 5),
        "--unlabeled",
        write("more", "columns", 10, 15, labels=False),
    )
    rest = ("--valid", write("valid", "columns", 40, 45), "--learner", "jlis", "--grid", "1,0.1", "--max-rounds", 3)
    found = run("train", *evidence, *rest, "--out", "model.sidelight")
    assert rows_of(found.out)[0] == ["C1", "unlabeled", "accuracy"] and len(rows_of(found.out)) == 5
    more = ("--good", write("good", "columns", 20, 25, labels=False))
    three = run("train", *evidence, *more, *rest, "--out", "model.sidelight", "--history", "rounds.jsonl")
    header, *rows = rows_of(three.out)
    assert header == ["C1", "C2", "unlabeled", "accuracy"]
    assert 4 <= len(rows) <= 8 and len({tuple(row[:3]) for row in rows}) == len(rows)
    seen = [json.loads(line) for line in Path("rounds.jsonl").read_text().splitlines()]
    assert {(line["c1"], line["c2"], line["unlabeled"]) for line in seen} == {tuple(map(float, r[:3])) for r in rows}
    starred = [row for row in rows if row[-1] == "*"]
    assert len(starred) == 1 and starred[0][3] == max((row[3] for row in rows), key=lambda text: float(text[:-1]))


def test_a_price_at_the_edge_of_the_grid_is_noted(run: Run, write: Write) -> None:
    train, valid = write("train", "columns", 0, 8), write("valid", "columns", 40, 60)
    common = ("train", "--gold", train, "--valid", valid, "--max-rounds", 30, "--out", "m.sidelight")
    wide = run(*common, "--learner", "jlis", "--grid", "0.0001,0.001,10")
    assert "the best price of gold (C1) is the largest tried, 10; a larger one may be better: --grid" in wide.err
    inside = run(*common, "--learner", "jlis", "--grid", "0.001,10,100000")
    assert rows_of(inside.out)[2][-1] == "*" and "best price" not in inside.err
    assert "best price" not in run(*common, "--learner", "jlis", "--grid", "1").err


def test_the_search_goes_by_span_f1_where_a_scheme_is_seen(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a S-X\nb B-X\nc E-X\nd O\n\n" * 3)
    files = ("--gold", "train.txt", "--valid", "train.txt", "--out", "model.sidelight")
    common = ("train", *files, "--learner", "crf", "--scheme", "BIOES")
    assert rows_of(run(*common).out)[0] == ["C1", "span", "F1"]
    assert rows_of(run(*common, "--metric", "accuracy").out)[0] == ["C1", "accuracy"]
    shown = run("evaluate", "model.sidelight", "train.txt", "--scheme", "bioes").out
    assert "with 6 phrases; found: 6 phrases; correct: 6" in shown
    wrong = run("evaluate", "model.sidelight", "train.txt", "--scheme", "BILOU", code=2)
    assert "label 'E-X' is not a BILOU label" in wrong.err


def test_ties_go_to_the_smaller_price(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a X\nb Y\n\n" * 3)
    made = run(
        "train",
        "--gold",
        "train.txt",
        "--valid",
        "train.txt",
        "--learner",
        "jlis",
        "--grid",
        "8,2,4",
        "--out",
        "model.sidelight",
    )
    assert rows_of(made.out)[1:] == [["2", "100.00%", "*"], ["4", "100.00%"], ["8", "100.00%"]]


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_two_models_are_compared(run: Run, write: Write, metric: Metric) -> None:
    test = write("test", "jsonl", 40, 60)
    for name, last in (("a", 30), ("b", 2)):
        run("train", "--gold", write("train", "columns", 0, last), "--out", f"{name}.sidelight", "--features", "words")
    made = run("evaluate", "a.sidelight", test, "--against", "b.sidelight", "--metric", metric, "--json", "report.json")
    entries = [json.loads(line) for line in test.read_text().splitlines()]
    outputs = [load_model(f"{name}.sidelight").predict([entry["tokens"] for entry in entries]) for name in "ab"]
    expected = compare([entry["labels"] for entry in entries], *outputs, metric=metric)
    assert made.out.splitlines()[-1] == str(expected)
    assert expected.difference > 0
    report = json.loads(Path("report.json").read_text())
    assert report["comparison"]["difference"] == expected.difference
    assert report["against"]["accuracy"] < report["accuracy"]


def test_the_scheme_of_evaluation(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a B-X\nb B-X\nc O\n\n" * 3)
    run("train", "--gold", "train.txt", "--scheme", "BIO", "--out", "model.sidelight")
    phrases = {
        scheme: run("evaluate", "model.sidelight", "train.txt", "--scheme", scheme).out
        for scheme in ("bio", "BIO", "runs")
    }
    assert phrases["bio"] == phrases["BIO"]
    assert "with 6 phrases" in phrases["bio"] and "with 3 phrases" in phrases["runs"]
    assert re.search(r"^ +X:", phrases["bio"], re.M) and re.search(r"^ +B-X:", phrases["runs"], re.M)


def test_the_history_has_every_round(run: Run, write: Write) -> None:
    train = write("train", "columns", 0, 5)
    made = run("train", "--gold", train, "--learner", "jlis", "--out", "model.sidelight", "--history", "h.jsonl")
    rounds = [json.loads(line) for line in Path("h.jsonl").read_text().splitlines()]
    assert [one["number"] for one in rounds] == list(range(1, len(rounds) + 1))
    assert rounds[-1]["last"] and not rounds[0]["last"]
    assert re.search(rf"^rounds +{len(rounds)}$", made.out, re.M)
    gap = rounds[-1]["gap"] / rounds[-1]["objective"]
    assert gap <= 0.01 and f"gap        {gap:.2%}\n" in made.out


def test_learners_losses_and_weights_reach_the_library(run: Run, write: Write) -> None:
    train = write("train", "columns", 0, 5)
    weights = {}
    for choice in (
        (), ("--learner", "perceptron"), ("--loss", "hinge"), ("--loss", "logistic"), ("--class-weight", "balanced"),
        ("--class-weight", "title=5"), ("--tolerance", 0.3), ("--price", "gold=3"),
    ):  # fmt: skip
        run("train", "--gold", train, *choice, "--out", "model.sidelight", "--quiet")
        weights[choice] = load_model("model.sidelight").weights.tobytes()
    assert len(set(weights.values())) == len(weights)


def test_quiet_says_nothing(run: Run, write: Write) -> None:
    made = run("train", "--gold", write("train", "columns", 0, 3), "--out", "model.sidelight", "--quiet")
    assert made.out == made.err == ""

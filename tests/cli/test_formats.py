"""Train, predict, evaluate, explain and describe, from each format of files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sidelight.corpus import Reference
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import Candidates, Chunk, companion, gold, shuffled
from sidelight.features import standard, words
from sidelight.models.model_file import load_model

Write = Callable[..., Path]
Run = Callable[..., Any]


def number_in(text: str, pattern: str) -> float:
    found = re.search(pattern + r" *([\d.,]+)", text)
    assert found
    return float(found[1].replace(",", ""))


def accuracy_in(text: str) -> float:
    return number_in(text, "accuracy:")


@pytest.mark.parametrize("format", ["columns", "jsonl", "attributes"])
def test_end_to_end(run: Run, write: Write, corpus: list[Reference], tmp_path: Path, format: str) -> None:
    train, good = write("train", format, 0, 20), write("good", format, 20, 40, labels=False)
    test = write("test", format, 40, 60)
    model, tagged = tmp_path / "model.sidelight", tmp_path / "tagged.out"

    made = run("train", "--gold", train, "--good", good, "--shuffle-good", 2, "--out", model)
    assert re.search(r"^model +.*model\.sidelight \([\d.]+ kB\)$", made.out, re.M) and made.err == ""
    assert number_in(made.out, "labels") == len({y for one in corpus[:20] for y in one.labels})

    run("predict", model, test, "--out", tagged, "--labelled")
    guesses = read_back(tagged, format)
    assert [len(labels) for labels in guesses] == [len(one.tokens) for one in corpus[40:60]]
    pairs = [pair for labels, one in zip(guesses, corpus[40:60]) for pair in zip(labels, one.labels)]
    right = 100 * sum(guess == label for guess, label in pairs) / len(pairs)
    assert right > 50

    report = tmp_path / "report.json"
    scored = run("evaluate", model, test, "--json", report)
    assert accuracy_in(scored.out) == pytest.approx(right, abs=0.005)
    assert json.loads(report.read_text())["accuracy"] == pytest.approx(right)

    told = run("explain", model, test, "--index", 3, "--labelled", "--json", report)
    assert "margin over the runner-up" in told.out
    found = json.loads(report.read_text())
    assert found["predicted"] == guesses[3]
    assert sum(item["amount"] for item in found["contributions"]) == pytest.approx(found["margin"])

    described = run("describe", "--gold", train, "--good", good, "--shuffle-good", 2)
    assert "20 good, 40 bad" in described.out
    assert re.search(r"^gold +20 ", described.out, re.M)


def read_back(path: Path, format: str) -> list[list[str]]:
    text = path.read_text(encoding="utf-8")
    if format == "jsonl":
        return [json.loads(line)["predicted"] for line in text.splitlines()]
    return [[line.split("\t")[-1] for line in block.splitlines()] for block in text.strip("\n").split("\n\n")]


def test_the_command_learns_what_the_library_learns(
    run: Run, write: Write, corpus: list[Reference], tmp_path: Path
) -> None:
    out = tmp_path / "model.sidelight"
    files = ("--gold", write("train", "columns", 0, 10), "--good", write("good", "jsonl", 10, 20, labels=False))
    prices = ("--c1", 2, "--c2", 0.5)
    run("train", *files, "--shuffle-good", 1, *prices, "--seed", 3, "--min-count", 2, "--out", out)
    good = [[(token,) for token in one.tokens] for one in corpus[10:20]]
    tagger = Tagger(features=standard(min_count=2), prices={"gold": 2.0, "companion": 0.5}, seed=3)
    tagger.fit(
        [
            *gold([[(token,) for token in one.tokens] for one in corpus[:10]], [one.labels for one in corpus[:10]]),
            *companion(good, 1),
            *companion(shuffled(good, seed=3), -1),
        ]
    )
    assert np.array_equal(load_model(out).weights, tagger.model_.weights)


def test_several_files_and_several_kinds(run: Run, write: Write, tmp_path: Path) -> None:
    first, second = write("first", "columns", 0, 5), write("second", "jsonl", 5, 10)
    (tmp_path / "partial.txt").write_text("Pages title\n12 _\n\n")
    (tmp_path / "candidates.txt").write_text("Pages title|pages\n12 *\n\n")
    kinds = ("--partial", "partial.txt", "--candidates", "candidates.txt", "--unlabeled", first, "--price", "partial=2")
    gold = ("--gold", first, "--gold", second)
    assert re.search(r"^gold +10 ", run("describe", *gold, *kinds[:4]).out, re.M)
    run("train", *gold, *kinds[:4], *kinds[6:], "--out", "model.sidelight", "--max-rounds", 20)
    other = ("--unlabeled", write("more", "columns", 20, 30, labels=False))
    run("train", *gold, *other, "--out", "model.sidelight", "--max-rounds", 20)


def test_chunks_and_initial_labels_from_a_file(run: Run, tmp_path: Path) -> None:
    entries = [
        {"tokens": ["a", "b", "c"], "chunks": [{"first": 0, "labelings": [["B", "I"], ["O", "O"]]}]},
        {"tokens": ["a", "c"], "candidates": [["B", "O"], ["O"]], "initial": ["B", None]},
        {"tokens": ["b", "c"], "candidates": [["I", "B"], ["O", "I"]], "known": [None, "O"]},
    ]
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert re.search(r"^candidates +3 ", run("describe", "--candidates", path).out, re.M)
    run("train", "--candidates", path, "--learner", "cllp", "--out", "m", "--features", "words")
    chunk = Chunk(0, [("B", "I"), ("O", "O")])
    evidence = [
        Candidates(["a", "b", "c"], [None] * 3, chunks=[chunk]),
        Candidates(["a", "c"], [["B", "O"], ["O"]], initial=["B", None]),
        Candidates(["b", "c"], [["I", "B"], ["O", "I"]], known=[None, "O"]),
    ]
    fitted = Tagger(learner="cllp", features=words()).fit(evidence)
    np.testing.assert_array_equal(load_model("m").weights, fitted.model_.weights)
    assert run("train", "--candidates", path, "--learner", "jlis", "--out", "m", code=2).err.count("use cllp") == 1


def test_column_output_keeps_the_columns(run: Run, model: Path) -> None:
    text = "Pages x\n12 y\n\nand z\n\n"
    bare = run("predict", model, "-", input="Pages\n12\n\nand\n").out
    labels = [line.split("\t")[-1] for line in bare.splitlines()]
    assert bare == f"Pages\t{labels[0]}\n12\t{labels[1]}\n\nand\t{labels[3]}\n\n"
    last = run("predict", model, "-", "--label-column", -1, input=text).out
    assert last == f"Pages\tx\t{labels[0]}\n12\ty\t{labels[1]}\n\nand\tz\t{labels[3]}\n\n"
    first = run("predict", model, "-", "--label-column", 0, input="x Pages\ny 12\n\nz and\n").out
    assert first == f"x\tPages\t{labels[0]}\ny\t12\t{labels[1]}\n\nz\tand\t{labels[3]}\n\n"


def test_json_lines_come_back_as_they_were(run: Run, model: Path) -> None:
    line = '{"weight": 2, "tokens": ["Pages", "12", "—"], "labels": ["x", null, "y"]}'
    found = run("predict", model, "-", "--format", "jsonl", input=line + "\n\n" + line).out.splitlines()
    assert len(found) == 2
    assert found[0].startswith(line.removesuffix("}") + ', "predicted": ["')
    assert len(json.loads(found[1])["predicted"]) == 3


def test_single_inputs_are_classified(run: Run, tmp_path: Path) -> None:
    lines = [
        {"features": {"a" if n % 2 else "b": 1, "n": n / 10}, "label": "odd" if n % 2 else "even"} for n in range(8)
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("train", "--gold", "train.jsonl", "--out", "model.sidelight")
    found = [json.loads(line) for line in run("predict", "model.sidelight", "train.jsonl").out.splitlines()]
    assert [line["predicted"] for line in found] == [line["label"] for line in lines]
    assert accuracy_in(run("evaluate", "model.sidelight", "train.jsonl").out) == 100
    assert "odd against even" in run("explain", "model.sidelight", "train.jsonl", "--index", 1).out
    assert "margin" in run("explain", "model.sidelight", "--text", "a n").out


def test_weights_by_name_of_all_labels_and_of_one(run: Run, model: Path, tmp_path: Path) -> None:
    report = tmp_path / "weights.json"
    told = run("weights", model, "--top", 3, "--label", "author", "--json", report).out
    found = json.loads(report.read_text())
    assert {name: len(weights) for name, weights in found.items()} == {"highest": 3, "lowest": 3}
    assert {weight["label"] for weights in found.values() for weight in weights} == {"author"}
    assert f"{found['highest'][0]['value']:+.4f}" in told.split("lowest")[0]
    assert "title" in run("weights", model).out
    failed = run("weights", model, "--label", "nobody", code=2)
    assert "no label 'nobody'" in failed.err
    assert "author" in failed.err


def test_weights_of_a_segmenter(run: Run, write: Write, tmp_path: Path) -> None:
    model = tmp_path / "segmenter.sidelight"
    run("train", "--gold", write("small", "columns", 0, 10), "--learner", "semi_crf", "--out", model)
    assert "segment feature length=" in run("weights", model, "--top", 1000).out
    assert "no label 'nobody'" in run("weights", model, "--label", "nobody", code=2).err


def test_explain_takes_typed_tokens(run: Run, model: Path) -> None:
    told = run("explain", model, "--text", "Pages 12 , 1994 .").out
    assert [line.split()[0] for line in told.splitlines()[1:6]] == ["Pages", "12", ",", "1994", "."]


def test_labels_never_seen_in_training_can_be_evaluated(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("Pages unheard-of\n12 unheard-of\n")
    assert accuracy_in(run("evaluate", model, "test.txt").out) == 0
    assert "unheard-of" in run("evaluate", model, "test.txt").out


def test_a_sentence_of_a_hundred_thousand_tokens(run: Run, write: Write, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("Pages pages\n12 date\nMIT location\n1994 date\n" * 25_000)
    run("train", "--gold", long, "--out", "model.sidelight", "--features", "words", "--max-rounds", 3)
    assert accuracy_in(run("evaluate", "model.sidelight", long).out) > 99
    run("predict", "model.sidelight", long, "--out", "tagged.txt", "--label-column", -1)
    assert (tmp_path / "tagged.txt").read_text().count("\n") == 100_001


def test_templates_and_ready_sets_give_different_models(run: Run, write: Write, tmp_path: Path) -> None:
    train = write("train", "columns", 0, 5)
    (tmp_path / "template").write_text("U00:%x[0,0]\nU01:%suffix2[0,0]\nB\n")
    counts = {}
    choices = (("--features", "words"), ("--features", "spelling"), ("--template", "template"), ("--hash-bits", 10))
    for choice in choices:
        made = run("train", "--gold", train, *choice, "--out", "model.sidelight", "--max-rounds", 2)
        counts[choice] = number_in(made.out, "features")
    assert len(set(counts.values())) == 4 and counts["--hash-bits", 10] == 1024

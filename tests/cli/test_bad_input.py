"""Whatever is wrong with the input: one line that names file, line and remedy, exit code 2, and no output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]

GOLD = "Pages pages\n12 pages\n\nMIT location\n\n"
POOL = "Pages\n7\n\n"


def fails(run: Run, *arguments: object, naming: str, remedy: str, input: str | bytes | None = None) -> None:
    """The command fails in one line that begins with the place and ends with the remedy, and leaves no file behind."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    found = run(*arguments, code=2, input=input)
    assert found.out == ""
    assert found.err.count("\n") == 1 and found.err.endswith("\n")
    assert found.err.startswith(f"error: {naming}"), found.err
    assert remedy in found.err.partition("; ")[2], found.err
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("option", "name", "text", "naming", "remedy"),
    [
        ("--gold", "bad.txt", "a b X\nc Y\n", "bad.txt:2: 2 columns where 3 were", "the 3 columns that line 1"),
        ("--gold", "bad.txt", "a\tX\nb\t\n", "bad.txt:2: an empty label", "write the label"),
        ("--gold", "bad.txt", "", "bad.txt: no tokens", "one token a line"),
        ("--gold", "bad.txt", "\n \n", "bad.txt: no tokens", "one token a line"),
        ("--gold", "bad.jsonl", "\n", "bad.jsonl: no inputs", "one JSON object a line"),
        ("--gold", "bad.crfsuite", "", "bad.crfsuite: no tokens", "one token a line"),
        ("--gold", "bad.jsonl", '{"tokens": []}', 'bad.jsonl:1: "tokens" is empty', "at least one token"),
        ("--gold", "bad.jsonl", '{"tokens": ["a"], "labels": [null]}', "bad.jsonl:1: token 0 has no label", "partial"),
        ("--gold", "bad.txt", "\nonly\n", "bad.txt:2: 1 column", "add the columns"),
        ("--gold", "bad.crfsuite", "X\ta\n\nX\ta:nan\n", "bad.crfsuite:3: the value 'nan'", "a finite number"),
        ("--gold", "bad.crfsuite", "X\ta:inf\n", "bad.crfsuite:1: the value 'inf'", "a finite number"),
        ("--gold", "bad.jsonl", '{"tokens": [{"a": NaN}], "labels": ["X"]}', "bad.jsonl:1: NaN", "a finite number"),
        ("--gold", "bad.jsonl", '{"features": {"a": -Infinity}, "label": "X"}', "bad.jsonl:1: -Infinity", "a finite"),
        ("--gold", "bad.jsonl", '{"features": {"a": 1e999}, "label": "X"}', "bad.jsonl:1: token 0: the", "a finite"),
        ("--gold", "bad.jsonl", "{nonsense", "bad.jsonl:1: not JSON", "one JSON object on each line"),
        ("--candidates", "bad.txt", "a X|Y\nb X||Y\n", "bad.txt:2: an empty candidate", "one | between them"),
        ("--candidates", "bad.jsonl", '{"tokens": ["a"], "candidates": [[]]}',
         "bad.jsonl:1: token 0: an empty candidate set", "at least one label"),
        ("--candidates", "bad.jsonl", '{"tokens": ["a"], "candidates": [["X", "Y"]], "labels": ["Z"]}',
         "bad.jsonl:1: token 0: the known label 'Z' is not among the candidates", "add the label"),
        ("--good", "bad.jsonl", '{"tokens": ["a"], "good": false}', 'bad.jsonl:1: "good" is false', "companion"),
        ("--good", "bad.txt", "a b\n", "bad.txt:1: tokens of 2 columns where gold.txt:1 has tokens of 1", "same form"),
        ("--gold", "bad.jsonl", '{"features": {"a": 1}, "label": "X"}', "bad.jsonl:1: one set", "same form"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(run: Run, option: str, name: str, text: str, naming: str, remedy: str) -> None:
    Path(name).write_text(text)
    Path("gold.txt").write_text(GOLD)
    for command in (("train", "--out", "model.sidelight"), ("describe",)):
        fails(run, *command, "--gold", "gold.txt", option, name, naming=naming, remedy=remedy)


def test_bytes_that_are_not_utf8(run: Run) -> None:
    Path("bad.txt").write_bytes(b"a X\nb\xe9 Y\n")
    fails(run, "train", "--gold", "bad.txt", "--out", "m", naming="bad.txt:2: the byte 0xe9", remedy="to UTF-8")
    fails(
        run, "train", "--gold", "-", "--out", "m", naming="<stdin>:1: the byte 0xff", remedy="to UTF-8", input=b"\xff"
    )


def test_a_label_that_is_not_among_the_labels(run: Run) -> None:
    Path("gold.txt").write_text(GOLD)
    arguments = ("train", "--gold", "gold.txt", "--labels", "pages,date", "--out", "model.sidelight")
    fails(run, *arguments, naming="gold.txt:4: ", remedy="use one of pages, date, or add it to the labels")


def test_the_old_model_stays_when_training_fails(run: Run, model: Path) -> None:
    Path("bad.txt").write_text("a b X\nc Y\n")
    fails(run, "train", "--gold", "bad.txt", "--out", model, naming="bad.txt:2", remedy="columns")


@pytest.mark.parametrize(
    ("text", "naming", "remedy"),
    [
        ("U00:%x[0,0]\nX:%x[0,0]\n", "template:2: ", "write U"),
        ("# words\nU00:%nonsense[0,0]\n", "template:2: unknown macro", "use one of"),
        ("U00:%x[0;0]\n", "template:1: cannot read", "%x[row,column]"),
        ("B\n", "template: no unigram template", "at least one line"),
    ],
)
def test_bad_templates(run: Run, text: str, naming: str, remedy: str) -> None:
    Path("gold.txt").write_text(GOLD)
    Path("template").write_text(text)
    arguments = ("train", "--gold", "gold.txt", "--template", "template", "--out", "model.sidelight")
    fails(run, *arguments, naming=naming, remedy=remedy)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--gold", "nowhere.txt"), "nowhere.txt: there is no such file; check the name"),
        ((), "no evidence; name at least one file"),
        (("--gold", "gold.txt", "--learner", "magic"), "--learner is 'magic'; there are auto, jlis"),
        (("--gold", "gold.txt", "--loss", "log"), "--loss is 'log'; give squared_hinge or hinge or logistic"),
        (
            ("--gold", "gold.txt", "--learner", "crf", "--loss", "hinge"),
            "--loss is 'hinge', and crf has its own loss; leave it out",
        ),
        (("--gold", "gold.txt", "--scheme", "BOI"), "--scheme is 'BOI'; give BIO or IOB1 or BIOES or BILOU"),
        (("--gold", "gold.txt", "--c1", "-1"), "the price of gold is -1.0; give"),
        (("--gold", "gold.txt", "--c1", "much"), "Invalid value for '--c1'"),
        (("--gold", "gold.txt", "--price", "gold"), "--price is 'gold'; write"),
        (("--gold", "gold.txt", "--price", "silver=1"), "--price names 'silver'; there are gold, partial"),
        (("--gold", "gold.txt", "--c1", "1", "--price", "gold=2"), "the price of gold is given twice"),
        (("--gold", "gold.txt", "--features", "magic"), "--features is 'magic'; there are standard"),
        (("--gold", "gold.txt", "--features", "words", "--template", "t"), "--features and --template"),
        (("--gold", "gold.txt", "--min-count", "0"), "--min-count is 0; give a number from 1 on"),
        (("--gold", "gold.txt", "--hash-bits", "40"), "--hash-bits is 40; give a number from 4 to 28"),
        (("--gold", "gold.txt", "--format", "xml"), "gold.txt: no format is called 'xml'; choose"),
        (("--gold", "gold.txt", "--label-column", "5"), "gold.txt:1: label column 5 where"),
        (("--gold", "gold.txt", "--grid", "1,2"), "--grid is given without --valid"),
        (("--gold", "gold.txt", "--metric", "accuracy"), "--metric is given without --valid"),
        (("--gold", "gold.txt", "--valid", "gold.txt", "--metric", "f1"), "--metric is 'f1'; give accuracy or span_f1"),
        (
            ("--gold", "gold.txt", "--valid", "gold.txt", "--learner", "crf", "--grid", "1,a"),
            "--grid is '1,a'; give prices",
        ),
        (("--gold", "gold.txt", "--valid", "gold.txt", "--checkpoint", "c"), "--checkpoint is for one training"),
        (("--gold", "gold.txt", "--valid", "gold.txt", "--learner", "perceptron"), "--valid chooses prices"),
        *(
            (("--gold", "gold.txt", "--valid", "gold.txt", "--learner", name), f"--valid chooses prices, and {name}")
            for name in ("hmm", "naive_bayes", "mira", "passive_aggressive")
        ),
        (
            ("--gold", "gold.txt", "--valid", "gold.txt", "--learner", "codl", "--set", "base=mira"),
            "--valid chooses prices, and codl has none",
        ),
        (("--gold", "gold.txt", "--shuffle-good", "1"), "--shuffle-good has nothing to shuffle"),
        (("--gold", "gold.txt", "--labels", "a,,b"), "--labels is 'a,,b'; give"),
        (("--gold", "gold.txt", "--class-weight", "heavy"), "--class-weight is 'heavy'; write"),
        (("--gold", "gold.txt", "--max-rounds", "0"), "--max-rounds is 0; give a number from 1 on"),
        (("--gold", "gold.txt", "--tolerance", "-1"), "--tolerance is -1.0; give a number from 0 on"),
        (("--gold", "gold.txt", "--tolerance", "nan"), "--tolerance is nan; give"),
        (("--gold", "gold.txt", "--order", "3"), "--order is 3; give 1 or 2"),
        (("--gold", "gold.txt", "--states", "0"), "--states is 0; give a number from 1 on"),
        (("--gold", "gold.txt", "--jobs", "0"), "--jobs is 0; give a positive number, or -1 for all cores"),
        (("--gold", "gold.txt", "--class-weight", "FOO=2"),
         "a class weight for the unknown label 'FOO'; the labels are location, pages"),
        (("--gold", "gold.txt", "--learner", "crf", "--set", "l1"), "--set is 'l1', without a value; write --set l1="),
        (("--gold", "gold.txt", "--learner", "crf", "--set", "l1=a"), "--set is 'l1=a'; give a number"),
        (("--gold", "gold.txt", "--learner", "hmm", "--set", "rare=0.5"), "--set is 'rare=0.5'; give a whole number"),
        (("--gold", "gold.txt", "--learner", "hmm", "--set", "ends=2"), "--set is 'ends=2'; give true or false"),
        (("--gold", "gold.txt", "--learner", "codl", "--set", "beta=a"), "--set is 'beta=a'; give a number or none"),
        (("--gold", "gold.txt", "--nonsense"), "No such option: --nonsense"),
        (("--unlabeled", "pool.txt"), "no file names a label; give --labels A,B,C, or a file of --gold, --partial or"),
        (("--good", "pool.txt", "--learner", "jlis"), "no file names a label; give --labels A,B,C"),
        *(
            (("--partial", "gold.txt", "--learner", name, "--set", "max_length=2"),
             f"{name} takes the features of segments from labelled inputs; add --gold FILE")
            for name in ("semi_crf", "semi_svm")
        ),
        (("--gold", "gold.txt", "--good", "pool.txt", "--learner", "semi_svm"),
         "pool.txt:1: evidence 2 (Companion): the learner semi_svm learns from Gold, Partial, Candidates and "
         "Unlabeled only; use the learner jlis"),
        (("--gold", "gold.txt", "--learner", "contrastive"),
         "contrastive estimation learns from inputs without full labels, and all are Gold; add Unlabeled, Partial or"),
        (("--gold", "gold.txt", "--unlabeled", "pool.txt", "--learner", "codl", "--set", "base=contrastive"),
         "the base is contrastive, and codl labels what a base learns from; give crf or another"),
        (("--partial", "gold.txt", "--learner", "codl", "--set", "base=hmm"),
         "beta weighs the model of Gold, and there is no Gold; give codl a beta of none"),
        (("--gold", "gold.txt", "--learner", "codl", "--set", "base=hmm", "--states", "2"),
         "beta weighs the model of Gold, and the states of its labels are hidden; give codl a beta of none"),
        (("--gold", "gold.txt", "--learner", "hmm", "--set", "emission=uniform"),
         "emission is 'uniform' with emission_amount 250.0: the amount of smoothing is 250.0; the share of uniform is"),
        (("--gold", "gold.txt", "--learner", "hmm", "--set", "transition=soft"),
         "transition is 'soft'; give 'none', 'additive'"),
        (("--gold", "gold.txt", "--learner", "passive_aggressive", "--set", "rule=PA-III"),
         "rule is 'PA-III'; give 'PA', 'PA-I' or 'PA-II'"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_used(run: Run, options: tuple[str, ...], problem: str) -> None:
    Path("gold.txt").write_text(GOLD)
    Path("pool.txt").write_text(POOL)
    fails(run, "train", "--out", "model.sidelight", *options, naming=problem, remedy="")


@pytest.mark.parametrize("out", ["nowhere/model", "gold.txt/model", "folder"])
def test_places_that_cannot_be_written(run: Run, model: Path, out: str) -> None:
    Path("gold.txt").write_text(GOLD)
    Path("folder").mkdir()
    for arguments in (
        ("train", "--gold", "gold.txt", "--out", out),
        ("train", "--gold", "gold.txt", "--out", "new", "--history", out),
        ("train", "--gold", "gold.txt", "--out", "new", "--checkpoint", out),
        ("predict", model, "gold.txt", "--out", out),
        ("evaluate", model, "gold.txt", "--json", out),
    ):
        fails(run, *arguments, naming=f"{out}: ", remedy="nam")


@pytest.mark.skipif(os.geteuid() == 0, reason="every folder is open to the superuser")
def test_a_folder_without_permission(run: Run) -> None:
    Path("gold.txt").write_text(GOLD)
    Path("closed").mkdir(mode=0o500)
    fails(run, "train", "--gold", "gold.txt", "--out", "closed/m", naming="closed/m: the folder", remedy="permissions")


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "weights"])
def test_damaged_and_foreign_models(run: Run, model: Path, command: str) -> None:
    Path("gold.txt").write_text(GOLD)
    whole = model.read_bytes()
    flipped = bytearray(whole)
    flipped[-9] ^= 0x40
    Path("empty").write_bytes(b"")
    Path("cut").write_bytes(whole[: len(whole) // 2])
    Path("flipped").write_bytes(bytes(flipped))
    for name, problem in (
        ("empty", "damaged or truncated"), ("cut", "damaged or truncated"), ("flipped", "damaged"),
        ("gold.txt", "this is text, not a model"), ("nowhere", "no such file"),
    ):  # fmt: skip
        fails(
            run, command, name, *() if command == "weights" else ("gold.txt",), naming=f"{name}: {problem}", remedy=""
        )


@pytest.mark.parametrize("command", [("predict",), ("evaluate",), ("explain",)])
def test_a_model_in_the_place_of_data(run: Run, model: Path, command: tuple[str, ...]) -> None:
    fails(run, *command, model, model, naming=f"{model}: a sidelight model, not data", remedy="a file with inputs")


def test_a_model_in_the_place_of_evidence(run: Run, model: Path) -> None:
    for command in (("train", "--out", "new"), ("describe",)):
        for option in ("--gold", "--unlabeled"):
            fails(run, *command, option, model, naming=f"{model}: a sidelight model, not data", remedy="with inputs")


def test_threads_of_other_commands(run: Run, model: Path) -> None:
    Path("gold.txt").write_text(GOLD)
    for command in ("predict", "evaluate"):
        fails(run, command, model, "gold.txt", "--jobs", 0, naming="--jobs is 0", remedy="-1 for all cores")


def test_right_labels_are_missing(run: Run, model: Path) -> None:
    Path("new.txt").write_text("a\nb\n")
    fails(
        run,
        "evaluate",
        model,
        "new.txt",
        naming="new.txt:1: 1 column",
        remedy="a file without labels is one to predict",
    )


def test_inputs_that_do_not_fit_the_model(run: Run, model: Path) -> None:
    Path("single.jsonl").write_text(json.dumps({"features": {"a": 1}, "label": "X"}))
    Path("named.crfsuite").write_text("X\ta\n")
    fails(run, "predict", model, "single.jsonl", naming="single.jsonl:1: one set of features", remedy="tokens")
    fails(run, "evaluate", model, "named.crfsuite", naming="named.crfsuite:1: tokens by attributes", remedy="columns")
    run("train", "--gold", "single.jsonl", "--labels", "X,Y", "--out", "classifier")
    Path("gold.txt").write_text(GOLD)
    fails(run, "predict", "classifier", "gold.txt", naming="gold.txt:1: a sequence", remedy="features")


def test_explain_wants_one_input(run: Run, model: Path) -> None:
    Path("gold.txt").write_text(GOLD)
    fails(run, "explain", model, naming="one input is needed", remedy="--text")
    fails(run, "explain", model, "gold.txt", "--text", "a", naming="one input is needed", remedy="--text")
    fails(run, "explain", model, "gold.txt", "--index", 2, naming="gold.txt: there is no input 2", remedy="0 to 1")
    fails(run, "explain", model, "--text", " ", naming="--text has no tokens", remedy="word")


def test_a_checkpoint_of_other_data(run: Run, write: Write) -> None:
    for name, first in (("one", 0), ("two", 5)):
        write(name, "columns", first, first + 3)
    run("train", "--gold", "one.txt", "--checkpoint", "check", "--out", "one.sidelight")
    arguments = ("train", "--gold", "two.txt", "--checkpoint", "check", "--out", "two.sidelight")
    fails(run, *arguments, naming="check: the checkpoint is of other data", remedy="delete it")

"""One door for all formats and all kinds of evidence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sidelight.data import load_corpus, load_evidence
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Gold, Partial, Unlabeled


def file(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def lines(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    return file(tmp_path, "a.jsonl", "\n".join(map(json.dumps, entries)))


def failure(path: Path, kind: str, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        load_evidence(path, kind, **options)
    assert caught.value.remedy
    return str(caught.value).removeprefix(str(path.parent) + "/")


@pytest.mark.parametrize("end", ["", ".gz"])
def test_the_extension_chooses_the_format(tmp_path: Path, end: str) -> None:
    for name in ("a.txt", "a", "a.conll", "jsonl"):
        assert load_corpus(file(tmp_path, name + end, "a X\n")).xs == [[("a",)]]
    for name in ("a.jsonl", "a.JSON"):
        assert load_corpus(file(tmp_path, name + end, '{"tokens": ["a"]}')).xs == [["a"]]
    for name in ("a.crfsuite", "a.attributes"):
        assert load_corpus(file(tmp_path, name + end, "X\ta\n")).xs == [[{"a": 1.0}]]


def test_a_given_format_wins(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "X\ta\n")
    assert load_corpus(path, format="attributes").xs == [[{"a": 1.0}]]
    assert load_corpus(path, format="columns", label_column=0).ys == [["X"]]
    with pytest.raises(DataError, match=r"no format is called 'xml'; choose one of columns, jsonl, attributes"):
        load_corpus(path, format="xml")


def test_no_label_column_reads_no_labels(tmp_path: Path) -> None:
    mixed = lines(tmp_path, {"tokens": ["a"], "labels": ["X"]}, {"tokens": ["b"]})
    assert load_corpus(mixed, label_column=None).ys is None
    tagging = file(tmp_path, "a.crfsuite", "B:X\ta\n\n\tb\n")
    assert (load_corpus(tagging, label_column=None).xs, load_corpus(tagging, label_column=None).ys) == (
        [[{"a": 1.0}], [{"b": 1.0}]],
        None,
    )


def test_gold(tmp_path: Path) -> None:
    columns = file(tmp_path, "a.txt", "a N X\nb V _\n")
    (piece,) = load_evidence(columns, "gold", weight=0.5)
    assert piece == Gold([("a", "N"), ("b", "V")], ["X", "_"], weight=0.5)
    assert piece.origin is not None
    assert (piece.origin.file, piece.origin.line(1)) == (str(columns), 2)
    one = lines(tmp_path, {"features": {"f": 1}, "label": "x", "weight": 3})
    assert load_evidence(one, "gold", weight=0.5) == [Gold({"f": 1.0}, "x", weight=1.5)]
    attributes = file(tmp_path, "a.crfsuite", "X\ta\n")
    assert load_evidence(attributes, "gold") == [Gold([{"a": 1.0}], ["X"])]


def test_gold_needs_every_label(tmp_path: Path) -> None:
    path = lines(tmp_path, {"tokens": ["a"], "labels": ["X"]}, {"tokens": ["a", "b"], "labels": ["X", None]})
    assert failure(path, "gold") == "a.jsonl:2: token 1 has no label (null); use partial for this file"
    path = lines(tmp_path, {"tokens": ["a"]})
    assert failure(path, "gold").startswith("a.jsonl:1: no labels; add labels, or read the file as something else")
    assert failure(path, "partial").startswith("a.jsonl:1: no labels")
    path = file(tmp_path, "a.txt", "a X\n")
    assert failure(path, "gold", label_column=None) == "a.txt: gold evidence needs labels; name a label column"


def test_partial(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "X a\n_ b\n")
    assert load_evidence(path, "partial", label_column=0) == [Partial([("a",), ("b",)], ["X", None])]
    assert load_evidence(lines(tmp_path, {"tokens": ["a"], "labels": [None]}), "partial") == [Partial(["a"], [None])]
    assert load_evidence(lines(tmp_path, {"features": {}, "label": "x"}), "partial") == [Partial({}, ["x"])]


def test_candidates(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "a NOUN|VERB|NOUN\nb _\nc *\nd X\n")
    (piece,) = load_evidence(path, "candidates")
    assert isinstance(piece, Candidates)
    assert (piece.y, piece.known) == ([("NOUN", "VERB"), None, None, ("X",)], None)
    path = lines(
        tmp_path,
        {"tokens": ["a", "b"], "candidates": [["A", "B"], None], "labels": ["B", "C"]},
        {"features": {"f": 1}, "candidates": ["A", "B"], "label": "A"},
    )
    assert load_evidence(path, "candidates") == [
        Candidates(["a", "b"], [("A", "B"), None], known=["B", "C"]),
        Candidates({"f": 1.0}, [("A", "B")], known=["A"]),
    ]


@pytest.mark.parametrize("cell", ["|", "A||B", "|A", "A|"])
def test_an_empty_candidate_is_named(tmp_path: Path, cell: str) -> None:
    assert failure(file(tmp_path, "a.txt", f"a A|B\n\nb {cell}\n"), "candidates") == (
        f"a.txt:3: an empty candidate in '{cell}'; "
        "write labels with one | between them, e.g. NOUN|VERB, or _ for any label"
    )


def test_bad_candidates(tmp_path: Path) -> None:
    path = lines(tmp_path, {"tokens": ["a", "b"], "candidates": [None, ["A", "B"]], "labels": ["C", "C"]})
    assert failure(path, "candidates") == (
        "a.jsonl:1: token 1: the known label 'C' is not among the candidates {'A', 'B'}; "
        "add the label to the candidates, or correct it"
    )
    assert failure(lines(tmp_path, {"tokens": ["a"]}), "candidates").startswith("a.jsonl:1: no candidates; add")
    path = lines(tmp_path, {"tokens": ["a"], "candidates": [[]]})
    assert failure(path, "candidates").startswith("a.jsonl:1: token 0: an empty candidate set; give at least one label")
    assert failure(file(tmp_path, "a.txt", "a\tX\nb\t\n"), "candidates").startswith("a.txt:2: an empty label")


def test_companions_and_unlabeled_take_all_columns(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "a N\n\nb V\n")
    assert load_evidence(path, "good") == [Companion([("a", "N")], 1), Companion([("b", "V")], 1)]
    assert load_evidence(path, "bad", label_column=-1) == [Companion([("a",)], -1), Companion([("b",)], -1)]
    assert load_evidence(path, "unlabeled", label_column=0) == [Unlabeled([("N",)]), Unlabeled([("V",)])]
    attributes = file(tmp_path, "a.crfsuite", "?:?\ta\n")
    assert load_evidence(attributes, "unlabeled") == [Unlabeled([{"a": 1.0}])]
    labelled = lines(tmp_path, {"tokens": ["a"], "labels": ["X"]}, {"tokens": ["b"]})
    assert load_evidence(labelled, "unlabeled") == [Unlabeled(["a"]), Unlabeled(["b"])]


def test_companions_of_both_sorts(tmp_path: Path) -> None:
    path = lines(tmp_path, {"tokens": ["a"], "good": True}, {"tokens": ["b"], "good": False})
    assert load_evidence(path, "companion") == [Companion(["a"], 1), Companion(["b"], -1)]
    assert failure(path, "good") == (
        'a.jsonl:2: "good" is false in a file read as good; correct it, or read the file as companion'
    )
    assert failure(path, "bad").startswith('a.jsonl:1: "good" is true in a file read as bad')
    assert failure(lines(tmp_path, {"tokens": ["a"]}), "companion").startswith('a.jsonl:1: no "good"; add')
    assert "needs JSON lines; keep two files" in failure(file(tmp_path, "a.txt", "a\n"), "companion")


def test_options_are_checked(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "a X\n")
    assert failure(path, "silver").startswith("no kind of evidence is called 'silver'; choose one of gold, partial,")
    for weight in (-1.0, float("inf")):
        assert failure(path, "gold", weight=weight) == f"a.txt: the weight {weight}; give a finite number, 0 or more"
    with pytest.raises(ValueError, match="weight is nan; give a number"):
        load_evidence(path, "gold", weight=float("nan"))

"""Files of annotation tools on the command line: learned from, labelled, scored, and refused in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.annotation_tools import brat, doccano, label_studio, tool_of

Run = Callable[..., Any]
NAMES, PLACES = ("Ann", "Bob", "Eve", "Zoë"), ("Oslo", "Rome", "New-York", "Bern")
TRAIN = ("--learner", "crf", "--features", "words", "--c1", 10, "--quiet")


def sentence(i: int) -> tuple[str, list[list[Any]]]:
    name, place = NAMES[i % 4], PLACES[(i // 2) % 4]
    text = f"🙂 {name} is  in {place}."
    start = text.index(place)
    return text, [[2, 2 + len(name), "PER"], [start, start + len(place), "LOC"]]


def written(tool: str, folder: Path, *, wrong: bool = False) -> Path:
    """Sixteen annotated texts and two that are not; with `wrong`, an annotation that ends inside a token."""
    texts = [sentence(i) for i in range(16)]
    if wrong:
        text, marks = texts[4]
        marks[1][1] -= 1
    if tool == "brat":
        place = folder / "brat"
        place.mkdir(exist_ok=True)
        for i, (text, marks) in enumerate(texts):
            (place / f"{i:02}.txt").write_text(text, encoding="utf-8")
            lines = [f"T{k}\t{label} {a} {b}\t{text[a:b]}\n" for k, (a, b, label) in enumerate(marks, start=1)]
            (place / f"{i:02}.ann").write_text("".join(lines), encoding="utf-8")
        (place / "raw.txt").write_text("Eve is in Oslo.\nBob is in Bern.", encoding="utf-8")
        return place
    if tool == "doccano":
        lines = [json.dumps({"id": i, "text": text, "label": marks}) for i, (text, marks) in enumerate(texts)]
        lines += [json.dumps({"text": "Eve is in Oslo."}), json.dumps({"text": "Bob is in Bern.", "label": []})]
        place = folder / "export.jsonl"
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return place
    tasks = []
    for i, (text, marks) in enumerate(texts):
        regions = [
            {"id": f"r{k}", "type": "labels", "value": {"start": a, "end": b, "text": text[a:b], "labels": [label]}}
            for k, (a, b, label) in enumerate(marks)
        ]
        tasks.append({"id": i, "data": {"text": text}, "annotations": [{"result": regions}]})
    tasks += [{"id": 90 + k, "data": {"text": t}, "annotations": []} for k, t in enumerate(("Eve is in Oslo.", "Bob."))]
    place = folder / "export.json"
    place.write_text(json.dumps(tasks), encoding="utf-8")
    return place


@pytest.mark.parametrize("tool", ["label-studio", "doccano", "brat"])
def test_learn_predict_and_score(run: Run, tmp_path: Path, tool: str) -> None:
    export = written(tool, tmp_path)
    assert tool_of(export) == tool
    run("train", "--gold", export, *TRAIN, "--out", "model")
    told = run("train", "--gold", export, "--format", tool, *TRAIN[:-1], "--out", "told")
    assert Path("told").read_bytes() == Path("model").read_bytes()
    assert f"note: {export}: 2 unlabeled left out of 18 lines" in told.err
    scored = run("evaluate", "model", export)
    assert "accuracy: 100.00%" in scored.out
    described = run("describe", "--gold", export, "--unlabeled", export)
    assert "note" not in described.err and "unlabeled" in described.out
    assert "PER" in run("explain", "model", export).out
    new = export / "raw.txt" if tool == "brat" else export
    more = ("--format", "brat") if tool == "brat" else ()
    made = run("predict", "model", new, *more)
    if tool == "brat":
        assert [line.split("\t")[1:] for line in made.out.splitlines()] == [
            ["PER 0 3", "Eve"],
            ["LOC 10 14", "Oslo"],
            ["PER 16 19", "Bob"],
            ["LOC 26 30", "Bern"],
        ]
        return
    again = tmp_path / f"again{export.suffix}"
    again.write_text(made.out, encoding="utf-8")
    module, how = (label_studio, {"take": "predictions"}) if tool == "label-studio" else (doccano, {})
    before, after = module.read(export), module.read(again, **how)
    assert after.evidence[:16] == before.evidence[:16]
    if tool == "label-studio":
        (prediction,) = json.loads(made.out)[16]["predictions"]
        assert 0.5 < prediction["score"] <= min(one["score"] for one in prediction["result"]) <= 1


def test_from_text_and_columns_to_a_tool(run: Run, tmp_path: Path) -> None:
    run("train", "--gold", written("doccano", tmp_path), *TRAIN, "--out", "model")
    said = "Ann is in Rome.\r\n\r\n🙂 Eve is in Bern\n"
    tasks = json.loads(run("predict", "model", "--text", "--to", "label-studio", input=said).out)
    assert [task["data"]["text"] for task in tasks] == ["Ann is in Rome.", "🙂 Eve is in Bern"]
    marks = [one["value"] for one in tasks[0]["predictions"][0]["result"]]
    assert {"start": 10, "end": 14, "text": "Rome", "labels": ["LOC"]} in marks
    Path("note.txt").write_bytes(said.encode())
    run("predict", "model", "note.txt", "--text", "--to", "brat", "--out", "note.ann")
    assert Path("note.ann").read_text().splitlines()[-1] == "T4\tLOC 31 35\tBern"
    assert brat.read("note.txt").counts() == {"gold": 2}
    Path("cols.txt").write_text("Ann\nis\nin\nOslo\n\nBob\n\n")
    lines = run("predict", "model", "cols.txt", "--to", "doccano").out.splitlines()
    assert json.loads(lines[0]) == {"text": "Ann is in Oslo", "label": [[0, 3, "PER"], [10, 14, "LOC"]]}
    Path("told.txt").write_text("Ann X\nis X\nin X\nOslo X\n\nBob X\n\n")
    assert run("predict", "model", "told.txt", "--to", "doccano", "--labelled").out.splitlines() == lines


def test_what_does_not_fit_is_told_and_counted(run: Run, tmp_path: Path) -> None:
    export = written("doccano", tmp_path, wrong=True)
    told = run("train", "--gold", export, "--unlabeled", export, *TRAIN[2:-1], "--learner", "jlis", "--out", "model")
    assert f"note: {export}: 1 annotation left out" in told.err
    assert "line 5, characters 13 to 20 ('New-Yor', LOC): ends inside the token 'New-York'" in told.err
    assert f"note: {export}: 1 partial left out of 18 lines" in told.err
    assert run("train", "--gold", export, *TRAIN, "--out", "quiet").err == ""
    partial = ("--gold", export, "--partial", export, "--learner", "partial_crf", "--out", "partial")
    assert "partial left out" not in run("train", *partial).err


def test_files_are_recognised_by_how_they_begin(tmp_path: Path) -> None:
    cases = {
        "a.json": ("[\n{}]", "label-studio"),
        "b.json": ('{"tokens": ["a"], "text": "a", "labels": ["X"]}', None),
        "c.jsonl": ('\n{"text": "a", "entities": []}', "doccano"),
        "d.jsonl": ('{"text": "a"}', None),
        "e.jsonl": ("{", None),
        "f.txt": ('{"text": "a", "label": []}', None),
        "g.ann": ("", "brat"),
        "h.json": ("", None),
    }
    for name, (text, tool) in cases.items():
        (tmp_path / name).write_text(text)
        assert tool_of(tmp_path / name) == tool, name
    (tmp_path / "i.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a", "labels": []}'))
    assert tool_of(tmp_path / "i.jsonl.gz") == "doccano"
    assert tool_of(tmp_path) == "brat" and tool_of(tmp_path / "none.json") is None and tool_of("-") is None
    assert tool_of(tmp_path / "a.json", "columns") is None and tool_of("x", "brat") == "brat"


def test_mistakes(run: Run, tmp_path: Path) -> None:
    export = written("doccano", tmp_path)
    run("train", "--gold", export, *TRAIN, "--out", "model")
    Path("bad.json").write_text('[{"data": {"text": "a"}}')
    Path("raw.jsonl").write_text('{"text": "a", "label": []}\n')
    Path("raw.txt").write_text("Ann\nleft\n")
    Path("empty.jsonl").write_text('{"text": " ", "label": []}\n')
    wrong = {
        ("train", "--gold", "bad.json", "--out", "m"): "bad.json:1: not JSON",
        ("train", "--gold", "raw.jsonl", "--out", "m"): "raw.jsonl: no line of it is gold: 1 unlabeled",
        ("train", "--companion", export, "--out", "m"): "no line of it is companion: 16 gold, 2 unlabeled",
        ("train", "--gold", export, "--format", "prodigy", "--out", "m"): "no format is called 'prodigy'",
        ("evaluate", "model", "bad.json"): "bad.json:1: not JSON",
        ("predict", "model", "empty.jsonl"): "empty.jsonl: no text",
        ("predict", "model", export, "--to", "brat"): "18 texts, and brat has a file for each",
        ("predict", "model", "--text", "--to", "doccano", "--inline"): "--inline is for words with labels",
        ("predict", "model", export, "--labelled"): "--labelled and --label-column are for columns",
        ("predict", "model", "raw.txt", "--to", "brat"): "brat marks characters of a text, and these are tokens",
        ("predict", "model", "raw.txt", "--to", "prodigy"): "Invalid value for '--to'",
    }
    for arguments, problem in wrong.items():
        found = run(*arguments, code=2, input="a\n")
        assert problem in found.err and found.err.count("\n") == 1, (arguments, found.err)

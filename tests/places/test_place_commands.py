"""Places on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import placed_fits
import sidelight as sl
from sidelight.cli import app


def run(*arguments: object, code: int = 0) -> str:
    found = CliRunner().invoke(app, [str(one) for one in arguments], prog_name="sidelight")
    assert found.exit_code == code, found.output
    return str(found.output)


def write(path, sentences, labels):
    lines = ["\n".join(f"{x} {y}" for x, y in zip(xs, ys)) + "\n" for xs, ys in zip(sentences, labels)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_commands_in_a_place_write_what_they_write_here(workers, tmp_path, monkeypatch):
    monkeypatch.setattr("sidelight.parallel.place.LOT", 16)
    gold = write(tmp_path / "gold.txt", placed_fits.XS, placed_fits.YS)
    models = {}
    for place in ("threads", "ray"):
        models[place] = tmp_path / f"{place}.sidelight"
        history = tmp_path / f"{place}.jsonl"
        fit = ("--learner", "structural_svm", "--max-rounds", 2, "--jobs", 1, "--history", history)
        run("train", "--gold", gold, "--out", models[place], "--place", place, *fit)
        assert all("place" in json.loads(line) for line in history.read_text().splitlines())
    assert models["threads"].read_bytes() == models["ray"].read_bytes()
    out = [run("predict", models["ray"], gold, "--labelled", "--place", place) for place in ("threads", "ray")]
    assert out[0] == out[1] and len(out[0].splitlines()) > len(placed_fits.XS)
    told = [run("evaluate", models["ray"], gold, "--place", place) for place in ("threads", "ray")]
    assert told[0] == told[1]


def test_scores_of_pieces_are_those_of_the_file_whoever_dies(workers, chaos, tmp_path, monkeypatch):
    gold = write(tmp_path / "gold.txt", placed_fits.XS, placed_fits.YS)
    run("train", "--gold", gold, "--learner", "perceptron", "--out", tmp_path / "m", "--jobs", 1)
    whole = run("evaluate", tmp_path / "m", gold)
    monkeypatch.setattr("sidelight.data.text_pieces.SIZE", 300)
    told = ["evaluate", tmp_path / "m", gold, "--place", "ray"]
    with chaos(seed=3, most=2, share=1.0).loose() as loose:
        assert run(*told, "--json", tmp_path / "s.json", "--resume") == whole
    assert loose.kills and workers.figures().shards > 4
    gold.write_text(gold.read_text() + "alone\n", encoding="utf-8")
    said = [run(*told[:3], *place, code=2) for place in ((), told[3:])]
    assert said[0] == said[1] and "gold.txt:" in said[0]
    gold.write_text("")
    assert run(*told, code=2) == run(*told[:3], code=2)


@pytest.mark.parametrize("format", ["columns", "jsonl"])
def test_pieces_of_files_come_back_in_order_whoever_dies(format, workers, chaos, tmp_path, monkeypatch):
    gold = write(tmp_path / "gold.txt", placed_fits.XS, placed_fits.YS)
    run("train", "--gold", gold, "--learner", "perceptron", "--out", tmp_path / "m", "--jobs", 1)
    file = tmp_path / ("new.jsonl" if format == "jsonl" else "new.txt")
    if format == "jsonl":
        file.write_text("".join(json.dumps({"tokens": x}) + "\n" for x in placed_fits.XS), encoding="utf-8")
    else:
        file.write_text("\ufeff" + "".join("\r\n".join(x) + "\r\n\r\n" for x in placed_fits.XS), encoding="utf-8")
    whole = run("predict", tmp_path / "m", file)
    monkeypatch.setattr("sidelight.data.text_pieces.SIZE", 150)
    told = ["predict", tmp_path / "m", file, "--place", "ray", "--out", tmp_path / "out"]
    with chaos(seed=2, most=2, share=1.0).loose() as loose:
        run(*told, "--resume")
    assert loose.kills and (tmp_path / "out").read_text(encoding="utf-8") == whole
    assert workers.figures().shards > 8
    before = file.read_bytes()
    file.write_bytes(before + (b'{"tokens": 3}\n' if format == "jsonl" else b"a b\n"))
    line = before.count(b"\n") + 1
    for name, place in (("here", ()), ("there", told[3:5])):
        out = tmp_path / name
        assert f"{file.name}:{line}: " in run(*told[:3], *place, "--out", out, "--resume", code=2)
        part = Path(f"{out}.part").read_text(encoding="utf-8")
        assert whole.startswith(part) and len(part) > len(whole) / 2 and not out.exists()


def test_files_of_words_go_to_workers_as_they_are(workers, tmp_path, monkeypatch):
    monkeypatch.setattr("sidelight.prepared.preparation.SHARD_TOKENS", 200)
    monkeypatch.setattr("sidelight.data.text_pieces.SIZE", 2000)
    gold = tmp_path / "gold.jsonl"
    lines = [json.dumps({"tokens": x, "labels": y}) + "\n" for x, y in zip(placed_fits.XS, placed_fits.YS)]
    gold.write_text("".join(lines), encoding="utf-8")
    fit = ("train", "--gold", gold, "--learner", "crf", "--max-rounds", 2, "--jobs", 1, "--out-of-core", tmp_path / "p")
    models = {place: tmp_path / place for place in ("threads", "ray")}
    for place, model in models.items():
        run(*fit, "--out", model, "--place", place, "--history", tmp_path / "h.jsonl")
    assert models["threads"].read_bytes() == models["ray"].read_bytes()
    assert json.loads((tmp_path / "h.jsonl").read_text().splitlines()[-1])["place"]["shards"] > 2
    monkeypatch.undo()
    run(*fit[:-1], tmp_path / "q", "--out", tmp_path / "whole")
    run(*fit[:-2], "--out", tmp_path / "memory")
    weights = [sl.load_model(tmp_path / name).weights for name in ("whole", "memory")]
    assert np.array_equal(*weights)
    said = run("predict", models["ray"], gold, "--out", tmp_path / "out.parquet", code=2)
    assert "come back as JSON lines; name it .jsonl" in said


@pytest.mark.parametrize(
    ("place", "told"),
    [("rai", "place is 'rai'; give 'threads', 'ray', the address of a Ray cluster"), ("ray", "takes one example")],
)
def test_mistakes_are_told_in_a_line(place, told, tmp_path):
    gold = write(tmp_path / "gold.txt", [["a"]], [["N"]])
    said = run("train", "--gold", gold, "--learner", "perceptron", "--out", tmp_path / "m", "--place", place, code=2)
    assert told in said and said.count("\n") == 1


def test_a_cluster_that_is_not_there_is_told_of():
    pytest.importorskip("ray", reason="ray is not installed: pip install 'sidelight[ray]'")
    script = "import sidelight as sl; sl.RayPlace('127.0.0.1:1').team()"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "no Ray cluster answers at 127.0.0.1:1; give the address of a running head" in found.stderr

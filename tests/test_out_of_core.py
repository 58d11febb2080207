"""Fits from files larger than memory: what is prepared is found again, changes and damage are noticed, refusals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from sidelight import features, recipes
from sidelight.core import atomic_files
from sidelight.corpus import references
from sidelight.data import load_evidence, stored, text_pieces, write_columns
from sidelight.errors import DataError, ModelFileError
from sidelight.prepared import preparation
from sidelight.prepared.shard import Shard

REFERENCES = references(40, seed=3)
XS, YS = [list(one.tokens) for one in REFERENCES], [list(one.labels) for one in REFERENCES]
FEW: dict[str, Any] = {"n_jobs": 1, "max_rounds": 2}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.txt"
    path.write_text(write_columns(XS, YS), encoding="utf-8")
    return path


def _fit(*, folder: Path, learner: Any = "perceptron", files: dict[str, Any], **others: Any) -> sl.Tagger:
    return sl.Tagger(learner=learner, **{**FEW, **others}).fit(stored(**files, folder=folder))


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!.]*/shard-*"))


def test_what_is_prepared_is_found_again(gold: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    first = _fit(files={"gold": gold}, folder=folder)
    found = {path: path.stat().st_mtime_ns for path in _shards(folder)}
    again = _fit(files={"gold": gold}, folder=folder, learner="crf")
    assert {path: path.stat().st_mtime_ns for path in _shards(folder)} == found
    assert again.classes_ == first.classes_
    _fit(files={"gold": gold}, folder=folder, features=features.words())
    assert len(_shards(folder)) == 2  # other features are others
    gold.write_text(write_columns(XS[:30], YS[:30]), encoding="utf-8")
    assert _fit(files={"gold": gold}, folder=folder).evidence_ == {"gold": 30}
    assert len(_shards(folder)) == 3  # and so are other data


def test_a_shard_opens_from_its_folder_and_number(gold: Path, tmp_path: Path) -> None:
    _fit(files={"gold": gold}, folder=tmp_path / "p")
    shard = Shard.open(_shards(tmp_path / "p")[0].parent, 0)
    assert (shard.kind, len(shard.rows), shard.place(0)) == ("gold", 40, (str(gold), 1))
    assert [shard.names[k] for k in shard.targets] == [label for y in YS for label in y]
    before = shard.targets.copy()
    shard.targets[:] = 0  # what is written to a view is not kept
    assert np.array_equal(Shard.open(_shards(tmp_path / "p")[0].parent, 0).targets, before)


def test_a_damaged_shard_is_named(gold: Path, tmp_path: Path) -> None:
    _fit(files={"gold": gold}, folder=tmp_path / "p")
    (shard,) = _shards(tmp_path / "p")
    data = bytearray(shard.read_bytes())
    data[-20] ^= 1
    shard.unlink()
    shard.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"shard-00000\.sidelight: damaged.*; delete the folder") as found:
        _fit(files={"gold": gold}, folder=tmp_path / "p")
    assert "\n" not in str(found.value)
    shard.unlink()
    with pytest.raises(ModelFileError, match=r"shard-00000\.sidelight: no such file; delete the folder"):
        _fit(files={"gold": gold}, folder=tmp_path / "p")


def test_a_folder_that_is_a_file_is_told_of(gold: Path) -> None:
    with pytest.raises(DataError, match=r"gold\.txt: this is a file; name a folder for the prepared features"):
        _fit(files={"gold": gold}, folder=gold)
    with pytest.raises(DataError, match=r"gold\.txt/below: cannot be written \(.*\); make room"):
        _fit(files={"gold": gold}, folder=gold / "below")


def test_a_full_disk_is_told_with_the_file(gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(atomic_files, "_put", full)
        with pytest.raises(DataError, match=r"shard-00000\.sidelight: cannot be written \(No space left on device\)"):
            _fit(files={"gold": gold}, folder=tmp_path / "p")
        patched.setattr(np, "savez", full)
        with pytest.raises(DataError, match=r"draft-00000\.npz: cannot be written \(No space left on device\)"):
            _fit(files={"gold": gold}, folder=tmp_path / "p")
    assert not list((tmp_path / "p").iterdir())
    _fit(files={"gold": gold}, folder=tmp_path / "p")


SLOW = """
import sys, time
import sidelight as sl
from sidelight.data import stored, text_pieces
from sidelight.prepared import preparation
preparation.SHARD_TOKENS, text_pieces.SIZE = 60, 200
add = preparation._Writer._shard
preparation._Writer._shard = lambda *told: (time.sleep(0.05), add(*told))
sl.Tagger(learner="perceptron", n_jobs=1, max_rounds=1).fit(stored(gold=sys.argv[1], folder=sys.argv[2]))
"""


def test_a_killed_preparation_leaves_nothing_that_is_used(gold: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    with subprocess.Popen([sys.executable, "-c", SLOW, str(gold), str(folder)]) as process:
        limit = time.monotonic() + 120
        while not list(folder.glob(".*.part/shard-00002*")):
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.01)
        with pytest.raises(DataError, match="is being prepared by another process; wait"):
            _fit(files={"gold": gold}, folder=folder)
        process.send_signal(signal.SIGKILL)
    assert not _shards(folder)
    assert _fit(files={"gold": gold}, folder=folder).evidence_ == {"gold": 40}
    assert [path.name[0] for path in folder.iterdir()] != ["."]
    assert not list(folder.glob(".*"))


def test_errors_name_file_and_line(gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pieces, "SIZE", 200)
    monkeypatch.setattr(preparation, "SHARD_TOKENS", 100)
    labels = sorted({label for y in YS for label in y})
    line = sum(len(x) + 1 for x in XS[:20]) + 1
    others = {"files": {"gold": gold}, "folder": tmp_path / "p"}
    strange = write_columns(XS, [*YS[:20], ["odd", *YS[20][1:]], *YS[21:]])
    gold.write_text(strange, encoding="utf-8")
    with pytest.raises(DataError, match=rf"gold\.txt:{line}: .*unknown label 'odd'"):
        _fit(**others, labels=labels)
    _fit(**others)
    with pytest.raises(DataError, match="the evidence has the label 'odd'"):
        _fit(**others, labels=labels)
    chunks = [["B-X", "I-X"]] * 30 + [["O", "I-X"]]
    gold.write_text(write_columns([["a", "b"]] * 31, chunks), encoding="utf-8")
    with pytest.raises(DataError, match=r"gold\.txt:91: its labels use a transition that is not allowed: I-X after O"):
        _fit(**others, scheme="BIO")


def test_files_of_every_format(gold: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"tokens": x, "labels": y}) for x, y in zip(XS, YS)]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines), encoding="utf-8")
    attributes = "".join("".join(f"{b}\tw={a.replace(':', '')}\n" for a, b in zip(x, y)) + "\n" for x, y in zip(XS, YS))
    (tmp_path / "gold.crfsuite").write_text(attributes.replace("\\", ""), encoding="utf-8")
    whole = _fit(files={"gold": gold}, folder=tmp_path / "p")
    lined = _fit(files={"gold": tmp_path / "gold.jsonl"}, folder=tmp_path / "p")
    assert np.array_equal(lined.model_.weights, whole.model_.weights)
    named = _fit(files={"gold": tmp_path / "gold.crfsuite"}, folder=tmp_path / "p")
    memory = sl.Tagger(learner="perceptron", **FEW).fit(load_evidence(tmp_path / "gold.crfsuite", "gold"))
    assert np.array_equal(named.model_.weights, memory.model_.weights)
    hashed = _fit(files={"gold": gold}, folder=tmp_path / "p", features=features.standard(hash_bits=10))
    same = sl.Tagger(learner="perceptron", features=features.standard(hash_bits=10), **FEW).fit(XS, YS)
    assert np.array_equal(hashed.model_.weights, same.model_.weights)


def test_parquet_is_read_batch_by_batch(gold: Path, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="needs the extra arrow")
    from pyarrow import parquet

    from sidelight.data.stored import parquet_pieces

    path = tmp_path / "gold.parquet"
    parquet.write_table(arrow.table({"tokens": XS, "labels": YS, "id": range(40)}), path, row_group_size=7)
    pieces = list(parquet_pieces(path, rows=5))
    assert [len(piece.lines) for piece in pieces][:3] == [5, 5, 5] and pieces[-1].end == 40
    assert [line for piece in parquet_pieces(path, begin=12, rows=5) for line in piece.lines] == [
        line for piece in pieces for line in piece.lines
    ][12:]
    read = _fit(files={"gold": path}, folder=tmp_path / "p")
    assert np.array_equal(read.model_.weights, _fit(files={"gold": gold}, folder=tmp_path / "p").model_.weights)
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="not a Parquet file"):
        list(parquet_pieces(path))
    with pytest.raises(DataError, match="there is no such file"):
        list(parquet_pieces(tmp_path / "other.parquet"))


def test_parts_of_labels_and_single_inputs(tmp_path: Path) -> None:
    some = [[label if k % 2 else "_" for k, label in enumerate(y)] for y in YS]
    (tmp_path / "some.txt").write_text(write_columns(XS, some), encoding="utf-8")
    (tmp_path / "gold.txt").write_text(write_columns(XS[:9], YS[:9]), encoding="utf-8")
    files = {"gold": tmp_path / "gold.txt", "partial": tmp_path / "some.txt"}
    memory = [piece for kind, path in files.items() for piece in load_evidence(path, kind)]
    for learner in ("partial_crf", recipes.partial_crf(solver="sgd"), "em"):
        found = _fit(files=files, folder=tmp_path / "p", learner=learner)
        same = sl.Tagger(learner=learner, **FEW).fit(memory)
        if learner != "partial_crf" and learner != "em":
            assert found.model_.weights.shape == same.model_.weights.shape  # the order of examples is another
            continue
        np.testing.assert_allclose(found.model_.weights, same.model_.weights, atol=1e-8)
    lines = [json.dumps({"features": {f"w={word}": 1, "n": 0.5}, "label": label}) for word, label in zip(XS[0], YS[0])]
    (tmp_path / "single.jsonl").write_text("\n".join(lines), encoding="utf-8")
    single = sl.Classifier(learner="crf", **FEW).fit(stored(gold=tmp_path / "single.jsonl", folder=tmp_path / "p"))
    same = sl.Classifier(learner="crf", **FEW).fit(load_evidence(tmp_path / "single.jsonl", "gold"))
    assert np.array_equal(single.model_.weights, same.model_.weights)


def test_a_checkpoint_goes_on(gold: Path, tmp_path: Path) -> None:
    files = {"files": {"gold": gold}, "folder": tmp_path / "p", "learner": "crf"}
    _fit(**files, checkpoint=tmp_path / "c", max_rounds=2)
    on = _fit(**files, checkpoint=tmp_path / "c", max_rounds=4)
    assert np.array_equal(on.model_.weights, _fit(**files, max_rounds=4).model_.weights)
    gold.write_text(write_columns(XS[1:], YS[1:]), encoding="utf-8")
    with pytest.raises(ModelFileError, match="of other data or settings"):
        _fit(**files, checkpoint=tmp_path / "c")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"learner": "jlis"}, "jlis needs all data in memory; use crf"),
    ({"learner": "auto"}, "'auto' tries learners on all data in memory; use crf"),
    ({"learner": recipes.codl(base="crf")}, "codl over crf needs all data in memory"),
    ({"learner": recipes.crf(solver="eg")}, "the solver eg keeps a distribution of every token in memory; use lbfgs"),
    ({"learner": recipes.em(start="min_greedy")}, "the start 'min_greedy' needs all data in memory; use gold"),
    ({"learner": "partial_crf", "states": 2}, "states needs all data in memory"),
    ({"order": 2}, "order=2 needs all data in memory"),
    ({"warm_start": True}, "warm_start needs all data in memory"),
    ({"features": features.attributes(min_count=2)}, "min_count 2 are counted in memory"),
]


@pytest.mark.parametrize("settings, problem", REFUSED)
def test_what_cannot_go_in_blocks_is_refused_by_name(
    settings: dict[str, Any], problem: str, gold: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=problem):
        _fit(files={"gold": gold}, folder=tmp_path / "p", **settings)
    assert not (tmp_path / "p").exists()


def test_evidence_that_a_learner_does_not_take(gold: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the learner perceptron does not learn from Unlabeled"):
        _fit(files={"gold": gold, "unlabeled": gold}, folder=tmp_path / "p")
    with pytest.raises(ValueError, match="leave y and sample_weight out"):
        sl.Tagger(learner="crf").fit(stored(gold=gold, folder=tmp_path / "p"), YS)

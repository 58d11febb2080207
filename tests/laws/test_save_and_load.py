"""Models in files come back as they were, and damaged files are refused in one line."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.sparse import csr_matrix

from sidelight import Classifier, DataError, Matrix, ModelFileError, Tagger, WithDense, features, load_model, save_model
from sidelight.models.files import read_tensors, write_tensors
from sidelight.models.model_file import KIND, VERSION

RNG = np.random.default_rng(0)
WORDS = ["light", "On", "the-sea", "é", "42", "\ud800"]
XS = [[WORDS[i] for i in RNG.integers(0, 5, RNG.integers(1, 6))] for _ in range(30)]
YS = [
    ["B-X" if word == "light" else "I-X" if t and x[t - 1] == "light" else "O" for t, word in enumerate(x)] for x in XS
]
SPARSE = csr_matrix(RNG.normal(size=(sum(map(len, XS)), 4)) * (RNG.random((sum(map(len, XS)), 4)) < 0.5))
MATRIX = Matrix(SPARSE, dense=RNG.normal(size=(SPARSE.shape[0], 2)), lengths=[len(x) for x in XS])
DICTS = [[{"word": word, "n": len(word) / 2, "tags": ["p", word[0]]} for word in x] for x in XS]
ROWS = RNG.normal(size=(40, 3))
CLASSES = [int(row.sum() > 0) for row in ROWS]


def fitted(kind: str):
    settings = {"n_jobs": 1, "max_rounds": 5}
    match kind:
        case "templates":
            return Tagger(features=features.spelling(), **settings).fit(XS, YS), XS
        case "surrogates":
            xs = [[*x, "\ud800"] for x in XS]
            return Tagger(features=features.spelling(), **settings).fit(xs, [[*y, "O"] for y in YS]), xs
        case "skip":
            xs = [[(word, word[:1]) for word in x] for x in XS]
            return Tagger(features=features.chunking(min_count=2), **settings).fit(xs, YS), xs
        case "hashing":
            return Tagger(features=features.spelling(hash_bits=12), **settings).fit(XS, YS), XS
        case "attributes":
            return Tagger(**settings).fit(DICTS, YS), DICTS
        case "matrix":
            return Tagger(**settings).fit(MATRIX, YS), MATRIX
        case "dense":
            xs = [WithDense(x, np.full((len(x), 2), 0.5)) for x in XS]
            return Tagger(**settings).fit(xs, YS), xs
        case "scheme":
            return Tagger(scheme="BIO", **settings).fit(XS, YS), XS
        case "allowed":
            pairs = [(a, b) for y in YS for a, b in itertools.pairwise(y)]
            return Tagger(allowed=pairs, **settings).fit(XS, YS), XS
        case "perceptron":
            return Tagger(learner="perceptron", **settings).fit(XS, YS), XS
        case "classifier":
            return Classifier(**settings).fit(ROWS, CLASSES), ROWS
        case _:
            names = [["p", "q", "r"][i % 3] for i in range(len(ROWS))]
            return Classifier(**settings).fit(
                [{"a": row[0], "b": "yes" if row[1] > 0 else "no"} for row in ROWS], names
            ), [
                {"a": 0.3, "b": "no", "c": 1.0},
                {"a": -2.0},
            ]


KINDS = ["templates", "surrogates", "skip", "hashing", "attributes", "matrix", "dense", "scheme", "allowed"]
KINDS += ["perceptron", "classifier", "three classes"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_is_the_model(kind, tmp_path):
    estimator, xs = fitted(kind)
    path = tmp_path / "a model.sl"
    estimator.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a model.sl"]
    model, loaded = estimator.model_, load_model(path)
    np.testing.assert_array_equal(loaded.weights, model.weights)
    assert loaded.labels.names == model.labels.names
    assert [type(name) for name in loaded.labels.names] == [type(name) for name in model.labels.names]
    assert loaded.layout == model.layout
    assert (loaded.sequences, loaded.size_by, loaded.about) == (model.sequences, model.size_by, model.about)
    assert loaded.predict(xs) == estimator.predict(xs)
    np.testing.assert_array_equal(loaded.judge(xs), estimator.judge(xs))
    for k in range(min(model.layout.n_attributes, 50)):
        assert loaded.extractor.name(k) == model.extractor.name(k)
    if model.allowed is None:
        assert loaded.allowed is None
    else:
        for part in ("between", "start", "end"):
            np.testing.assert_array_equal(getattr(loaded.allowed, part), getattr(model.allowed, part))
    save_model(loaded, tmp_path / "again.sl")
    assert (tmp_path / "again.sl").read_bytes() == path.read_bytes()


def test_a_loaded_vocabulary_grows_as_the_first_one_does(tmp_path):
    estimator, _ = fitted("templates")
    estimator.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m").extractor
    size = loaded.n_attributes
    names = [loaded.name(k) for k in range(size)]
    loaded.grow([["quite", "new", "light"]])
    assert loaded.n_attributes > size
    assert [loaded.name(k) for k in range(size)] == names


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("model") / "m.sl"
    fitted("scheme")[0].save(path)
    return path, path.read_bytes()


def refused(path: Path, data: bytes, match: str = ": ") -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_truncated_files(saved, tmp_path):
    data = saved[1]
    for length in [0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 8, len(data) - 1]:
        refused(tmp_path / "short.sl", data[:length])
    refused(tmp_path / "long.sl", data + b"\0")


def test_damaged_files(saved, tmp_path):
    """A changed byte is found out, wherever it is, unless it changes nothing (the header is padded with blanks)."""
    path, data = saved
    model = load_model(path)
    rng = np.random.default_rng(0)
    header = 8 + int.from_bytes(data[:8], "little")
    places = [
        len(data) // 2,
        len(data) - 1,
        header,
        header + 1,
        *rng.integers(0, len(data), 60),
        *rng.integers(0, header, 60),
    ]
    for place in map(int, places):
        for change in (0xFF, 1 << int(rng.integers(8))):
            spoiled = bytearray(data)
            spoiled[place] ^= change
            target = tmp_path / "spoiled.sl"
            target.write_bytes(spoiled)
            try:
                loaded = load_model(target)
            except ModelFileError as error:
                assert str(target) in str(error)
                assert "\n" not in str(error)
            else:
                assert place < header
                np.testing.assert_array_equal(loaded.weights, model.weights)
                assert loaded.predict(XS) == model.predict(XS)
    refused(
        tmp_path / "spoiled.sl", data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
    )


def test_a_damaged_type_is_found_out(saved, tmp_path):
    data = saved[1]
    assert data.count(b'"dtype":"F64"') >= 1
    refused(tmp_path / "spoiled.sl", data.replace(b'"dtype":"F64"', b'"dtype":"I64"'))


def test_foreign_files(saved, tmp_path):
    refused(tmp_path / "text", b"Lights on.\n" * 100)
    refused(tmp_path / "zip", b"PK\x03\x04" + bytes(500))
    save_file({"weights": np.zeros(3)}, tmp_path / "other")
    refused(tmp_path / "other", (tmp_path / "other").read_bytes(), match="not a sidelight model file")
    Tagger(checkpoint=tmp_path / "check", max_rounds=2, n_jobs=1).fit(XS, YS)
    refused(tmp_path / "check", (tmp_path / "check").read_bytes(), match="not a sidelight model file")
    with pytest.raises(ModelFileError, match="no such file"):
        load_model(tmp_path / "absent")
    with pytest.raises(ModelFileError):
        load_model(tmp_path)


def test_newer_files(saved, tmp_path):
    spec, tensors = read_tensors(saved[0], kind=KIND, version=VERSION)
    for version in (VERSION, VERSION + 1):
        write_tensors(tmp_path / f"{version}", tensors, kind=KIND, version=version, spec=spec)
    assert load_model(tmp_path / f"{VERSION}").predict(XS) == load_model(saved[0]).predict(XS)
    newer = tmp_path / f"{VERSION + 1}"
    refused(newer, newer.read_bytes(), match="newer version")


def test_writing_is_whole_or_not_at_all(saved, tmp_path, monkeypatch):
    model = load_model(saved[0])
    with pytest.raises(DataError, match="there is no folder"):
        save_model(model, tmp_path / "no folder" / "m.sl")
    path = tmp_path / "m.sl"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataError, match="No space left on device"):
        save_model(model, path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.sl"]
    assert path.read_text() == "old"
    monkeypatch.undo()
    save_model(model, path)
    assert load_model(path).predict(XS) == model.predict(XS)
    assert [p.name for p in tmp_path.iterdir()] == ["m.sl"]


def test_labels_that_a_file_cannot_hold(tmp_path):
    odd = Classifier(n_jobs=1).fit(ROWS[:2], [("a", 1), ("b", 2)])
    with pytest.raises(ModelFileError, match="neither text nor a number"):
        odd.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array([3, 5]), [True, False]])
def test_labels_from_numpy_and_bools(labels, tmp_path):
    estimator = Classifier(n_jobs=1).fit(np.array([[1.0], [-1.0]]), labels)
    estimator.save(tmp_path / "m")
    assert load_model(tmp_path / "m").predict(np.array([[1.0], [-1.0]])) == list(labels)

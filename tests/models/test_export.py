"""Exported models give the labels of the model: by the reader of the how-to page, and by onnxruntime."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight import features
from sidelight.models.export import json_values
from sidelight.models.model import Model

READER = Path(__file__).parents[2] / "docs" / "how_to" / "read_model.py"
WORDS = ["Ann", "met", "McGraw-12", "J.", "iPod", "USA", "B-1992", "1994", "...", "a", "ǅurǆevac", "II", '"x"', "_B-1"]
LABELS = ["B-PER", "I-PER", "O", "B-ORG"]
XS = [WORDS[:5], WORDS[5:9], WORDS[9:], ["Ann", "a"], ["met"]]
YS = [["B-PER", "O", "B-ORG", "I-PER", "O"], ["B-ORG", "O", "O", "O"], ["O", "B-ORG", "O", "O", "B-PER"]]
YS += [["B-PER", "I-PER"], ["O"]]
TOKENS = st.sampled_from([*WORDS, "unseen", "Mcgraw-99", "ßtraße", "x²", "_B+1", "O'Brien"])
SENTENCES = st.lists(TOKENS, min_size=1, max_size=6)


def load_reader() -> ModuleType:
    spec = importlib.util.spec_from_file_location("read_model", READER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reader = load_reader()


def tagger(**options: Any) -> sl.Tagger:
    return sl.Tagger(**{"learner": "perceptron", "labels": LABELS, "max_rounds": 1, "n_jobs": 1, **options}).fit(XS, YS)


def classifier(xs: Any, ys: Any) -> sl.Classifier:
    return sl.Classifier(learner="perceptron", max_rounds=1, n_jobs=1).fit(xs, ys)


def ends_skipped() -> Any:
    text = "U01[-1]:%x[-1,0]\nU02:%lower[0,0]|%suffix2[1,0]\nU03:%prefix1[0,0]|%digit[0,0]"  # no B: no transitions
    return features.parse_templates(text, boundary="skip")


KINDS_OF_WORDS = sl.word_classes([[*WORDS[:3], "MET", "ß"]] * 3 + [WORDS[3:]] * 2, sizes=(2, 4), min_count=1)

CHAINS = {
    "default": tagger,
    "window": lambda: tagger(features=features.window(2)),
    "spelling": lambda: tagger(features=features.spelling(), bias=False),
    "no transitions": lambda: tagger(features=ends_skipped()),
    "scheme": lambda: sl.Tagger(learner="perceptron", labels=LABELS, scheme="BIO", max_rounds=1, n_jobs=1).fit(
        XS[3:], YS[3:]
    ),
    "classes of words": lambda: tagger(features=features.with_classes(features.standard(), KINDS_OF_WORDS)),
    "hidden states": lambda: tagger(learner="latent_svm", states={"O": 2}),
}
ROWS = [{"w": "on", "n": 2.0}, {"w": "off", "n": 0.5, "t": True}, {"w": "on", "t": False}, {"bias": 1.0}]
NAMED = [["cheap", "pills"], ["hi", "ann"], ["cheap", "cheap", "é"], ["x:y"]]
CLASSES = {
    "dicts": (ROWS, ["a", "b", "c", "a"]),
    "two classes": (ROWS, [True, False, True, True]),
    "lists of words": (NAMED, [1, 2, 3, 1]),
}


def drawn(model: Model, seed: int) -> Model:
    """The same with weights drawn at random, so that no two outputs are level."""
    return replace(model, weights=np.random.default_rng(seed).normal(size=len(model.weights)))


def read(model: Model) -> Any:
    return json.loads(json.dumps(json_values(model)))


@pytest.fixture(scope="module")
def chains() -> dict[str, Model]:
    return {name: make().model_ for name, make in CHAINS.items()}


@pytest.fixture(scope="module")
def classes() -> dict[str, Model]:
    return {name: classifier(*given).model_ for name, given in CLASSES.items()}


def graph_of(model: Model) -> Any:
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    from sidelight.models.onnx_graph import onnx_bytes

    return runtime.InferenceSession(onnx_bytes(model), providers=["CPUExecutionProvider"])


def by_graph(session: Any, fed: Any) -> tuple[list[Any], Any]:
    labels = json.loads(session.get_modelmeta().custom_metadata_map["labels"])
    places, scores = session.run(["labels", "scores"], fed)
    return [labels[place] for place in places], scores


@pytest.mark.parametrize("name", CHAINS)
@settings(max_examples=15)
@given(xs=st.lists(SENTENCES, min_size=1, max_size=4), seed=st.integers(0, 2**32 - 1))
def test_the_reader_labels_as_the_model(name: str, xs: Any, seed: int, chains: dict[str, Model]) -> None:
    model = drawn(chains[name], seed)
    held = read(model)
    assert [reader.label(held, x) for x in xs] == model.predict(xs, n_jobs=1)


@pytest.mark.parametrize("name", CLASSES)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_reader_chooses_classes_as_the_model(name: str, seed: int, classes: dict[str, Model]) -> None:
    model, xs = drawn(classes[name], seed), CLASSES[name][0]
    held = read(model)
    assert [reader.label(held, [x])[0] for x in xs] == model.predict(xs, n_jobs=1)


@pytest.mark.parametrize("name", CHAINS)
@settings(max_examples=5)
@given(x=SENTENCES, seed=st.integers(0, 2**32 - 1))
def test_a_graph_labels_as_the_model(name: str, x: Any, seed: int, chains: dict[str, Model]) -> None:
    model = drawn(chains[name], seed)
    labels, scores = by_graph(graph_of(model), sl.interop.onnx_inputs(model, x))
    assert labels == model.predict([x], n_jobs=1)[0]
    own = model.batch([x], n_jobs=1).scores(model.weights).block(0, len(x))
    np.testing.assert_allclose(scores, own, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CLASSES)
def test_a_graph_chooses_classes_as_the_model(name: str, classes: dict[str, Model]) -> None:
    xs = CLASSES[name][0]
    for seed in range(3):
        model = drawn(classes[name], seed)
        labels, _ = by_graph(graph_of(model), sl.interop.onnx_inputs(model, xs))
        assert labels == model.predict(xs, n_jobs=1)


@pytest.mark.parametrize("parts", ["dense", "sparse", "both"])
def test_a_graph_over_rows_of_numbers_needs_nothing_else(parts: str) -> None:
    """What the how-to page says of matrices: the numbers of columns are the features, dense rows are as they are."""
    rng = np.random.default_rng(3)
    dense, sparse = rng.normal(size=(6, 3)).astype(np.float32), np.diag(rng.normal(size=6))[:, :4]
    given = {"dense": {"dense": dense}, "sparse": {"sparse": sparse}, "both": {"sparse": sparse, "dense": dense}}[parts]
    xs = sl.Matrix(**given, lengths=[4, 2])
    model = drawn(sl.Tagger(learner="perceptron", n_jobs=1).fit(xs, [["a", "b", "c", "a"], ["b", "a"]]).model_, 5)
    session = graph_of(model)
    fed = {} if parts == "dense" else {"features": np.tile(np.arange(4), (4, 1)), "values": sparse[:4]}
    if parts != "sparse":
        fed["dense"] = dense[:4].astype(np.float64)
    assert by_graph(session, fed)[0] == model.predict(xs)[0]
    assert by_graph(session, sl.interop.onnx_inputs(model, xs[0]))[0] == model.predict(xs)[0]


def test_hashed_features_have_numbers_too() -> None:
    model = drawn(tagger(features=features.window(1, hash_bits=6)).model_, 1)
    session = graph_of(model)
    for x in XS:
        assert by_graph(session, sl.interop.onnx_inputs(model, x))[0] == model.predict([x])[0]


def test_the_reader_runs_by_itself(tmp_path: Path) -> None:
    model = tagger()
    sl.export(model, tmp_path / "model.json")
    done = subprocess.run(
        [sys.executable, "-S", "-I", str(READER), str(tmp_path / "model.json")],
        input=b"Ann met\n\nJ. USA a\n",
        capture_output=True,
        check=True,
    )
    right = model.predict([["Ann", "met"], ["J.", "USA", "a"]])
    assert [[pair.rpartition("/")[2] for pair in line.split()] for line in done.stdout.decode().splitlines()] == right


def test_the_reader_has_fifty_lines_of_code_and_needs_python_alone() -> None:
    text = READER.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = tree.body[0].end_lineno or 0
    assert sum(line.strip() != "" for line in text.splitlines()[docstring:]) <= 50
    assert {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names} == {"json", "sys"}


def of_order_two() -> Model:
    model = tagger().model_
    return replace(model, structure=replace(model.structure, layout=replace(model.layout, order=2)))


REFUSED = [
    (of_order_two, "a model of order 2"),
    (lambda: tagger(features=features.window(1, hash_bits=6)), "hashed features"),
    (lambda: tagger(features=features.parse_templates("U:%signature[0,0]\nB")), "the macro %signature"),
    (lambda: sl.SegmentTagger(learner="perceptron", max_rounds=1).fit(XS, YS), "a model of segments"),
    (lambda: sl.Tagger(learner="perceptron").fit(sl.Matrix(np.eye(2), lengths=[2]), [["a", "b"]]), "rows of a matrix"),
    (lambda: tagger().fit([sl.WithDense(x, np.ones((len(x), 2))) for x in XS], YS), "dense rows"),
]


@pytest.mark.parametrize(("make", "told"), REFUSED, ids=[told for _, told in REFUSED])
def test_what_json_cannot_hold_is_refused_by_name(make: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(sl.DataError, match=told):
        sl.export(make(), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("make", "told"), [REFUSED[0], REFUSED[3]], ids=["order 2", "segments"])
def test_what_onnx_cannot_hold_is_refused_by_name(make: Any, told: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="needs the extra onnx")
    with pytest.raises(sl.DataError, match=told):
        sl.export(make(), tmp_path / "model.onnx", to="onnx")


def test_onnx_is_asked_for_by_the_name_of_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(sl.DataError, match=r"sidelight\[onnx\]"):
        sl.export(tagger(), tmp_path / "model.onnx", to="onnx")


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="to is 'pmml'; give one of json, onnx"):
        sl.export(tagger(), tmp_path / "model", to="pmml")

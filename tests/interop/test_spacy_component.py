"""A model as a component of spaCy's pipelines: what it sets, files, batches, entities that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import ModelFileError
from sidelight.interop import doc_evidence, doc_inputs, span_rule
from sidelight.models.model import Model

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")
from spacy.tokens import Doc, Span, Token  # noqa: E402
from spacy.training import Example  # noqa: E402
from spacy.ty import ListenedToComponent  # noqa: E402

from sidelight.interop import spacy_component  # noqa: E402

TEXTS = ["Ann Holt lives in Oslo .", "in Rome Bob met a friend", "Eve Berg lives in Lima ."]


@pytest.fixture(scope="module")
def tagger(sentences: tuple[list[list[str]], list[list[str]]]) -> sl.Tagger:
    return sl.Tagger(learner="crf", scheme="BIO").fit(*sentences)


@pytest.fixture(scope="module")
def model_file(tagger: sl.Tagger, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "names.sidelight"
    tagger.save(path)
    return str(path)


def found(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.ents]


def pipeline(**config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("sidelight", config=config)
    return nlp


def test_it_sets_entities(model_file: str) -> None:
    nlp = pipeline(model=model_file)
    assert found(nlp(TEXTS[0])) == [("Ann Holt", "PER"), ("Oslo", "LOC")]
    assert nlp.pipe_labels["sidelight"] == ["LOC", "PER"]
    assert found(nlp("")) == []


def test_labels_are_those_of_the_model(tagger: sl.Tagger, model_file: str) -> None:
    nlp = pipeline(model=model_file)
    docs = list(nlp.pipe(TEXTS))
    assert [piece.y for piece in doc_evidence(docs)] == tagger.predict(doc_inputs(docs))


def test_a_batch_is_predicted_at_once(model_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, predict = [], Model.predict

    def counted(self: Model, xs: Any, **options: Any) -> Any:
        sizes.append(len(xs))
        return predict(self, xs, **options)

    monkeypatch.setattr(Model, "predict", counted)
    assert len(list(pipeline(model=model_file).pipe(TEXTS * 3, batch_size=4))) == 9
    assert sizes == [4, 4, 1]


def test_one_by_one_and_in_batches_are_alike(model_file: str) -> None:
    nlp = pipeline(model=model_file)
    assert [found(nlp(text)) for text in TEXTS] == [found(doc) for doc in nlp.pipe(TEXTS)]


def test_a_pipeline_goes_through_files_and_bytes(model_file: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sidelight"
    copy.write_bytes(Path(model_file).read_bytes())
    nlp = pipeline(model=str(copy))
    expected = [found(doc) for doc in nlp.pipe(TEXTS)]
    nlp.to_disk(tmp_path / "pipeline")
    data = nlp.to_bytes()
    copy.unlink()
    loaded = spacy.load(tmp_path / "pipeline")
    assert [found(doc) for doc in loaded.pipe(TEXTS)] == expected
    assert [found(doc) for doc in pipeline().from_bytes(data).pipe(TEXTS)] == expected
    assert {path.name for path in (tmp_path / "pipeline" / "sidelight").iterdir()} == {"model.sidelight"}


def test_what_spacy_asks_of_a_component_reads_no_model(tmp_path: Path) -> None:
    """It looks for the attributes of its own trained components, in an order that differs from run to run."""
    nlp = pipeline(model=str(tmp_path / "not there yet"))
    component = nlp.get_pipe("sidelight")
    for name in ("model", "listeners", "listener_map", "listening_components", "cfg", "tok2vec"):
        assert not hasattr(component, name), name
    assert not isinstance(component, ListenedToComponent)
    with pytest.raises(ModelFileError, match="not there yet"):
        nlp(TEXTS[0])


def test_plain_labels_go_to_tags_or_an_extension() -> None:
    xs, ys = [["light", "shines"], ["lamps", "shine"]], [["NN", "VB"], ["NNS", "VBP"]]
    tagger = sl.Tagger(learner="crf").fit(xs, ys)
    for place in ("tag", "_.guess"):
        nlp = spacy.blank("en")
        nlp.add_pipe("sidelight", config={"labels": place}).use(tagger)
        doc = nlp("light shines")
        assert [token.tag_ if place == "tag" else token._.guess for token in doc] == ["NN", "VB"]
        assert set(nlp.pipe_labels["sidelight"]) == {"NN", "NNS", "VB", "VBP"}
        right = nlp("light shines")
        key = f"{place.removeprefix('_.')}_acc"
        assert nlp.get_pipe("sidelight").score([Example(doc, right)])[key] == 1.0
    Token.remove_extension("guess")


def test_runs_of_a_label_are_entities_where_there_is_no_scheme() -> None:
    tagger = sl.Tagger(learner="crf").fit([["Ann", "Holt", "ran"]] * 3, [["PER", "PER", "O"]] * 3)
    nlp = spacy.blank("en")
    nlp.add_pipe("sidelight").use(tagger)
    assert found(nlp("Ann Holt ran")) == [("Ann Holt", "PER")]


def test_a_segment_tagger_sets_entities(sentences: tuple[list[list[str]], list[list[str]]], tmp_path: Path) -> None:
    segmenter = sl.SegmentTagger(scheme="BIO", max_length=3).fit(*sentences)
    nlp = spacy.blank("en")
    nlp.add_pipe("sidelight").use(segmenter)
    nlp.to_disk(tmp_path / "pipeline")
    assert found(spacy.load(tmp_path / "pipeline")(TEXTS[0])) == [("Ann Holt", "PER"), ("Oslo", "LOC")]


def test_entities_of_a_ruler_stay(model_file: str) -> None:
    nlp = pipeline(model=model_file)
    ruler = nlp.add_pipe("entity_ruler", before="sidelight")
    ruler.add_patterns([{"label": "LOC", "pattern": "Ann"}, {"label": "JOB", "pattern": "friend"}])
    assert found(nlp(TEXTS[0]))[0] == ("Ann", "LOC")
    assert found(nlp(TEXTS[1])) == [("Rome", "LOC"), ("Bob", "PER"), ("friend", "JOB")]  # a label it does not know
    replacing = spacy.blank("en")
    replacing.add_pipe("entity_ruler").add_patterns([{"label": "LOC", "pattern": "Ann"}])
    replacing.add_pipe("sidelight", config={"model": model_file, "keep": False})
    assert found(replacing(TEXTS[0])) == [("Ann Holt", "PER"), ("Oslo", "LOC")]


@settings(max_examples=30)
@given(first=st.integers(0, 5), size=st.integers(1, 3), label=st.sampled_from(["PER", "LOC", "JOB"]))
def test_any_entity_stays_and_no_other_touches_it(
    first: int, size: int, label: str, tagger: sl.Tagger, sentences: tuple[list[list[str]], list[list[str]]]
) -> None:
    component = spacy_component.SpacyComponent().use(tagger)
    nlp = spacy.blank("en")
    for words in sentences[0][:2]:
        doc = Doc(nlp.vocab, words=words)
        mine = Span(doc, min(first, 5), min(first + size, 6), label)
        doc.set_ents([mine], default="missing")
        component(doc)
        assert [
            (one.start, one.end, one.label_) for one in doc.ents if one.start < mine.end and mine.start < one.end
        ] == [(mine.start, mine.end, label)]


def test_what_it_puts_around_an_entity_is_the_best_there_is(tagger: sl.Tagger) -> None:
    """By enumeration through the k best outputs: the first that has the entity, and does not go on with it."""
    nlp = spacy.blank("en")
    doc = nlp("Ann Holt lives in Oslo .")
    doc.set_ents([Span(doc, 1, 2, "LOC")], default="missing")
    spacy_component.SpacyComponent().use(tagger)(doc)
    ranked = tagger.k_best(doc_inputs([nlp("Ann Holt lives in Oslo .")]), 4000)[0]
    best = next(y for y, _ in ranked if y[1] == "B-LOC" and y[2] != "I-LOC")
    assert doc_evidence([doc])[0].y == best


def test_a_file_of_rules(model_file: str, tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text('from sidelight.rules import gallery\nRULES = [gallery.at_most(0, "B-LOC")]\n')
    assert found(pipeline(model=model_file, rules=str(rules))(TEXTS[0])) == [("Ann Holt", "PER")]


def test_a_matcher_is_a_rule(tagger: sl.Tagger) -> None:
    nlp = spacy.blank("en")
    matcher = spacy.matcher.Matcher(nlp.vocab)
    matcher.add("LOC", [[{"TEXT": "friend"}]])
    nlp.add_pipe("sidelight").use(tagger, rules=[span_rule(matcher, name="places")])
    assert ("friend", "LOC") in found(nlp(TEXTS[1]))


def test_the_score_of_a_pipeline(tagger: sl.Tagger) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sidelight").use(tagger)
    right = nlp.make_doc(TEXTS[0])
    right.set_ents([Span(right, 0, 2, "PER"), Span(right, 4, 5, "PER")])
    assert nlp.evaluate([Example(nlp.make_doc(TEXTS[0]), right)])["ents_f"] == 0.5


def test_errors_come_with_the_batch(model_file: str) -> None:
    nlp = pipeline(model=model_file, columns=["tag_"])
    failed: list[int] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(len(docs)))
    monkey = nlp.get_pipe("sidelight")
    monkey.columns = ["colour"]
    assert list(nlp.pipe(TEXTS, batch_size=2)) == []
    assert failed == [2, 1]


@pytest.mark.parametrize(
    ("config", "error", "told"),
    [
        ({}, sl.DataError, "the component 'sidelight' has no model"),
        ({"model": "nowhere.sidelight"}, ModelFileError, "nowhere.sidelight: no such file"),
    ],
)
def test_without_a_model(config: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        pipeline(**config)(TEXTS[0])


def test_models_of_other_outputs_are_refused() -> None:
    classes = sl.Classifier(learner="crf").fit([["a"], ["b"]], ["x", "y"])
    with pytest.raises(sl.DataError, match="a model of classes labels no tokens"):
        spacy_component.SpacyComponent().use(classes)
    with pytest.raises(ValueError, match="labels cannot be in 'entities'"):
        pipeline(labels="entities")


def test_the_entry_point_names_the_factory() -> None:
    import importlib
    import tomllib

    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    place, _, name = project["entry-points"]["spacy_factories"]["sidelight"].partition(":")
    assert hasattr(importlib.import_module(place), name)

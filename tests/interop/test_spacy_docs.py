"""spaCy Docs as inputs and as evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.evaluate.spans import spans
from sidelight.interop import doc_evidence, doc_inputs

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")
from spacy.tokens import Doc, DocBin, Span, Token  # noqa: E402

nlp = spacy.blank("en")
BIO = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=1, max_size=8)


def doc_of(words: list[str], labels: list[str] | None = None) -> Doc:
    doc = Doc(nlp.vocab, words=words)
    if labels is not None:
        doc.set_ents([Span(doc, start, stop, kind) for _, start, stop, kind in spans([labels])])
    return doc


@given(BIO)
def test_entities_go_to_labels_and_back(labels: list[str]) -> None:
    doc = doc_of([f"w{t}" for t in range(len(labels))], labels)
    [piece] = doc_evidence([doc])
    assert isinstance(piece, sl.Gold)
    assert list(piece.x) == [token.text for token in doc]
    assert list(spans([piece.y], scheme="bio")) == list(spans([labels], scheme="bio"))


@given(BIO, st.sampled_from(["BIO", "IOB1", "BIOES", "BILOU"]))
def test_every_scheme_has_the_same_chunks(labels: list[str], scheme: str) -> None:
    [piece] = doc_evidence([doc_of(["w"] * len(labels), labels)], scheme=scheme)
    assert list(spans([piece.y], scheme=scheme)) == list(spans([labels], scheme="bio"))


def test_what_is_missing_is_not_known() -> None:
    half = doc_of(["Ann", "met", "Bob"])
    half.set_ents([Span(half, 0, 1, "PER")], default="missing")
    none = doc_of(["Ann", "met", "Bob"])
    pieces = doc_evidence([half, none, doc_of([])])
    assert [type(piece) for piece in pieces] == [sl.Partial, sl.Unlabeled]
    assert pieces[0].y == ["B-PER", None, None]


def test_tags_and_extensions() -> None:
    Token.set_extension("sense", default=None, force=True)
    doc = doc_of(["light", "shines"])
    doc[0].tag_, doc[1].tag_, doc[0]._.sense = "NN", "VB", 3
    assert doc_evidence([doc], labels="tag")[0].y == ["NN", "VB"]
    assert doc_evidence([doc], labels="_.sense")[0] == sl.Partial(["light", "shines"], [3, None])
    assert doc_evidence([doc], labels="pos")[0].kind == "unlabeled"


def test_columns_are_attributes_of_tokens() -> None:
    doc = doc_of(["Light", "shines"])
    doc[0].tag_, doc[1].tag_ = "NN", "VB"
    assert doc_inputs([doc], columns=["lower_", "tag_"]) == [[("light", "NN"), ("shines", "VB")]]


def test_a_doc_bin_needs_a_vocabulary() -> None:
    held = DocBin(docs=[doc_of(["Ann"], ["B-PER"])])
    assert doc_evidence(held, vocab=nlp.vocab)[0].y == ["B-PER"]
    with pytest.raises(sl.DataError, match="give vocab="):
        doc_evidence(held)


@pytest.mark.parametrize(
    ("docs", "options", "told"),
    [
        (["text"], {}, "document 0 is a str"),
        ("text", {}, "str instead of Docs"),
        (doc_of(["one"]), {}, "Doc instead of Docs"),
        ([doc_of(["one"])], {"columns": ["colour"]}, "tokens have no text 'colour'"),
        ([doc_of(["one"])], {"columns": ["i"]}, "'i' of tokens is 0"),
    ],
)
def test_mistakes(docs: object, options: dict[str, object], told: str) -> None:
    with pytest.raises(sl.DataError, match=told):
        doc_inputs(docs, **options)


@pytest.mark.parametrize("options", [{"labels": "entities"}, {"labels": "_."}, {"columns": "text"}, {"scheme": "IOE"}])
def test_wrong_options(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="give"):
        doc_evidence([doc_of(["one"])], **options)

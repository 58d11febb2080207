"""Characters to tokens and back: nothing is lost, and what does not fit is reported."""

from __future__ import annotations

from itertools import pairwise

import pytest
from drawing_documents import TYPES, labelled, texts
from hypothesis import given
from hypothesis import strategies as st

from sidelight.annotation_tools.documents import (
    Annotation,
    AnnotatorAnswer,
    document,
    fitted,
    from_utf16,
    marked,
    of_tokens,
    utf16_places,
)
from sidelight.data.text import token_places, tokens_in
from sidelight.errors import DataError
from sidelight.evaluate.spans import spans

marks = st.tuples(st.integers(-2, 44), st.integers(-2, 44), st.sampled_from([*TYPES, ""])).map(
    lambda one: Annotation(*one)
)


@given(texts)
def test_tokens_are_where_they_are_said_to_be(text):
    doc = document(text)
    assert [token for x in doc.inputs for token in x] == tokens_in(text)
    assert [text[a:b] for a, b in token_places(text, spaces=True)] == text.split()
    assert [x for line in text.splitlines() if (x := tokens_in(line))] == doc.inputs
    places = [place for line in doc.lines for place in line]
    assert all(a < b for a, b in places) and all(b <= c for (_, b), (c, _) in pairwise(places))


@given(labelled())
def test_labels_come_back_from_characters(drawn):
    docs, rows = drawn
    back = []
    for doc, found in zip(docs, marked(docs, rows)):
        labels, misfits = fitted(doc, AnnotatorAnswer(tuple(found)))
        assert not misfits
        back += labels
    assert back == rows


@given(texts, st.lists(marks, max_size=5))
def test_every_annotation_is_kept_or_reported(text, annotations):
    doc = document(text)
    rows, misfits = fitted(doc, AnnotatorAnswer(tuple(annotations)))
    chunks = spans([[label or "O" for label in row] for row in rows], scheme="bio") if rows else []
    assert len(chunks) + len(misfits) == len(annotations)
    left = list(annotations)
    for misfit in misfits:
        left.remove(Annotation(misfit.start, misfit.end, misfit.label))
    kept = {(doc.lines[s][a][0], doc.lines[s][b - 1][1], kind) for s, a, b, kind in chunks}
    trimmed = set()
    for one in left:
        own = text[one.start : one.end]
        trimmed.add((one.start + len(own) - len(own.lstrip()), one.end - len(own) + len(own.rstrip()), one.label))
    assert kept == trimmed
    for row, line in zip(rows, doc.lines):  # a token without a label is touched by a misfit, and by nothing that stays
        for label, (a, b) in zip(row, line):
            touched = any(one.start < b and one.end > a for one in misfits)
            held = any(one.start < b and one.end > a for one in left)
            assert (label is None) == (touched and not held)


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (Annotation(5, 11, "LOC"), "begins inside the token 'New-York'"),
        (Annotation(4, 7, "LOC"), "ends inside the token 'New-York'"),
        (Annotation(0, 3, ""), "has no label"),
        (Annotation(3, 4, "LOC"), "covers white space alone"),
        (Annotation(0, 90, "LOC"), "is not a span of the text, which has 20 characters"),
        (Annotation(4, 16, "LOC"), "runs over the end of a line"),
        (Annotation(0, 3, "LOC", problem="is in 2 pieces"), "is in 2 pieces"),
        (Annotation(0, 3, "ODD"), "has the label 'ODD', which is not known"),
    ],
)
def test_what_does_not_fit_is_told(annotation, problem):
    rows, misfits = fitted(document("Ann New-York\nis off!", "it"), AnnotatorAnswer((annotation,)), labels=["LOC"])
    assert [one.problem for one in misfits] == [problem]
    assert str(misfits[0]).startswith(f", it, characters {annotation.start} to {annotation.end} (")
    if annotation.start < annotation.end <= 20 and not problem.startswith("covers"):
        assert None in rows[0]


def test_of_annotations_that_overlap_the_longer_one_stays():
    nested, whole, crossing = Annotation(5, 9, "LOC"), Annotation(0, 9, "ORG"), Annotation(5, 13, "LOC")
    rows, misfits = fitted(document("Bank York bad"), AnnotatorAnswer((nested, whole, whole, crossing)))
    assert rows == [["B-ORG", "I-ORG", None]]  # the last one is touched by what does not fit alone
    told = [(one.start, one.end, one.problem) for one in misfits]
    overlap = "overlaps 'Bank York' (ORG)"
    assert sorted(told) == [(0, 9, "is there twice"), (5, 9, overlap), (5, 13, overlap)]


@given(texts)
def test_utf16_is_what_javascript_counts(text):
    places = utf16_places(text)
    assert places == [len(text[:i].encode("utf-16-le")) // 2 for i in range(len(text) + 1)]
    found = [from_utf16(places, n) for n in range(places[-1] + 2)]
    assert [n for n, at in enumerate(found) if at is not None] == places
    assert [at for at in found if at is not None] == list(range(len(text) + 1))


@given(st.lists(st.text(alphabet="ab🙂,.", min_size=1, max_size=4), min_size=1, max_size=6))
def test_documents_of_tokens_have_them(tokens):
    assert of_tokens(tokens).inputs == [tokens]


def test_outputs_that_are_no_labels_of_the_lines():
    with pytest.raises(DataError, match="1 outputs for 2 lines of 1 documents"):
        marked([document("a\nb")], [["O"]])
    with pytest.raises(DataError, match="output 0 has 2 labels for 1 tokens"):
        marked([document("a")], [["O", "O"]])

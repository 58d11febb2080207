from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import DataError
from sidelight.evaluate import spans

# Chunks of a sentence as (length, type); type None is a stretch of O.
stretches = st.lists(st.tuples(st.integers(1, 4), st.sampled_from([None, "NP", "VP", "X-Y"])), max_size=8)


def truth(sentences):
    """The spans that a list of stretches stands for."""
    found = []
    for index, sentence in enumerate(sentences):
        at = 0
        for length, kind in sentence:
            if kind is not None:
                found.append((index, at, at + length, kind))
            at += length
    return found


def iob1(sentence):
    labels = []
    for i, (length, kind) in enumerate(sentence):
        clash = i > 0 and sentence[i - 1][1] == kind
        labels += ["O" if kind is None else f"{'B' if clash and t == 0 else 'I'}-{kind}" for t in range(length)]
    return labels


def iob2(sentence):
    return ["O" if kind is None else f"{'I' if t else 'B'}-{kind}" for length, kind in sentence for t in range(length)]


def ioe1(sentence):
    labels = []
    for i, (length, kind) in enumerate(sentence):
        clash = i + 1 < len(sentence) and sentence[i + 1][1] == kind
        labels += [
            "O" if kind is None else f"{'E' if clash and t == length - 1 else 'I'}-{kind}" for t in range(length)
        ]
    return labels


def ioe2(sentence):
    return [
        "O" if kind is None else f"{'E' if t == length - 1 else 'I'}-{kind}"
        for length, kind in sentence
        for t in range(length)
    ]


def both_ends(sentence, single, begin, middle, end):
    labels = []
    for length, kind in sentence:
        prefixes = [single] if length == 1 else [begin, *[middle] * (length - 2), end]
        labels += ["O" if kind is None else f"{prefix}-{kind}" for prefix in prefixes]
    return labels


def iobes(sentence):
    return both_ends(sentence, "S", "B", "I", "E")


def bilou(sentence):
    return both_ends(sentence, "U", "B", "I", "L")


@pytest.mark.parametrize("written", [iob1, iob2, ioe1, ioe2, iobes, bilou])
@given(sentences=st.lists(stretches, max_size=4))
def test_every_format_gives_back_its_chunks(written, sentences):
    assert list(spans([written(sentence) for sentence in sentences], scheme="bio")) == truth(sentences)


@given(sentences=st.lists(stretches, max_size=4))
def test_runs_are_maximal(sentences):
    merged = []
    for sentence in sentences:
        joined: list[tuple[int, str | None]] = []
        for length, kind in sentence:
            if joined and joined[-1][1] == kind:
                length += joined.pop()[0]
            joined.append((length, kind))
        merged.append(joined)
    labels = [[kind or "O" for length, kind in sentence for _ in range(length)] for sentence in sentences]
    assert list(spans(labels)) == truth(merged)


@given(st.lists(stretches, min_size=1, max_size=4))
def test_a_batch_is_its_sentences(sentences):
    labels = [iob2(sentence) for sentence in sentences]
    alone = [(i, *span[1:]) for i, one in enumerate(labels) for span in spans([one], scheme="bio")]
    assert list(spans(labels, scheme="bio")) == alone


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["O", "I-X", "I-X"], [(0, 1, 3, "X")]),
        (["I-X", "I-Y"], [(0, 0, 1, "X"), (0, 1, 2, "Y")]),
        (["B-X", "I-Y"], [(0, 0, 1, "X"), (0, 1, 2, "Y")]),
        (["I-X", "B-X"], [(0, 0, 1, "X"), (0, 1, 2, "X")]),
        (["E-X", "I-X"], [(0, 0, 1, "X"), (0, 1, 2, "X")]),
        (["E-X", "E-X"], [(0, 0, 1, "X"), (0, 1, 2, "X")]),
        (["B-X", "E-X"], [(0, 0, 2, "X")]),
        (["E-X", "B-X"], [(0, 0, 1, "X"), (0, 1, 2, "X")]),
        (["S-X", "I-X"], [(0, 0, 1, "X"), (0, 1, 2, "X")]),
        (["B-X", "S-X", "E-X"], [(0, 0, 1, "X"), (0, 1, 2, "X"), (0, 2, 3, "X")]),
        (["B-a-b", "I-a-b", "I-a"], [(0, 0, 2, "a-b"), (0, 2, 3, "a")]),
    ],
)
def test_hand_worked(labels, expected):
    assert list(spans([labels])) == expected


def test_spans_stop_at_sentence_ends():
    assert list(spans([["I-X"], [], ["I-X"], []])) == [(0, 0, 1, "X"), (2, 0, 1, "X")]


def test_untyped_chunks_when_asked():
    assert list(spans([["B", "I", "O", "I"]], scheme="bio")) == [(0, 0, 2, ""), (0, 3, 4, "")]


def test_auto():
    assert spans([["B-X", "O"], ["I-X"]]).types == ("X",)
    assert spans([["B-X", "NN"]]).types == ("B-X", "NN")
    assert spans([["B-", "O"]]).types == ("B-",)
    assert spans([["O", "O"]]).types == ()
    assert spans(["B-X", "I-X"]).types == ("B-X", "I-X")  # one label each: classes, not chunks


def test_nothing():
    for labels in ([], [[]], [[], []]):
        assert list(spans(labels)) == []
        assert list(spans(labels, scheme="bio")) == []


def test_arrays_and_numbers_are_labels_too():
    assert list(spans(np.array([["a", "a"], ["b", "a"]]))) == [(0, 0, 2, "a"), (1, 0, 1, "b"), (1, 1, 2, "a")]
    assert list(spans([[1, 1, 2]])) == [(0, 0, 2, "1"), (0, 2, 3, "2")]
    assert list(spans(np.array([3, 4]))) == [(0, 0, 1, "3"), (1, 0, 1, "4")]


def test_values_are_frozen():
    found = spans([["B-X"]])
    with pytest.raises(AttributeError):
        found.types = ()
    with pytest.raises(ValueError, match="read-only"):
        found.start[0] = 3


def test_also_in_maps_types_by_name():
    here, there = spans([["b", "c", "a"]]), spans([["c", "c", "a"]])
    assert here.also_in(there).tolist() == [False, False, True]
    assert there.also_in(here).tolist() == [False, True]
    assert here.also_in(spans([["O", "O", "O"]])).tolist() == [False, False, False]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("B-X", "one text"),
        ([["a"], "b"], r"labels, sentence 1 \(from 0\): 'b' is not a sequence"),
        ([["a"], ["b", None]], r"labels, sentence 1 \(from 0\): None is not a label"),
        ([["a"], [["b"]]], r"sentence 1 \(from 0\): \['b'\] is not a label"),
        ([{"a", "b"}], "is not a sequence"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(DataError, match=message):
        spans(labels)


def test_bad_options():
    with pytest.raises(DataError, match="unknown scheme 'iob'"):
        spans([["a"]], scheme="iob")
    with pytest.raises(DataError, match="'NP' is not a chunk label"):
        spans([["B-NP", "NP"]], scheme="bio")

"""Token labels to segments and back."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st
from segmenting import random_segment_scores, runs_of

from sidelight.errors import DataError
from sidelight.evaluate.spans import spans
from sidelight.features.rows import offsets_of
from sidelight.spaces.segments.segment_space import SegmentSpace
from sidelight.structures.segments import labels_of, segment_scheme, segments_of


@st.composite
def bio(draw, most=8):
    """A valid BIO labeling."""
    out: list[str] = []
    for _ in range(draw(st.integers(1, most))):
        options = ["O", "B-X", "B-Y"]
        if out and out[-1] != "O":
            options.append("I-" + out[-1][2:])
        out.append(draw(st.sampled_from(options)))
    return out


plain = st.lists(st.sampled_from("pqr"), min_size=1, max_size=9)


@law(200)
@given(st.lists(plain, min_size=1, max_size=4), st.integers(1, 4))
def test_plain_labels_there_and_back(ys, max_length):
    how = segment_scheme("pqr", None)
    starts = offsets_of([len(y) for y in ys])
    labels = how.tokens.encode([label for y in ys for label in y])
    reading = how.reading(max_length)
    found, whole = reading.cut(starts, labels)
    assert np.all(whole)
    np.testing.assert_array_equal(reading.labels(found), labels)
    assert np.all(found.begins[starts[:-1]] == 1)
    for y, (a, b) in zip(ys, pairwise(starts)):
        expected = []
        for _, run in groupby(y):
            whole, rest = divmod(len(list(run)), max_length)
            expected += [max_length] * whole + [rest] * (rest > 0)
        bounds = [*np.flatnonzero(found.begins[a:b]), b - a]
        assert np.diff(bounds).tolist() == expected
    assert how.spans(starts, labels) == [segments_of(y) for y in ys]
    assert how.longest_in(starts, labels) == max(len(list(run)) for y in ys for _, run in groupby(y))


@law(200)
@given(st.lists(bio(), min_size=1, max_size=4))
def test_bio_labels_there_and_back(ys):
    how = segment_scheme([label for y in ys for label in y], "BIO")
    starts = offsets_of([len(y) for y in ys])
    labels = how.tokens.encode([label for y in ys for label in y])
    longest = how.longest_in(starts, labels)
    reading = how.reading(longest)
    found, whole = reading.cut(starts, labels)
    assert np.all(whole)
    np.testing.assert_array_equal(reading.labels(found), labels)
    entities = [(i, a, b + 1, name) for i, y in enumerate(how.spans(starts, labels)) for a, b, name in y if name != "O"]
    assert entities == list(spans(ys, scheme="bio"))
    if longest > 1:
        assert not np.all(how.reading(longest - 1).cut(starts, labels)[1])
        assert f"more than {longest - 1} tokens" in how.fault(starts, labels, max_length=longest - 1).problem
    for y in ys:
        assert labels_of(segments_of(y, scheme="BIO"), scheme="BIO") == y


@law(100)
@given(plain)
def test_one_plain_labeling(y):
    found = segments_of(y)
    assert labels_of(found) == y
    assert [name for _, _, name in found] == [name for name, _ in groupby(y)]


@law(60)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_a_space_of_runs_holds_every_labeling_once(labels, max_length, length):
    """The log-sum over segmentations without scores counts labelings."""
    space = SegmentSpace(offsets_of([length]), runs_of(labels, [max_length] * labels), max_length)
    zeros = random_segment_scores(np.random.default_rng(0), space, tied=False)
    for part in (zeros.tokens, zeros.lasts, zeros.transition, zeros.start, zeros.end):
        part[...] = 0.0
    np.testing.assert_allclose(space.log_sums(zeros), length * np.log(labels), atol=1e-10)


def test_label_sets():
    how = segment_scheme(["O", "I-B", "B-A"], "BIO")
    assert how.tokens.names == ("B-A", "B-B", "I-A", "I-B", "O")
    assert how.segments.names == ("A", "B", "O")
    assert how.longest(7).tolist() == [7, 7, 1]
    assert segment_scheme(["B-A"], "BIO").segments.names == ("A",)
    assert segment_scheme([3, 1, 3], None).segments.names == (1, 3)
    for odd in ("X", "B-O", "b-A", 3):
        with pytest.raises(DataError, match="is not a BIO label"):
            segment_scheme([odd], "BIO")
    with pytest.raises(ValueError, match="scheme is 'IOBES'"):
        segment_scheme(["O"], "IOBES")


@pytest.mark.parametrize(
    ("ys", "where"),
    [
        ([["O", "I-X"]], "sequence 0, token 1"),
        ([["B-X"], ["I-X"]], "sequence 1, token 0"),
        ([["B-Y", "I-X", "I-X"]], "sequence 0, token 1"),
    ],
)
def test_an_inside_label_must_go_on_with_something(ys, where):
    how = segment_scheme(["B-X", "B-Y", "O"], "BIO")
    with pytest.raises(DataError, match=where) as caught:
        how.spans_of(ys)
    assert "begin the segment with B-X" in str(caught.value)


def test_segments_must_tile():
    for odd in ([(0, 1, "a"), (3, 4, "b")], [(1, 1, "a")], [(0, 1, "a"), (1, 2, "b")], [(0, -1, "a")]):
        with pytest.raises(DataError, match="is next"):
            labels_of(odd)
    assert labels_of([]) == segments_of([]) == []


def test_shares_of_token_labels():
    how = segment_scheme(["B-X", "I-X", "O"], "BIO")
    covers, firsts = np.array([[0.25, 0.75]]), np.array([[0.25, 0.5]])  # O, X
    assert how.reading(2).shares(covers, firsts)[0].tolist() == [0.5, 0.25, 0.25]

"""Segment features against plain Python, segment by segment."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from sidelight.errors import DataError
from sidelight.features import Matrix
from sidelight.features.rows import offsets_of
from sidelight.features.segments.segment_features import SegmentExtractor
from sidelight.features.segments.segment_sources import FAMILIES, SegmentFeatures
from sidelight.features.transforms import transform

RNG = np.random.default_rng(0)
WORDS = ["New", "York", "new", "york", "in", "42", "A.", "é", "\ud800"]
XS = [[WORDS[i] for i in RNG.integers(0, len(WORDS), RNG.integers(1, 8))] for _ in range(40)]
STARTS = offsets_of([len(x) for x in XS])
MOST = 4
LEXICONS = {"cities": ["new york", ["York"]], "numbers": ["42", "", "one two three four five"], "none": []}


def bucket(length: int) -> str:
    return str(length) if length <= 5 else "6-7" if length <= 7 else "8-10"


def plain_names(x, first, last) -> list[str]:
    """What the ready families and the lexicons above say of a segment."""
    words = x[first : last + 1]
    shapes = [transform("shape")(word) for word in words]
    collapsed = [shape for k, shape in enumerate(shapes) if k == 0 or shape != shapes[k - 1]]
    text = " ".join(words).lower()
    names = [
        f"length={bucket(len(words))}",
        f"first={words[0]}",
        f"last={words[-1]}",
        f"before={x[first - 1]}" if first > 0 else "before nothing",
        f"after={x[last + 1]}" if last + 1 < len(x) else "after nothing",
        f"shape={' '.join(collapsed)}",
        f"text={text}",
    ]
    names += ["lexicon=cities"] * (text in ("new york", "york")) + ["lexicon=numbers"] * (text == "42")
    return names


def every_segment(xs, most):
    """(input, row, first, last) of every segment."""
    token = 0
    for x in xs:
        for last in range(len(x)):
            for length in range(1, min(most, last + 1) + 1):
                yield x, (token + last) * most + length - 1, last - length + 1, last
        token += len(x)


def names_in(extractor, rows, row) -> list[str]:
    return [extractor.name(int(k)) for k in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]]


def check(extractor, rows, xs, expected) -> None:
    """Every row has the expected names that are in the vocabulary, and rows of no segment are empty."""
    known = set(extractor.names)
    filled = set()
    for x, row, first, last in every_segment(xs, extractor.max_length):
        filled.add(row)
        assert sorted(names_in(extractor, rows, row)) == sorted(n for n in expected(x, first, last) if n in known)
    lengths = np.diff(rows.indptr)
    assert len(lengths) == sum(map(len, xs)) * extractor.max_length
    assert all(lengths[row] == 0 for row in set(range(len(lengths))) - filled)


def gold_rows(seed: int):
    rng = np.random.default_rng(seed)
    return np.array([row for _, row, _, _ in every_segment(XS, MOST) if rng.random() < 0.2])


@pytest.mark.parametrize("counted", ["gold", "all"])
@pytest.mark.parametrize("min_count", [1, 3])
def test_families_and_lexicons(counted, min_count):
    features = SegmentFeatures(lexicons=LEXICONS, counted=counted, min_count=min_count)
    extractor = SegmentExtractor(features, MOST)
    gold = gold_rows(0)
    rows = extractor.grow(XS, gold=gold)
    counts = Counter(
        name
        for x, row, first, last in every_segment(XS, MOST)
        if counted == "all" or row in set(gold.tolist())
        for name in plain_names(x, first, last)
    )
    assert sorted(extractor.names) == sorted(name for name, count in counts.items() if count >= min_count)
    assert extractor.n_attributes == len(extractor.names) == len(set(extractor.names)) > 10
    check(extractor, rows, XS, plain_names)
    other = [["New", "York", "quite", "unseen"], ["york"]]
    check(extractor, extractor.rows(other), other, plain_names)


def test_each_family_alone():
    prefixes = {family: (f"{family}=", f"{family} ") for family in FAMILIES}
    for family in FAMILIES:
        extractor = SegmentExtractor(SegmentFeatures(families=(family,), counted="all", min_count=1), MOST)
        rows = extractor.grow(XS)
        check(
            extractor,
            rows,
            XS,
            lambda x, a, b, family=family: [n for n in plain_names(x, a, b) if n.startswith(prefixes[family])],
        )


def test_a_function_of_the_user():
    def function(x, first, last):
        return [f"both={x[first]}-{x[last]}", "odd"] if (last - first) % 2 else []

    extractor = SegmentExtractor(SegmentFeatures(families=("length",), function=function, min_count=2), MOST)
    rows = extractor.grow(XS, gold=gold_rows(1))
    assert any(name.startswith("both=") for name in extractor.names)
    check(extractor, rows, XS, lambda x, a, b: [f"length={bucket(b - a + 1)}", *function(x, a, b)])
    spec, tensors = extractor.state()
    with pytest.raises(DataError, match="use a function"):
        SegmentExtractor.restored(spec, tensors)
    again = SegmentExtractor.restored(spec, tensors, function=function)
    np.testing.assert_array_equal(again.rows(XS).indices, rows.indices)
    with pytest.raises(DataError, match="the segment function gave 3"):
        SegmentExtractor(SegmentFeatures(function=lambda x, a, b: [3], counted="all"), 2).grow(XS)


def test_growing_keeps_numbers_and_copies_stand_alone():
    extractor = SegmentExtractor(SegmentFeatures(counted="all", min_count=1), MOST)
    extractor.grow(XS[:20])
    names = list(extractor.names)
    other = extractor.copy()
    other.grow(XS)
    assert other.names[: len(names)] == names
    assert other.n_attributes > len(names) == extractor.n_attributes
    check(other, other.rows(XS), XS, plain_names_without_lexicons)


def plain_names_without_lexicons(x, first, last):
    return [name for name in plain_names(x, first, last) if not name.startswith("lexicon")]


@pytest.mark.parametrize("bits", [None, 12])
def test_state_threads_and_parts(bits):
    features = SegmentFeatures(lexicons=LEXICONS, hash_bits=bits, counted="all", min_count=2)
    xs = XS * 60
    found = []
    for n_jobs in (1, 3):
        extractor = SegmentExtractor(features, MOST)
        rows = extractor.grow(xs, n_jobs=n_jobs)
        found.append((rows.indptr, rows.indices, extractor.keys))
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)
    spec, tensors = extractor.state()
    again = SegmentExtractor.restored(spec, tensors)
    assert again.state()[0] == spec
    assert {name: array.tobytes() for name, array in again.state()[1].items()} == {
        name: array.tobytes() for name, array in tensors.items()
    }
    assert again.n_attributes == extractor.n_attributes
    assert again.name(3) == extractor.name(3)
    loaded = again.rows(xs)
    np.testing.assert_array_equal(loaded.indices, rows.indices)
    if bits:
        assert rows.indices.max() < 1 << bits
        assert len(np.unique(rows.indices)) > 50
    part = rows.part(3, 5)
    taken = rows.take(np.array([3, 4]))
    np.testing.assert_array_equal(np.diff(part.indptr), np.diff(taken.indptr))
    np.testing.assert_array_equal(part.indices[part.indptr[0] : part.indptr[-1]], taken.indices)
    alone = again.rows(xs[3:5])
    np.testing.assert_array_equal(alone.indices, taken.indices)
    np.testing.assert_array_equal(alone.indptr, taken.indptr)
    np.testing.assert_array_equal(alone.starts, part.starts)


def test_inputs_without_words():
    with pytest.raises(DataError, match="tokens have none"):
        SegmentExtractor(SegmentFeatures(), 2).rows([[{"word": "on"}]])
    matrix = Matrix(csr_matrix(np.eye(3)), lengths=[2, 1])
    with pytest.raises(DataError, match="tokens have none"):
        SegmentExtractor(SegmentFeatures(), 2).rows(matrix)
    bare = SegmentExtractor(SegmentFeatures(families=("length",), counted="all", min_count=1), 2)
    assert np.diff(bare.grow(matrix).indptr).tolist() == [1, 0, 1, 1, 1, 0]
    pairs = [[(word, "tag") for word in x] for x in XS]
    by_column = SegmentExtractor(SegmentFeatures(counted="all", column=0), MOST)
    by_word = SegmentExtractor(SegmentFeatures(counted="all"), MOST)
    np.testing.assert_array_equal(by_column.grow(pairs).indices, by_word.grow(XS).indices)
    with pytest.raises(DataError, match="column 2"):
        SegmentExtractor(SegmentFeatures(column=2), 2).rows(pairs)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"families": ("width",)}, "families has 'width'"),
        ({"min_count": 0}, "min_count is 0"),
        ({"counted": "some"}, "counted is 'some'"),
        ({"hash_bits": 3}, "hash_bits is 3"),
    ],
)
def test_settings_are_checked(settings, problem):
    with pytest.raises(ValueError, match=problem):
        SegmentFeatures(**settings)


def test_gold_segments_must_be_given_to_count_them():
    with pytest.raises(ValueError, match="give the gold segments"):
        SegmentExtractor(SegmentFeatures(), 2).grow(XS)


def test_no_inputs():
    rows = SegmentExtractor(SegmentFeatures(counted="all"), 3).grow([])
    assert len(rows) == 0
    assert rows.indptr.tolist() == [0]

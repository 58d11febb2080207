"""Schemes of chunk labels: what they allow, how they are recognised, and one written as another."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import DataError
from sidelight.evaluate import convert, evaluate, scheme_of, span_counts, span_f1, spans
from sidelight.evaluate.schemes import PREFIXES, SCHEMES, may_follow
from sidelight.structures import LabelSet, scheme_transitions

TYPES = ("X", "Y")
labelings = st.lists(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=7), min_size=1, max_size=5)


def labels_in(scheme):
    return ["O", *(f"{prefix}-{kind}" for prefix in PREFIXES[scheme] for kind in TYPES)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_just_those_labelings_are_allowed_that_spans_are_written_as(scheme, length):
    labels = LabelSet.of(labels_in(scheme))
    allowed = scheme_transitions(labels, scheme)
    for labeling in product(labels.names, repeat=length):
        numbers = labels.encode(labeling)
        fits = allowed.start[numbers[0]] and allowed.end[numbers[-1]]
        fits = bool(fits and allowed.between[numbers[:-1], numbers[1:]].all())
        assert fits == (convert([labeling], to=scheme, scheme=scheme) == [list(labeling)]), labeling


@pytest.mark.parametrize("scheme", SCHEMES)
@given(labelings)
def test_spans_stay_the_same_in_every_scheme(scheme, batch):
    there = convert(batch, to=scheme, scheme="bio")
    assert list(spans(there, scheme=scheme)) == list(spans(batch, scheme="bio"))
    assert convert(there, to="BIO", scheme=scheme) == convert(batch, to="BIO", scheme="bio")
    assert all(may_follow(before, after, scheme) for y in there for before, after in zip([None, *y], [*y, None]) if y)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_is_known_by_its_labels(scheme):
    assert scheme_of(labels_in(scheme)) == ("BIO" if scheme == "IOB1" else scheme)
    assert scheme_of(np.array(labels_in(scheme))) is not None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        (["O"], None),
        (["NN", "VB"], None),
        (["B-NP", "NN"], None),
        (["B-NP"], "BIO"),
        (["I-NP", "O"], "IOB1"),
        (["S-NP", "O"], "BIOES"),
        (["U-NP", "B-NP", "O"], "BILOU"),
        (["I-NP", "E-NP", "O"], None),
        (["B-NP", "L-NP", "S-NP"], None),
        (["B-", "O"], None),
        (["B", "I", "O"], "BIO"),
        (["B", "I"], None),
        (["B", "I", "E", "S", "O"], "BIOES"),
        ([0, 1], None),
    ],
)
def test_schemes_that_are_seen(labels, expected):
    assert scheme_of(labels) == expected


@given(labelings, st.randoms(use_true_random=False))
def test_counts_of_sentences_add_up_to_the_evaluation(batch, random):
    guesses = [[random.choice(["O", "B-X", "I-X", "B-Y"]) for _ in y] for y in batch]
    counts = span_counts(guesses, batch, "bio")
    found = evaluate(batch, guesses, scheme="bio")
    assert counts.shape == (len(batch), 3)
    assert counts.sum(axis=0).tolist() == [found.spans.correct, found.spans.predicted, found.spans.gold]
    assert 100 * span_f1(counts) == pytest.approx(found.f1)
    for i, row in enumerate(counts.tolist()):
        assert row == span_counts([guesses[i]], [batch[i]], "bio")[0].tolist()


def test_a_label_that_a_scheme_does_not_have():
    with pytest.raises(DataError, match=r"label 'E-X' is not a BILOU label; use O, B-type, I-type, L-type, U-type"):
        evaluate([["B-X", "E-X"]], [["B-X", "E-X"]], scheme="BILOU")
    with pytest.raises(DataError, match="unknown scheme 'BOI'"):
        convert([["B-X"]], to="BOI")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_tagger_stays_within_its_scheme(scheme):
    rng = np.random.default_rng(1)
    xs = [[f"w{k}" for k in rng.integers(0, 9, size=6)] for _ in range(40)]
    bio = [["B-X" if w < "w3" else "I-X" if w < "w5" and t else "O" for t, w in enumerate(x)] for x in xs]
    ys = convert(bio, to=scheme, scheme="bio")
    tagger = sl.Tagger(learner="perceptron", scheme=scheme, max_rounds=2, n_jobs=1).fit(xs, ys)
    found = tagger.predict([[f"w{k}" for k in rng.integers(0, 9, size=6)] for _ in range(60)])
    assert convert(found, to=scheme, scheme=scheme) == found


def test_gold_that_breaks_the_scheme_is_named():
    with pytest.raises(DataError, match="B-X ends it") as raised:
        sl.Tagger(scheme="BIOES").fit([["a", "b"], ["a", "b"]], [["B-X", "E-X"], ["O", "B-X"]])
    assert str(raised.value).startswith("evidence 1 (Gold), token 1")
    with pytest.raises(ValueError, match="scheme is 'bio'; give one of 'BIO', 'IOB1', 'BIOES', 'BILOU', or None"):
        sl.Tagger(scheme="bio").fit([["a"]], [["O"]])


def test_segments_are_learned_from_bio():
    with pytest.raises(ValueError, match=r"segments are learned from BIO labels.*convert\(labels, to='BIO'\)"):
        sl.SegmentTagger(scheme="BIOES").fit([["a"]], [["S-X"]])

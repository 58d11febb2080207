"""Candidates as a newcomer may write them: what can be read is, and what cannot ends with one clear line."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.structures.labels.label_sets import LabelSet

X = ["light", "is", "on"]
SETS = [["A", "B"], ["B"], ["A"]]
RIGHT = sl.Gold(["is", "on"], ["A", "B"])
ESTIMATORS = [
    pytest.param(lambda **more: sl.Tagger(learner="cllp", n_jobs=1, max_rounds=2, **more), id="cllp"),
    pytest.param(lambda **more: sl.Tagger(n_jobs=1, max_rounds=2, **more), id="jlis"),
    pytest.param(lambda **more: sl.SegmentTagger(n_jobs=1, max_rounds=2, **more), id="semi_crf"),
]


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    "piece",
    [
        sl.Candidates(tuple(X), tuple(map(tuple, SETS))),
        sl.Candidates(np.array(X), [set(labels) for labels in SETS]),
        sl.Candidates(X, [np.array(labels) for labels in SETS]),
        sl.Candidates(X, [{np.str_("A"), "B"}, {"B"}, {"A"}]),
        sl.Candidates(X, SETS, initial=np.array(["A", "B", "A"]), known=np.array([None, "B", None])),
    ],
)
def test_ways_of_writing_the_same(make, piece):
    usual, other = (make().fit([one, RIGHT]) for one in (sl.Candidates(X, SETS), piece))
    assert other.classes_ == ["A", "B"] and all(type(label) is str for label in other.classes_)
    if piece.initial is None:
        np.testing.assert_array_equal(other.model_.weights, usual.model_.weights)


def test_arrays_with_a_row_of_labels_for_each_token():
    rows = np.array([["A", "B"], ["B", "A"], ["A", "B"]])
    written = [sl.Candidates(X, rows.tolist()), sl.Candidates(X, rows)]
    usual, other = (sl.Tagger(learner="cllp", n_jobs=1).fit([one]) for one in written)
    np.testing.assert_array_equal(other.model_.weights, usual.model_.weights)


NAN = float("nan")
SET = "give for each token a set of labels, or None for any"
LABEL = "give a list with one label, or None, per token"


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("y", "more", "problem"),
    [
        (SETS[:2], {}, ": 3 tokens but an output for 2; give one element per token"),
        ([*SETS, None], {}, ": 3 tokens but an output for 4; give one element per token"),
        ([["A"], [], ["B"]], {}, ", token 1: an empty candidate set; give at least one label"),
        ([["A"], np.array([]), ["B"]], {}, ", token 1: an empty candidate set; give at least one label"),
        ("ABA", {}, ": the output 'ABA' is a str; give a list"),
        (None, {}, ": the output None is a NoneType; give a list"),
        ([["A"], "B", ["A"]], {}, ", token 1: the candidates 'B' are a str; give a set or tuple of labels"),
        ([["A"], b"B", ["A"]], {}, f", token 1: the candidates b'B' are bytes; {SET}"),
        (np.ones((3, 2), dtype=bool), {}, f": the candidates are a mask, an array of truths; {SET}"),
        ([None, None, np.array([True])], {}, f", token 2: the candidates are a mask, an array of truths; {SET}"),
        ([["A", None], ["B"], ["A"]], {}, ", token 0: None is not a label; give sets of labels; None instead of a"),
        ([["A"], ["B", NAN], ["A"]], {}, ", token 1: nan is not a label; give sets of labels"),
        ([["A"], ["B", ["A"]], ["A"]], {}, ", token 1: ['A'] is not a label; give sets of labels"),
        ([["A"], [{"A"}, {"B"}], ["A"]], {}, ", token 1: {'A'} is not a label; give sets of labels"),
        (SETS, {"initial": ["C", "B", "A"]}, ", token 0: the initial label 'C' is not among the candidates; begin"),
        (SETS, {"initial": ["A", "A", "A"]}, ", token 1: the initial label 'A' is not among the candidates; begin"),
        (SETS, {"initial": ["A"]}, ": 3 candidate sets but 1 initial labels; give one initial label, or None, per"),
        (SETS, {"initial": "ABA"}, f": the initial labels 'ABA' are a str; {LABEL}"),
        (SETS, {"initial": {0: "A"}}, f": the initial labels {{0: 'A'}} are a dict; {LABEL}"),
        (SETS, {"initial": {"A"}}, f": the initial labels {{'A'}} are a set; {LABEL}"),
        (SETS, {"initial": 3}, f": the initial labels 3 are a int; {LABEL}"),
        (SETS, {"initial": [["A"], ["B"], ["A"]]}, f", token 0: the initial label ['A'] is not a label; {LABEL}"),
        (SETS, {"known": "BBA"}, f": the known labels 'BBA' are a str; {LABEL}"),
        (SETS, {"known": 3}, f": the known labels 3 are a int; {LABEL}"),
        (SETS, {"known": [["A"], None, None]}, f", token 0: the known label ['A'] is not a label; {LABEL}"),
        (SETS, {"chunks": None}, ": the chunks are a NoneType; give a list of Chunk(first, [labeling"),
        (SETS, {"chunks": sl.Chunk(0, [("A", "B")])}, ": the chunks are a Chunk; give a list of Chunk("),
        (SETS, {"chunks": [(0, [("A", "B")])]}, ": (0, [('A', 'B')]) among the chunks; give a list of Chunk("),
        (SETS, {"chunks": [sl.Chunk("0", [("A", "B")])]}, ": a chunk from token '0' on; count tokens from 0"),
        (SETS, {"chunks": [sl.Chunk(0, ["AB"])]}, ": the labelings ['AB'] of a chunk; give a list of Chunk("),
        (SETS, {"chunks": [sl.Chunk(0, [3])]}, ": the labelings [3] of a chunk; give a list of Chunk("),
        (SETS, {"chunks": [sl.Chunk(0, None)]}, ": the labelings None of a chunk; give a list of Chunk("),
    ],
)
def test_mistakes_end_with_a_remedy(make, y, more, problem):
    piece = sl.Candidates(X, y, **more)
    for settings in ({}, {"labels": ["A", "B"]}):
        with pytest.raises(sl.DataError) as found:
            make(**settings).fit([RIGHT, piece])
        assert str(found.value).startswith(f"evidence 1 (Candidates){problem}")


@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (
            sl.Gold(X, [{"A"}, {"B"}, {"A"}]),
            "(Gold), token 0: {'A'} is not a label; give labels; Candidates takes sets",
        ),
        (sl.Gold(X, ["A", NAN, "A"]), "(Gold), token 1: nan is not a label; give labels"),
        (sl.Partial(X, ["A", NAN, None]), "(Partial), token 1: nan is not a label; give labels, or None where one is"),
        (sl.Companion(X, 1, candidates=[["A"], [None], None]), "(Companion), token 1: None is not a label; give sets"),
        (sl.Candidates(np.zeros(3), SETS), "(Candidates): the input is an array of numbers; sidelight.Matrix takes"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"labels": ["A", "B"]}])
def test_other_evidence_has_labels_too(piece, problem, settings):
    with pytest.raises(sl.DataError) as found:
        sl.Tagger(**settings).fit([RIGHT, piece])
    assert str(found.value).startswith(f"evidence 1 {problem}")


def test_candidates_of_classes_may_be_arrays():
    x = {"long": 1.0}
    known = sl.gold([{"long": 1.0}, {"short": 1.0}], ["p", "q"])
    for y in (np.array(["p", "q"]), [np.array(["p", "q"])]):
        assert sl.Classifier(learner="cllp", n_jobs=1).fit([sl.Candidates(x, y), *known]).classes_ == ["p", "q"]
    with pytest.raises(sl.DataError, match=r"evidence 0 \(Candidates\): the candidates are a mask"):
        sl.Classifier(learner="cllp").fit([sl.Candidates(x, np.array([True, False])), *known])
    with pytest.raises(sl.DataError, match=r"evidence 0 \(Gold\): \['p'\] is not a label"):
        sl.Classifier().fit([sl.Gold(x, ["p"]), *known])


@pytest.mark.parametrize("wrong", [sl.Candidates(X, SETS), None, 3])
def test_one_piece_is_no_list(wrong):
    with pytest.raises(sl.DataError, match=f"{type(wrong).__name__} instead of a list of evidence; give a list"):
        sl.Tagger().fit(wrong)


@pytest.mark.parametrize(
    ("xs", "ys", "more", "problem"),
    [
        ([X], [], {}, "1 inputs but 0 outputs; give one output per input"),
        ([X], None, {}, "the outputs are a NoneType; give a list with one element per input"),
        ([X], {"A"}, {}, "the outputs are a set; give a list"),
        (iter([X]), [SETS], {}, "the inputs are a list_iterator; give a list"),
        ([X], [SETS], {"weight": "much"}, "the weight 'much'; give one number or one per input"),
        ([X], [SETS], {"weight": None}, "the weight None; give one number or one per input"),
        ([X], [SETS], {"weight": [1.0, 2.0]}, "2 weights for 1 inputs; give one number or one per input"),
    ],
)
def test_lists_of_candidates_are_checked_when_they_are_made(xs, ys, more, problem):
    with pytest.raises(sl.DataError) as found:
        sl.candidates(xs, ys, **more)
    assert str(found.value).startswith(problem)


def test_labels_of_many_types_have_an_order_or_are_refused():
    assert LabelSet.of(["b", np.str_("a"), 2, np.int64(1)]).names == (1, 2, "a", "b")
    with pytest.raises(sl.DataError, match=r"labels that have no order \(complex\); give strings or numbers"):
        LabelSet.of([1j, 2j])

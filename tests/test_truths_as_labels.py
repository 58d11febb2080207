"""Labels that are True and False stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl


@pytest.mark.parametrize("made", [list, np.array])
def test_labels_that_are_truths_stay_truths(made, tmp_path):
    ys = [made([True, False]), made([False, True])]
    xs = [["a", "b"], ["b", "a"]]
    for estimator in (sl.Tagger(learner="crf"), sl.SegmentTagger(max_rounds=5)):
        estimator.fit(xs, ys).save(tmp_path / "model")
        for one in (estimator, type(estimator).load(tmp_path / "model")):
            assert [type(name) for name in one.classes_] == [bool, bool]
            assert repr(one.predict(xs)) == "[[True, False], [False, True]]"
    judge = sl.Classifier().fit([{"a": 1.0}, {"b": 1.0}], made([True, False]))
    judge.save(tmp_path / "classes")
    assert repr(sl.Classifier.load(tmp_path / "classes").predict([{"a": 1.0}, {"b": 1.0}])) == "[True, False]"


@pytest.mark.parametrize("equal", [(True, 1), (1, True), (1, 1.0), (np.bool_(True), np.int64(1)), (False, 0)])
def test_equal_labels_of_different_types_are_refused(equal):
    """They are one label to Python, and two to whoever wrote them."""
    one, other = equal
    xs, ys = [["a", "b"], ["b", "a"]], [[one, "x"], ["x", other]]
    mixed = [*sl.gold(xs[:1], ys[:1]), *sl.candidates(xs[1:], [[None, {other}]])]
    for estimator in (sl.Tagger(learner="partial_crf"), sl.SegmentTagger(max_rounds=5)):
        for given in ((xs, ys), (mixed,)):
            with pytest.raises(sl.DataError, match=r"token 1: the label .* is equal to the label .*; give labels of"):
                estimator.fit(*given)
    with pytest.raises(sl.DataError, match=r"evidence 1 .*is equal to the label"):
        sl.Classifier(n_jobs=1).fit([{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], [one, other, "x"])
    with pytest.raises(sl.DataError, match=r"evidence 0 .*is equal to the label"):
        sl.Tagger(learner="crf", labels=[other, "x"]).fit(xs[:1], ys[:1])


def test_numbers_and_truths_that_differ_are_labels_together():
    tagger = sl.Tagger(learner="crf", n_jobs=1).fit([["a", "b"]], [[True, 2]])
    assert repr(tagger.classes_) == "[True, 2]"
    assert tagger.fit([["a", "b"], ["b"]], [[np.int64(1), 2], np.array([2], dtype=np.int8)]).classes_ == [1, 2]

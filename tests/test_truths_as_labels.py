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

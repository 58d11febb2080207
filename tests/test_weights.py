"""Weights by name: together they are the score, and a label's are its own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from sidelight import Classifier, DataError, SegmentTagger, Tagger
from sidelight.models.model import Model
from sidelight.models.weights import Weight, shown_weights

XS = [["a", "dog", "barks"], ["the", "dog"], ["a", "cat", "sees", "the", "dog"]]
NAMES = [["Ann", "Lee", "saw", "Bob"], ["Bob", "slept"], ["Eve", "saw", "Ann", "Lee"], ["Ann", "Lee", "slept"]]
NAME_LABELS = [
    ["B-PER", "I-PER", "O", "B-PER"],
    ["B-PER", "O"],
    ["B-PER", "O", "B-PER", "I-PER"],
    ["B-PER", "I-PER", "O"],
]
YS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V", "D", "N"]]


def by_name(model: Model) -> dict[tuple[str, str, object], float]:
    return {(w.part, w.name, w.label): w.value for w in sl.weights(model, top=None)}


def score_of(model: Model, xs: Any, labels: list[object]) -> float:
    """The score of an output, from named weights alone."""
    value = by_name(model)
    rows = model.prepare(xs)  # of one input
    total = value.get(("start" if model.sequences else "bias", "", labels[0]), 0.0) + value.get(
        ("end", "", labels[-1]), 0.0
    )
    for t, label in enumerate(labels):
        for k in range(rows.indptr[t], rows.indptr[t + 1]):
            amount = rows.values[k] if len(rows.values) else 1.0
            total += amount * value.get(("feature", model.extractor.name(int(rows.indices[k])), label), 0.0)
        for k in range(rows.dense.shape[1]):
            total += float(rows.dense[t, k]) * value.get(("dense", str(k), label), 0.0)
        if t > 0:
            total += value.get(("transition", str(labels[t - 1]), label), 0.0)
        if t > 1:
            total += value.get(("second-order transition", f"{labels[t - 2]} {labels[t - 1]}", label), 0.0)
    return float(total)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("learner", ["jlis", "crf", "hmm"])
def test_named_weights_add_up_to_the_score(order: int, learner: str) -> None:
    model = Tagger(order=order, learner=learner).fit(XS, YS).model_
    for x in XS:
        found = model.paths([x])
        labels = model.labels.decode(found.labels)
        np.testing.assert_allclose(score_of(model, [x], labels), found.values[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("classes", [("no", "yes"), ("no", "yes", "maybe")])
def test_of_classes_and_dense_columns(classes: tuple[str, ...]) -> None:
    xs = np.random.default_rng(0).normal(size=(60, 3))
    ys = [classes[int(np.argmax([0.0, *x[1 : len(classes)]]))] for x in xs]  # the column numbered as the class decides
    model = Classifier(labels=classes).fit(xs, ys).model_
    assert {w.label for w in sl.weights(model)} == (set(classes) if len(classes) > 2 else {"yes"})
    assert sl.weights(model, label="yes", top=1)[0].name.endswith("1")
    found = model.paths(xs[:1])
    total = score_of(model, xs[:1], model.labels.decode(found.labels))
    np.testing.assert_allclose(total, found.values[0], rtol=1e-6, atol=1e-6)


def test_highest_and_lowest_in_order_and_of_one_label() -> None:
    model = Tagger(learner="crf").fit(XS, YS).model_
    everything = sl.weights(model, top=None)
    values = [w.value for w in everything]
    assert values == sorted(values, reverse=True)
    assert len(values) == np.count_nonzero(model.weights)
    assert sl.weights(model, top=5) == everything[:5]
    lowest = sl.weights(model, top=5, lowest=True)
    assert [w.value for w in lowest] == sorted(values)[:5]
    assert sl.weights(model, top=None, label="N") == [w for w in everything if w.label == "N"]


def test_states_of_a_label_are_its_own() -> None:
    model = Tagger(states=2, learner="latent_svm").fit(XS, YS).model_
    names = {w.label for w in sl.weights(model, top=None, label="N")}
    assert names
    assert all(str(name).startswith("N") for name in names)


def test_bad_questions() -> None:
    model = Tagger(learner="crf").fit(XS, YS).model_
    with pytest.raises(DataError, match=r"no label 'X'.*D, N, V"):
        sl.weights(model, label="X")
    with pytest.raises(ValueError, match="top is 0"):
        sl.weights(model, top=0)


def test_companion_threshold_is_told() -> None:
    assert "threshold" in shown_weights([Weight("threshold", "", None, -1.0)])


@pytest.mark.parametrize("learner", ["semi_crf", "semi_svm"])
def test_of_segments_add_up_to_the_score(learner: str) -> None:
    model = SegmentTagger(learner=learner, scheme="BIO").fit(NAMES, NAME_LABELS).model_
    weights = sl.weights(model, top=None)
    value = {(w.part, w.name, w.label): w.value for w in weights}
    assert len(weights) == np.count_nonzero(model.weights)
    assert {w.part for w in weights} >= {"feature", "segment feature", "start"}
    for x in NAMES:
        batch = model.batch([x])
        spans = model.predict_segments([x])[0]
        names = [label for *_, label in spans]
        total = value.get(("start", "", names[0]), 0.0) + value.get(("end", "", names[-1]), 0.0)
        total += sum(value.get(("transition", a, b), 0.0) for a, b in pairwise(names))
        for first, last, label in spans:
            row = last * model.structure.max_length + last - first
            segments = batch.scorer.segments
            seen = segments.indices[segments.indptr[row] : segments.indptr[row + 1]]
            total += sum(
                value.get(("segment feature", model.structure.segments.name(int(a)), label), 0.0) for a in seen
            )
            rows = batch.scorer.rows
            tokens = rows.indices[rows.indptr[first] : rows.indptr[last + 1]]
            total += sum(value.get(("feature", model.extractor.name(int(a)), label), 0.0) for a in tokens)
        np.testing.assert_allclose(total, batch.best(model.weights).values[0], rtol=1e-9, atol=1e-9)


def test_of_a_segment_label_are_its_own() -> None:
    model = SegmentTagger(scheme="BIO").fit(NAMES, NAME_LABELS).model_
    everything = sl.weights(model, top=None)
    assert sl.weights(model, top=None, label="PER") == [w for w in everything if w.label == "PER"]
    assert sl.weights(model, label="PER", top=3, lowest=True)[0].value == min(
        w.value for w in everything if w.label == "PER"
    )
    with pytest.raises(DataError, match="no label 'B-PER'"):
        sl.weights(model, label="B-PER")


def test_estimators_and_their_models_have_the_same_weights() -> None:
    tagger = Tagger(learner="crf").fit(XS, YS)
    found = sl.weights(tagger, top=5)
    assert found == sl.weights(tagger.model_, top=5)
    assert str(found) == shown_weights(found)
    assert found._repr_html_().count("<tr>") == 6
    assert sl.explain(tagger, XS[0]) == sl.explain(tagger.model_, XS[0])
    segmenter = SegmentTagger(max_rounds=5).fit(XS, YS)
    assert sl.weights(segmenter, top=3) == sl.weights(segmenter.model_, top=3)


def test_what_has_no_weights_is_refused() -> None:
    with pytest.raises(sl.NotFitted, match="this Tagger has not been fitted"):
        sl.weights(Tagger())
    for wrong in (3, "model", sl.Aligner().fit([(["a"], ["b"])]), sl.CoTraining(Tagger(), Tagger())):
        with pytest.raises(DataError, match="has no weights of features; give a Tagger"):
            sl.weights(wrong)

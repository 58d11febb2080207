"""Training that stops after any round goes on to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import ModelFileError, Tagger, candidates, companion, features, gold, shuffled, unlabeled
from sidelight.models.files import KIND, VERSION, read_tensors, write_tensors

RNG = np.random.default_rng(1)
WORDS = ["on", "off", "light", "dark", "dim", "sun"]
XS = [[WORDS[i] for i in RNG.integers(0, 6, RNG.integers(2, 7))] for _ in range(60)]
YS = [["XYZ"[(WORDS.index(word) + int(RNG.random() < 0.15)) % 3] for word in x] for x in XS]


def evidence_of(kind: str):
    if kind in ("structural_svm", "hinge", "perceptron"):
        return gold(XS, YS)
    mixed = [*gold(XS[:8], YS[:8]), *companion(XS[8:30], 1), *companion(shuffled(XS[8:30], seed=3), -1)]
    if kind == "mixed":
        mixed += [*candidates(XS[30:40], [[set("XY")] * len(x) for x in XS[30:40]]), *unlabeled(XS[40:50])]
    return mixed


def tagger_for(kind: str, **settings):
    learner = kind if kind in ("structural_svm", "perceptron") else "jlis"
    loss = "hinge" if kind == "hinge" else "squared_hinge"
    limit = {"perceptron": 6}.get(kind, 60)
    settings = {"max_rounds": limit, "tolerance": 1e-3, **settings}
    return Tagger(learner=learner, loss=loss, features=features.words(), random_ties=True, n_jobs=1, **settings)


class Stop(Exception):
    pass


def stop_after(rounds: int):
    def callback(record):
        if record.number == rounds:
            raise Stop

    return callback


KINDS = ["structural_svm", "hinge", "jlis", "mixed", "perceptron"]


@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_training_goes_on_to_the_same_bits(kind, tmp_path):
    evidence = evidence_of(kind)
    whole = tagger_for(kind).fit(evidence)
    count = len(whole.rounds_)
    assert count >= 3
    new = [b.number for a, b in zip(whole.rounds_, whole.rounds_[1:]) if b.completion > a.completion]
    points = {1, 2, count // 2, count - 1, *(n - 1 for n in new[:4]), *new[:4]}
    if kind in ("jlis", "mixed"):
        assert len(new) >= 2
    for point in sorted(points - {0, count}):
        path = tmp_path / f"after {point}"
        with pytest.raises(Stop):
            tagger_for(kind, checkpoint=path, callbacks=[stop_after(point)]).fit(evidence)
        resumed = tagger_for(kind, checkpoint=path).fit(evidence)
        np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)
        expected = [(r.number, r.completion, r.objective, r.dual, r.mistakes) for r in whole.rounds_[point:]]
        assert [(r.number, r.completion, r.objective, r.dual, r.mistakes) for r in resumed.rounds_] == expected
        assert {p.name for p in tmp_path.iterdir()} == {path.name}
        path.unlink()


@pytest.mark.parametrize("kind", ["jlis", "perceptron"])
def test_interrupted_again_and_again(kind, tmp_path):
    evidence, path = evidence_of(kind), tmp_path / "check"
    whole = tagger_for(kind).fit(evidence)
    for point in range(1, len(whole.rounds_)):
        with pytest.raises(Stop):
            tagger_for(kind, checkpoint=path, callbacks=[stop_after(point)]).fit(evidence)
    resumed = tagger_for(kind, checkpoint=path).fit(evidence)
    np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)


@pytest.mark.parametrize("kind", ["structural_svm", "jlis"])
def test_a_finished_checkpoint_is_finished(kind, tmp_path):
    evidence, path = evidence_of(kind), tmp_path / "check"
    first = tagger_for(kind, checkpoint=path).fit(evidence)
    again = tagger_for(kind, checkpoint=path).fit(evidence)
    np.testing.assert_array_equal(again.model_.weights, first.model_.weights)
    assert again.rounds_ == first.rounds_[-1:]
    assert again.rounds_[-1].stopped


@pytest.mark.parametrize(("kind", "limit"), [("structural_svm", 2), ("jlis", 3), ("perceptron", 3)])
def test_max_rounds_counts_rounds_before_the_interruption(kind, limit, tmp_path):
    evidence, path = evidence_of(kind), tmp_path / "check"
    whole = tagger_for(kind, max_rounds=limit).fit(evidence)
    with pytest.raises(Stop):
        tagger_for(kind, max_rounds=limit, checkpoint=path, callbacks=[stop_after(limit)]).fit(evidence)
    resumed = tagger_for(kind, max_rounds=limit, checkpoint=path).fit(evidence)
    np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)


@pytest.mark.parametrize("kind", ["jlis", "perceptron"])
def test_more_rounds_go_on_from_fewer(kind, tmp_path):
    evidence, path = evidence_of(kind), tmp_path / "check"
    tagger_for(kind, max_rounds=2, checkpoint=path).fit(evidence)
    more = tagger_for(kind, max_rounds=5, checkpoint=path).fit(evidence)
    whole = tagger_for(kind, max_rounds=5).fit(evidence)
    np.testing.assert_array_equal(more.model_.weights, whole.model_.weights)
    assert [r.number for r in more.rounds_] == [3, 4, 5]


VALIDATED = ["structural_svm", "jlis", "perceptron", "crf", "mira", "arow"]


@pytest.mark.parametrize("learner", VALIDATED)
def test_validation_goes_on_where_it_was(learner, tmp_path):
    def tagger(**settings):
        return Tagger(features=features.words(), learner=learner, n_jobs=1, patience=3, tolerance=1e-5, **settings)

    evidence, held = gold(XS[:4], YS[:4]), (XS[4:], YS[4:])
    whole = tagger().fit(evidence, validation=held)
    count = len(whole.rounds_)
    for point in sorted({1, 2, count // 2, count - 1} - {0, count}):
        path = tmp_path / f"after {point}"
        with pytest.raises(Stop):
            tagger(checkpoint=path, callbacks=[stop_after(point)]).fit(evidence, validation=held)
        resumed = tagger(checkpoint=path).fit(evidence, validation=held)
        np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)
        np.testing.assert_array_equal(resumed.last_model_.weights, whole.last_model_.weights)
        assert resumed.model_.about == whole.model_.about
        expected = [(r.number, r.validation, r.last, r.stopped) for r in whole.rounds_[point - 1 :]]
        assert [(r.number, r.validation, r.last, r.stopped) for r in resumed.rounds_] == expected
        with pytest.raises(ModelFileError, match="of other data or settings"):
            tagger(checkpoint=path).fit(evidence, validation=(XS[4:-1], YS[4:-1]))
        with pytest.raises(ModelFileError, match="of other data or settings"):
            tagger(checkpoint=path).fit(evidence)


def test_other_data_or_settings_are_refused(tmp_path):
    path = tmp_path / "check"
    evidence = evidence_of("jlis")
    tagger_for("jlis", checkpoint=path, max_rounds=3).fit(evidence)
    before = path.read_bytes()
    others = [
        ({}, evidence[:-1]),
        ({}, [*gold([XS[0][::-1]], [YS[0]]), *evidence[1:]]),
        ({}, [*gold([XS[0]], [YS[0][::-1]]), *evidence[1:]]),
        ({}, [*gold([XS[0]], [YS[0]], weight=2.0), *evidence[1:]]),
        ({"seed": 1}, evidence),
        ({"prices": {"gold": 2.0}}, evidence),
        ({"bias": False}, evidence),
        ({"size": "one"}, evidence),
    ]
    assert evidence[0].y != YS[0][::-1]
    for settings, pieces in others:
        with pytest.raises(ModelFileError, match="of other data or settings") as caught:
            tagger_for("jlis", checkpoint=path, max_rounds=3, **settings).fit(pieces)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == before
    with pytest.raises(ModelFileError, match="of other data or settings"):
        tagger_for("perceptron", checkpoint=path).fit(gold(XS, YS))


def test_checkpoints_of_the_first_version_are_refused(tmp_path):
    path = tmp_path / "check"
    evidence = evidence_of("structural_svm")
    tagger_for("structural_svm", checkpoint=path, max_rounds=2).fit(evidence)
    spec, arrays = read_tensors(path, kind=KIND, version=VERSION)
    old = {"fingerprint": spec["fingerprint"], "values": spec["values"]["learner"]}
    write_tensors(path, arrays, kind=KIND, version=1, spec=old)
    with pytest.raises(ModelFileError, match="of an earlier version; delete it"):
        tagger_for("structural_svm", checkpoint=path, max_rounds=2).fit(evidence)


def test_a_text_is_no_checkpoint(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("what I did today")
    with pytest.raises(
        ModelFileError, match="this is text, not a sidelight checkpoint; delete it, or give another name"
    ):
        tagger_for("structural_svm", checkpoint=path, max_rounds=2).fit(evidence_of("structural_svm"))
    assert path.read_text() == "what I did today"


def test_damaged_checkpoints_are_refused(tmp_path):
    path = tmp_path / "check"
    evidence = evidence_of("structural_svm")
    tagger_for("structural_svm", checkpoint=path, max_rounds=2).fit(evidence)
    data = path.read_bytes()
    spoiled = bytearray(data)
    spoiled[len(data) // 2] ^= 0xFF
    for bad in (b"", data[:100], data[:-1], bytes(spoiled), b"text"):
        path.write_bytes(bad)
        with pytest.raises(ModelFileError, match="check") as caught:
            tagger_for("structural_svm", checkpoint=path, max_rounds=2).fit(evidence)
        assert "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["check"]

"""Labels to begin with from HMMs, and the rows of CLLP that begin with them."""

from __future__ import annotations

import pytest

from sidelight.evidence import Candidates
from sidelight.experiments.cllp.candidate_grid import CLLP, MMS, MMS_LIKE_CLLP, CandidateOutcome, CandidateSetting
from sidelight.experiments.cllp.initial_tags import EXTRAS, MIN_GREEDY, STARTS, begun, tagger_of
from sidelight.experiments.cllp.tag_dictionary import AGAIN_PILOTS, AmbiguousDictionary, again_rows, begun_rows
from sidelight.experiments.grid import LabelledExamples

XS = [["the", "dog", "runs"], ["a", "dog", "sees", "the", "zebra"], ["the", "cat", "sees"], ["a", "cat", "runs"]] * 5
YS = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["D", "N", "V"], ["D", "N", "V"]] * 5
WORDS = {"the": ["D"], "a": ["D"], "dog": ["N"], "cat": ["N", "V"], "runs": ["N", "V"], "sees": ["V"]}
LABELS = ["D", "N", "V"]


@pytest.mark.parametrize("way", STARTS)
def test_labels_are_candidates_and_mostly_right(way):
    pieces = [Candidates(x, [WORDS.get(word) for word in x]) for x in XS]
    found = begun(pieces, LABELS, way=way, seed=0)
    assert [piece.x for piece in found] == XS
    right = total = 0
    for piece, y in zip(found, YS):
        assert piece.initial is not None and len(piece.initial) == len(y)
        assert all(options is None or label in options for label, options in zip(piece.initial, piece.y))
        right += sum(a == b for a, b in zip(piece.initial, y))
        total += len(y)
    assert right / total > 0.8
    assert tagger_of(pieces, LABELS, way=way, seed=0).predict([["the", "dog"]]) == [["D", "N"]]


def test_rows_begin_with_the_labels_of_the_hmm(monkeypatch):
    study = AmbiguousDictionary(
        WORDS, LabelledExamples(XS, YS), LabelledExamples(XS[:4], YS[:4]), LabelledExamples(XS[:4], YS[:4]), LABELS
    )
    asked = []

    def one(dictionary, task):
        asked.append((task.method, dictionary.candidates(task.setting, task.draw)[0].initial))
        return CandidateOutcome({"accuracy": 50.0}, {"accuracy": 60.0}, 1)

    monkeypatch.setattr("sidelight.experiments.cllp.tag_dictionary.fit", one)
    settings = [CandidateSetting("few", 20, 2), CandidateSetting("48000 tokens", 48_000, 2)]
    rows = begun_rows(study, MIN_GREEDY, settings, n_jobs=1, report=lambda text: None)
    assert [(row["setting"], row["method"]) for row in rows] == [
        (setting.name, method) for setting in settings for method in (f"HMM, {MIN_GREEDY}", f"{CLLP} + {MIN_GREEDY}")
    ]
    assert [row["paper"] for row in rows] == [None, None, 87.95, 89.87]
    assert asked and all(method == CLLP and len(initial) == 3 for method, initial in asked)


def test_development_data_choose_what_is_added_to_counts(monkeypatch):
    study = AmbiguousDictionary(
        WORDS, LabelledExamples(XS, YS), LabelledExamples(XS[:4], YS[:4]), LabelledExamples(XS[4:], YS[4:]), LABELS
    )
    told, parts = [], []

    def alone(each, setting, draw, part):
        parts.append(part)
        return 90.0 if each.extra == EXTRAS[1] else 50.0

    monkeypatch.setattr(AmbiguousDictionary, "alone", alone)
    monkeypatch.setattr(
        "sidelight.experiments.cllp.tag_dictionary.fit", lambda *_: CandidateOutcome({"a": 1.0}, {"a": 2.0}, 1)
    )
    rows = begun_rows(study, MIN_GREEDY, [CandidateSetting("few", 20, 1)], n_jobs=1, report=told.append)
    assert told[0].endswith("0.005 added to counts, chosen on development data")
    assert rows[0]["value"] == 90.0
    assert parts == [study.dev] * len(EXTRAS) + [study.test]


def test_more_draws_are_chosen_for_with_draws_that_are_not_scored():
    study = AmbiguousDictionary(
        WORDS, LabelledExamples(XS, YS), LabelledExamples(XS[:4], YS[:4]), LabelledExamples(XS[4:], YS[4:]), LABELS
    )
    asked = []

    def run(tasks):
        asked.extend(tasks)
        return [CandidateOutcome({"a": -abs(task.choice.price - 0.3)}, {"a": float(task.draw)}, 1) for task in tasks]

    settings = [
        CandidateSetting("few", 20, 5),
        CandidateSetting("48000 tokens", 48_000, 5, paper={MMS: 67.68, CLLP: 76.74}),
    ]
    rows = again_rows(study, settings, run, lambda text: None)
    scored = [task for task in asked if task.draw not in AGAIN_PILOTS]
    assert {task.choice.price for task in scored} == {0.3}
    assert {task.setting.name for task in asked if task.draw in AGAIN_PILOTS} == {"few, again"}
    assert sorted(row["draws"] for row in rows if row["metric"] == "a") == [20] * 6
    assert {row["method"] for row in rows if row["metric"] == "a"} == {MMS, MMS_LIKE_CLLP, CLLP}
    assert [row["paper"] for row in rows if row["method"] == CLLP] == [None, 76.74]

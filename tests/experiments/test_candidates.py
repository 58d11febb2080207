"""Candidate labels as the paper makes them, and the table of experiments."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from sidelight.evidence import Candidates
from sidelight.experiments import MODULES, NAMES
from sidelight.experiments.cllp.candidate_corpora import WORD_FEATURES, Sentences
from sidelight.experiments.cllp.candidate_grid import (
    CL_SVM,
    CLLP,
    CLLP_LIKE_MMS,
    EIGHT,
    GOLD,
    MMS,
    MMS_LIKE_CLLP,
    NAIVE,
    STAGES,
    CandidateChoice,
    CandidateOutcome,
    CandidateSetting,
    CandidateTask,
    CandidateTrials,
    Results,
    choices_of,
    evidence_of,
    fit,
    labelings,
)
from sidelight.experiments.cllp.candidate_sets import (
    initial_labels,
    labels_with_error,
    random_sets,
    shares_of,
    specified_sets,
)
from sidelight.experiments.cllp.entity_types import OTHER, type_scores
from sidelight.experiments.cllp.tag_dictionary import AmbiguousDictionary, cut, dictionary_of
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.pool import pool

LABELS = list("ABCDEFG")


def test_random_sets_double_and_hold_the_right_label():
    rng = np.random.default_rng(0)
    y = [LABELS[k] for k in rng.integers(0, 7, 12)]
    shares = shares_of([y, LABELS])
    for doublings in (0, 1, 4, 16):
        sets = random_sets(y, doublings, shares, rng)
        sizes = [len(labels) for labels in sets]
        assert all(label in labels and len(set(labels)) == len(labels) for label, labels in zip(y, sets))
        assert all(size in (1, 2, 4, 7) for size in sizes)  # powers of two, or all labels
        if doublings == 1:
            assert sorted(sizes) == [1] * 11 + [2]


def test_other_candidates_follow_the_label_distribution():
    rng = np.random.default_rng(1)
    shares = {"A": 0.1, "B": 0.6, "C": 0.3}
    drawn = [random_sets(["A"], 1, shares, rng)[0] for _ in range(4000)]
    share = np.mean(["B" in labels for labels in drawn])
    assert abs(share - 0.6 / 0.9) < 0.03


def test_specified_sets_have_their_size():
    rng = np.random.default_rng(2)
    y = LABELS * 50
    for size in (1, 3, 7):
        sets = specified_sets(y, size, LABELS, rng)
        assert all(len(set(labels)) == size and label in labels for label, labels in zip(y, sets))
    seen = np.mean([["A" in labels for labels in specified_sets(["B"] * 2000, 3, LABELS, rng)]])
    assert abs(seen - 2 / 6) < 0.04


def test_labels_to_begin_with():
    rng = np.random.default_rng(3)
    y = LABELS * 300
    sets = specified_sets(y, 5, LABELS, rng)
    begun = initial_labels(sets, rng)
    assert all(label in labels for label, labels in zip(begun, sets))
    assert abs(np.mean([a != b for a, b in zip(begun, y)]) - 0.8) < 0.03
    for error in (0.0, 0.5, 0.8):
        wrong = labels_with_error(y, sets, error, rng)
        assert all(label in labels for label, labels in zip(wrong, sets))
        assert abs(np.mean([a != b for a, b in zip(wrong, y)]) - error) < 0.03


def test_every_experiment_has_a_file():
    for name, (module, line) in MODULES.items():
        found = importlib.import_module(f"sidelight.experiments.{module}")
        assert hasattr(found, "plans") or hasattr(found, "rows")
        assert NAMES[name] == line


def test_every_labeling_of_a_long_input_is_expanded():
    from sidelight.learners.all_labelings import expanded

    admitted = np.zeros((100, 3), dtype=np.uint8)
    admitted[:, 0] = 1
    admitted[[3, 70], 2] = 1
    which, labels = expanded(np.array([0, 100]), admitted)
    assert len(which) == 4
    assert len({tuple(row) for row in labels.reshape(4, 100)}) == 4


def corpus(count, seed):
    """Words that tell their labels, and labels that tell the next."""
    rng = np.random.default_rng(seed)
    ys = [[LABELS[(first + k) % 4] for k in range(rng.integers(3, 7))] for first in rng.integers(0, 4, count)]
    return LabelledExamples([[f"{label.lower()}{rng.integers(5)}" for label in y] for y in ys], ys)


def study(generation="specified", **more):
    parts = (corpus(80, 0), corpus(20, 1), corpus(20, 2))
    return Sentences(*parts, LABELS[:4], WORD_FEATURES, generation, spans=False, train=50, **more)


def test_initial_labels_are_the_same_for_all_methods_and_naive_takes_them_for_right():
    letters, setting = study(), CandidateSetting("3 candidates", 3, 1)
    pieces = letters.candidates(setting, 1)
    assert pieces == evidence_of(letters, CandidateTask(setting, 1, MMS, CandidateChoice(0.1)))
    assert pieces == evidence_of(letters, CandidateTask(setting, 1, CLLP, CandidateChoice(0.3)))
    naive = evidence_of(letters, CandidateTask(setting, 1, NAIVE, CandidateChoice(0.1)))
    assert [piece.y for piece in naive] == [[[label] for label in piece.initial] for piece in pieces]
    assert letters.candidates(setting, 2) != pieces
    assert [piece.x for piece in letters.gold(setting, 1)] == [piece.x for piece in pieces]


def test_all_labelings_weigh_as_much_as_one():
    copies = labelings(Candidates(["a", "b"], [["A", "B"], ["A", "B", "C"]]))
    assert len({str(copy.y) for copy in copies}) == 6
    assert sum(copy.weight for copy in copies) == pytest.approx(1.0)


def test_every_method_has_eight_trials():
    letters = study()
    best = CandidateChoice(0.1, 0.1)
    for method in (GOLD, NAIVE, CL_SVM, MMS, MMS_LIKE_CLLP, CLLP, CLLP_LIKE_MMS):
        tried = [choice for stage in range(STAGES) for choice in choices_of(EIGHT, method, stage, best, letters)]
        assert len(tried) == 8


def test_prices_and_ratios_may_be_tried_jointly():
    trials = CandidateTrials(cllp_prices=(0.1, 0.3), insides=(0.01, 1.0), jointly=True)
    stages = [choices_of(trials, CLLP, stage, CandidateChoice(0.1, 0.01), study()) for stage in range(STAGES)]
    assert stages[0] == [CandidateChoice(price, inside) for price in (0.1, 0.3) for inside in (0.01, 0.1, 1.0)]
    assert stages[1] == [] and stages[2] == [CandidateChoice(0.1, 0.01, threshold) for threshold in (0.5, 3.0)]


def test_draws_that_choose_need_not_be_scored():
    def run(tasks):
        return [CandidateOutcome({"accuracy": float(task.draw)}, {"accuracy": float(task.draw)}, 1) for task in tasks]

    results = Results(study(), run)
    setting = CandidateSetting("2 candidates", 2, 3, methods=(MMS,), pilots=(100, 101), first=10)
    (scores,) = results.rows_of(setting, lambda line: None)
    assert (scores["value"], scores["draws"]) == (11.0, 3)
    tried = [task for task in results.outcomes if task.draw >= 100]
    assert len(tried) == 2 * 8 and {task.draw for task in results.outcomes} == {10, 11, 12, 100, 101}


def test_from_candidates_to_rows():
    letters = study("random")
    methods = (GOLD, NAIVE, CL_SVM, MMS, CLLP, CLLP_LIKE_MMS)
    setting = CandidateSetting("2 doublings", 2, 3, methods, {MMS: 90.0, CLLP: 95.0})
    with pool(fit, letters, n_jobs=1, report=lambda line: None) as run:
        rows = Results(letters, run, gold_draws=1).rows_of(setting, lambda line: None)
    found = {(row["method"], row["metric"]): row for row in rows}
    assert all(set(row) == {"setting", "method", "metric", "value", "std", "paper", "draws"} for row in rows)
    assert found[GOLD, "accuracy"]["value"] > 95 and found[GOLD, "accuracy"]["draws"] == 1
    assert found[CLLP, "accuracy"]["value"] > 90 and found[MMS, "accuracy"]["value"] > 90
    assert found[CLLP, "accuracy"]["paper"] == 95.0 and found["CLLP - MMS", "difference"]["paper"] == 5.0
    gain = found[CLLP, "accuracy"]["value"] - found[NAIVE, "accuracy"]["value"]
    assert found["CLLP - NAIVE", "difference"]["value"] == pytest.approx(gain)
    assert 0 <= found["CLLP - NAIVE", "p-value"]["value"] <= 1


def test_development_data_choose_and_gold_is_fitted_once():
    seen = []

    def run(tasks):
        seen.extend(tasks)
        return [
            CandidateOutcome(
                {"accuracy": 90.0 if task.choice.price == 0.3 else 50.0}, {"accuracy": 60.0 + task.draw}, 1
            )
            for task in tasks
        ]

    results = Results(study(), run, gold_at=CandidateSetting("1 candidates", 1, 2))
    settings = [CandidateSetting(f"{m} candidates", m, 2) for m in (2, 3)]
    rows = [row for setting in settings for row in results.rows_of(setting, lambda line: None)]
    assert {choice.price for chosen in results.chosen.values() for choice in chosen.values()} == {0.3}
    assert {row["value"] for row in rows if row["metric"] == "accuracy"} == {60.5}
    assert len(seen) == len(set(seen))
    assert sum(task.method == GOLD for task in seen) == 8 + 1
    results.rows_of(CandidateSetting("4 candidates", 4, 2), lambda line: None, like=settings[0])
    assert sum(task.setting.level == 4 for task in seen) == 6


def test_dictionary_has_the_tags_of_its_words_only():
    examples = LabelledExamples([["a", "b"], ["a"], ["c", "a"]], [["X", "Y"], ["Z"], ["Y", "X"]])
    first, rest = cut(examples, [2])
    assert (len(first.xs), len(rest.xs)) == (1, 2)
    study = AmbiguousDictionary(dictionary_of(first), rest, rest, rest, ["X", "Y", "Z"])
    piece = study.candidates(CandidateSetting("3 tokens", 3, 1), 0)[1]
    assert piece.y == [None, ["X"]] and piece.initial[1] == "X" and piece.initial[0] in ("X", "Y", "Z")
    assert len(study.candidates(CandidateSetting("1 tokens", 1, 1), 0)) == 1


def test_types_are_scored_without_other():
    assert type_scores([["a"], [OTHER]], [OTHER, OTHER]) == {"F1": 0.0, "precision": 0.0, "recall": 0.0}
    scores = type_scores([["a"], ["a", "b"], [OTHER], ["b"]], ["a", "b", "a", OTHER])
    assert scores["precision"] == scores["recall"] == pytest.approx(200 / 3)

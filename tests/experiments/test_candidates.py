"""Candidate labels as the paper makes them, and the table of experiments."""

from __future__ import annotations

import importlib

import numpy as np

from sidelight.experiments import MODULES, NAMES
from sidelight.experiments.candidate_sets import (
    initial_labels,
    labels_with_error,
    random_sets,
    shares_of,
    specified_sets,
)

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
    from sidelight.making.candidates import expanded

    admitted = np.zeros((100, 3), dtype=np.uint8)
    admitted[:, 0] = 1
    admitted[[3, 70], 2] = 1
    which, labels = expanded(np.array([0, 100]), admitted)
    assert len(which) == 4
    assert len({tuple(row) for row in labels.reshape(4, 100)}) == 4

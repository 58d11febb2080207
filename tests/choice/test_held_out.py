"""Scores of held-out Gold and how sure they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidelight.choice.held_out import HeldOut, difference, label_counts, score_of
from sidelight.evaluate import evaluate
from sidelight.evidence import Gold

LABELS = ["O", "B-A", "I-A", "B-B"]


def labelings(rng: np.random.Generator, count: int) -> list[list[str]]:
    return [[LABELS[i] for i in rng.integers(0, len(LABELS), size=int(rng.integers(1, 8)))] for _ in range(count)]


@given(seed=st.integers(0, 10_000), count=st.integers(1, 12))
def test_the_score_is_accuracy_or_span_f1(seed, count):
    rng = np.random.default_rng(seed)
    right = labelings(rng, count)
    guesses = [[LABELS[i] for i in rng.integers(0, len(LABELS), size=len(y))] for y in right]
    gold = [Gold(["word"] * len(y), y) for y in right]
    found = evaluate(right, guesses)
    tokens, _ = score_of(label_counts("accuracy", sequences=True)(guesses, gold))
    spans, _ = score_of(label_counts("span_f1", sequences=True)(guesses, gold))
    np.testing.assert_allclose([100 * tokens, 100 * spans], [found.accuracy, found.f1], atol=1e-9)


def test_single_labels_count_one_each():
    gold = [Gold("first", "a"), Gold("second", "c")]
    assert score_of(label_counts("accuracy", sequences=False)(["a", "b"], gold))[0] == 0.5


@given(seed=st.integers(0, 10_000))
def test_the_error_of_a_difference_is_near_that_of_the_jackknife(seed):
    rng = np.random.default_rng(seed)
    there = rng.integers(1, 6, size=(60, 1)).astype(float)
    a, b = (np.hstack([rng.binomial(there.astype(int), p), there, there]) for p in (0.7, 0.6))
    ahead, error = difference(a, b)
    left = [difference(np.delete(a, i, axis=0), np.delete(b, i, axis=0))[0] for i in range(60)]
    jackknife = np.sqrt(59 / 60 * ((left - np.mean(left)) ** 2).sum())
    assert ahead == score_of(a)[0] - score_of(b)[0]
    np.testing.assert_allclose(error, jackknife, rtol=0.1)


def test_a_sentence_that_is_held_out_twice_counts_once():
    once, twice = HeldOut(), HeldOut()
    rows = np.array([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    once.folds[0] = ([0, 1], rows)
    twice.folds |= {0: ([0, 1], rows), 1: ([0, 1], rows)}
    assert once.score() == twice.score()


def test_plans_are_compared_where_both_were_tried():
    a, b = HeldOut(), HeldOut()
    a.folds |= {0: ([0], np.array([[1.0, 2.0, 2.0]])), 1: ([1], np.array([[0.0, 2.0, 2.0]]))}
    b.folds |= {0: ([0], np.array([[2.0, 2.0, 2.0]]))}
    assert b.ahead_of(a)[0] == 0.5

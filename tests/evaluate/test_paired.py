from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from sidelight.errors import DataError
from sidelight.evaluate import compare, evaluate, paired_t

LABELS = ["O", "B-X", "I-X", "B-Y"]


def noisy(gold, rate, rng):
    """Gold with every label redrawn at this rate."""
    return [
        [
            other if flip else label
            for label, other, flip in zip(labels, redrawn.tolist(), rng.random(len(labels)) < rate)
        ]
        for labels in gold
        for redrawn in [rng.choice(LABELS, size=len(labels))]
    ]


def draw(sentences, rng):
    return [rng.choice(LABELS, size=length).tolist() for length in rng.integers(1, 6, size=sentences)]


def score(gold, predicted, metric):
    evaluation = evaluate(gold, predicted, scheme="bio")
    return evaluation.accuracy if metric == "accuracy" else evaluation.f1


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_identical_predictions(metric):
    rng = np.random.default_rng(0)
    gold = draw(50, rng)
    predicted = noisy(gold, 0.3, rng)
    comparison = compare(gold, predicted, predicted, metric=metric, rounds=100)
    assert (comparison.difference, comparison.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_clear_winner(metric):
    rng = np.random.default_rng(1)
    gold = draw(200, rng)
    good, bad = noisy(gold, 0.05, rng), noisy(gold, 0.5, rng)
    comparison = compare(gold, good, bad, metric=metric, rounds=999)
    assert comparison.p_value == 1 / 1000
    assert comparison.difference > 20
    assert comparison.a == pytest.approx(score(gold, good, metric))
    assert comparison.b == pytest.approx(score(gold, bad, metric))
    assert comparison.difference == comparison.a - comparison.b
    other = compare(gold, bad, good, metric=metric, rounds=999)
    assert (other.difference, other.p_value) == (-comparison.difference, comparison.p_value)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_agrees_with_all_exchanges(metric, seed):
    rng = np.random.default_rng(seed)
    gold = draw(8, rng)
    a, b = noisy(gold, 0.3, rng), noisy(gold, 0.5, rng)
    observed = abs(score(gold, a, metric) - score(gold, b, metric))
    extreme = 0
    for swaps in product([False, True], repeat=len(gold)):
        mixed_a = [y if swap else x for x, y, swap in zip(a, b, swaps)]
        mixed_b = [x if swap else y for x, y, swap in zip(a, b, swaps)]
        extreme += abs(score(gold, mixed_a, metric) - score(gold, mixed_b, metric)) >= observed - 1e-9
    exact = extreme / 2 ** len(gold)
    assert compare(gold, a, b, metric=metric, rounds=20000, scheme="bio").p_value == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_roughly_uniform_when_nothing_differs(metric):
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(200):
        gold = draw(150, rng)  # many: with few tokens, ties between exchanges make p too large
        a, b = noisy(gold, 0.4, rng), noisy(gold, 0.4, rng)
        p_values.append(compare(gold, a, b, metric=metric, rounds=199, seed=rng).p_value)
    for level in (0.1, 0.25, 0.5, 0.75):
        assert np.mean(np.array(p_values) <= level) == pytest.approx(level, abs=0.1)


def test_the_seed_decides():
    rng = np.random.default_rng(6)
    gold = draw(60, rng)
    a, b = noisy(gold, 0.3, rng), noisy(gold, 0.4, rng)
    first, again, other = (compare(gold, a, b, rounds=500, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert 0.01 < first.p_value < 0.9
    assert first.p_value != other.p_value
    assert first == compare(gold, a, b, rounds=500, seed=np.random.default_rng(7))


def test_chunks_cover_all_rounds():
    gold = ["x"] * 5000
    right, wrong = ["x"] * 5000, ["y"] * 5000
    comparison = compare(gold, right, wrong, rounds=1001)
    assert comparison.p_value == 1 / 1002
    assert comparison.rounds == 1001
    # Each right on its own half: no difference, so every round counts.
    halves = compare(gold, ["x", "y"] * 2500, ["y", "x"] * 2500, rounds=1001)
    assert (halves.difference, halves.p_value) == (0.0, 1.0)


def test_plain_classification_f1_is_accuracy():
    gold, a, b = ["p", "q", "p", "q"] * 5, ["p", "q", "p", "p"] * 5, ["q", "q", "p", "p"] * 5
    by_accuracy, by_f1 = (compare(gold, a, b, metric=metric, rounds=500) for metric in ("accuracy", "f1"))
    assert (by_accuracy.a, by_accuracy.b) == (75.0, 50.0)
    assert (by_f1.a, by_f1.b, by_f1.p_value) == (75.0, 50.0, by_accuracy.p_value)


def test_no_spans_at_all():
    comparison = compare([["O"]], [["O"]], [["O"]], metric="f1", rounds=10)
    assert (comparison.a, comparison.b, comparison.p_value) == (0.0, 0.0, 1.0)
    assert compare([], [], [], rounds=10).p_value == 1.0


def test_one_line():
    gold = [["B-X"], ["B-X"]]
    text = str(compare(gold, gold, [["B-X"], ["O"]], metric="f1", rounds=9))
    assert text == "f1: 100.00 against 66.67, difference +33.33, p = 1 (9 rounds)"


def test_bad_input():
    with pytest.raises(DataError, match=r"sentence 0 \(from 0\): 2 predicted_b labels where gold has 1"):
        compare([["a"]], [["a"]], [["a", "a"]])
    with pytest.raises(DataError, match="unknown metric"):
        compare([["a"]], [["a"]], [["a"]], metric="bleu")
    with pytest.raises(DataError, match="0 rounds"):
        compare([["a"]], [["a"]], [["a"]], rounds=0)


def test_paired_t_agrees_with_scipy():
    rng = np.random.default_rng(9)
    a = rng.normal(80, 2, size=10)
    b = a - rng.normal(0.5, 1, size=10)
    expected = stats.ttest_rel(a, b)
    assert paired_t(a, b) == pytest.approx((expected.statistic, expected.pvalue))
    assert paired_t(b, a) == pytest.approx((-expected.statistic, expected.pvalue))


def test_paired_t_at_its_edges():
    assert paired_t([1, 2, 3], [1, 2, 3]) == (0.0, 1.0)
    assert paired_t([2, 3, 4], [1, 2, 3]) == (np.inf, 0.0)
    assert paired_t([1, 2, 3], [2, 3, 4]) == (-np.inf, 0.0)
    with pytest.raises(DataError, match="equal length"):
        paired_t([1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="at least 2"):
        paired_t([1], [2])
    with pytest.raises(DataError, match=r"pair 1 \(from 0\) is not finite"):
        paired_t([1, np.nan], [1, 2])

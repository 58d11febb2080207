"""Sums over segmentations are right however large scores are, and whatever is closed."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.spaces.segments import segment_sums
from sidelight.spaces.segments.segment_log_kernels import moves_of, room_of

TOKENS, LENGTHS, LABELS = 4, 3, 3


def segmentations(runs: bool, longest: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """All segmentations as (first, last, label); with `runs` a label follows itself only after a full segment."""
    found: list[list[tuple[int, int, int]]] = [[]]
    done = []
    while found:
        now = found.pop()
        first = now[-1][1] + 1 if now else 0
        if first == TOKENS:
            done.append(now)
            continue
        for length, label in product(range(1, min(LENGTHS, TOKENS - first) + 1), range(LABELS)):
            if now and runs and now[-1][2] == label and now[-1][1] - now[-1][0] + 1 < longest[label]:
                continue
            found.append([*now, (first, first + length - 1, label)])
    return done


@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.0, 1.0, 30.0, 400.0, 3e3, 1e6]),
    closed=st.sampled_from([0.0, 0.3]),
    runs=st.booleans(),
)
def test_log_sums_and_expectations_are_those_of_enumeration(seed, scale, closed, runs):
    rng = np.random.default_rng(seed)
    totals = scale * rng.normal(size=(TOKENS, LENGTHS, LABELS))
    transition, start, end = (scale * rng.normal(size=size) for size in ((LABELS, LABELS), LABELS, LABELS))
    totals[rng.random(totals.shape) < closed] = -np.inf
    transition[rng.random(transition.shape) < closed] = -np.inf
    longest = np.full(LABELS, LENGTHS, dtype=np.int64)
    logs, parts = [], []
    for one in segmentations(runs, longest):
        score = start[one[0][2]] + end[one[-1][2]]
        score += sum(totals[last, last - first, label] for first, last, label in one)
        score += sum(transition[a[2], b[2]] for a, b in pairwise(one))
        logs.append(score)
        parts.append(one)
    log_sum = np.logaddexp.reduce(logs)
    starts, value = np.array([0, TOKENS], dtype=np.int64), np.empty(1)
    shape = moves_of(transition, runs), start, end, longest, runs
    room = room_of(starts, 0, 1, LENGTHS, LABELS)
    segment_sums.log_sums(starts, 0, 1, totals, *shape, room, value)
    if log_sum == -np.inf:
        assert value[0] == -np.inf
        return
    np.testing.assert_allclose(value[0], log_sum, rtol=1e-12, atol=1e-9)
    tokens, firsts = np.zeros((TOKENS, LABELS)), np.zeros((TOKENS, LABELS))
    pairs, starting, ending = np.zeros((LABELS, LABELS)), np.zeros(LABELS), np.zeros(LABELS)
    found = totals.copy()
    outs = tokens, firsts, pairs, starting, ending
    flat = found.reshape(TOKENS, -1)
    memory = room, flat, np.zeros((LABELS, LABELS))
    segment_sums.beliefs(starts, 0, 1, found, *shape, *memory, np.array([2.0]), value, *outs)
    right = [np.zeros_like(out) for out in (*outs, found)]
    for one, score in zip(parts, logs):
        p = 2.0 * np.exp(score - log_sum)
        right[3][one[0][2]] += p
        right[4][one[-1][2]] += p
        for first, last, label in one:
            right[0][first : last + 1, label] += p
            right[1][first, label] += p
            right[5][last, last - first, label] += p
        for a, b in pairwise(one):
            right[2][a[2], b[2]] += p
    precision = max(1e-9, 1e-15 * scale * 10)
    for out, expected in zip((*outs, found), right):
        np.testing.assert_allclose(out, expected, atol=precision, rtol=1e-7)


@pytest.mark.parametrize("runs", [False, True])
def test_no_segmentation_is_minus_infinity(runs):
    totals = np.full((2, 1, 2), -np.inf)
    value = np.empty(1)
    shape = moves_of(np.zeros((2, 2)), runs), np.zeros(2), np.zeros(2), np.ones(2, dtype=np.int64), runs
    starts = np.array([0, 2], dtype=np.int64)
    segment_sums.log_sums(starts, 0, 1, totals, *shape, room_of(starts, 0, 1, 1, 2), value)
    assert value[0] == -np.inf

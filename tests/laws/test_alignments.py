"""Monotone alignments of segments against lists of all alignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.spaces.slots import SlotScores
from sidelight.structures.alignments import SegmentAlignment
from sidelight.testing import check_structure

STRINGS = [("ab", "xy"), ("a", "x"), ("abb", "yx"), ("ba", "x"), ("b", "xyx")]


def alignments(left: int, right: int, longest: tuple[int, int], nulls: tuple[bool, bool]) -> list[tuple]:
    """The definition: lists of pairs of spans from left to right; what is left out is aligned with nothing."""
    found = []

    def go_on(i: int, j: int, pairs: tuple) -> None:
        covered = sum(b - a for (a, b), _ in pairs), sum(d - c for _, (c, d) in pairs)
        if (nulls[0] or covered[0] == left) and (nulls[1] or covered[1] == right):
            found.append(pairs)
        for a in range(i, left):
            for b in range(a + 1, min(a + longest[0], left) + 1):
                for c in range(j, right):
                    for d in range(c + 1, min(c + longest[1], right) + 1):
                        go_on(b, d, (*pairs, ((a, b), (c, d))))

    go_on(0, 0, ())
    return found


@pytest.mark.parametrize("longest", [(1, 1), (2, 2), (3, 1), (1, 3)])
@pytest.mark.parametrize("nulls", [(True, True), (True, False), (False, True), (False, False)])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_alignments_keep_the_laws(longest, nulls, seed):
    structure = SegmentAlignment(longest=longest, left_nulls=nulls[0], right_nulls=nulls[1], bits=6)
    every = [alignments(len(left), len(right), longest, nulls) for left, right in STRINGS]
    strings = [x for x, own in zip(STRINGS, every) if own]
    outputs = [{tuple(structure.encode(x, pairs).tolist()) for pairs in own} for x, own in zip(STRINGS, every) if own]

    def admits(i, choices):
        return tuple(choices.tolist()) in outputs[i]

    checked = check_structure(structure.batch(strings), seed=seed, admits=admits)
    assert checked.outputs == sum(map(len, every))  # each alignment has one form
    assert checked.k_best and checked.sums and checked.likelihood and checked.gradients


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1.0, 100.0]))
def test_four_by_four_symbols_in_pairs_of_three_by_three(seed, scale):
    structure = SegmentAlignment(bits=4)
    x = ("abcd", "stuv")
    space = structure.batch([x]).space
    scores = np.random.default_rng(seed).normal(size=(4, space.n_labels)) * scale
    outputs = [structure.encode(x, pairs) for pairs in alignments(4, 4, (3, 3), (True, True))]
    values = np.array([scores[np.arange(4), y].sum() for y in outputs])
    total = np.logaddexp.reduce(values)
    found = space.beliefs(SlotScores(scores))
    assert space.best(SlotScores(scores)).values[0] == pytest.approx(values.max(), abs=1e-9)
    assert found.log_sums[0] == pytest.approx(total, abs=1e-9)
    expected = np.zeros_like(scores)
    for y, chance in zip(outputs, np.exp(values - total)):
        expected[np.arange(4), y] += chance
    np.testing.assert_allclose(found.slots, expected, atol=1e-9)
    top = space.k_best(SlotScores(scores), 5)[1][:, 0]
    np.testing.assert_allclose(top, np.sort(values)[::-1][:5], atol=1e-9)

"""Candidates for chunks: inside, outside and the number of parts left, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing import generators, labelings, law, random_mask, random_scores, random_transitions, starts_of, values_of
from hypothesis import assume, given
from hypothesis import strategies as st

from sidelight.errors import Infeasible, Intractable
from sidelight.spaces import ChainSpace, Cost
from sidelight.spaces.parts import Labelings, PartLeavingCost, PartLoss, Parts, PartSpace


@st.composite
def chunked(draw):
    """A batch whose sequences are cut into parts at random, with random labelings for each."""
    size = draw(st.integers(2, 3))
    starts = draw(starts_of(most=3, longest=5))
    rng = draw(generators())
    chunks, parts = [], []  # parts: (first, last, set of labelings)
    admitted = np.ones((int(starts[-1]), size), dtype=np.uint8)
    for first, last in itertools.pairwise(starts):
        t = int(first)
        while t < last:
            length = min(int(rng.integers(1, 4)), int(last) - t)
            if length == 1 and rng.random() < 0.7:
                admitted[t] = random_mask(rng, size, 0.6)
                parts.append((t, t + 1, {(int(k),) for k in np.flatnonzero(admitted[t])}))
            else:
                every = labelings(size, length)
                rows = every[rng.random(len(every)) < 0.4]
                rows = every[:1] if len(rows) == 0 else rows
                chunks.append(Labelings(t, rows.astype(np.int32)))
                parts.append((t, t + length, {tuple(map(int, row)) for row in rows}))
            t += length
    allowed = random_transitions(rng, size, 0.8) if draw(st.booleans()) else None
    return ChainSpace(starts, size, allowed), Parts.of(admitted, chunks), parts, rng


def left_by(parts, first, path):
    """How many of the sequence's parts a path leaves, by definition."""
    mine = [p for p in parts if first <= p[0] < first + len(path)]
    return sum(tuple(map(int, path[a - first : b - first])) not in options for a, b, options in mine)


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("kind", ["no cost", "hamming", "leaving", "parts"])
def test_best_is_the_maximum_over_the_outputs_of_that_side(leaves, kind):
    @law(60)
    @given(chunked(), st.booleans())
    def check(drawn, tied):
        space, parts, listed, rng = drawn
        tokens = int(space.starts[-1])
        scores = random_scores(rng, tokens, space.n_labels, tied=tied)
        targets = rng.integers(0, space.n_labels, tokens).astype(np.int32)
        hamming = Cost(targets, 1.0 - np.eye(space.n_labels))
        if kind == "parts":  # whose targets are within the candidates, if not always allowed
            within = PartSpace(ChainSpace(space.starts, space.n_labels), parts)
            assume(np.all(within.feasible()))
            targets = within.random(rng)
        costs = {"no cost": None, "hamming": hamming, "leaving": PartLeavingCost(targets, parts)}
        cost = {**costs, "parts": PartLoss(targets, parts)}[kind]
        mine = PartSpace(space, parts, leaves)
        expected = []
        for first, last in zip(space.starts[:-1], space.starts[1:]):
            a, b = int(first), int(last)
            paths = labelings(space.n_labels, b - a)
            left = np.array([left_by(listed, a, path) for path in paths])
            totals = values_of(scores, a, paths)
            if kind == "hamming":
                totals = totals + (paths != targets[a:b]).sum(1)
            if kind == "leaving":
                totals = totals + left
            if kind == "parts":
                own = [(first - a, last - a) for first, last, _ in listed if a <= first < b]
                totals = totals + sum(np.any(paths[:, i:j] != targets[a + i : a + j], axis=1) for i, j in own)
            fits = (left > 0) == leaves
            if space.allowed is not None:
                fits &= (space.allowed.start[paths[:, 0]] != 0) & (space.allowed.end[paths[:, -1]] != 0)
                fits &= np.all(space.allowed.between[paths[:, :-1], paths[:, 1:]] != 0, axis=1)
            expected.append(np.max(totals[fits], initial=-np.inf))
        np.testing.assert_array_equal(mine.feasible(), np.array(expected) > -np.inf)
        if min(expected) == -np.inf:
            with pytest.raises(Infeasible):
                mine.best(scores, cost=cost)
            return
        found = mine.best(scores, cost=cost, n_jobs=2)
        np.testing.assert_allclose(found.values, expected)
        assert np.all(mine.admits(found.labels) == 1)
        again = mine.score(scores, found.labels) + (0.0 if cost is None else cost.of(space.starts, found.labels))
        np.testing.assert_allclose(again, expected)
        if cost is not None:
            np.testing.assert_allclose(found.targets, mine.score(scores, targets))
        assert np.all(mine.admits(mine.random(rng)) == 1)

    check()


@law(40)
@given(chunked())
def test_parts_of_some_sequences(drawn):
    space, parts, listed, rng = drawn
    which = rng.permutation(len(space.starts) - 1)[: rng.integers(1, len(space.starts))]
    labels = rng.integers(0, space.n_labels, int(space.starts[-1])).astype(np.int32)
    left = [left_by(listed, int(a), labels[a:b]) for a, b in zip(space.starts[:-1], space.starts[1:])]
    np.testing.assert_array_equal(parts.left(space.starts, labels), left)
    some = PartSpace(space, parts).take(which)
    tokens = np.concatenate([np.arange(space.starts[i], space.starts[i + 1]) for i in which])
    np.testing.assert_array_equal(some.parts.left(some.starts, labels[tokens]), np.array(left)[which])
    lo, hi = 0, len(space.starts) - 1
    piece = PartSpace(space, parts).part(lo + 1, hi) if hi > 1 else PartSpace(space, parts)
    first = int(space.starts[1]) if hi > 1 else 0
    np.testing.assert_array_equal(piece.parts.left(piece.starts, labels[first:]), left[1:] if hi > 1 else left)


def test_single_tokens_are_the_chain_space():
    @law(40)
    @given(starts_of(), generators(), st.integers(2, 4), st.booleans())
    def check(starts, rng, size, leaves):
        admitted = random_mask(rng, (int(starts[-1]), size), 0.6)
        admitted[np.arange(len(admitted)), rng.integers(0, size, len(admitted))] = 1
        scores = random_scores(rng, int(starts[-1]), size, tied=False)
        chain = ChainSpace(starts, size)
        usual = chain.outside(admitted) if leaves else chain.inside(admitted)
        mine = PartSpace(chain, Parts.of(admitted, []), leaves)
        np.testing.assert_array_equal(mine.feasible(), usual.feasible())
        if np.all(usual.feasible()):
            np.testing.assert_array_equal(mine.best(scores).labels, usual.best(scores).labels)

    check()


def test_what_is_not_offered_is_refused():
    space = PartSpace(ChainSpace(np.array([0, 1]), 2), Parts.of(np.ones((1, 2), dtype=np.uint8), []))
    with pytest.raises(Intractable):
        space.inside(np.ones((1, 2), dtype=np.uint8))
    with pytest.raises(Intractable):
        space.best(space.labelings.zero_scores(), rng=np.random.default_rng(0))
    with pytest.raises(Intractable):
        space.labelings.best(
            space.labelings.zero_scores(), cost=PartLeavingCost(np.zeros(1, dtype=np.int32), space.parts)
        )

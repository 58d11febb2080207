"""Alignments of segments as a structure: evidence, learning, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.structures.alignments import SegmentAlignment, links_of
from sidelight.testing import check_examples

SOUNDS = {"sh": "S", "a": "a", "oo": "u", "t": "t", "e": "", "n": "n", "x": "ks"}


def words(count: int, seed: int) -> tuple[list, list]:
    """Spelling and sounds, made of pieces, and how they are aligned."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    while len(xs) < count:
        pieces = [list(SOUNDS)[k] for k in rng.integers(0, len(SOUNDS), rng.integers(2, 6))]
        left, right, pairs = "", "", []
        for piece in pieces:
            if SOUNDS[piece]:
                span = len(left), len(left) + len(piece)
                pairs.append((span, (len(right), len(right) + len(SOUNDS[piece]))))
            left, right = left + piece, right + SOUNDS[piece]
        if right:
            xs.append((left, right))
            ys.append(pairs)
    return xs, ys


def test_examples_are_read_back():
    check_examples(SegmentAlignment(longest=(2, 1), bits=5), [("sha", "Sa")], [[((0, 2), (0, 1)), ((2, 3), (1, 2))]])


def test_alignments_are_learned_from_evidence_of_every_kind():
    structure = SegmentAlignment(longest=(2, 2), bits=12)
    xs, ys = words(60, 0)
    evidence = [sl.Gold(x, y) for x, y in zip(xs[:15], ys[:15])]
    evidence += [sl.Unlabeled(x) for x in xs[15:20]]
    first = [y[0] if y and y[0][0][0] == 0 else () for y in ys]
    evidence += [sl.Partial(x, [said, *[None] * (len(x[0]) - 1)]) for x, said in zip(xs[20:25], first[20:25])]
    evidence += [
        sl.Candidates(x, [[said, ()] if said else None, *[None] * (len(x[0]) - 1)])
        for x, said in zip(xs[25:30], first[25:30])
    ]
    evidence += [sl.Companion(x, +1) for x in xs[30:45]]
    evidence += [sl.Companion((x[0], other[1]), -1) for x, other in zip(xs[30:45], xs[45:60])]
    fitted = sl.Predictor(structure).fit(evidence)
    new, right = words(40, 1)
    told = fitted.predict(new)
    same = sum(len(links_of(one) & links_of(other)) for one, other in zip(told, right))
    assert 2 * same / sum(len(links_of(y)) for y in [*told, *right]) > 0.85


NO_PAIRS = (
    "ab",
    ("ab", 3),
    ("ab", None),
    ("a", "b", "c"),
    None,
    (b"ab", b"cd"),
    ([1, 2], [3]),
    ([["a"]], ["c"]),
    {"a": "b"},
)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda s: s.batch([("ab", "x"), ("", "x")]), "input 1: the left string is empty; leave the pair out"),
        (lambda s: s.batch([("ab", "")]), "input 0: the right string is empty"),
        (lambda s: s.encode(("ab", "xy"), [((0, 1), (1, 2)), ((1, 2), (0, 1))]), "begins before the end of the one"),
        (lambda s: s.encode(("ab", "xy"), [((0, 3), (1, 2))]), "has no span of the left string, which has 2 symbols"),
        (lambda s: s.encode(("abcdef", "xy"), [((0, 4), (1, 2))]), "covers 4 left symbols; cover 3 at most"),
        (lambda s: s.admitted(("ab", "xy"), [((1, 2), (0, 1)), None]), "does not cover left symbol 0"),
        *(
            (lambda s, x=x: s.batch([("ab", "x"), x]), "input 1 is .*; give .left, right., each a text or a list")
            for x in NO_PAIRS
        ),
        (lambda s: s.encode(("ab", "xy"), [(0, 0)]), r"a pair of spans is \(0, 0\); give pairs of spans"),
        (lambda s: s.encode(("ab", "xy"), [((0.0, 1.0), (0, 1))]), "a pair of spans is .*; give pairs of spans"),
        (lambda s: s.encode(("ab", "xy"), None), "the output is None; give pairs of spans"),
        (lambda s: s.admitted(("ab", "xy"), [3, None]), "left symbol 0 has 3; give a pair of spans, a list of them"),
        (lambda s: s.admitted(("ab", "xy"), [[3], None]), "a pair of spans is 3; give pairs of spans"),
        (lambda s: s.admitted(("ab", "xy"), [None]), "a left string of 2 symbols has 1 targets"),
        (lambda s: SegmentAlignment(longest=(0, 3)), r"longest is \(0, 3\); give two numbers from 1 to 15"),
        (lambda s: SegmentAlignment(bits=0), "bits is 0"),
        (lambda s: SegmentAlignment(longest=3), "longest is 3; give two numbers from 1 to 15"),
        (lambda s: SegmentAlignment(longest=("a", 3)), "longest is .*; give two numbers from 1 to 15"),
        (lambda s: SegmentAlignment(left_nulls=None), "left_nulls is None; give True or False"),
    ],
)
def test_bad_input(act, words):
    with pytest.raises(ValueError, match=words):
        act(SegmentAlignment())

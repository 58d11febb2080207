"""Links from the posteriors of both directions, drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.generative.word_alignment.alignment_decoding import RULES, links_of
from sidelight.generative.word_alignment.bitext import Bitext, cells


def grid(*rows):
    """x and o are links of one direction, * of both: forward and backward posteriors [I, J]."""
    letters = np.array([list(row) for row in rows])
    return np.isin(letters, ["x", "*"]).astype(float), np.isin(letters, ["o", "*"]).astype(float)


def text_of(*shapes):
    sources, targets = (np.concatenate([[0], np.cumsum([shape[k] for shape in shapes])]) for k in (0, 1))
    none = np.zeros(0, dtype=np.int32)
    return Bitext(none, none, sources, targets, cells(sources, targets), none)


def combined(rule, *grids, threshold=0.5):
    text = text_of(*(one.shape for one, _ in grids))
    forward, backward = (np.concatenate([pair[k].ravel() for pair in grids]) for k in (0, 1))
    return links_of(text, forward, backward, rule=rule, threshold=threshold)


EXAMPLE = grid(
    "*x...",
    ".o.o.",
    "..*..",
    "....x",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "links"),
    [
        ("forward", [(0, 0), (0, 1), (2, 2), (3, 4)]),
        ("backward", [(0, 0), (1, 1), (1, 3), (2, 2)]),
        ("intersection", [(0, 0), (2, 2)]),
        ("union", [(0, 0), (0, 1), (1, 1), (1, 3), (2, 2), (3, 4)]),
        # beside (0, 0): (0, 1), whose column is free, then (1, 1), whose row is; beside (2, 2): (1, 3)
        ("grow-diag", [(0, 0), (0, 1), (1, 1), (1, 3), (2, 2)]),
        ("grow-diag-final", [(0, 0), (0, 1), (1, 1), (1, 3), (2, 2), (3, 4)]),
        ("grow-diag-final-and", [(0, 0), (0, 1), (1, 1), (1, 3), (2, 2), (3, 4)]),
        ("product", [(0, 0), (2, 2)]),
        ("mean", [(0, 0), (0, 1), (1, 1), (1, 3), (2, 2), (3, 4)]),
    ],
)
def test_rules(rule, links):
    assert combined(rule, EXAMPLE) == [links]


def test_final_and_asks_that_both_words_are_free():
    one = grid("*..x", "....", "....")
    assert combined("grow-diag-final", one) == [[(0, 0), (0, 3)]]
    assert combined("grow-diag-final-and", one) == [[(0, 0)]]
    other = grid("*...", "....", "...o")
    assert combined("grow-diag-final-and", other) == [[(0, 0), (2, 3)]]


def test_growth_goes_on_from_what_was_added():
    assert combined("grow-diag", grid("*....", ".x...", "..o..", "...x.", ".....")) == [[(k, k) for k in range(4)]]
    assert combined("grow-diag", grid("*x", "oo")) == [[(0, 0), (0, 1), (1, 0)]]  # at (1, 1) both words have a link


def test_pairs_keep_to_themselves():
    pairs = [grid("*"), grid("..", ".."), grid("x.*")]
    assert combined("intersection", *pairs) == [[(0, 0)], [], [(0, 2)]]
    assert combined("forward", *pairs) == [[(0, 0)], [], [(0, 0), (0, 2)]]


def test_thresholds_of_means():
    one = np.array([[0.9, 0.2]]), np.array([[0.4, 0.7]])
    assert combined("mean", one, threshold=0.6) == [[(0, 0)]]
    assert combined("product", one, threshold=0.6) == [[(0, 0)]]
    assert combined("product", one, threshold=0.61) == [[]]
    assert combined("mean", one, threshold=0.44) == [[(0, 0), (0, 1)]]


def test_every_rule_lies_between_intersection_and_union():
    rng = np.random.default_rng(0)
    pairs = [(rng.random(shape), rng.random(shape)) for shape in ((5, 7), (1, 1), (9, 4))]
    least, most = combined("intersection", *pairs), combined("union", *pairs)
    for rule in RULES:
        for low, mid, high in zip(least, combined(rule, *pairs), most):
            assert set(mid) <= set(high)
            if rule != "mean":
                assert rule == "product" or set(low) <= set(mid)

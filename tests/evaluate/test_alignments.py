"""Alignment error rate by hand."""

from __future__ import annotations

import pytest

from sidelight.data.links import GoldLinks
from sidelight.errors import DataError
from sidelight.evaluate.alignments import score_alignments

GOLD = [
    GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)})),
    GoldLinks(frozenset({(0, 1)}), frozenset({(0, 1)})),
]


def test_counts_of_both_kinds_over_all_pairs():
    scores = score_alignments(GOLD, [[(0, 0), (2, 1), (2, 2)], [(0, 1), (0, 0)]])
    assert (scores.links, scores.sure, scores.right_sure, scores.right_possible) == (5, 3, 2, 3)
    assert scores.precision == pytest.approx(3 / 5)
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.aer == pytest.approx(1 - (2 + 3) / (5 + 3))
    assert scores.f1 == pytest.approx(2 * 0.6 * (2 / 3) / (0.6 + 2 / 3))
    assert scores.as_dict()["f1"] == scores.f1


def test_possible_links_cost_nothing_and_sure_ones_are_needed():
    assert score_alignments(GOLD, [one.possible for one in GOLD]).aer == 0.0
    assert score_alignments(GOLD, [one.sure for one in GOLD]).aer == 0.0
    assert score_alignments(GOLD, [[], []]).aer == 1.0


def test_nothing_at_all():
    nothing = GoldLinks(frozenset(), frozenset())
    assert score_alignments([nothing], [[]]).aer == 0.0


def test_sure_links_need_not_be_repeated_as_possible_ones():
    gold = [GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))]
    assert score_alignments(gold, [[(0, 0), (1, 1)]]).precision == 1.0


def test_different_numbers_of_pairs():
    with pytest.raises(DataError, match="links for 1 pairs but gold links for 2"):
        score_alignments(GOLD, [[]])

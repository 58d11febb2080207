"""Scores of word alignments: precision, recall and alignment error rate (Och and Ney 2003).

With links A, sure gold links S and possible ones P ⊇ S:

    precision = |A ∩ P| / |A|      recall = |A ∩ S| / |S|      AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.data.links import GoldLinks, Link
from sidelight.errors import DataError


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """Error rate, precision and recall, all between 0 and 1, and their counts."""

    aer: float
    precision: float
    recall: float
    links: int
    sure: int
    right_sure: int  # links that are sure gold links
    right_possible: int  # links that are possible gold links, including sure ones

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {"f1": self.f1}

    def __str__(self) -> str:
        return (
            f"AER {self.aer:.2%}, precision {self.precision:.2%}, recall {self.recall:.2%} "
            f"({self.links:,} links, {self.sure:,} sure in gold)"
        )


def score_alignments(gold: Sequence[GoldLinks], predicted: Sequence[Iterable[Link]]) -> AlignmentScores:
    """Scores over all pairs; raises `DataError` if the numbers of pairs differ.

    >>> gold = [GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))]
    >>> print(score_alignments(gold, [[(0, 0), (0, 1)]]))
    AER 33.33%, precision 50.00%, recall 100.00% (2 links, 1 sure in gold)
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"links for {len(predicted):,} pairs but gold links for {len(gold):,}",
            remedy="give both for the same pairs",
        )
    links = sure = right_sure = right_possible = 0
    for right, guess in zip(gold, predicted):
        mine = frozenset(guess)
        links += len(mine)
        sure += len(right.sure)
        right_sure += len(mine & right.sure)
        right_possible += len(mine & (right.possible | right.sure))
    return AlignmentScores(
        aer=1.0 - (right_sure + right_possible) / (links + sure) if links + sure else 0.0,
        precision=right_possible / links if links else 1.0,
        recall=right_sure / sure if sure else 1.0,
        links=links,
        sure=sure,
        right_sure=right_sure,
        right_possible=right_possible,
    )

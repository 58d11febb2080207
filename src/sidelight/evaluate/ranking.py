"""Scores of rankings: how often the right candidate is first, and the mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints


class RankingScores(NamedTuple):
    """Both between 0 and 1."""

    top_1: float
    mean_reciprocal_rank: float


def score_rankings(scores: Floats | Sequence[Floats], right: Ints | Sequence[int]) -> RankingScores:
    """Scores of queries, from a score for each candidate ([Q, candidates], or lists of any lengths) and the number of
    the right one.

    Candidates with the same score as the right one count as half before it. # right: [Q]

    >>> score_rankings(np.array([[0.1, 0.9], [0.7, 0.2]]), np.array([1, 1]))
    RankingScores(top_1=0.5, mean_reciprocal_rank=0.75)
    >>> score_rankings([np.array([0.1, 0.9, 0.3]), np.array([0.7])], [1, 0])
    RankingScores(top_1=1.0, mean_reciprocal_rank=1.0)
    """
    ranks = np.array(
        [1.0 + (own > own[at]).sum() + 0.5 * ((own == own[at]).sum() - 1) for own, at in zip(scores, right)]
    )
    return RankingScores(float(np.mean(ranks == 1.0)), float(np.mean(1.0 / ranks)))

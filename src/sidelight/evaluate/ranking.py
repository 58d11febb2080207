"""How good rankings are: how often the right candidate is first, and the mean of one over its rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints


class RankingScores(NamedTuple):
    """Both between 0 and 1."""

    top_1: float
    mean_reciprocal_rank: float


def score_rankings(scores: Floats, right: Ints) -> RankingScores:
    """Of queries with a score for each candidate [Q, candidates] and the number of the right one [Q].

    Candidates with the score of the right one count as half before it.

    >>> score_rankings(np.array([[0.1, 0.9], [0.7, 0.2]]), np.array([1, 1]))
    RankingScores(top_1=0.5, mean_reciprocal_rank=0.75)
    """
    own = scores[np.arange(len(right)), right][:, None]
    ranks = 1.0 + (scores > own).sum(axis=1) + 0.5 * ((scores == own).sum(axis=1) - 1)
    return RankingScores(float(np.mean(ranks == 1.0)), float(np.mean(1.0 / ranks)))

"""Fast matchings of the words of two graphs, without a proof: the best by words alone, and one that takes edges into
account.

    table[a, c] = s[a, c] + Σ over edges e of a of the estimated score of e if a is mapped to c

The score of an edge depends on its other end. At first, half of its maximum is used for each end; then, round by round,
the other end is taken from the previous matching, as long as the alignment improves.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.spaces.alignments.matching_space import best_matchings

ROUNDS = 50


def best_matching(table: Floats, *, all_words: bool) -> Ints | None:
    """The best choices of words, 0 or 1 + a word of the second graph; None if there are none.

    `table` is [words, words + 1], some −inf; with `all_words` as many are mapped as can be.
    """
    own = np.array(table)
    if all_words:  # more than two matchings can differ by, for every word that is mapped
        finite = own[own > -math.inf]
        own[:, 1:] += (min(len(own), own.shape[1] - 1) + 1) * (np.ptp(finite) if len(finite) else 0.0) + 1.0
    words, values = np.zeros(len(own), dtype=np.int32), np.empty(1)
    best_matchings(np.array([0, len(own)]), 0, 1, own, words, values)
    return None if values[0] == -math.inf else words.astype(np.int64)


def local_matching(scores: Floats, ends: Ints, mapped: Ints, *, all_words: bool) -> Ints | None:
    """The choices of words of a good alignment; None if no matching of words was found.

    `scores` are [words + edges, K]; `ends` [E, 2] the words of the first graph's edges, and `mapped` [C, C] by the
    choices of two words the choice of an edge between them.
    """
    count, width = len(scores) - len(ends), len(mapped)
    words, edges = scores[:count, :width], scores[count:]
    table, best, value = np.array(words), None, -math.inf
    for end, between in ((0, mapped), (1, mapped.T)):
        most = np.stack([edges[:, np.unique(choices)].max(axis=1, initial=-math.inf) for choices in between], axis=1)
        np.add.at(table, ends[:, end], 0.5 * most)
    for _ in range(ROUNDS):
        near = best_matching(table, all_words=all_words)
        if near is None:
            return best
        worth = words[np.arange(count), near].sum()
        worth += edges[np.arange(len(edges)), mapped[near[ends[:, 0]], near[ends[:, 1]]]].sum()
        if best is not None and not worth > value:
            return best
        best, value, table = near, worth, np.array(words)
        rows = np.arange(len(edges))[:, None]
        np.add.at(table, ends[:, 0], edges[rows, mapped[:, near[ends[:, 1]]].T])
        np.add.at(table, ends[:, 1], edges[rows, mapped[near[ends[:, 0]]]])
    return best

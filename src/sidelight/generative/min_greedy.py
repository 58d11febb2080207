"""Greedy model minimisation: few pairs of neighbouring labels that still explain every sequence.

Ravi, Vaswani, Knight and Chiang 2010 (MinGreedy), for tagging with a dictionary. A pair (k, l) covers two neighbouring
tokens where the first may be k and the second l.

1. Until every token (of a sequence of two or more) is covered, take the pair that covers the most tokens that are not:
   the greedy answer to a set cover problem.
2. What was taken need not contain a path through a sequence. Until it does for all of them, look in every broken
   sequence at the first place that no path of taken pairs gets over, and take the pair that mends the most of them:
   first those after which the rest of the sequence is there already.

Among equals the pair that is expected more often wins (`weights`; Garrette and Baldridge 2012 weigh pairs likewise),
and then the first one.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Floats, Ints
from sidelight.kernels import kernel


def min_greedy(starts: Ints, admitted: Bytes, weights: Floats, *, allowed: Bytes | None = None) -> Bytes:
    """The pairs taken. # [L, L] of 0 and 1

    `admitted` is [T, L]; `weights` [L, L] say how often a pair is expected; pairs that are not `allowed` [L, L] are not
    taken, and each sequence must have a path of the others.

    >>> two = np.array([[1, 0], [1, 1], [0, 1]], dtype=np.uint8)
    >>> min_greedy(np.array([0, 3]), two, np.zeros((2, 2))).tolist()
    [[0, 1], [0, 1]]
    """
    size = admitted.shape[1]
    may = np.ones((size, size), dtype=np.uint8) if allowed is None else allowed
    taken = np.zeros((size, size), dtype=np.uint8)
    ranks = np.empty(size * size)
    ranks[np.lexsort((-np.arange(size * size), weights.ravel()))] = np.arange(size * size)
    _cover(starts, admitted, may, ranks.reshape(size, size), taken)
    _join(starts, admitted, may, ranks.reshape(size, size), taken)
    return taken


@kernel
def _best(counts: Floats, may: Bytes, ranks: Floats, taken: Bytes) -> tuple[int, int]:
    """The pair with the largest count that is not taken, or -1; the higher rank wins among equals."""
    first, second, top, rank = -1, -1, 0.0, -1.0
    for k in range(counts.shape[0]):
        for label in range(counts.shape[0]):
            value = counts[k, label]
            if value <= 0.0 or may[k, label] == 0 or taken[k, label] != 0:
                continue
            if value > top or (value == top and ranks[k, label] > rank):
                first, second, top, rank = k, label, value, ranks[k, label]
    return first, second


@kernel
def _add_pairs(admitted: Bytes, t: int, amount: float, counts: Floats) -> None:
    """Every pair that the tokens t and t + 1 may have counts so much more."""
    for k in range(admitted.shape[1]):
        if admitted[t, k] != 0:
            for label in range(admitted.shape[1]):
                if admitted[t + 1, label] != 0:
                    counts[k, label] += amount


@kernel
def _cover(starts: Ints, admitted: Bytes, may: Bytes, ranks: Floats, taken: Bytes) -> None:
    size = admitted.shape[1]
    total = admitted.shape[0]
    counts = np.zeros((size, size))  # tokens, not covered yet, that a pair would cover; twice where both its places do
    inner = np.ones(total, np.uint8)  # whether the token has one after it
    covered = np.zeros(total, np.uint8)
    for i in range(starts.shape[0] - 1):
        inner[starts[i + 1] - 1] = 0
        if starts[i + 1] - starts[i] == 1:
            covered[starts[i]] = 1
        for t in range(starts[i], starts[i + 1] - 1):
            _add_pairs(admitted, t, 2.0, counts)
    while True:
        k, label = _best(counts, may, ranks, taken)
        if k < 0:
            break
        taken[k, label] = 1
        for t in range(total - 1):
            if inner[t] == 0 or admitted[t, k] == 0 or admitted[t + 1, label] == 0:
                continue
            for token in (t, t + 1):
                if covered[token] == 0:
                    covered[token] = 1
                    if inner[token] != 0:
                        _add_pairs(admitted, token, -1.0, counts)
                    if token > 0 and inner[token - 1] != 0:
                        _add_pairs(admitted, token - 1, -1.0, counts)


@kernel
def _reach(admitted: Bytes, first: int, last: int, taken: Bytes, onward: Bytes) -> int:
    """Labels that paths of taken pairs from the first token on reach; how many tokens some path gets over."""
    size = admitted.shape[1]
    onward[first] = admitted[first]
    for t in range(first + 1, last):
        found = False
        for label in range(size):
            onward[t, label] = 0
            if admitted[t, label] != 0:
                for k in range(size):
                    if onward[t - 1, k] != 0 and taken[k, label] != 0:
                        onward[t, label] = 1
                        found = True
                        break
        if not found:
            return t - first
    return last - first


@kernel
def _complete(admitted: Bytes, first: int, last: int, taken: Bytes, rest: Bytes) -> None:
    """Labels from which a path of taken pairs goes to the last token."""
    size = admitted.shape[1]
    rest[last - 1] = admitted[last - 1]
    for t in range(last - 2, first - 1, -1):
        for label in range(size):
            rest[t, label] = 0
            if admitted[t, label] != 0:
                for k in range(size):
                    if rest[t + 1, k] != 0 and taken[label, k] != 0:
                        rest[t, label] = 1
                        break


@kernel
def _join(starts: Ints, admitted: Bytes, may: Bytes, ranks: Floats, taken: Bytes) -> None:
    size = admitted.shape[1]
    onward, rest = np.zeros_like(admitted), np.zeros_like(admitted)
    broken = np.ones(starts.shape[0] - 1, np.uint8)
    far = float(2 * starts.shape[0])  # a pair that completes sequences beats any number that it does not complete
    while True:
        counts = np.zeros((size, size))
        for i in range(starts.shape[0] - 1):
            if broken[i] == 0:
                continue
            first, last = starts[i], starts[i + 1]
            reached = _reach(admitted, first, last, taken, onward)
            if reached == last - first:
                broken[i] = 0
                continue
            _complete(admitted, first, last, taken, rest)
            t = first + reached
            for k in range(size):
                if onward[t - 1, k] != 0:
                    for label in range(size):
                        if admitted[t, label] != 0 and may[k, label] != 0:
                            counts[k, label] += far if rest[t, label] != 0 else 1.0
        k, label = _best(counts, may, ranks, taken)
        if k >= 0:
            taken[k, label] = 1
        elif not _open(starts, admitted, may, broken, taken):
            return


@kernel
def _open(starts: Ints, admitted: Bytes, may: Bytes, broken: Bytes, taken: Bytes) -> bool:
    """Take all pairs of the first broken sequence: what was taken led to where no allowed pair goes on."""
    for i in range(starts.shape[0] - 1):
        if broken[i] != 0:
            for t in range(starts[i], starts[i + 1] - 1):
                for k in range(admitted.shape[1]):
                    if admitted[t, k] != 0:
                        for label in range(admitted.shape[1]):
                            if admitted[t + 1, label] != 0 and may[k, label] != 0:
                                taken[k, label] = 1
            broken[i] = 0
            return True
    return False

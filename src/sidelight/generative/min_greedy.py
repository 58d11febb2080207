"""Greedy model minimisation: few pairs of neighbouring labels that still explain every sequence.

Ravi, Vaswani, Knight and Chiang 2010 (MinGreedy), for tagging with a dictionary, with the choice of pairs and the paths
of Garrette and Baldridge 2012. A pair (k, l) covers two neighbouring tokens if the first may have label k and the
second l; the borders of a sequence count as tokens with a special label.

1. Until every token is covered, take the pair that covers the most uncovered tokens: the greedy solution of set cover.
2. The taken pairs need not contain a path through every sequence. Until they do, take the pair that fills the most
holes of sequences without a path: positions where one taken pair ends and another one continues.

Ties are broken in this order: the pair with the fewest labels that no taken pair has, the pair that gives the fewest
words a label that they have on no path so far, the higher score, the first one.

A sequence keeps its first path (among several the one with the highest score), since pairs taken early explain much.
The pairs on these paths, fewer than all taken pairs, are the minimised model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces import ChainScores, Transitions

LEAST = -1e6  # a score that is lower (a probability of 0) counts as this, so that what is taken decides


def min_greedy(
    starts: Ints, words: Ids, admitted: Bytes, scores: ChainScores, *, allowed: Transitions | None = None
) -> Ids:
    """The path of every sequence: its labels. # [T]

    `words` are [T], `admitted` is [T, L]; pairs that are not `allowed` are not taken, and each sequence must have a
    path of the others.

    >>> from sidelight.spaces import GivenScores
    >>> scores = GivenScores(np.zeros((3, 2)), np.array([[0.0, 1.0], [2.0, 3.0]]), np.zeros(2), np.zeros(2))
    >>> masks = np.array([[1, 0], [1, 1], [0, 1]], dtype=np.uint8)
    >>> min_greedy(np.array([0, 3]), np.array([0, 1, 2], dtype=np.int32), masks, scores).tolist()
    [0, 1, 1]
    """
    if len(words) == 0:
        return words
    size, count = admitted.shape[1], len(starts) - 1
    inner = np.arange(len(words)) + 2 * np.repeat(np.arange(count), np.diff(starts)) + 1  # tokens less the borders
    borders = np.delete(np.arange(len(words) + 2 * count), inner)

    def bordered(tokens: NDArray[Any], border: int) -> NDArray[Any]:
        out = np.full((len(words) + 2 * count, *tokens.shape[1:]), border, dtype=tokens.dtype)
        out[inner] = tokens
        return out

    options = bordered(np.pad(admitted, ((0, 0), (0, 1))), 0)
    options[borders, size] = 1
    tokens = bordered(np.pad(scores.block(0, len(words)), ((0, 0), (0, 1))), 0)
    steps = np.zeros((size + 1, size + 1))
    steps[:size, :size], steps[size, :size], steps[:size, size] = scores.transition, scores.start, scores.end
    may = np.ones((size + 1, size + 1), dtype=np.uint8)
    if allowed is not None:
        may[:size, :size], may[size, :size], may[:size, size] = allowed.between, allowed.start, allowed.end
    values = np.maximum(tokens, LEAST), np.maximum(steps, LEAST)
    labels = np.full(len(tokens), -1, dtype=np.int32)
    all_starts, all_words = starts + 2 * np.arange(count + 1), bordered(words, int(words.max()) + 1)
    _minimise(all_starts, all_words, options, may, *values, labels)
    return np.ascontiguousarray(labels[inner])


@kernel
def _minimise(
    starts: Ints, words: Ids, admitted: Bytes, may: Bytes, tokens: Floats, steps: Floats, labels: Ids
) -> None:
    """Fill in the labels [T] of paths, borders included, which are -1 where a sequence has none yet."""
    size = admitted.shape[1]
    pairs = np.zeros((size, size), np.uint8)
    seen = np.zeros((int(words.max()) + 1, size), np.uint8)  # the labels that words have on paths
    covered = np.zeros(words.shape[0], np.uint8)
    while True:
        places = _places(starts, covered, labels, True)
        k, label = _best(places, admitted, admitted, covered, True, words, may, steps, pairs, seen)
        if k < 0:
            break
        pairs[k, label] = 1
        for t in places:
            if admitted[t, k] != 0 and admitted[t + 1, label] != 0:
                covered[t] = covered[t + 1] = 1
        _find_paths(starts, words, admitted, pairs, tokens, steps, k, label, labels, seen)
    ends, begins = np.zeros_like(admitted), np.zeros_like(admitted)
    while True:
        places = _places(starts, covered, labels, False)
        if places.shape[0] == 0:
            break
        _mark(starts, admitted, pairs, labels, ends, begins)
        k, label = _best(places, ends, begins, covered, False, words, may, steps, pairs, seen)
        if k >= 0:
            pairs[k, label] = 1
        elif not _open(starts, admitted, may, labels, pairs):
            break
        _find_paths(starts, words, admitted, pairs, tokens, steps, k, label, labels, seen)


@inner_kernel
def _places(starts: Ints, covered: Bytes, labels: Ids, covering: bool) -> Ints:
    """Tokens t, with another after them, where t or t + 1 is not covered yet; or those of sequences without a path."""
    places = np.empty(covered.shape[0], np.int64)
    count = 0
    for i in range(starts.shape[0] - 1):
        for t in range(starts[i], starts[i + 1] - 1):
            if (covered[t] == 0 or covered[t + 1] == 0) if covering else labels[t] < 0:
                places[count] = t
                count += 1
    return places[:count]


@inner_kernel
def _count(places: Ints, ends: Bytes, begins: Bytes, covered: Bytes, covering: bool) -> Floats:
    """Tokens, not covered yet, that each pair would cover, each of them once; or holes that it would fill. # [L, L]"""
    size = ends.shape[1]
    counts = np.zeros((size, size))
    for n in range(places.shape[0]):
        t = places[n]
        follows = n + 1 < places.shape[0] and places[n + 1] == t + 1
        for k in range(size):
            if ends[t, k] == 0:
                continue
            for label in range(size):
                if begins[t + 1, label] == 0:
                    continue
                if covering:
                    again = follows and ends[t + 1, k] != 0 and begins[t + 2, label] != 0  # t + 1 counts there
                    counts[k, label] += int(covered[t] == 0) + int(covered[t + 1] == 0 and not again)
                else:
                    counts[k, label] += 1
    return counts


@inner_kernel
def _best(
    places: Ints,
    ends: Bytes,  # [T, L] labels that a pair may have at its first token
    begins: Bytes,  # [T, L] and at its second
    covered: Bytes,
    covering: bool,
    words: Ids,
    may: Bytes,
    steps: Floats,
    taken: Bytes,
    seen: Bytes,
) -> tuple[int, int]:
    """The untaken pair with the largest count, with ties broken as above; -1 if there is none."""
    size = taken.shape[0]
    counts = _count(places, ends, begins, covered, covering)
    top = 1.0
    for k in range(size):
        for label in range(size):
            if may[k, label] == 0 or taken[k, label] != 0:
                counts[k, label] = 0.0
            top = max(top, counts[k, label])
    first, second, fewest, fewest_words = -1, -1, 3, words.shape[0]
    used = np.zeros(size, np.uint8)  # whether a taken pair has the label
    for k in range(size):
        for label in range(size):
            if taken[k, label] != 0:
                used[k] = used[label] = 1
    stamps = np.full(seen.shape, -1, np.int32)  # the pair that a label of a word was last counted for
    for k in range(size):
        for label in range(size):
            if counts[k, label] < top:
                continue
            new = int(used[k] == 0) + int(label != k and used[label] == 0)
            if new > fewest:
                continue
            new_words = 0
            for t in places:
                if ends[t, k] != 0 and begins[t + 1, label] != 0:
                    for token, other in ((t, k), (t + 1, label)):
                        word = words[token]
                        fresh = seen[word, other] == 0 and stamps[word, other] != k * size + label
                        if fresh and not (covering and covered[token] != 0):
                            stamps[word, other] = k * size + label
                            new_words += 1
            tied = new == fewest and new_words == fewest_words
            if new < fewest or new_words < fewest_words or (tied and steps[k, label] > steps[first, second]):
                first, second, fewest, fewest_words = k, label, new, new_words
    return first, second


@inner_kernel
def _mark(starts: Ints, admitted: Bytes, taken: Bytes, labels: Ids, ends: Bytes, begins: Bytes) -> None:
    """The labels that taken pairs end with, and begin with, at each token of sequences without a path."""
    size = admitted.shape[1]
    for i in range(starts.shape[0] - 1):
        first, last = starts[i], starts[i + 1]
        if labels[first] >= 0:
            continue
        ends[first:last] = 0
        begins[first:last] = 0
        ends[first] = admitted[first]  # the borders
        begins[last - 1] = admitted[last - 1]
        for t in range(first, last - 1):
            for k in range(size):
                if admitted[t, k] != 0:
                    for label in range(size):
                        if admitted[t + 1, label] != 0 and taken[k, label] != 0:
                            begins[t, k] = 1
                            ends[t + 1, label] = 1


@inner_kernel
def _find_paths(
    starts: Ints,
    words: Ids,
    admitted: Bytes,
    taken: Bytes,
    tokens: Floats,
    steps: Floats,
    k: int,  # the pair just taken; -1 for more than one
    label: int,
    labels: Ids,
    seen: Bytes,
) -> None:
    """Give sequences that have the pair and no path the best path of taken pairs, where there is one."""
    size = admitted.shape[1]
    for i in range(starts.shape[0] - 1):
        first, last = starts[i], starts[i + 1]
        occurs = k < 0
        for t in range(first, last - 1):
            occurs = occurs or (admitted[t, k] != 0 and admitted[t + 1, label] != 0)
        if labels[first] >= 0 or not occurs:
            continue
        best = np.full((last - first, size), -np.inf)
        came = np.zeros((last - first, size), np.int32)
        best[0] = np.where(admitted[first] != 0, 0.0, -np.inf)
        for t in range(1, last - first):
            for a in range(size):
                if best[t - 1, a] > -np.inf:
                    for b in range(size):
                        value = best[t - 1, a] + steps[a, b] + tokens[first + t, b]
                        if taken[a, b] != 0 and admitted[first + t, b] != 0 and value > best[t, b]:
                            best[t, b] = value
                            came[t, b] = a
        now = np.argmax(best[last - first - 1])
        if best[last - first - 1, now] == -np.inf:
            continue
        for t in range(last - first - 1, -1, -1):
            labels[first + t] = now
            seen[words[first + t], now] = 1
            now = came[t, now]


@inner_kernel
def _open(starts: Ints, admitted: Bytes, may: Bytes, labels: Ids, taken: Bytes) -> bool:
    """Take all pairs of the first sequence without a path: the taken pairs led to a dead end."""
    more = False
    for i in range(starts.shape[0] - 1):
        if labels[starts[i]] >= 0:
            continue
        for t in range(starts[i], starts[i + 1] - 1):
            for k in range(admitted.shape[1]):
                for label in range(admitted.shape[1]):
                    if admitted[t, k] != 0 and admitted[t + 1, label] != 0 and may[k, label] > taken[k, label]:
                        taken[k, label] = 1
                        more = True
        if more:
            return True
    return False

"""Loops over the cells of a bitext: which word pairs occur together, and sums of cells by word pair.

Work is cut by source words, not by sentences: a row of the table is then one thread's own, and sums come out in the
same order for any number of threads.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.counts import sort
from sidelight.generative.word_alignment.bitext import Bitext


@kernel
def count_partners(
    first: int, last: int, order: Ids, word_starts: Ints, pair_of: Ids, text: Bitext, words: int, partners: Ints
) -> None:
    """The number of distinct target words that occur with each of the source words first … last − 1. # found [E]"""
    seen = np.empty(words, dtype=np.int32)
    seen[:] = -1
    for word in range(first, last):
        distinct = 0
        for at in range(word_starts[word], word_starts[word + 1]):
            pair = pair_of[order[at]]
            for t in range(text.target_starts[pair], text.target_starts[pair + 1]):
                if seen[text.targets[t]] != word:
                    seen[text.targets[t]] = word
                    distinct += 1
        partners[word] = distinct


@kernel
def fill_partners(
    first: int,
    last: int,
    order: Ids,
    word_starts: Ints,
    pair_of: Ids,
    text: Bitext,
    words: int,
    starts: Ints,
    partners: Ids,
) -> None:
    """The rows of the table, target words in order, and the entry of every cell of these source words."""
    place = np.empty(words, dtype=np.int32)
    place[:] = -1
    for word in range(first, last):
        size = 0
        row = partners[starts[word] : starts[word + 1]]
        for at in range(word_starts[word], word_starts[word + 1]):
            pair = pair_of[order[at]]
            for t in range(text.target_starts[pair], text.target_starts[pair + 1]):
                target = text.targets[t]
                if place[target] < 0:
                    place[target] = 0
                    row[size] = target
                    size += 1
        sort(row)
        for k in range(size):
            place[row[k]] = starts[word] + k
        for at in range(word_starts[word], word_starts[word + 1]):
            token = order[at]
            pair = pair_of[token]
            begin, end = text.target_starts[pair], text.target_starts[pair + 1]
            cell = text.cell_starts[pair] + (token - text.source_starts[pair]) * (end - begin)
            out = text.entries[cell : cell + end - begin]
            words_here = text.targets[begin:end]
            for j in range(end - begin):
                out[j] = place[words_here[j]]
        for k in range(size):
            place[row[k]] = -1


@kernel
def find_entries(first: int, last: int, text: Bitext, starts: Ints, partners: Ids, known_targets: int) -> None:
    """The entry of every cell of pairs that the table was not made from: K where it has none, K + 1 if both are new."""
    entries = partners.shape[0]
    known = starts.shape[0] - 1
    for pair in range(first, last):
        begin, end = text.target_starts[pair], text.target_starts[pair + 1]
        cell = text.cell_starts[pair]
        for s in range(text.source_starts[pair], text.source_starts[pair + 1]):
            word = text.sources[s]
            for t in range(begin, end):
                target = text.targets[t]
                if word == known:
                    text.entries[cell] = entries + (target == known_targets)
                else:
                    low, high = starts[word], starts[word + 1]
                    stop = high
                    while low < high:
                        middle = (low + high) // 2
                        if partners[middle] < target:
                            low = middle + 1
                        else:
                            high = middle
                    text.entries[cell] = low if low < stop and partners[low] == target else entries
                cell += 1


@kernel
def sum_cells(
    first: int,
    last: int,
    order: Ids,
    word_starts: Ints,
    pair_of: Ids,
    text: Bitext,
    base: int,
    forward: Floats,
    backward: Floats,
    forward_counts: Floats,
    backward_counts: Floats,
) -> None:
    """Add the posteriors of all cells of some source words to the counts of their entries.

    `forward` and `backward` hold the cells from number `base` on.
    """
    for w in range(first, last):
        for at in range(word_starts[w], word_starts[w + 1]):
            token = order[at]
            pair = pair_of[token]
            size = text.target_starts[pair + 1] - text.target_starts[pair]
            cell = text.cell_starts[pair] + (token - text.source_starts[pair]) * size
            here = text.entries[cell : cell + size]
            one = forward[cell - base : cell - base + size]
            other = backward[cell - base : cell - base + size]
            for j in range(size):
                forward_counts[here[j]] += one[j]
                backward_counts[here[j]] += other[j]


@kernel
def digamma(x: float) -> float:
    """ψ(x) for x > 0: recurrence up to 6, then the asymptotic series."""
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132)))
    )
    return shift + math.log(x) - 0.5 / x - series


@kernel
def log_shares(first: int, last: int, counts: Floats, group: Ids, totals: Floats, prior: float, floor: float) -> None:
    """counts[k] becomes log(counts[k] / totals[group[k]]), or E log t under a Dirichlet posterior; totals hold theirs.

    `totals` are the sums of counts, or with a prior ψ of the sums of counts and priors.
    """
    for k in range(first, last):
        count = counts[k]
        if prior > 0.0:
            value = digamma(count + prior) - totals[group[k]]
        elif count > 0.0:
            value = math.log(count / totals[group[k]])
        else:
            value = floor
        counts[k] = max(value, floor)

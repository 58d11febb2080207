"""The k best paths of first-order chains.

Every token and label has a descending list of the k best values of paths that end there. The lists of the previous
token, shifted by the transitions, are merged by a heap of their heads: O(T L (L + k log L)) in all. For small k, each
value is inserted into the list instead, since most values are too low. Two paths with the same value are different
paths; the one with the lower label, seen from the end, comes first, as in `viterbi`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest


class Lists(NamedTuple):
    """Room for one sequence at a time."""

    best: Floats  # [longest, L, k] values of paths that end in label l at token t
    back: Ids  # [longest, L, k] the label they had one token before, times k, and their place in that label's list
    heads: Floats  # [L] the next value of each list that is being merged
    ranks: Ids  # [L] its place
    heap: Ids  # [L] labels, the one with the highest head first
    last: Ids  # [k] the same at the last token


@inner_kernel
def lists_for(most: int, size: int, k: int) -> Lists:
    """Room for sequences of at most so many tokens."""
    return Lists(
        np.empty((most, size, k)),
        np.empty((most, size, k), np.int32),
        np.empty(size),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(k, np.int32),
    )


FEW = 8  # lists no longer than this are merged without a heap


@inner_kernel
def insert(values: Floats, back: Ids | Ints, value: float, pointer: int) -> bool:
    """Put a value in its place in a falling list, behind its equals; returns whether it is among the k best."""
    place = values.shape[0] - 1
    if not value > values[place]:
        return False
    while place > 0 and value > values[place - 1]:
        values[place] = values[place - 1]
        back[place] = back[place - 1]
        place -= 1
    values[place] = value
    back[place] = pointer
    return True


@inner_kernel
def _merge_few(best: Floats, shifts: Floats, k: int, values: Floats, back: Ids) -> None:
    """As `_merge`, value by value."""
    for r in range(k):
        values[r] = -np.inf
    for label in range(shifts.shape[0]):
        shift = shifts[label]
        for r in range(k):
            if not insert(values, back, best[label, r] + shift, label * k + r):
                break


@inner_kernel
def _sink(heap: Ids, heads: Floats, count: int, place: int) -> None:
    """Let the label at a place of the heap sink to where it belongs."""
    label = heap[place]
    value = heads[label]
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        one = heap[child]
        if child + 1 < count:
            other = heap[child + 1]
            if heads[other] > heads[one] or (heads[other] == heads[one] and other < one):
                child += 1
                one = other
        if heads[one] > value or (heads[one] == value and one < label):
            heap[place] = one
            place = child
        else:
            break
    heap[place] = label


@inner_kernel
def _merge(
    best: Floats, shifts: Floats, k: int, heads: Floats, ranks: Ids, heap: Ids, values: Floats, back: Ids
) -> None:
    """The k highest of best[l, r] + shifts[l] over all labels and ranks, where each best[l] falls."""
    count = 0
    for label in range(shifts.shape[0]):
        value = best[label, 0] + shifts[label]
        if value > -np.inf:
            heads[label] = value
            ranks[label] = 0
            heap[count] = label
            count += 1
    for place in range(count // 2 - 1, -1, -1):
        _sink(heap, heads, count, place)
    for r in range(k):
        if count == 0:
            values[r] = -np.inf
            continue
        label = heap[0]
        values[r] = heads[label]
        back[r] = label * k + ranks[label]
        ranks[label] += 1
        value = best[label, ranks[label]] + shifts[label] if ranks[label] < k else -np.inf
        if value > -np.inf:
            heads[label] = value
        else:
            count -= 1
            heap[0] = heap[count]
        if count > 0:
            _sink(heap, heads, count, 0)


@inner_kernel
def k_best_path(
    scores: Floats,
    into: Floats,  # [L, L] to, from
    start: Floats,
    end: Floats,
    first: int,
    count: int,
    room: Lists,
    values: Floats,  # out [k], -inf if there are fewer
    labels: Ids,  # out, from `at` on one path after another, each `step` after the one before
    at: int,
    step: int,
) -> int:
    """The k best paths over the tokens first..first + count of a block of scores; returns how many there are."""
    best, back, heads, ranks, heap, last = room
    size, k = best.shape[1], best.shape[2]
    for label in range(size):
        best[0, label, 0] = start[label] + scores[first, label]
        best[0, label, 1:] = -np.inf
    for t in range(1, count):
        for label in range(size):
            score = scores[first + t, label]
            if not score > -np.inf:
                best[t, label, :] = -np.inf
                continue
            out = best[t, label]
            if k <= FEW:
                _merge_few(best[t - 1], into[label], k, out, back[t, label])
            else:
                _merge(best[t - 1], into[label], k, heads, ranks, heap, out, back[t, label])
            for r in range(k):
                out[r] += score
    _merge(best[count - 1], end, k, heads, ranks, heap, values, last)
    paths = 0
    for r in range(k):
        if not values[r] > -np.inf:
            for t in range(count):
                labels[at + t] = -1
        else:
            paths += 1
            pointer = last[r]
            for t in range(count - 1, -1, -1):
                labels[at + t] = pointer // k
                pointer = back[t, pointer // k, pointer % k]
        at += step
    return paths


@kernel
def k_best(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    transition: Floats,  # [L, L] from, to
    start: Floats,  # [L]
    end: Floats,  # [L]
    labels: Ids,  # out [k * T] one path of all sequences after another, -1 if there are fewer
    values: Floats,  # out [N, k]
) -> None:
    """The k best paths of the sequences lo..hi."""
    base = starts[lo]
    room = lists_for(longest(starts, lo, hi), start.shape[0], values.shape[1])
    into = transition.T.copy()
    for i in range(lo, hi):
        count = starts[i + 1] - starts[i]
        step = labels.shape[0] // values.shape[1]
        k_best_path(scores, into, start, end, starts[i] - base, count, room, values[i], labels, starts[i], step)

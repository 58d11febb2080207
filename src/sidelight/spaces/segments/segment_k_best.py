"""The k best segmentations of every sequence of a batch.

The recursion of `segment_kernels` with a list of the k best values in every place instead of one. Lists are in falling
order; of equal values, the one met first stands first.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.spaces.chains.chain_kernels import longest as longest_sequence
from sidelight.spaces.segments.segment_kernels import mark


@kernel
def _insert(values: Floats, back: Ints, rank: Ints, value: float, pointer: int, pointed_rank: int) -> bool:
    """Put a value in its place in a falling list; returns whether it is among the k best."""
    k = values.shape[0]
    if not value > values[k - 1]:
        return False
    place = k - 1
    while place > 0 and value > values[place - 1]:
        values[place] = values[place - 1]
        back[place] = back[place - 1]
        rank[place] = rank[place - 1]
        place -= 1
    values[place] = value
    back[place] = pointer
    rank[place] = pointed_rank
    return True


@kernel
def k_best(
    starts: Ints,
    lo: int,
    hi: int,
    totals: Floats,  # [tokens of the block, M, L]
    transition: Floats,  # [L, L]
    start: Floats,  # [L]
    end: Floats,  # [L]
    longest: Ints,  # [L]
    runs: bool,
    labels: Ids,  # out [K, T]
    begins: Bytes,  # out [K, T]
    values: Floats,  # out [N, K], -inf where there are fewer
) -> None:
    """The k best segmentations of every sequence, best first."""
    k = labels.shape[0]
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending = np.empty((most, size, k)), np.empty((most, size, k))
    previous_label, previous_rank = np.empty((most, size, k), np.int64), np.empty((most, size, k), np.int64)
    lengths, enter_rank = np.empty((most, size, k), np.int64), np.empty((most, size, k), np.int64)
    last_label, last_rank = np.empty(k, np.int64), np.empty(k, np.int64)
    for i in range(lo, hi):
        at = starts[i] - starts[lo]
        count = starts[i + 1] - starts[i]
        enter[:count] = -np.inf
        ending[:count] = -np.inf
        enter[0, :, 0] = start
        for t in range(count):
            for label in range(size):
                for length in range(1, min(longest[label], totals.shape[1], t + 1) + 1):
                    total, before = totals[at + t, length - 1, label], enter[t - length + 1, label]
                    for r in range(k):
                        place = ending[t, label], lengths[t, label], enter_rank[t, label]
                        if not _insert(place[0], place[1], place[2], total + before[r], length, r):
                            break
            if t + 1 == count:
                break
            for label in range(size):
                place = enter[t + 1, label], previous_label[t + 1, label], previous_rank[t + 1, label]
                for option in range(size):
                    step = transition[option, label]
                    for r in range(k):
                        value = ending[t, option, r]
                        if runs and option == label:
                            s = t - longest[label] + 1
                            value = -np.inf
                            if s >= 0:
                                value = totals[at + t, longest[label] - 1, label] + enter[s, label, r]
                        if not _insert(place[0], place[1], place[2], value + step, option, r):
                            break
        values[i] = -np.inf
        for label in range(size):
            for r in range(k):
                if not _insert(values[i], last_label, last_rank, ending[count - 1, label, r] + end[label], label, r):
                    break
        for output in range(k):
            if not values[i, output] > -np.inf:
                labels[output, starts[i] : starts[i + 1]] = -1
                begins[output, starts[i] : starts[i + 1]] = 0
                continue
            label, r, t, whole = last_label[output], last_rank[output], count - 1, False
            while t >= 0:
                length = longest[label]
                if not whole:  # else r is already a rank in `enter`
                    length = lengths[t, label, r]
                    r = enter_rank[t, label, r]
                s = t - length + 1
                mark(starts[i] + s, starts[i] + t, label, labels[output], begins[output])
                if s > 0:
                    before = previous_label[s, label, r]
                    r = previous_rank[s, label, r]
                    whole = runs and before == label
                    label = before
                t = s - 1

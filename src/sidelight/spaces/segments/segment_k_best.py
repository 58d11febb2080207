"""The k best segmentations of every sequence of a batch.

The recursion of `segment_kernels` with a list of the k best values at every position instead of one. Lists are in
descending order; of equal values, the one found first comes first.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.spaces.chains.chain_kernels import longest as longest_sequence
from sidelight.spaces.chains.k_best_kernels import insert
from sidelight.spaces.segments.segment_kernels import mark


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
    values: Floats,  # out [N, K], -inf if there are fewer
) -> None:
    """The k best segmentations of every sequence, best first."""
    k = labels.shape[0]
    size = start.shape[0]
    most = longest_sequence(starts, lo, hi)
    enter, ending = np.empty((most, size, k)), np.empty((most, size, k))
    previous = np.empty((most, size, k), np.int64)  # the label before, times k, and the place in its list
    lengths = np.empty((most, size, k), np.int64)  # the length, times k, and the place in the list of `enter`
    last = np.empty(k, np.int64)
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
                        if not insert(ending[t, label], lengths[t, label], total + before[r], length * k + r):
                            break
            if t + 1 == count:
                break
            for label in range(size):
                for option in range(size):
                    step = transition[option, label]
                    for r in range(k):
                        value = ending[t, option, r]
                        if runs and option == label:
                            s = t - longest[label] + 1
                            value = -np.inf
                            if s >= 0:
                                value = totals[at + t, longest[label] - 1, label] + enter[s, label, r]
                        if not insert(enter[t + 1, label], previous[t + 1, label], value + step, option * k + r):
                            break
        values[i] = -np.inf
        for label in range(size):
            for r in range(k):
                if not insert(values[i], last, ending[count - 1, label, r] + end[label], label * k + r):
                    break
        for output in range(k):
            if not values[i, output] > -np.inf:
                labels[output, starts[i] : starts[i + 1]] = -1
                begins[output, starts[i] : starts[i + 1]] = 0
                continue
            pointer, t, whole = last[output], count - 1, False
            while t >= 0:
                label, r = pointer // k, pointer % k
                length = longest[label]
                if not whole:  # else r is already a rank in `enter`
                    length, r = lengths[t, label, r] // k, lengths[t, label, r] % k
                s = t - length + 1
                mark(starts[i] + s, starts[i] + t, label, labels[output], begins[output])
                if s > 0:
                    pointer = previous[s, label, r]
                    whole = runs and pointer // k == label
                t = s - 1

"""Counters of sums of local parts, low ≤ Σ_t gain_t(previous label, label) ≤ high: the common case, compiled.

The states are those of `residuals.Sum`: the sum so far, moved to the edge of what the rest can mend once a violation is
unavoidable, and one state for all sums that can no longer miss a bound.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Ids, Ints
from sidelight.core.kernels import inline_kernel, kernel

FREE = 1 << 40  # the state of sums that cannot miss a bound any more
NEVER = 1 << 41  # a bound that is not there, with its sign


@inline_kernel
def _settle(total: int, low: int, high: int, least: int, most: int) -> tuple[int, int]:
    """The state of a sum when between `least` and `most` is still to come, and the degree that it cannot avoid."""
    degree = 0
    if low > -NEVER and low - total > most:
        degree = low - total - most
        total = low - most
    if high < NEVER and high - total < least:
        degree = least - (high - total)
        total = high - least
    if (low == -NEVER or low - total <= least) and (high == NEVER or high - total >= most):
        total = FREE
    return total, degree


@kernel
def sum_states(
    values: Ints,  # [T, C] the gain of each class, rising
    counts: Ints,  # [T] how many classes there are
    low: int,
    high: int,
    following: Ids,  # out [T, N, C]
    degrees: Ids,  # out [T, N, C]
    sizes: Ints,  # out [T + 1]
) -> bool:
    """Whether N states were enough."""
    length = counts.shape[0]
    room = following.shape[1]
    least = np.zeros(length, np.int64)
    most = np.zeros(length, np.int64)
    for t in range(length - 1, 0, -1):
        least[t - 1] = least[t] + values[t, 0]
        most[t - 1] = most[t] + values[t, counts[t] - 1]
    now = np.zeros(room, np.int64)
    after = np.zeros(room, np.int64)
    slots = 4
    while slots < 2 * room:
        slots *= 2
    place = np.zeros(slots, np.int64)  # of a sum among the states, by its hash
    stamp = np.full(slots, -1, np.int64)  # the token at which a place was written
    sizes[0] = 1
    for t in range(length):
        size = 0
        for s in range(sizes[t]):
            for c in range(counts[t]):
                if now[s] == FREE:
                    total, degree = FREE, 0
                else:
                    total, degree = _settle(now[s] + values[t, c], low, high, least[t], most[t])
                slot = (total ^ (total >> 11) ^ (total >> 23)) & (slots - 1)
                while stamp[slot] == t and after[place[slot]] != total:
                    slot = (slot + 1) & (slots - 1)
                if stamp[slot] != t:
                    if size == room:
                        return False
                    stamp[slot], place[slot], after[size] = t, size, total
                    size += 1
                following[t, s, c] = place[slot]
                degrees[t, s, c] = degree
        sizes[t + 1] = size
        for k in range(size):
            now[k] = after[k]
    return True

"""The best labelings of second-order chains with ties broken at random, uniformly over all that are best."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import kernel, uniform
from sidelight.spaces.second_order.second_order_kernels import best_last, forward
from sidelight.spaces.second_order.second_order_states import labels_of, most_states, open_labels, place_states, states


@kernel
def _best_before(values: Floats, j: int, second: Floats, earlier: Ints, middle: int, label: int) -> float:
    """The largest value of a state (i, j) with the second-order score of the label after it."""
    top = -np.inf
    for i in range(earlier.shape[0]):
        top = max(top, values[i, j] + second[earlier[i], middle, label])
    return top


@kernel
def count_ways(
    second: Floats,
    end: Floats,
    opened: Ints,
    begins: Ints,
    first: int,
    count: int,
    at: Ints,
    best: Floats,
    top: float,
    ways: Floats,
) -> None:
    """How many paths, up to a factor per token, lead to each state as the beginning of a best path of value `top`.

    First the states on best paths are found from the end backwards, so that others cost nothing.
    """
    ways[: at[count]] = 0.0
    now, values = states(count - 1, begins, first, at, ways), states(count - 1, begins, first, at, best)
    here = labels_of(count - 1, opened, begins, first)
    for j in range(now.shape[0]):
        for k in range(here.shape[0]):
            if values[j, k] + end[here[k]] == top:
                now[j, k] = 1.0
    for t in range(count - 1, 0, -1):
        now, old = states(t, begins, first, at, ways), states(t - 1, begins, first, at, ways)
        values = states(t - 1, begins, first, at, best)
        here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
        earlier = labels_of(max(t - 2, 0), opened, begins, first)
        for j in range(now.shape[0]):
            for k in range(here.shape[0]):
                if now[j, k] > 0.0 and t == 1:
                    old[0, j] = 1.0
                elif now[j, k] > 0.0:
                    most = _best_before(values, j, second, earlier, middle[j], here[k])
                    for i in range(earlier.shape[0]):
                        if values[i, j] + second[earlier[i], middle[j], here[k]] == most:
                            old[i, j] = 1.0
    for t in range(1, count):
        now, old = states(t, begins, first, at, ways), states(t - 1, begins, first, at, ways)
        values = states(t - 1, begins, first, at, best)
        here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
        earlier = labels_of(max(t - 2, 0), opened, begins, first)
        largest = 0.0
        for j in range(now.shape[0]):
            for k in range(here.shape[0]):
                if now[j, k] > 0.0 and t == 1:
                    now[j, k] = old[0, j]
                elif now[j, k] > 0.0:
                    most = _best_before(values, j, second, earlier, middle[j], here[k])
                    now[j, k] = 0.0
                    for i in range(earlier.shape[0]):
                        if values[i, j] + second[earlier[i], middle[j], here[k]] == most:
                            now[j, k] += old[i, j]
                largest = max(largest, now[j, k])
        now /= largest


@kernel
def draw(shares: Floats, uniform_number: float) -> int:
    """A place, with probability in proportion to its share."""
    rest = uniform_number * shares.sum()
    chosen = 0
    for k in range(shares.shape[0]):
        if rest >= 0.0 and shares[k] > 0.0:
            rest -= shares[k]
            chosen = k
    return chosen


@kernel
def viterbi_random_ties(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    second: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    seeds: Keys,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,
    values: Floats,
) -> None:
    """A best path of every sequence and its value."""
    base = starts[lo]
    opened, begins = open_labels(scores)
    longest, most_of_all = most_states(starts, lo, hi, begins)
    best, ways, shares = np.empty(most_of_all), np.empty(most_of_all), np.empty(start.shape[0])
    at = np.empty(longest + 1, np.int64)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, count = starts[i] - base, starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward(scores, second, transition, start, opened, begins, first, count, at, best)
        here = labels_of(count - 1, opened, begins, first)
        values[i] = best_last(states(count - 1, begins, first, at, best), here, end)[0]
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        count_ways(second, end, opened, begins, first, count, at, best, values[i], ways)
        state[0] = seeds[i]
        chosen = draw(ways[at[count - 1] : at[count]], uniform(state))
        j, label = chosen // here.shape[0], here[chosen % here.shape[0]]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            if t > 1:
                old, share = states(t - 1, begins, first, at, best), states(t - 1, begins, first, at, ways)
                earlier = labels_of(t - 2, opened, begins, first)
                most = _best_before(old, j, second, earlier, middle, label)
                for e in range(earlier.shape[0]):
                    tied = old[e, j] + second[earlier[e], middle, label] == most
                    shares[e] = share[e, j] if tied else 0.0
                j = draw(shares[: earlier.shape[0]], uniform(state))
            label = middle

"""Dynamic programs over batches of second-order chains.

As in `chain_kernels`, all take the sequences `lo..hi` of a batch, scores are a block that begins at their first token,
what may not be used has score -inf, and forward passes keep only values. They run over the states of
`second_order_states`; where all labels are open, the innermost loop is over contiguous labels. Ties go to the lowest
last label, then to the lowest one before it, and so on; `second_order_ties` breaks them at random.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.spaces.second_order.second_order_states import labels_of, most_states, open_labels, place_states, states


@kernel
def _raise_row(old: Floats, j: int, second: Floats, earlier: Ints, middle: int, row: Floats) -> None:
    """row = max of row and old[i, j] + second[earlier[i], middle] over all i, four at a time: that is twice as fast."""
    whole = earlier.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = old[i, j], old[i + 1, j], old[i + 2, j], old[i + 3, j]
        if max(max(a, b), max(c, d)) == -np.inf:
            continue
        in_a, in_b = second[earlier[i], middle], second[earlier[i + 1], middle]
        in_c, in_d = second[earlier[i + 2], middle], second[earlier[i + 3], middle]
        for label in range(row.shape[0]):
            one = max(a + in_a[label], b + in_b[label])
            other = max(c + in_c[label], d + in_d[label])
            one = one if one > other else other
            row[label] = one if one > row[label] else row[label]
    for i in range(whole, earlier.shape[0]):
        value, weights = old[i, j], second[earlier[i], middle]
        for label in range(row.shape[0]):
            candidate = value + weights[label]
            row[label] = candidate if candidate > row[label] else row[label]


@kernel
def step(
    t: int, second: Floats, transition: Floats, opened: Ints, begins: Ints, first: int, at: Ints, values: Floats
) -> None:
    """The states of token t from those of t - 1, but for the scores of t."""
    size = transition.shape[0]
    now = states(t, begins, first, at, values)
    old = states(t - 1, begins, first, at, values)
    here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
    for j in range(middle.shape[0]):
        row = now[j]
        if t == 1:
            row[:] = old[0, j]
        else:
            earlier = labels_of(t - 2, opened, begins, first)
            row[:] = -np.inf
            if here.shape[0] == size:
                _raise_row(old, j, second, earlier, middle[j], row)
            else:
                for i in range(earlier.shape[0]):
                    value = old[i, j]
                    if value == -np.inf:
                        continue
                    weights = second[earlier[i], middle[j]]
                    for k in range(here.shape[0]):
                        candidate = value + weights[here[k]]
                        row[k] = candidate if candidate > row[k] else row[k]
        for k in range(here.shape[0]):
            row[k] += transition[middle[j], here[k]]


@kernel
def forward(
    scores: Floats,
    second: Floats,
    transition: Floats,
    start: Floats,
    opened: Ints,
    begins: Ints,
    first: int,
    count: int,
    at: Ints,
    best: Floats,
) -> None:
    """The value of the best path over tokens 0..t that ends in each state of t."""
    for k in range(at[1]):
        label = opened[begins[first] + k]
        best[k] = start[label] + scores[first, label]
    for t in range(1, count):
        step(t, second, transition, opened, begins, first, at, best)
        now = states(t, begins, first, at, best)
        here = labels_of(t, opened, begins, first)
        for j in range(now.shape[0]):
            for k in range(here.shape[0]):
                now[j, k] += scores[first + t, here[k]]


@kernel
def best_last(ending: Floats, here: Ints, end: Floats) -> tuple[float, int, int]:
    """The largest value with the end's added, and the state that has it."""
    value = -np.inf
    before, last = 0, 0
    for k in range(here.shape[0]):
        for j in range(ending.shape[0]):
            candidate = ending[j, k] + end[here[k]]
            if candidate > value:
                value = candidate
                before, last = j, k
    return value, before, last


@kernel
def viterbi(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    second: Floats,  # [L, L, L] before the previous, previous, label
    transition: Floats,  # [L, L] from, to
    start: Floats,  # [L]
    end: Floats,  # [L]
    labels: Ids,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best path of every sequence and its value."""
    base = starts[lo]
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    best = np.empty(most)
    at = np.empty(longest + 1, np.int64)
    for i in range(lo, hi):
        first, count = starts[i] - base, starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward(scores, second, transition, start, opened, begins, first, count, at, best)
        here = labels_of(count - 1, opened, begins, first)
        values[i], j, k = best_last(states(count - 1, begins, first, at, best), here, end)
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        label = here[k]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            if t > 1:
                old = states(t - 1, begins, first, at, best)
                earlier = labels_of(t - 2, opened, begins, first)
                value = -np.inf
                chosen = 0
                for e in range(earlier.shape[0]):
                    candidate = old[e, j] + second[earlier[e], middle, label]
                    if candidate > value:
                        value = candidate
                        chosen = e
                j = chosen
            label = middle


@kernel
def viterbi_outside(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    second: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    admitted: Bytes,  # [T, L]
    labels: Ids,
    values: Floats,
) -> None:
    """The best path on which at least one token leaves the admitted labels: a Viterbi over (state, has left)."""
    base = starts[lo]
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    stayed, left = np.empty(most), np.empty(most)
    at = np.empty(longest + 1, np.int64)
    for i in range(lo, hi):
        first, count = starts[i] - base, starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        for t in range(count):
            if t == 0:
                for k in range(at[1]):
                    stayed[k] = start[opened[begins[first] + k]]
                left[: at[1]] = -np.inf
            else:
                step(t, second, transition, opened, begins, first, at, stayed)
                step(t, second, transition, opened, begins, first, at, left)
            in_stayed, in_left = states(t, begins, first, at, stayed), states(t, begins, first, at, left)
            here = labels_of(t, opened, begins, first)
            for k in range(here.shape[0]):
                inside = admitted[starts[i] + t, here[k]] != 0
                for j in range(in_stayed.shape[0]):
                    if not inside:
                        in_left[j, k] = max(in_left[j, k], in_stayed[j, k])
                        in_stayed[j, k] = -np.inf
                    in_stayed[j, k] += scores[first + t, here[k]]
                    in_left[j, k] += scores[first + t, here[k]]
        here = labels_of(count - 1, opened, begins, first)
        values[i], j, k = best_last(states(count - 1, begins, first, at, left), here, end)
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        has_left = True
        label = here[k]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            may_stay = not has_left or admitted[starts[i] + t, label] == 0
            if t > 1:
                in_stayed, in_left = states(t - 1, begins, first, at, stayed), states(t - 1, begins, first, at, left)
                earlier = labels_of(t - 2, opened, begins, first)
                value = -np.inf
                chosen = 0
                from_left = has_left
                for e in range(earlier.shape[0]):
                    weight = second[earlier[e], middle, label]
                    if has_left and in_left[e, j] + weight > value:
                        value = in_left[e, j] + weight
                        chosen = e
                        from_left = True
                    if may_stay and in_stayed[e, j] + weight > value:
                        value = in_stayed[e, j] + weight
                        chosen = e
                        from_left = False
                j = chosen
                has_left = from_left
            label = middle


@kernel
def add_second_order(starts: Ints, lo: int, hi: int, second: Floats, labels: Ids, values: Floats) -> None:
    """Add the second-order weights of a given path of every sequence to its value."""
    for i in range(lo, hi):
        for t in range(starts[i] + 2, starts[i + 1]):
            values[i] += second[labels[t - 2], labels[t - 1], labels[t]]

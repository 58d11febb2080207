"""Dynamic programs over batches of second-order chains.

As in `chain_kernels`, all take the sequences `lo..hi` of a batch, scores are a block that begins at their first token,
what may not be used has score -inf, and forward passes keep only values. They run over the states of
`second_order_states`; where all labels are open, the innermost loop is over contiguous labels. Ties go to the lowest
last label, then to the lowest one before it, and so on, or are broken at random, uniformly over all that are best.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel
from sidelight.spaces.choice_kernels import choose, highest
from sidelight.spaces.second_order.second_order_states import (
    SequenceStates,
    frame_of,
    labels_of,
    most_states,
    open_labels,
    states,
)


@inner_kernel
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


@inner_kernel
def step(t: int, second: Floats, transition: Floats, frame: SequenceStates, values: Floats) -> None:
    """The states of token t from those of t - 1, but for the scores of t."""
    size = transition.shape[0]
    now = states(t, frame, values)
    old = states(t - 1, frame, values)
    here, middle = labels_of(t, frame), labels_of(t - 1, frame)
    for j in range(middle.shape[0]):
        row = now[j]
        if t == 1:
            row[:] = old[0, j]
        else:
            earlier = labels_of(t - 2, frame)
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


@inner_kernel
def forward(
    scores: Floats,
    second: Floats,
    transition: Floats,
    start: Floats,
    frame: SequenceStates,
    best: Floats,
) -> None:
    """The value of the best path over tokens 0..t that ends in each state of t."""
    first = labels_of(0, frame)
    for k in range(first.shape[0]):
        best[k] = start[first[k]] + scores[frame.first, first[k]]
    for t in range(1, frame.length):
        step(t, second, transition, frame, best)
        now = states(t, frame, best)
        here = labels_of(t, frame)
        for j in range(now.shape[0]):
            for k in range(here.shape[0]):
                now[j, k] += scores[frame.first + t, here[k]]


@inline_kernel
def ended(ending: Floats, here: Ints, end: Floats, worth: Floats) -> Floats:
    """The values of the states (j, k) of the last token with the end, at k · J + j, in part of the given memory."""
    count = ending.shape[0]
    for k in range(here.shape[0]):
        for j in range(count):
            worth[k * count + j] = ending[j, k] + end[here[k]]
    return worth[: count * here.shape[0]]


@inner_kernel
def _best_before(values: Floats, j: int, second: Floats, earlier: Ints, middle: int, label: int) -> float:
    """The largest value of a state (i, j) with the second-order score of the label after it."""
    top = -np.inf
    for i in range(earlier.shape[0]):
        top = max(top, values[i, j] + second[earlier[i], middle, label])
    return top


@inner_kernel
def count_ways(
    second: Floats,
    end: Floats,
    frame: SequenceStates,
    best: Floats,
    top: float,
    ways: Floats,
) -> None:
    """The number of paths, up to a factor per token, to each state that begin a best path of value `top`.

    First the states on best paths are found from the end backwards, so that others cost nothing.
    """
    count = frame.length
    ways[: frame.at[count]] = 0.0
    now, values = states(count - 1, frame, ways), states(count - 1, frame, best)
    here = labels_of(count - 1, frame)
    for j in range(now.shape[0]):
        for k in range(here.shape[0]):
            if values[j, k] + end[here[k]] == top:
                now[j, k] = 1.0
    for t in range(count - 1, 0, -1):
        now, old = states(t, frame, ways), states(t - 1, frame, ways)
        values = states(t - 1, frame, best)
        here, middle = labels_of(t, frame), labels_of(t - 1, frame)
        earlier = labels_of(max(t - 2, 0), frame)
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
        now, old = states(t, frame, ways), states(t - 1, frame, ways)
        values = states(t - 1, frame, best)
        here, middle = labels_of(t, frame), labels_of(t - 1, frame)
        earlier = labels_of(max(t - 2, 0), frame)
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


@inner_kernel
def walk_back(
    second: Floats,
    end: Floats,
    frame: SequenceStates,
    values: Floats,  # of the beginnings that end in each state: the best, or their log-sum
    ways: Floats | None,
    state: Keys | None,
    worth: Floats,  # room for the states of a token, twice
    labels: Ids,  # out [count]
) -> float:
    """A labeling, from its end to its beginning, selected by `choose`. Returns the value of the best one."""
    count = frame.length
    here, last = labels_of(count - 1, frame), states(count - 1, frame, values)
    each = ended(last, here, end, worth[0])
    if ways is None:
        j = choose(each, None, state)
        value = each[j] if each.shape[0] > 0 else -np.inf
    else:
        nothing = np.zeros(end.shape[0])
        value = highest(each)
        j = choose(each, ended(states(count - 1, frame, ways), here, nothing, worth[1]), state)
    if value == -np.inf:
        labels[:] = 0
        return value
    label, j = here[j // last.shape[0]], j % last.shape[0]
    labels[count - 1] = label
    for t in range(count - 1, 0, -1):
        middle = labels_of(t - 1, frame)[j]
        labels[t - 1] = middle
        if t > 1:
            old, earlier = states(t - 1, frame, values), labels_of(t - 2, frame)
            each = worth[0, : earlier.shape[0]]
            for e in range(earlier.shape[0]):
                each[e] = old[e, j] + second[earlier[e], middle, label]
            if ways is None:
                j = choose(each, None, state)
            else:
                j = choose(each, states(t - 1, frame, ways)[:, j], state)
        label = middle
    return value


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
    seeds: Keys | None,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best path of every sequence and its value; with seeds, one of all best paths."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    best, ways = np.empty(most), np.empty(most)
    at, worth = np.empty(longest + 1, np.int64), np.empty((2, start.shape[0] ** 2))
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        frame = frame_of(opened, begins, at, first, count)
        forward(scores, second, transition, start, frame, best)
        out = labels[starts[i] : starts[i + 1]]
        if seeds is None:
            values[i] = walk_back(second, end, frame, best, None, None, worth, out)
        else:
            last = states(count - 1, frame, best)
            top = highest(ended(last, labels_of(count - 1, frame), end, worth[0]))
            if top > -np.inf:
                count_ways(second, end, frame, best, top, ways)
            state[0] = seeds[i]
            values[i] = walk_back(second, end, frame, best, ways, state, worth, out)


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
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    stayed, left = np.empty(most), np.empty(most)
    at, worth = np.empty(longest + 1, np.int64), np.empty(start.shape[0] ** 2)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        frame = frame_of(opened, begins, at, first, count)
        for t in range(count):
            if t == 0:
                here = labels_of(0, frame)
                for k in range(here.shape[0]):
                    stayed[k] = start[here[k]]
                left[: here.shape[0]] = -np.inf
            else:
                step(t, second, transition, frame, stayed)
                step(t, second, transition, frame, left)
            in_stayed, in_left = states(t, frame, stayed), states(t, frame, left)
            here = labels_of(t, frame)
            for k in range(here.shape[0]):
                inside = admitted[starts[i] + t, here[k]] != 0
                for j in range(in_stayed.shape[0]):
                    if not inside:
                        in_left[j, k] = max(in_left[j, k], in_stayed[j, k])
                        in_stayed[j, k] = -np.inf
                    in_stayed[j, k] += scores[first + t, here[k]]
                    in_left[j, k] += scores[first + t, here[k]]
        here = labels_of(count - 1, frame)
        last = ended(states(count - 1, frame, left), here, end, worth)
        values[i] = highest(last)
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        has_left = True
        before = last.shape[0] // here.shape[0]
        j = choose(last, None, None)
        label, j = here[j // before], j % before
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, frame)[j]
            labels[starts[i] + t - 1] = middle
            may_stay = not has_left or admitted[starts[i] + t, label] == 0
            if t > 1:
                in_stayed, in_left = states(t - 1, frame, stayed), states(t - 1, frame, left)
                earlier = labels_of(t - 2, frame)
                value = -np.inf
                choice = 0
                from_left = has_left
                for e in range(earlier.shape[0]):
                    weight = second[earlier[e], middle, label]
                    if has_left and in_left[e, j] + weight > value:
                        value = in_left[e, j] + weight
                        choice = e
                        from_left = True
                    if may_stay and in_stayed[e, j] + weight > value:
                        value = in_stayed[e, j] + weight
                        choice = e
                        from_left = False
                j = choice
                has_left = from_left
            label = middle


@kernel
def add_second_order(starts: Ints, lo: int, hi: int, second: Floats, labels: Ids, values: Floats) -> None:
    """Add the second-order weights of a given path of every sequence to its value."""
    for i in range(lo, hi):
        for t in range(starts[i] + 2, starts[i + 1]):
            values[i] += second[labels[t - 2], labels[t - 1], labels[t]]

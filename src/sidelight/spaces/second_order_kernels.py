"""Dynamic programs over batches of second-order chains.

As in `chain_kernels`, all take the sequences `lo..hi` of a batch, scores are a block that begins at their first token,
what may not be used has score -inf, and forward passes keep only values. They run over the states of
`second_order_states`; where all labels are open, the innermost loop is over contiguous labels. Ties go to the lowest
last label, then to the lowest one before it, and so on, unless random ones are asked for.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.kernels import GOLDEN, inline_kernel, kernel, mix
from sidelight.spaces.second_order_states import labels_of, most_states, open_labels, place_states, states


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
            for i in range(earlier.shape[0]):
                value = old[i, j]
                if value == -np.inf:
                    continue
                weights = second[earlier[i], middle[j]]
                if here.shape[0] == size:
                    for label in range(size):
                        candidate = value + weights[label]
                        row[label] = candidate if candidate > row[label] else row[label]
                else:
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


@inline_kernel
def uniform(state: Keys) -> float:
    """The next number in [0, 1) of a splitmix64 stream."""
    state[0] += GOLDEN
    return float(mix(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def count_ways(
    second: Floats,
    opened: Ints,
    begins: Ints,
    first: int,
    count: int,
    at: Ints,
    best: Floats,
    ways: Floats,
) -> None:
    """How many best paths end in each state, up to a factor per token; none where there is no path."""
    for k in range(at[1]):
        ways[k] = 1.0 if best[k] > -np.inf else 0.0
    for t in range(1, count):
        now, old = states(t, begins, first, at, ways), states(t - 1, begins, first, at, ways)
        values = states(t - 1, begins, first, at, best)
        here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
        most = 0.0
        for j in range(middle.shape[0]):
            for k in range(here.shape[0]):
                total = 0.0
                if t == 1:
                    total = old[0, j]
                else:
                    earlier = labels_of(t - 2, opened, begins, first)
                    top = -np.inf
                    for e in range(earlier.shape[0]):
                        top = max(top, values[e, j] + second[earlier[e], middle[j], here[k]])
                    for e in range(earlier.shape[0]):
                        if values[e, j] + second[earlier[e], middle[j], here[k]] == top:
                            total += old[e, j]
                if best[at[t] + j * here.shape[0] + k] == -np.inf:
                    total = 0.0
                now[j, k] = total
                most = max(most, total)
        if most > 0.0:
            now /= most


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
    """As `viterbi`, drawing uniformly from all best paths."""
    base = starts[lo]
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    best, ways = np.empty(most), np.empty(most)
    at = np.empty(longest + 1, np.int64)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, count = starts[i] - base, starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward(scores, second, transition, start, opened, begins, first, count, at, best)
        count_ways(second, opened, begins, first, count, at, best, ways)
        here = labels_of(count - 1, opened, begins, first)
        ending, share = states(count - 1, begins, first, at, best), states(count - 1, begins, first, at, ways)
        top, j, k = best_last(ending, here, end)
        values[i] = top
        if top == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        state[0] = seeds[i]
        total = 0.0
        for a in range(ending.shape[0]):
            for b in range(here.shape[0]):
                if ending[a, b] + end[here[b]] == top:
                    total += share[a, b]
        draw = uniform(state) * total
        for a in range(ending.shape[0]):
            for b in range(here.shape[0]):
                if draw >= 0.0 and share[a, b] > 0.0 and ending[a, b] + end[here[b]] == top:
                    draw -= share[a, b]
                    j, k = a, b
        label = here[k]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            if t > 1:
                old, share = states(t - 1, begins, first, at, best), states(t - 1, begins, first, at, ways)
                earlier = labels_of(t - 2, opened, begins, first)
                top = -np.inf
                for e in range(earlier.shape[0]):
                    top = max(top, old[e, j] + second[earlier[e], middle, label])
                total = 0.0
                for e in range(earlier.shape[0]):
                    if old[e, j] + second[earlier[e], middle, label] == top:
                        total += share[e, j]
                draw = uniform(state) * total
                chosen = 0
                for e in range(earlier.shape[0]):
                    if draw >= 0.0 and share[e, j] > 0.0 and old[e, j] + second[earlier[e], middle, label] == top:
                        draw -= share[e, j]
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

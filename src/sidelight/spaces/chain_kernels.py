"""Dynamic programs over batches of first-order chains.

All take the sequences `lo..hi` of a batch. Scores are a block that begins at token `base`; a label that may not be
used has score -inf, and so has a forbidden transition, so that one maximum serves every kind of mask. Forward passes
keep only values; the way back recomputes one row per token, which is cheaper than storing pointers and keeps the
inner loop over contiguous labels. Ties go to the lowest label unless random ones are asked for.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import AnyFloats, Bytes, Floats, Ids, Ints, Keys
from sidelight.kernels import kernel, uniform


@kernel
def forward(
    scores: AnyFloats, transition: AnyFloats, start: AnyFloats, first: int, count: int, best: AnyFloats
) -> None:
    """best[t, l]: value of the best path over tokens 0..t that ends in l."""
    labels = start.shape[0]
    for label in range(labels):
        best[0, label] = start[label] + scores[first, label]
    for t in range(1, count):
        before = best[t - 1]
        now = best[t]
        value = before[0]
        for label in range(labels):
            now[label] = value + transition[0, label]
        previous = 1
        while previous + 4 <= labels:  # four at a time: a quarter of the reads and writes of `now`
            a, b, c, d = before[previous], before[previous + 1], before[previous + 2], before[previous + 3]
            from_a, from_b = transition[previous], transition[previous + 1]
            from_c, from_d = transition[previous + 2], transition[previous + 3]
            for label in range(labels):
                one, two = a + from_a[label], b + from_b[label]
                three, four = c + from_c[label], d + from_d[label]
                one = two if two > one else one
                three = four if four > three else three
                one = three if three > one else one
                now[label] = one if one > now[label] else now[label]
            previous += 4
        while previous < labels:
            value = before[previous]
            row = transition[previous]
            for label in range(labels):
                candidate = value + row[label]
                now[label] = candidate if candidate > now[label] else now[label]
            previous += 1
        row = scores[first + t]
        for label in range(labels):
            now[label] += row[label]


@kernel
def longest(starts: Ints, lo: int, hi: int) -> int:
    """The number of tokens of the longest sequence."""
    most = 1
    for i in range(lo, hi):
        most = max(most, starts[i + 1] - starts[i])
    return most


@kernel
def viterbi(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    transition: Floats,  # [L, L] from, to
    start: Floats,  # [L]
    end: Floats,  # [L]
    labels: Ids,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best path of every sequence and its value."""
    base = starts[lo]
    size = start.shape[0]
    best = np.empty((longest(starts, lo, hi), size))
    into = transition.T.copy()
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        forward(scores, transition, start, first - base, count, best)
        last = 0
        value = best[count - 1, 0] + end[0]
        for label in range(1, size):
            candidate = best[count - 1, label] + end[label]
            if candidate > value:
                value = candidate
                last = label
        values[i] = value
        labels[first + count - 1] = last
        for t in range(count - 1, 0, -1):
            before = best[t - 1]
            row = into[last]
            last = 0
            value = before[0] + row[0]
            for label in range(1, size):
                candidate = before[label] + row[label]
                if candidate > value:
                    value = candidate
                    last = label
            labels[first + t - 1] = last


@kernel
def viterbi_random_ties(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    seeds: Keys,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,
    values: Floats,
) -> None:
    """As `viterbi`, drawing uniformly from all best paths; ways[t, l] counts best prefixes, up to a factor per t."""
    base = starts[lo]
    size = start.shape[0]
    most = longest(starts, lo, hi)
    best = np.empty((most, size))
    ways = np.empty((most, size))
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        forward(scores, transition, start, first - base, count, best)
        for label in range(size):
            ways[0, label] = 1.0
        for t in range(1, count):
            total = 0.0
            for label in range(size):
                top = -np.inf
                for previous in range(size):
                    top = max(top, best[t - 1, previous] + transition[previous, label])
                sum_of_ways = 0.0
                if best[t, label] > -np.inf:  # a label that cannot be had has no ways, and must not drown the others'
                    for previous in range(size):
                        if best[t - 1, previous] + transition[previous, label] == top:
                            sum_of_ways += ways[t - 1, previous]
                ways[t, label] = sum_of_ways
                total += sum_of_ways
            if total > 0.0:
                for label in range(size):
                    ways[t, label] /= total
        state[0] = seeds[i]
        top = -np.inf
        for label in range(size):
            top = max(top, best[count - 1, label] + end[label])
        values[i] = top
        follower = -1
        for t in range(count - 1, -1, -1):
            if t < count - 1:
                top = -np.inf
                for label in range(size):
                    top = max(top, best[t, label] + transition[label, follower])
            total = 0.0
            for label in range(size):
                onward = end[label] if t == count - 1 else transition[label, follower]
                if best[t, label] + onward == top:
                    total += ways[t, label]
            draw = uniform(state) * total
            chosen = -1
            for label in range(size):
                onward = end[label] if t == count - 1 else transition[label, follower]
                if best[t, label] + onward == top:
                    chosen = label
                    draw -= ways[t, label]
                    if draw < 0.0:
                        break
            labels[first + t] = chosen
            follower = chosen


@kernel
def viterbi_outside(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    admitted: Bytes,  # [T, L]
    labels: Ids,
    values: Floats,
) -> None:
    """The best path on which at least one token leaves the admitted labels: a Viterbi over (label, has left)."""
    base = starts[lo]
    size = start.shape[0]
    most = longest(starts, lo, hi)
    stayed = np.empty((most, size))
    left = np.empty((most, size))
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        for label in range(size):
            value = start[label] + scores[first - base, label]
            inside = admitted[first, label] != 0
            stayed[0, label] = value if inside else -np.inf
            left[0, label] = -np.inf if inside else value
        for t in range(1, count):
            for label in range(size):
                stay = -np.inf
                leave = -np.inf
                for previous in range(size):
                    stay = max(stay, stayed[t - 1, previous] + transition[previous, label])
                    leave = max(leave, left[t - 1, previous] + transition[previous, label])
                value = scores[first - base + t, label]
                if admitted[first + t, label] != 0:
                    stayed[t, label] = stay + value
                    left[t, label] = leave + value
                else:
                    stayed[t, label] = -np.inf
                    left[t, label] = max(stay, leave) + value
        last = 0
        has_left = True
        value = -np.inf
        for label in range(size):
            candidate = left[count - 1, label] + end[label]
            if candidate > value:
                value = candidate
                last = label
        values[i] = value
        labels[first + count - 1] = last
        for t in range(count - 1, 0, -1):
            value = -np.inf
            chosen = 0
            from_left = has_left
            for label in range(size):
                step = transition[label, last]
                if has_left and left[t - 1, label] + step > value:
                    value = left[t - 1, label] + step
                    chosen = label
                    from_left = True
                if (not has_left or admitted[first + t, last] == 0) and stayed[t - 1, label] + step > value:
                    value = stayed[t - 1, label] + step
                    chosen = label
                    from_left = False
            last = chosen
            has_left = from_left
            labels[first + t - 1] = last


@kernel
def path_scores(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    labels: Ids,
    values: Floats,
) -> None:
    """The value of a given path of every sequence."""
    base = starts[lo]
    for i in range(lo, hi):
        first = starts[i]
        last = starts[i + 1] - 1
        total = start[labels[first]] + end[labels[last]]
        for t in range(first, last + 1):
            total += scores[t - base, labels[t]]
            if t > first:
                total += transition[labels[t - 1], labels[t]]
        values[i] = total


@kernel
def close_labels(scores: Floats, base: int, admitted: Bytes) -> None:
    """Set the scores of labels that are not admitted to -inf."""
    for t in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            if admitted[base + t, label] == 0:
                scores[t, label] = -np.inf


@kernel
def add_costs(scores: Floats, base: int, targets: Ids, costs: Floats, token_weights: Floats) -> None:
    """Add the cost of every label against the target of its token; no weights (length 0) means weight one."""
    weighted = token_weights.shape[0] > 0
    for t in range(scores.shape[0]):
        row = costs[targets[base + t]]
        weight = token_weights[base + t] if weighted else 1.0
        for label in range(scores.shape[1]):
            scores[t, label] += weight * row[label]

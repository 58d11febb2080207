"""Dynamic programs over batches of first-order chains.

All take the sequences `lo..hi` of a batch. Scores are a block that begins at token `base`; excluded labels and
forbidden transitions have score -inf, so the same maximum works for every kind of mask. Forward passes store only
values; the backward pass recomputes one row per token, which is cheaper than storing pointers and keeps the inner loop
over contiguous labels. Ties go to the lowest label unless random ties are requested.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import AnyFloats, Bytes, Floats, Ids, Ints, Keys
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel, uniform


@inline_kernel
def advance(before: AnyFloats, transition: AnyFloats, row: AnyFloats, now: AnyFloats) -> None:
    """now[l] = row[l] + the best of before[k] + transition[k, l]: one token further."""
    labels = row.shape[0]
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
        from_one = transition[previous]
        for label in range(labels):
            candidate = value + from_one[label]
            now[label] = candidate if candidate > now[label] else now[label]
        previous += 1
    for label in range(labels):
        now[label] += row[label]


@inner_kernel
def forward(
    scores: AnyFloats, transition: AnyFloats, start: AnyFloats, first: int, count: int, best: AnyFloats
) -> None:
    """best[t, l]: value of the best path over tokens 0..t that ends in l."""
    for label in range(start.shape[0]):
        best[0, label] = start[label] + scores[first, label]
    for t in range(1, count):
        advance(best[t - 1], transition, scores[first + t], best[t])


@inner_kernel
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
            choice = -1
            for label in range(size):
                onward = end[label] if t == count - 1 else transition[label, follower]
                if best[t, label] + onward == top:
                    choice = label
                    draw -= ways[t, label]
                    if draw < 0.0:
                        break
            labels[first + t] = choice
            follower = choice


@inner_kernel
def highest_sum(one: Floats, other: Floats) -> float:
    """The highest one[k] + other[k], by four maxima that do not wait for each other."""
    a = b = c = d = -np.inf
    k = 0
    while k + 4 <= one.shape[0]:
        first, second = one[k] + other[k], one[k + 1] + other[k + 1]
        third, fourth = one[k + 2] + other[k + 2], one[k + 3] + other[k + 3]
        a = first if first > a else a
        b = second if second > b else b
        c = third if third > c else c
        d = fourth if fourth > d else d
        k += 4
    while k < one.shape[0]:
        first = one[k] + other[k]
        a = first if first > a else a
        k += 1
    a = b if b > a else a
    c = d if d > c else c
    return c if c > a else a


@inner_kernel
def forward_left(
    best: Floats,  # [at least `count`, L] of all paths
    scores: Floats,
    transition: Floats,
    into: Floats,  # [L, L] to, from
    admitted: Bytes,
    first: int,
    base: int,
    count: int,
    within: Ints,  # scratch [L]
    left: Floats,
) -> None:
    """left[t, l]: value of the best path over tokens 0..t that ends in l and has left the admitted labels.

    A path that ends in a label outside has left, so that there it is `best`; only admitted labels need a maximum of
    their own.
    """
    size = into.shape[0]
    for label in range(size):
        left[0, label] = -np.inf if admitted[first, label] != 0 else best[0, label]
    for t in range(1, count):
        row = scores[first - base + t]
        now, mask = left[t], admitted[first + t]
        inside = 0
        for label in range(size):
            within[inside] = label
            inside += 1 if mask[label] != 0 else 0
        if 2 * inside > size:
            advance(left[t - 1], transition, row, now)
            for label in range(size):
                now[label] = now[label] if mask[label] != 0 else best[t, label]
        else:
            for label in range(size):
                now[label] = best[t, label]
            for k in range(inside):
                now[within[k]] = highest_sum(left[t - 1], into[within[k]]) + row[within[k]]


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
    """The best path on which at least one token leaves the admitted labels: a Viterbi over (label, has left).

    Paths that have not left are needed only in the backward pass, before the first token that leaves.
    """
    base = starts[lo]
    size = start.shape[0]
    most = longest(starts, lo, hi)
    best = np.empty((most, size))
    left = np.empty((most, size))
    stayed = np.empty((most, size))
    within = np.empty(size, np.int64)
    into = transition.T.copy()
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        forward(scores, transition, start, first - base, count, best)
        forward_left(best, scores, transition, into, admitted, first, base, count, within, left)
        last = 0
        value = -np.inf
        for label in range(size):
            candidate = left[count - 1, label] + end[label]
            if candidate > value:
                value = candidate
                last = label
        values[i] = value
        labels[first + count - 1] = last
        t = count - 1
        while t > 0:
            leaves = admitted[first + t, last] == 0
            before = best[t - 1] if leaves else left[t - 1]
            value = -np.inf
            choice = 0
            for label in range(size):
                if before[label] + into[last, label] > value:
                    value = before[label] + into[last, label]
                    choice = label
            t -= 1
            labels[first + t] = choice
            if leaves and left[t, choice] + into[last, choice] < value:
                break
            last = choice
        if t > 0:
            stay_before(starts[i], t, scores, base, into, start, admitted, stayed, labels)


@inner_kernel
def stay_before(
    first: int,
    end: int,
    scores: Floats,
    base: int,
    into: Floats,  # [L, L] to, from
    start: Floats,
    admitted: Bytes,
    stayed: Floats,  # scratch [at least `end`, L]
    labels: Ids,
) -> None:
    """The best labels of tokens 0..end-1 within the admitted ones, given that of token `end`."""
    size = start.shape[0]
    for t in range(end):
        for label in range(size):
            stayed[t, label] = -np.inf
            if admitted[first + t, label] != 0:
                value = start[label] if t == 0 else highest_sum(stayed[t - 1], into[label])
                stayed[t, label] = value + scores[first - base + t, label]
    for t in range(end - 1, -1, -1):
        row = into[labels[first + t + 1]]
        value = -np.inf
        choice = 0
        for label in range(size):
            if stayed[t, label] + row[label] > value:
                value = stayed[t, label] + row[label]
                choice = label
        labels[first + t] = choice


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

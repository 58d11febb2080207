"""Sums over all labelings of second-order chains, in the domain of logarithms.

Over the states (i, j) of a token (`second_order_states`), with second-order scores W, transitions A and token scores s:

    forward    v_t(j, k) = s_t(k) + A(j, k) + log Σ_i exp(v_{t-1}(i, j) + W(i, j, k))
    backward   b_{t-1}(i, j) = log Σ_k exp(W(i, j, k) + u_t(j, k)),    u_t(j, k) = A(j, k) + s_t(k) + b_t(j, k)
    beliefs    log p(i, j, k at t) = v_{t-1}(i, j) + W(i, j, k) + u_t(j, k) − log Z

For a given j the largest v or u is taken out of its sum, and exp W is made once for all, with the largest W taken out;
so the innermost loops multiply and add, and exponentials are of states alone. A sum that comes out below TINY may have
lost its parts to underflow: it is made once more term by term.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Ids, Ints, Keys
from sidelight.kernels import kernel
from sidelight.spaces.second_order_kernels import uniform
from sidelight.spaces.second_order_states import labels_of, most_states, open_labels, place_states, states

TINY = 1e-200
STEEP = 300.0  # a factor up to exp of this cannot bring back what was lost below TINY


@kernel
def exact_sum(first: Floats, second: Floats) -> float:
    """log Σ exp(first + second), one exponential a term."""
    top = -np.inf
    for i in range(first.shape[0]):
        top = max(top, first[i] + second[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(first.shape[0]):
        total += np.exp(first[i] + second[i] - top)
    return top + float(np.log(total))


@kernel
def forward_sums(
    scores: Floats,
    second: Floats,
    exps: Floats,  # exp(second - peak)
    peak: float,
    transition: Floats,
    start: Floats,
    opened: Ints,
    begins: Ints,
    first: int,
    count: int,
    at: Ints,
    sums: Floats,
) -> None:
    """v_t of all states of a sequence."""
    size = start.shape[0]
    for k in range(at[1]):
        label = opened[begins[first] + k]
        sums[k] = start[label] + scores[first, label]
    for t in range(1, count):
        now, old = states(t, begins, first, at, sums), states(t - 1, begins, first, at, sums)
        here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
        for j in range(middle.shape[0]):
            row = now[j]
            if t == 1:
                row[:] = old[0, j]
            else:
                earlier = labels_of(t - 2, opened, begins, first)
                top = -np.inf
                for i in range(earlier.shape[0]):
                    top = max(top, old[i, j])
                row[:] = 0.0
                for i in range(earlier.shape[0]):
                    if old[i, j] == -np.inf:
                        continue
                    value = np.exp(old[i, j] - top)
                    factors = exps[earlier[i], middle[j]]
                    if here.shape[0] == size:
                        for label in range(size):
                            row[label] += value * factors[label]
                    else:
                        for k in range(here.shape[0]):
                            row[k] += value * factors[here[k]]
                for k in range(here.shape[0]):
                    if row[k] > TINY:
                        row[k] = top + peak + np.log(row[k])
                    else:
                        row[k] = exact_sum(old[:, j], second[:, middle[j], here[k]][earlier])
            for k in range(here.shape[0]):
                row[k] += transition[middle[j], here[k]] + scores[first + t, here[k]]


@kernel
def total_sum(ending: Floats, here: Ints, end: Floats) -> float:
    """log Z from the states of the last token."""
    top = -np.inf
    for j in range(ending.shape[0]):
        for k in range(here.shape[0]):
            top = max(top, ending[j, k] + end[here[k]])
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(ending.shape[0]):
        for k in range(here.shape[0]):
            total += np.exp(ending[j, k] + end[here[k]] - top)
    return top + float(np.log(total))


@kernel
def log_sums(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    exps: Floats,  # [L, L, L]
    peak: float,
    second: Floats,  # [L, L, L]
    transition: Floats,  # [L, L]
    start: Floats,  # [L]
    end: Floats,  # [L]
    values: Floats,  # out [N]
) -> None:
    """log Z of every sequence, -inf where there is no labeling."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    sums = np.empty(most)
    at = np.empty(longest + 1, np.int64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward_sums(scores, second, exps, peak, transition, start, opened, begins, first, count, at, sums)
        here = labels_of(count - 1, opened, begins, first)
        values[i] = total_sum(states(count - 1, begins, first, at, sums), here, end)


@kernel
def dot(first: Floats, second: Floats) -> float:
    """The inner product, in four interleaved sums."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = first.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        a += first[k] * second[k]
        b += first[k + 1] * second[k + 1]
        c += first[k + 2] * second[k + 2]
        d += first[k + 3] * second[k + 3]
    for k in range(whole, first.shape[0]):
        a += first[k] * second[k]
    return (a + b) + (c + d)


@kernel
def backward_step(
    t: int,
    onward: Floats,  # u_t [open labels of t - 1, of t]
    log_z: float,
    scale: float,
    exps: Floats,
    peak: float,
    second: Floats,
    opened: Ints,
    begins: Ints,
    first: int,
    old: Floats,  # v_{t-1}
    back: Floats,  # out b_{t-1}
    expected: Floats,  # added to [L, L, L]
) -> None:
    """b of the states of token t - 1, and the expected second-order parts that end at t, for t from 2 on."""
    size = second.shape[0]
    here, middle = labels_of(t, opened, begins, first), labels_of(t - 1, opened, begins, first)
    earlier = labels_of(t - 2, opened, begins, first)
    factors, spread = np.empty(here.shape[0]), np.empty(here.shape[0])
    for j in range(middle.shape[0]):
        row = onward[j]
        top = -np.inf
        for k in range(here.shape[0]):
            top = max(top, row[k])
        if top == -np.inf:
            back[:, j] = -np.inf
            continue
        for k in range(here.shape[0]):
            factors[k] = np.exp(row[k] - top)
        for i in range(earlier.shape[0]):
            if old[i, j] == -np.inf:
                back[i, j] = -np.inf
                continue
            given = exps[earlier[i], middle[j]]
            out = expected[earlier[i], middle[j]]
            if here.shape[0] == size:
                total = dot(given, factors)
            else:
                for k in range(here.shape[0]):
                    spread[k] = given[here[k]]
                total = dot(spread, factors)
            if total > TINY:
                back[i, j] = top + peak + np.log(total)
            else:
                back[i, j] = exact_sum(row, second[earlier[i], middle[j]][here])
            steepness = old[i, j] + top + peak - log_z
            if steepness > STEEP:
                for k in range(here.shape[0]):
                    weight = second[earlier[i], middle[j], here[k]]
                    out[here[k]] += scale * np.exp(old[i, j] + weight + row[k] - log_z)
                continue
            share = scale * np.exp(steepness)
            if here.shape[0] == size:
                for label in range(size):
                    out[label] += share * given[label] * factors[label]
            else:
                for k in range(here.shape[0]):
                    out[here[k]] += share * spread[k] * factors[k]


@kernel
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    exps: Floats,
    peak: float,
    second: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    scales: Floats,  # [N] what the expectations of each sequence are multiplied by
    values: Floats,  # out [N]
    tokens: Floats,  # out [T, L] of the batch
    in_transition: Floats,  # added to [L, L]
    in_start: Floats,  # added to [L]
    in_end: Floats,  # added to [L]
    in_second: Floats,  # added to [L, L, L]
) -> None:
    """log Z of every sequence, and the expectations of its parts."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    sums, backs = np.empty(most), np.empty(most)
    at = np.empty(longest + 1, np.int64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward_sums(scores, second, exps, peak, transition, start, opened, begins, first, count, at, sums)
        here = labels_of(count - 1, opened, begins, first)
        log_z = total_sum(states(count - 1, begins, first, at, sums), here, end)
        values[i] = log_z
        tokens[starts[i] : starts[i + 1]] = 0.0
        if log_z == -np.inf:
            continue
        back = states(count - 1, begins, first, at, backs)
        for k in range(here.shape[0]):
            back[:, k] = end[here[k]]
        for t in range(count - 1, -1, -1):
            now, back = states(t, begins, first, at, sums), states(t, begins, first, at, backs)
            here = labels_of(t, opened, begins, first)
            token = tokens[starts[i] + t]
            for j in range(now.shape[0]):
                for k in range(here.shape[0]):
                    share = scales[i] * np.exp(now[j, k] + back[j, k] - log_z)
                    token[here[k]] += share
                    if t > 0:
                        in_transition[opened[begins[first + t - 1] + j], here[k]] += share
            if t == count - 1:
                for k in range(here.shape[0]):
                    in_end[here[k]] += token[here[k]]
            if t == 0:
                for k in range(here.shape[0]):
                    in_start[here[k]] += token[here[k]]
                break
            middle = labels_of(t - 1, opened, begins, first)
            for j in range(now.shape[0]):
                for k in range(here.shape[0]):
                    back[j, k] += transition[middle[j], here[k]] + scores[first + t, here[k]]
            old, before = states(t - 1, begins, first, at, sums), states(t - 1, begins, first, at, backs)
            if t == 1:
                ones = np.zeros(here.shape[0])
                for j in range(middle.shape[0]):
                    before[0, j] = exact_sum(back[j], ones)
            else:
                given = (exps, peak, second, opened, begins, first)
                backward_step(t, back, log_z, scales[i], *given, old, before, in_second)


@kernel
def _pick(logs: Floats, draw: float) -> int:
    """A place, with probability in proportion to the exponential of its number; `draw` is uniform in [0, 1)."""
    top = -np.inf
    for value in logs:
        top = max(top, value)
    total = 0.0
    for value in logs:
        total += np.exp(value - top)
    rest = draw * total
    chosen = 0
    for k in range(logs.shape[0]):
        share = np.exp(logs[k] - top)
        if rest >= 0.0 and share > 0.0:
            rest -= share
            chosen = k
    return chosen


@kernel
def sample(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    exps: Floats,
    peak: float,
    second: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    seeds: Keys,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,  # out [T]
    values: Floats,  # out [N] log Z
) -> None:
    """A labeling of every sequence, with probability in proportion to exp(score)."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    sums = np.empty(most)
    at = np.empty(longest + 1, np.int64)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        place_states(begins, first, count, at)
        forward_sums(scores, second, exps, peak, transition, start, opened, begins, first, count, at, sums)
        here = labels_of(count - 1, opened, begins, first)
        ending = states(count - 1, begins, first, at, sums)
        values[i] = total_sum(ending, here, end)
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        for k in range(here.shape[0]):
            ending[:, k] += end[here[k]]
        state[0] = seeds[i]
        chosen = _pick(ending.ravel(), uniform(state))
        j, label = chosen // here.shape[0], here[chosen % here.shape[0]]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            if t > 1:
                old = states(t - 1, begins, first, at, sums)
                earlier = labels_of(t - 2, opened, begins, first)
                j = _pick(old[:, j] + second[:, middle, label][earlier], uniform(state))
            label = middle

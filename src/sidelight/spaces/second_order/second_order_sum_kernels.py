"""Sums over all labelings of second-order chains, in the domain of logarithms.

Over the states (i, j) of a token (`second_order_states`), with second-order scores W, transitions A and token scores s:

    forward    v_t(j, k) = s_t(k) + A(j, k) + log Σ_i exp(v_{t-1}(i, j) + W(i, j, k))
    backward   b_{t-1}(i, j) = log Σ_k exp(W(i, j, k) + u_t(j, k)),    u_t(j, k) = A(j, k) + s_t(k) + b_t(j, k)
    beliefs    log p(i, j, k at t) = v_{t-1}(i, j) + W(i, j, k) + u_t(j, k) − log Z

For a given j the largest v or u is taken out of its sum, and exp W is made once for all, with the largest W, `peak`,
taken out; so the innermost loops multiply and add, and exponentials are of states alone. A sum that comes out below
TINY may have lost its parts to underflow: it is made once more term by term. Where most labels are open and scores are
not far from each other, `second_order_scaled_kernels` come first, which are several times faster. exp W comes in two
layouts, so that both directions have contiguous rows: `onward` [j, i, k] and `backward` [j, k, i].
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import kernel, uniform
from sidelight.spaces.second_order.second_order_scaled_kernels import (
    LOST,
    ScaledMoves,
    Spread,
    add_expected,
    empty_sweep,
    scaled_backward,
    scaled_forward,
)
from sidelight.spaces.second_order.second_order_states import labels_of, most_states, open_labels, place_states, states
from sidelight.spaces.second_order.second_order_ties import draw

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
def weighted_rows(values: Floats, rows: Ints, plane: Floats, columns: Ints, out: Floats) -> None:
    """out[k] = Σ_i values[i] · plane[rows[i], columns[k]]; where all columns are open, over contiguous ones."""
    out[:] = 0.0
    if columns.shape[0] < plane.shape[1]:
        for i in range(rows.shape[0]):
            row = plane[rows[i]]
            for k in range(columns.shape[0]):
                out[k] += values[i] * row[columns[k]]
        return
    whole = rows.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = values[i], values[i + 1], values[i + 2], values[i + 3]
        in_a, in_b, in_c, in_d = plane[rows[i]], plane[rows[i + 1]], plane[rows[i + 2]], plane[rows[i + 3]]
        for k in range(out.shape[0]):
            out[k] += (a * in_a[k] + b * in_b[k]) + (c * in_c[k] + d * in_d[k])
    for i in range(whole, rows.shape[0]):
        value, row = values[i], plane[rows[i]]
        for k in range(out.shape[0]):
            out[k] += value * row[k]


@kernel
def forward_sums(
    scores: Floats,
    onward: Floats,
    peak: float,
    second: Floats,
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
    shares = np.empty(start.shape[0])
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
                if top == -np.inf:
                    row[:] = top
                    continue
                for i in range(earlier.shape[0]):
                    shares[i] = np.exp(old[i, j] - top)
                weighted_rows(shares, earlier, onward[middle[j]], here, row)
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
    onward: Floats,  # [L, L, L]
    peak: float,
    second: Floats,  # [L, L, L]
    transition: Floats,  # [L, L]
    start: Floats,  # [L]
    end: Floats,  # [L]
    moves: ScaledMoves,
    values: Floats,  # out [N]
) -> None:
    """log Z of every sequence, -inf where there is no labeling."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    sums = np.empty(most)
    at = np.empty(longest + 1, np.int64)
    sweep = empty_sweep(longest if moves.flat else 0, start.shape[0])
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        if moves.flat:
            values[i] = scaled_forward(scores[first : first + count], moves, sweep)
            if values[i] != LOST:
                continue
        place_states(begins, first, count, at)
        forward_sums(scores, onward, peak, second, transition, start, opened, begins, first, count, at, sums)
        here = labels_of(count - 1, opened, begins, first)
        values[i] = total_sum(states(count - 1, begins, first, at, sums), here, end)


@kernel
def backward_step(
    t: int,
    after: Floats,  # u_t [open labels of t - 1, of t]
    log_z: float,
    price: float,
    onward: Floats,
    backward: Floats,
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
    shares, totals = np.empty(here.shape[0]), np.empty(earlier.shape[0])
    for j in range(middle.shape[0]):
        row = after[j]
        top = -np.inf
        for k in range(here.shape[0]):
            top = max(top, row[k])
        if top == -np.inf:
            back[:, j] = -np.inf
            continue
        for k in range(here.shape[0]):
            shares[k] = np.exp(row[k] - top)
        weighted_rows(shares, here, backward[middle[j]], earlier, totals)
        for i in range(earlier.shape[0]):
            if totals[i] > TINY:
                back[i, j] = top + peak + np.log(totals[i])
            else:
                back[i, j] = exact_sum(row, second[earlier[i], middle[j]][here])
            steepness = old[i, j] + top + peak - log_z
            out = expected[earlier[i], middle[j]]
            if steepness > STEEP:
                for k in range(here.shape[0]):
                    weight = second[earlier[i], middle[j], here[k]]
                    out[here[k]] += price * np.exp(old[i, j] + weight + row[k] - log_z)
                continue
            factor, given = price * np.exp(steepness), onward[middle[j], earlier[i]]
            if factor == 0.0:
                continue
            if here.shape[0] == size:
                for label in range(size):
                    out[label] += factor * given[label] * shares[label]
            else:
                for k in range(here.shape[0]):
                    out[here[k]] += factor * given[here[k]] * shares[k]


@kernel
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    onward: Floats,
    backward: Floats,
    peak: float,
    second: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    moves: ScaledMoves,
    spread: Spread,  # added to, as what follows
    prices: Floats,  # [N] what the expectations of each sequence are multiplied by
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
    sweep = empty_sweep(longest if moves.flat else 0, start.shape[0])
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        if moves.flat:
            values[i] = scaled_forward(scores[first : first + count], moves, sweep)
            if values[i] > -np.inf and values[i] != LOST:
                scaled_backward(count, moves, sweep)
                add_expected(count, prices[i], moves, sweep, tokens[starts[i] : starts[i + 1]], spread)
                continue
        place_states(begins, first, count, at)
        forward_sums(scores, onward, peak, second, transition, start, opened, begins, first, count, at, sums)
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
                    share = prices[i] * np.exp(now[j, k] + back[j, k] - log_z)
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
                given = (onward, backward, peak, second, opened, begins, first)
                backward_step(t, back, log_z, prices[i], *given, old, before, in_second)


@kernel
def sample(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    onward: Floats,
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
        forward_sums(scores, onward, peak, second, transition, start, opened, begins, first, count, at, sums)
        here = labels_of(count - 1, opened, begins, first)
        ending = states(count - 1, begins, first, at, sums)
        values[i] = total_sum(ending, here, end)
        if values[i] == -np.inf:
            labels[starts[i] : starts[i + 1]] = 0
            continue
        for k in range(here.shape[0]):
            for j in range(ending.shape[0]):
                ending[j, k] = np.exp(ending[j, k] + end[here[k]] - values[i])
        state[0] = seeds[i]
        chosen = draw(ending.ravel(), uniform(state))
        j, label = chosen // here.shape[0], here[chosen % here.shape[0]]
        labels[starts[i] + count - 1] = label
        for t in range(count - 1, 0, -1):
            middle = labels_of(t - 1, opened, begins, first)[j]
            labels[starts[i] + t - 1] = middle
            if t > 1:
                old = states(t - 1, begins, first, at, sums)
                earlier = labels_of(t - 2, opened, begins, first)
                logs = old[:, j] + second[:, middle, label][earlier]
                j = draw(np.exp(logs - logs.max()), uniform(state))
            label = middle

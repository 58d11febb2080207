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
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_log_kernels import log_sum, log_sum_with
from sidelight.spaces.chains.chain_scaled_kernels import weighted
from sidelight.spaces.second_order.second_order_kernels import ended, walk_back
from sidelight.spaces.second_order.second_order_scaled_kernels import (
    LOST,
    ScaledMoves,
    Spread,
    add_expected,
    empty_sweep,
    scaled_backward,
    scaled_forward,
)
from sidelight.spaces.second_order.second_order_states import (
    SequenceStates,
    frame_of,
    labels_of,
    most_states,
    open_labels,
    states,
)

TINY = 1e-200
STEEP = 300.0  # a factor of at most exp of this cannot make a value lost below TINY relevant


@inner_kernel
def weighted_rows(values: Floats, rows: Ints, plane: Floats, columns: Ints, out: Floats) -> None:
    """out[k] = Σ_i values[i] · plane[rows[i], columns[k]]."""
    if rows.shape[0] == plane.shape[0] and columns.shape[0] == plane.shape[1]:
        weighted(values, plane, out)
        return
    out[:] = 0.0
    for i in range(rows.shape[0]):
        row = plane[rows[i]]
        for k in range(columns.shape[0]):
            out[k] += values[i] * row[columns[k]]


@inner_kernel
def forward_sums(
    scores: Floats,
    onward: Floats,
    peak: float,
    second: Floats,
    transition: Floats,
    start: Floats,
    frame: SequenceStates,
    sums: Floats,
) -> None:
    """v_t of all states of a sequence."""
    shares = np.empty(start.shape[0])
    first = labels_of(0, frame)
    for k in range(first.shape[0]):
        sums[k] = start[first[k]] + scores[frame.first, first[k]]
    for t in range(1, frame.length):
        now, old = states(t, frame, sums), states(t - 1, frame, sums)
        here, middle = labels_of(t, frame), labels_of(t - 1, frame)
        for j in range(middle.shape[0]):
            row = now[j]
            if t == 1:
                row[:] = old[0, j]
            else:
                earlier = labels_of(t - 2, frame)
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
                        row[k] = log_sum_with(old[:, j], second[:, middle[j], here[k]][earlier])
            for k in range(here.shape[0]):
                row[k] += transition[middle[j], here[k]] + scores[frame.first + t, here[k]]


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
    """log Z of every sequence, -inf if there is no labeling."""
    opened, begins = open_labels(scores)
    longest, most = most_states(starts, lo, hi, begins)
    sums, worth = np.empty(most), np.empty((2, start.shape[0] ** 2))
    at = np.empty(longest + 1, np.int64)
    sweep = empty_sweep(longest if moves.flat else 0, start.shape[0])
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        if moves.flat:
            values[i] = scaled_forward(scores[first : first + count], moves, sweep)
            if values[i] != LOST:
                continue
        frame = frame_of(opened, begins, at, first, count)
        forward_sums(scores, onward, peak, second, transition, start, frame, sums)
        here = labels_of(count - 1, frame)
        values[i] = log_sum(ended(states(count - 1, frame, sums), here, end, worth[0]))


@inner_kernel
def backward_step(
    t: int,
    after: Floats,  # u_t [open labels of t - 1, of t]
    log_z: float,
    price: float,
    onward: Floats,
    backward: Floats,
    peak: float,
    second: Floats,
    frame: SequenceStates,
    old: Floats,  # v_{t-1}
    back: Floats,  # out b_{t-1}
    expected: Floats,  # added to [L, L, L]
) -> None:
    """b of the states of token t - 1, and the expected second-order parts that end at t, for t from 2 on."""
    size = second.shape[0]
    here, middle = labels_of(t, frame), labels_of(t - 1, frame)
    earlier = labels_of(t - 2, frame)
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
                back[i, j] = log_sum_with(row, second[earlier[i], middle[j]][here])
            steepness = old[i, j] + top + peak - log_z
            out = expected[earlier[i], middle[j]]
            if steepness > STEEP:
                for k in range(here.shape[0]):
                    weight = second[earlier[i], middle[j], here[k]]
                    out[here[k]] += price * np.exp(old[i, j] + weight + row[k] - log_z)
                continue
            factor, later = price * np.exp(steepness), onward[middle[j], earlier[i]]
            if factor == 0.0:
                continue
            if here.shape[0] == size:
                for label in range(size):
                    out[label] += factor * later[label] * shares[label]
            else:
                for k in range(here.shape[0]):
                    out[here[k]] += factor * later[here[k]] * shares[k]


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
    at, worth = np.empty(longest + 1, np.int64), np.empty((2, start.shape[0] ** 2))
    sweep = empty_sweep(longest if moves.flat else 0, start.shape[0])
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        if moves.flat:
            values[i] = scaled_forward(scores[first : first + count], moves, sweep)
            if values[i] > -np.inf and values[i] != LOST:
                scaled_backward(count, moves, sweep)
                add_expected(count, prices[i], moves, sweep, tokens[starts[i] : starts[i + 1]], spread)
                continue
        frame = frame_of(opened, begins, at, first, count)
        forward_sums(scores, onward, peak, second, transition, start, frame, sums)
        here = labels_of(count - 1, frame)
        log_z = log_sum(ended(states(count - 1, frame, sums), here, end, worth[0]))
        values[i] = log_z
        tokens[starts[i] : starts[i + 1]] = 0.0
        if log_z == -np.inf:
            continue
        back = states(count - 1, frame, backs)
        for k in range(here.shape[0]):
            back[:, k] = end[here[k]]
        for t in range(count - 1, -1, -1):
            now, back = states(t, frame, sums), states(t, frame, backs)
            here = labels_of(t, frame)
            token = tokens[starts[i] + t]
            for j in range(now.shape[0]):
                for k in range(here.shape[0]):
                    share = prices[i] * np.exp(now[j, k] + back[j, k] - log_z)
                    token[here[k]] += share
                    if t > 0:
                        in_transition[labels_of(t - 1, frame)[j], here[k]] += share
            if t == count - 1:
                for k in range(here.shape[0]):
                    in_end[here[k]] += token[here[k]]
            if t == 0:
                for k in range(here.shape[0]):
                    in_start[here[k]] += token[here[k]]
                break
            middle = labels_of(t - 1, frame)
            for j in range(now.shape[0]):
                for k in range(here.shape[0]):
                    back[j, k] += transition[middle[j], here[k]] + scores[first + t, here[k]]
            old, before = states(t - 1, frame, sums), states(t - 1, frame, backs)
            if t == 1:
                for j in range(middle.shape[0]):
                    before[0, j] = log_sum(back[j])
            else:
                state = (onward, backward, peak, second, frame)
                backward_step(t, back, log_z, prices[i], *state, old, before, in_second)


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
    sums, worth = np.empty(most), np.empty((2, start.shape[0] ** 2))
    at = np.empty(longest + 1, np.int64)
    state = np.empty(1, np.uint64)
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        frame = frame_of(opened, begins, at, first, count)
        forward_sums(scores, onward, peak, second, transition, start, frame, sums)
        here = labels_of(count - 1, frame)
        values[i] = log_sum(ended(states(count - 1, frame, sums), here, end, worth[0]))
        out = labels[starts[i] : starts[i + 1]]
        if values[i] == -np.inf:
            out[:] = 0
            continue
        state[0] = seeds[i]
        walk_back(second, end, frame, sums, None, state, worth, out)

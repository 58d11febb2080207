"""Sums over all paths of the sequences `lo..hi` of a batch of chains.

Scores are a block that begins at the first token of sequence `lo`; a label or transition that may not be used has
score -inf. Each sequence is summed in the scaled exponential domain, or in logarithms where its scores span too much
for that; the kernels return how many sequences took that long way. A sequence without a path has log-sum -inf, and
nothing else is written for it.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_log_kernels import log_backward, log_forward, log_pair, log_token
from sidelight.spaces.chains.chain_scaled_kernels import (
    ExpMoves,
    Room,
    add_moves,
    backward,
    forward,
    largest,
    room_for,
)
from sidelight.spaces.choice_kernels import drawn


@kernel
def log_sums(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]
    transition: Floats,
    start: Floats,
    end: Floats,
    exp_moves: ExpMoves,
    values: Floats,  # out [N]
) -> int:
    """The log-sum of every sequence lo..hi."""
    base = starts[lo]
    room = room_for(longest(starts, lo, hi), start.shape[0])
    slow = 0
    for i in range(lo, hi):
        first = starts[i] - base
        count = starts[i + 1] - starts[i]
        value = forward(scores, first, count, exp_moves, room)
        if np.isnan(value):
            value = log_forward(scores, first, count, transition, start, end, room.sums)
            slow += 1
        values[i] = value
    return slow


@inner_kernel
def _in_logs(
    scores: Floats,  # from row `first` on; out: price · p(y_t = l)
    first: int,
    count: int,
    transition: Floats,
    start: Floats,
    end: Floats,
    room: Room,
    price: float,
    moves: Floats,  # [L, L] added to
) -> float:
    """The log-sum and the beliefs of one sequence."""
    size = start.shape[0]
    value = log_forward(scores, first, count, transition, start, end, room.sums)
    if value > -np.inf:
        log_backward(scores, first, count, transition, end, room.exps)
        for t in range(1, count):
            log_pair(scores, first, t, transition, room.sums, room.exps, price, moves)
        for t in range(count):
            log_token(room.sums[:, :size], room.exps[:, :size], t, price, scores[first + t])
    return value


@inner_kernel
def sequence_beliefs(
    scores: Floats,  # from row `first` on; out: price · p(y_t = l)
    first: int,
    count: int,
    transition: Floats,
    start: Floats,
    end: Floats,
    exp_moves: ExpMoves,
    room: Room,
    price: float,
    gathered: Floats,  # [P, P] becomes expected transitions when multiplied by `exp_moves.onward`
    moves: Floats,  # [L, L] expected transitions of sequences that were summed in logarithms
) -> tuple[float, bool]:
    """The log-sum and the beliefs of one sequence, added to `gathered` or `moves`; whether in logarithms."""
    value = forward(scores, first, count, exp_moves, room)
    slow = np.isnan(value)
    if slow:
        value = _in_logs(scores, first, count, transition, start, end, room, price, moves)
    elif value > -np.inf:
        backward(count, exp_moves, room, first, price, scores)
        add_moves(count, room.sums, room.exps, price, gathered)
    return value, slow


@kernel
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]; out: price · p(y_t = l)
    transition: Floats,
    start: Floats,
    end: Floats,
    exp_moves: ExpMoves,
    prices: Floats,  # [N], or empty for ones
    values: Floats,  # out [N] log-sums, NaN for sequences that are left to `log_beliefs`
    moves: Floats,  # out [L, L] expected transitions, times price
) -> int:
    """The log-sum and the beliefs of every sequence lo..hi; returns how many are left."""
    size = start.shape[0]
    room = room_for(longest(starts, lo, hi), size)
    gathered = np.zeros(exp_moves.onward.shape)
    left = 0
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        price = prices[i] if prices.shape[0] > 0 else 1.0
        values[i] = forward(scores, first, count, exp_moves, room)
        if np.isnan(values[i]):
            left += 1
        elif values[i] > -np.inf:
            backward(count, exp_moves, room, first, price, scores)
            add_moves(count, room.sums, room.exps, price, gathered)
    for k in range(size):
        for label in range(size):
            moves[k, label] = gathered[k, label] * exp_moves.onward[k, label]
    return left


@kernel
def log_beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]; out: price · p(y_t = l)
    transition: Floats,
    start: Floats,
    end: Floats,
    prices: Floats,  # [N], or empty for ones
    values: Floats,  # [N] NaN where it is asked; out: the log-sum
    moves: Floats,  # [L, L] expected transitions, times price, are added
) -> None:
    """The remaining sequences of `beliefs`, in logarithms; a separate kernel, since it rarely needs to be compiled."""
    size = start.shape[0]
    room = room_for(longest(starts, lo, hi), size)
    for i in range(lo, hi):
        if np.isnan(values[i]):
            first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
            price = prices[i] if prices.shape[0] > 0 else 1.0
            values[i] = _in_logs(scores, first, count, transition, start, end, room, price, moves)


@kernel
def draw(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    exp_moves: ExpMoves,
    seeds: Keys,  # [N] one stream per sequence, so that shards and threads do not matter
    labels: Ids,  # out [T]
    values: Floats,  # out [N] log-sums
) -> int:
    """One labeling of every sequence, drawn with probability exp(score − log-sum)."""
    base = starts[lo]
    size = start.shape[0]
    room = room_for(longest(starts, lo, hi), size)
    back, edges, sums = exp_moves.back, exp_moves.edges, room.sums
    state = np.empty(1, np.uint64)
    weights = np.empty(size)
    slow = 0
    for i in range(lo, hi):
        first = starts[i] - base
        count = starts[i + 1] - starts[i]
        value = forward(scores, first, count, exp_moves, room)
        in_logs = np.isnan(value)
        if in_logs:
            slow += 1
            value = log_forward(scores, first, count, transition, start, end, sums)
        values[i] = value
        if value == -np.inf:
            continue
        state[0] = seeds[i]
        follower = 0
        for t in range(count - 1, -1, -1):
            for label in range(size):
                if in_logs:
                    weights[label] = sums[t, label] + (end[label] if t == count - 1 else transition[label, follower])
                else:
                    weights[label] = sums[t, label] * (edges[1, label] if t == count - 1 else back[follower, label])
            if in_logs:
                top = largest(weights)
                for label in range(size):
                    weights[label] = np.exp(weights[label] - top)
            follower = drawn(weights, state)
            labels[starts[i] + t] = follower
    return slow

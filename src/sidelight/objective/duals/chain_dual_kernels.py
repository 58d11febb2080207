"""Kernels of the dual problem over chains: what `chain_duals` describes, example by example."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.objective.online.online_likelihood_kernels import TokenEntries, TokenWeights, token_scores
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_scaled_kernels import ExpMoves, Room, empty_moves, exp_scores_into, room_for
from sidelight.spaces.chains.chain_sum_kernels import sequence_beliefs

GROWTH = 1.05  # of a step size that worked
TRIES = 12  # halvings in one visit


@inner_kernel
def _height(
    log_sum: float,
    first: int,
    count: int,
    tokens: Floats,
    potentials: Floats,
    moves: Floats,
    move_potentials: Floats,
    edge_potentials: Floats,
    targets: Ids,
    costs: Floats,
) -> float:
    """The entropy of a distribution with these beliefs and potentials, or its expected cost."""
    size = tokens.shape[1]
    total = 0.0
    if costs.shape[0] > 0:
        for t in range(count):
            cost = costs[targets[first + t]]
            for label in range(size):
                total += tokens[t, label] * cost[label]
        return total
    for t in range(count):
        for label in range(size):
            total += tokens[t, label] * potentials[t, label]
    for label in range(size):
        total += tokens[0, label] * edge_potentials[0, label] + tokens[count - 1, label] * edge_potentials[1, label]
        for following in range(size):
            total += moves[label, following] * move_potentials[label, following]
    return log_sum - total


@inner_kernel
def _add_closed(
    move_potentials: Floats, edge_potentials: Floats, closed: Floats, transition: Floats, start: Floats, end: Floats
) -> None:
    size = closed.shape[1]
    for label in range(size):
        start[label] = edge_potentials[0, label] + closed[size, label]
        end[label] = edge_potentials[1, label] + closed[size + 1, label]
        for following in range(size):
            transition[label, following] = move_potentials[label, following] + closed[label, following]


@inner_kernel
def _beliefs_of(
    count: int,
    closed: Floats,
    move_potentials: Floats,
    edge_potentials: Floats,
    transition: Floats,
    start: Floats,
    end: Floats,
    exp_moves: ExpMoves,
    room: Room,
    gathered: Floats,
    beliefs: Floats,  # in: token potentials
    moves: Floats,  # out [L, L]
) -> float:
    """The log-sum of a distribution given by its potentials; beliefs and expected transitions in place."""
    size = closed.shape[1]
    _add_closed(move_potentials, edge_potentials, closed, transition, start, end)
    exp_scores_into(transition, start, end, exp_moves, room.work, room.bits)
    gathered[:] = 0.0
    moves[:] = 0.0
    value, _ = sequence_beliefs(beliefs, 0, count, transition, start, end, exp_moves, room, 1.0, gathered, moves)
    for label in range(size):
        for following in range(size):
            moves[label, following] += gathered[label, following] * exp_moves.onward[label, following]
    return value


@kernel
def expected(
    starts: Ints,
    lo: int,
    hi: int,
    base: int,
    token_potentials: Floats,
    move_potentials: Floats,
    edge_potentials: Floats,
    closed: Floats,
    targets: Ids,
    costs: Floats,
    prices: Floats,
    tokens: Floats,  # out [tokens from `base` on, L] price · beliefs
    moves: Floats,  # out [L, L] price · expected transitions
    values: Floats,  # out [N] h
) -> None:
    size = closed.shape[1]
    most = longest(starts, lo, hi)
    transition, start, end = np.empty((size, size)), np.empty(size), np.empty(size)
    exp_moves = empty_moves(size)
    summing = (transition, start, end, exp_moves, room_for(most, size), np.empty(exp_moves.onward.shape))
    beliefs, shares = np.empty((most, size)), np.empty((size, size))
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        beliefs[:count] = token_potentials[first : first + count]
        value = _beliefs_of(count, closed, move_potentials[i], edge_potentials[i], *summing, beliefs, shares)
        if value == -np.inf:
            values[i] = value
            continue
        parts = token_potentials[first : first + count], shares, move_potentials[i], edge_potentials[i]
        values[i] = _height(value, first, count, beliefs, *parts, targets, costs)
        for label in range(size):
            for following in range(size):
                moves[label, following] += prices[i] * shares[label, following]
        for t in range(count):
            for label in range(size):
                tokens[first - base + t, label] = prices[i] * beliefs[t, label]


@inner_kernel
def _shift(weights: Floats, at: int, amount: float) -> float:
    """Add to a weight; returns by how much its square grew."""
    old: float = weights[at]
    weights[at] = old + amount
    return amount * (2.0 * old + amount)


@inner_kernel
def _shift_token(
    t: int,
    entries: TokenEntries,
    weights: TokenWeights,
    exists: Bytes,
    shift: int,
    total: Floats,
    row: Floats,  # [L]
) -> float:
    """weights += row ⊗ features of token t; returns by how much ‖w‖² grew."""
    wide_ptr, codes, wide_values, pair_ptr, pairs, labels, pair_values, dense = entries
    table, pair_weights, dense_weights = weights
    valued = wide_values.shape[0] > 0 or pair_values.shape[0] > 0
    grown = 0.0
    total[:] = 0.0
    for label in range(shift, row.shape[0]):
        total[label - shift] = row[label]
    for k in range(wide_ptr[t], wide_ptr[t + 1]):
        weight = table[codes[k]]
        there = exists[codes[k]]
        value = wide_values[k] if valued else 1.0
        g0, g1, g2, g3 = 0.0, 0.0, 0.0, 0.0
        for c in range(0, total.shape[0], 4):
            w, e, r = weight[c : c + 4], there[c : c + 4], total[c : c + 4]
            a0, a1, a2, a3 = value * r[0] * e[0], value * r[1] * e[1], value * r[2] * e[2], value * r[3] * e[3]
            g0 += a0 * (2.0 * w[0] + a0)
            g1 += a1 * (2.0 * w[1] + a1)
            g2 += a2 * (2.0 * w[2] + a2)
            g3 += a3 * (2.0 * w[3] + a3)
            w[0] += a0
            w[1] += a1
            w[2] += a2
            w[3] += a3
        grown += (g0 + g1) + (g2 + g3)
    for d in range(dense.shape[1]):
        value = np.float64(dense[t, d])
        for column in range(dense_weights.shape[1]):
            grown += _shift(dense_weights[d], column, value * total[column])
    for k in range(pair_ptr[t], pair_ptr[t + 1]):
        grown += _shift(pair_weights, pairs[k], pair_values[k] * row[labels[k]] if valued else row[labels[k]])
    return grown


@inner_kernel
def _shift_moves(
    difference: Floats, first: Floats, last: Floats, flags: Ints, places: Ints, kept: Bytes, sign: float, v: Floats
) -> float:
    """v += sign · differences of start, end and transition counts; returns by how much ‖w‖² grew."""
    size = first.shape[0]
    bias, chain, shift = flags[0] != 0, flags[1] != 0, flags[2]
    grown = 0.0
    for label in range(size):
        if bias and label >= shift:
            grown += _shift(v, places[0] + label - shift, sign * first[label])
        if chain:
            grown += _shift(v, places[1] + label, sign * last[label])
            for following in range(size):
                if kept.shape[0] == 0 or kept[label, following] != 0:
                    grown += _shift(v, places[2] + label * size + following, sign * difference[label, following])
    return grown


@kernel
def sweep(
    starts: Ints,
    entries: TokenEntries,
    flags: Ints,
    places: Ints,
    closed: Floats,
    kept: Bytes,
    exists: Bytes,
    targets: Ids,
    costs: Floats,
    prices: Floats,
    order: Ints,
    v: Floats,
    weights: TokenWeights,  # views of v
    token_potentials: Floats,
    move_potentials: Floats,
    edge_potentials: Floats,
    rates: Floats,
) -> tuple[float, int]:
    """One visit to every example of `order`; v and the potentials move. Returns by how much D rose, wasted trials."""
    size = closed.shape[1]
    bias, chain, shift = flags[0] != 0, flags[1] != 0, flags[2]
    hinge = costs.shape[0] > 0
    most = longest(starts, 0, starts.shape[0] - 1)
    transition, start, end = np.empty((size, size)), np.empty(size), np.empty(size)
    exp_moves = empty_moves(size)
    summing = (transition, start, end, exp_moves, room_for(most, size), np.empty(exp_moves.onward.shape))
    scores, trial = np.empty((most, size)), np.empty((most, size))
    old, new = np.empty((most, size)), np.empty((most, size))
    move_scores, move_trial = np.zeros((size, size)), np.empty((size, size))
    edge_scores, edge_trial = np.zeros((2, size)), np.empty((2, size))
    old_moves, new_moves = np.empty((size, size)), np.empty((size, size))
    total = np.empty(weights.table.shape[1])
    all_gained = 0.0
    wasted = 0
    for i in order:
        first = starts[i]
        count = starts[i + 1] - first
        for t in range(count):
            token_scores(first + t, entries, weights, shift, 1.0, total, scores[t])
            if hinge:
                cost = costs[targets[first + t]]
                for label in range(size):
                    scores[t, label] += cost[label]
        for label in range(size):
            if bias and label >= shift:
                edge_scores[0, label] = v[places[0] + label - shift]
            if chain:
                edge_scores[1, label] = v[places[1] + label]
                for following in range(size):
                    move_scores[label, following] = v[places[2] + label * size + following]
        potentials = token_potentials[first : first + count]
        old[:count] = potentials
        value = _beliefs_of(count, closed, move_potentials[i], edge_potentials[i], *summing, old, old_moves)
        if value == -np.inf:
            return value, wasted
        parts = potentials, old_moves, move_potentials[i], edge_potentials[i]
        height = _height(value, first, count, old, *parts, targets, costs)
        for _ in range(TRIES):
            rate = rates[i]
            keep = 1.0 if hinge else 1.0 - rate
            for t in range(count):
                for label in range(size):
                    trial[t, label] = keep * potentials[t, label] + rate * scores[t, label]
                    new[t, label] = trial[t, label]
            for label in range(size):
                for e in range(2):
                    edge_trial[e, label] = keep * edge_potentials[i, e, label] + rate * edge_scores[e, label]
                for following in range(size):
                    kept_part = keep * move_potentials[i, label, following]
                    move_trial[label, following] = kept_part + rate * move_scores[label, following]
            value = _beliefs_of(count, closed, move_trial, edge_trial, *summing, new, new_moves)
            gained = prices[i] * (
                _height(value, first, count, new, trial, new_moves, move_trial, edge_trial, targets, costs) - height
            )
            for t in range(count):
                for label in range(size):
                    new[t, label] = prices[i] * (old[t, label] - new[t, label])
            for label in range(size):
                for following in range(size):
                    change = old_moves[label, following] - new_moves[label, following]
                    new_moves[label, following] = prices[i] * change
            grown = _shift_moves(new_moves, new[0], new[count - 1], flags, places, kept, 1.0, v)
            for t in range(count):
                grown += _shift_token(first + t, entries, weights, exists, shift, total, new[t])
            gained -= 0.5 * grown
            if gained >= 0.0:
                potentials[:] = trial[:count]
                edge_potentials[i] = edge_trial
                move_potentials[i] = move_trial
                rates[i] = rate * GROWTH
                all_gained += gained
                break
            wasted += 1
            rates[i] = 0.5 * rate
            _shift_moves(new_moves, new[0], new[count - 1], flags, places, kept, -1.0, v)
            for t in range(count):
                for label in range(size):
                    new[t, label] = -new[t, label]
                _shift_token(first + t, entries, weights, exists, shift, total, new[t])
    return all_gained, wasted

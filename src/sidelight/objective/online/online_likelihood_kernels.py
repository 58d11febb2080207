"""Kernels that score and move the weights of a chain's tokens one sequence at a time; see `online_likelihood`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_scaled_kernels import ExpMoves, Room, empty_moves, exp_scores_into, room_for
from sidelight.spaces.chains.chain_sum_kernels import sequence_beliefs


class TokenEntries(NamedTuple):
    """The features of tokens: attributes with a row of labels, pairs of others with a label, dense ones."""

    wide_ptr: Ints  # [T + 1]
    codes: Ids  # rows of the table
    wide_values: Floats  # or empty when every value is 1
    pair_ptr: Ints  # [T + 1]
    pairs: Ids
    labels: Ids  # of the pairs
    pair_values: Floats  # or empty when every value is 1
    dense: Floats32  # [T, D]


class TokenWeights(NamedTuple):
    """The weights of such features, views of one vector."""

    table: Floats  # [W, P] padded rows of labels
    pairs: Floats
    dense: Floats  # [D, columns]


class OnlineChains(NamedTuple):
    """Chains whose weights move one sequence at a time: their features, and where their weights are."""

    starts: Ints  # [N + 1]
    entries: TokenEntries
    bias: bool
    chain: bool
    shift: int  # labels without weights of their own
    places: Ints  # where start, end, transition, dense, row and pair weights begin
    closed: Floats  # [L + 2, L] −inf where a transition, start (row L) or end (row L + 1) may not be, else 0
    kept: Bytes  # [L, L] the transitions that have a weight, or empty: all
    exists: Bytes  # [W, P] which pairs of the padded rows have a weight


@kernel
def collect(ptr: Ints, columns: Ids, spread: Ids, table: Floats, pairs: Floats) -> None:
    for i in range(spread.shape[0]):
        for k in range(ptr[spread[i]], ptr[spread[i] + 1]):
            pairs[k] = table[i, columns[k]]


@inner_kernel
def token_scores(t: int, chains: OnlineChains, weights: TokenWeights, scale: float, total: Floats, row: Floats) -> None:
    """row[l] = scale · the score of label l at token t under v."""
    wide_ptr, codes, wide_values, pair_ptr, pairs, labels, pair_values, dense = chains.entries
    shift = chains.shift
    table, pair_weights, dense_weights = weights
    valued = wide_values.shape[0] > 0 or pair_values.shape[0] > 0
    total[:] = 0.0
    for k in range(wide_ptr[t], wide_ptr[t + 1]):
        weight = table[codes[k]]
        if valued:
            value = wide_values[k]
            for column in range(total.shape[0]):
                total[column] += value * weight[column]
        else:
            for column in range(total.shape[0]):
                total[column] += weight[column]
    for d in range(dense.shape[1]):
        value = np.float64(dense[t, d])
        for column in range(dense_weights.shape[1]):
            total[column] += value * dense_weights[d, column]
    for label in range(shift):
        row[label] = 0.0
    for label in range(shift, row.shape[0]):
        row[label] = total[label - shift]
    for k in range(pair_ptr[t], pair_ptr[t + 1]):
        weight_of_pair = pair_weights[pairs[k]]
        row[labels[k]] += pair_values[k] * weight_of_pair if valued else weight_of_pair
    for label in range(row.shape[0]):
        row[label] *= scale


@inner_kernel
def _move_token(t: int, chains: OnlineChains, weights: TokenWeights, step: float, total: Floats, row: Floats) -> None:
    """v −= step · row ⊗ features of token t. # row: [L] how much more is believed than known"""
    wide_ptr, codes, wide_values, pair_ptr, pairs, labels, pair_values, dense = chains.entries
    exists, shift = chains.exists, chains.shift
    table, pair_weights, dense_weights = weights
    valued = wide_values.shape[0] > 0 or pair_values.shape[0] > 0
    total[:] = 0.0
    for label in range(shift, row.shape[0]):
        total[label - shift] = step * row[label]
    for k in range(wide_ptr[t], wide_ptr[t + 1]):
        weight = table[codes[k]]
        there = exists[codes[k]]
        value = wide_values[k] if valued else 1.0
        for column in range(total.shape[0]):
            weight[column] -= value * total[column] if there[column] != 0 else 0.0
    for d in range(dense.shape[1]):
        value = np.float64(dense[t, d])
        for column in range(dense_weights.shape[1]):
            dense_weights[d, column] -= value * total[column]
    for k in range(pair_ptr[t], pair_ptr[t + 1]):
        value = pair_values[k] if valued else 1.0
        pair_weights[pairs[k]] -= step * value * row[labels[k]]


@inner_kernel
def _steps_into(v: Floats, chains: OnlineChains, scale: float, transition: Floats, start: Floats, end: Floats) -> None:
    """The scores of transitions, first and last labels under scale · v, −inf where they may not be."""
    bias, chain, shift, places, closed = chains.bias, chains.chain, chains.shift, chains.places, chains.closed
    size = start.shape[0]
    for label in range(size):
        start[label] = closed[size, label]
        end[label] = closed[size + 1, label]
        if bias and label >= shift:
            start[label] += scale * v[places[0] + label - shift]
        if chain:
            end[label] += scale * v[places[1] + label]
        for following in range(size):
            transition[label, following] = closed[label, following]
            if chain:
                transition[label, following] += scale * v[places[2] + label * size + following]


@inner_kernel
def _score_of(labels: Ids, scores: Floats, transition: Floats, start: Floats, end: Floats) -> float:
    """The score of a sequence's labels."""
    total = start[labels[0]] + scores[0, labels[0]] + end[labels[-1]]
    for t in range(1, labels.shape[0]):
        total += transition[labels[t - 1], labels[t]] + scores[t, labels[t]]
    return float(total)


@inner_kernel
def add_products(a: Floats, b: Floats, sign: float, out: Floats) -> None:
    """out += sign · a · b, entry by entry; a and b may be wider."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += sign * (a[i, j] * b[i, j])


@inner_kernel
def _move_steps(v: Floats, chains: OnlineChains, step: float, first: Floats, last: Floats, moves: Floats) -> None:
    """v −= step · how much more is believed than known: of first labels, last labels and transitions."""
    bias, chain, shift, places, kept = chains.bias, chains.chain, chains.shift, chains.places, chains.kept
    size = first.shape[0]
    for label in range(size):
        if bias and label >= shift:
            v[places[0] + label - shift] -= step * first[label]
        if chain:
            v[places[1] + label] -= step * last[label]
            for following in range(size):
                if kept.shape[0] == 0 or kept[label, following] != 0:
                    v[places[2] + label * size + following] -= step * moves[label, following]


class Answered(NamedTuple):
    """Companion answers among the inputs; see `companion_likelihood`."""

    signs: Floats  # [N] z, 0 for an input that has labels instead
    sizes: Floats  # [N] κ
    counts: Floats  # [N] log |Y|
    temperature: float


class Sums(NamedTuple):
    """Room for sums over one sequence: beliefs about its tokens within a mask, and about its transitions."""

    inside: Floats  # [longest, L]
    gathered: Floats  # [P, P]
    moves: Floats  # [L, L]


@inner_kernel
def _beliefs_inside(
    scores: Floats,
    masks: Bytes,
    steps: tuple[Floats, Floats, Floats, ExpMoves, Room],
    sums: Sums,
) -> float:
    """The log-sum of the labelings that masks [count, L], or an empty array, admit; `sums` hold their beliefs."""
    inside, gathered, moves = sums
    gathered[:] = 0.0
    moves[:] = 0.0
    count = scores.shape[0]
    for t in range(count):
        for label in range(scores.shape[1]):
            inside[t, label] = scores[t, label] if masks.shape[0] == 0 or masks[t, label] != 0 else -np.inf
    value, _ = sequence_beliefs(inside, 0, count, *steps, 1.0, gathered, moves)
    add_products(gathered, steps[3].onward, 1.0, moves)
    return value


@inner_kernel
def _likelihood_slopes(
    labels: Ids,
    masks: Bytes,
    steps: tuple[Floats, Floats, Floats, ExpMoves, Room],
    scores: Floats,  # [count, L] out: how much more a label is believed than known
    every: Sums,
    known: Sums,
) -> float:
    """−log p of the labels, or of what masks admit; the transitions that are believed less those known in `every`."""
    count, none = scores.shape[0], masks[:0]
    certain = True
    for t in range(count):
        certain = certain and labels[t] >= 0
    own = _score_of(labels, scores, *steps[:3]) if certain else _beliefs_inside(scores, masks, steps, known)
    value = _beliefs_inside(scores, none, steps, every)
    for t in range(count):
        for label in range(scores.shape[1]):
            scores[t, label] = every.inside[t, label] - (0.0 if certain else known.inside[t, label])
        if certain:
            scores[t, labels[t]] -= 1.0
            if t > 0:
                every.moves[labels[t - 1], labels[t]] -= 1.0
    if not certain:
        every.moves[:] -= known.moves
    return value - own


@inner_kernel
def _answer_slopes(
    answered: Answered,
    i: int,
    threshold: float,
    masks: Bytes,
    steps: tuple[Floats, Floats, Floats, ExpMoves, Room],
    scores: Floats,  # [count, L] under w / τ; out: the slope of the loss by the score of a label
    sums: Sums,  # out: the slope by transitions
) -> tuple[float, float]:
    """κ log(1 + exp(−z (S / κ + b))), and its slope by S."""
    sign, size = answered.signs[i], answered.sizes[i]
    value = _beliefs_inside(scores, masks, steps, sums)
    soft = answered.temperature * (value - answered.counts[i])
    sure = sign * (soft / size + threshold)
    slope = -sign * np.exp(-np.logaddexp(0.0, sure))
    for t in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            scores[t, label] = slope * sums.inside[t, label]
    sums.moves[:] *= slope
    return size * np.logaddexp(0.0, -sure), slope


@kernel
def epoch(
    chains: OnlineChains,
    targets: Ids,
    admitted: Bytes,
    answered: Answered,
    prices: Floats,
    order: Ints,
    v: Floats,
    weights: TokenWeights,  # views of v
    scale: float,
    clock: float,
    decay: float,
    moving: bool,
) -> tuple[float, float]:
    """One pass of stochastic gradient descent; see `OnlineLikelihood.epoch`."""
    starts, size = chains.starts, chains.closed.shape[1]
    most = longest(starts, 0, starts.shape[0] - 1)
    room, exp_moves = room_for(most, size), empty_moves(size)
    transition, start, end = np.empty((size, size)), np.empty(size), np.empty(size)
    all_scores, onward = np.empty((most, size)), exp_moves.onward
    every = Sums(np.empty((most, size)), np.empty(onward.shape), np.empty((size, size)))
    known = Sums(np.empty((most, size)), np.empty(onward.shape), np.empty((size, size)))
    total = np.empty(weights.table.shape[1])
    steps = transition, start, end, exp_moves, room
    all_loss = 0.0
    for i in order:
        first, last = starts[i], starts[i + 1]
        labels, masks, scores = targets[first:last], admitted[first:last], all_scores[: last - first]
        answer = answered.signs[i] != 0.0
        own = scale / answered.temperature if answer else scale
        _steps_into(v, chains, own, transition, start, end)
        exp_scores_into(transition, start, end, exp_moves, room.work, room.bits)
        for t in range(first, last):
            token_scores(t, chains, weights, own, total, scores[t - first])
        slope = 0.0
        if answer:
            loss, slope = _answer_slopes(answered, i, scale * v[0], masks, steps, scores, every)
        else:
            loss = _likelihood_slopes(labels, masks, steps, scores, every, known)
        all_loss += prices[i] * loss
        if not moving:
            continue
        rate = 1.0 / (decay * clock)
        scale *= 1.0 - rate * decay
        if scale < 1e-9:
            for k in range(v.shape[0]):
                v[k] *= scale
            scale = 1.0
        step = rate * prices[i] / scale
        for t in range(first, last):
            _move_token(t, chains, weights, step, total, scores[t - first])
        _move_steps(v, chains, step, scores[0], scores[-1], every.moves)
        v[0] -= step * slope * answered.sizes[i]
        clock += 1.0
    return all_loss, scale

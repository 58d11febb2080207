"""Kernels of the dual problem over chains: what `likelihood_duals` describes, example by example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.objective.online.online_likelihood_kernels import OnlineChains, TokenWeights, token_scores
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_scaled_kernels import ExpMoves, Room, empty_moves, exp_scores_into, room_for
from sidelight.spaces.chains.chain_sum_kernels import sequence_beliefs

GROWTH = 1.05  # growth of a successful step size
TRIES = 12  # halvings in one visit


class Potentials(NamedTuple):
    """θ of every example, by parts, and its step size."""

    tokens: Floats  # [T, L]
    moves: Floats  # [N, L, L]
    edges: Floats  # [N, 2, L] start, end
    rates: Floats  # [N] η

    def state(self) -> tuple[dict[str, float], dict[str, Floats]]:
        """The complete state as numbers and arrays."""
        return {}, self._asdict()

    def stored(self, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Potentials:
        """The potentials restored from such a state."""
        return Potentials(*(array_like(arrays, name, mine, finite=False) for name, mine in self.state()[1].items()))


class SequenceParts(NamedTuple):
    """The parts of a distribution over the labelings of one sequence, or of its beliefs."""

    tokens: Floats  # [longest, L]
    moves: Floats  # [L, L]
    edges: Floats  # [2, L] start, end; of potentials alone


class Work(NamedTuple):
    """Room for the sums over one sequence."""

    transition: Floats  # [L, L]
    start: Floats  # [L]
    end: Floats  # [L]
    exp_moves: ExpMoves
    room: Room
    gathered: Floats  # [P, P]


@inner_kernel
def _work_for(most: int, size: int) -> Work:
    exp_moves = empty_moves(size)
    steps = np.empty((size, size)), np.empty(size), np.empty(size)
    return Work(*steps, exp_moves, room_for(most, size), np.empty(exp_moves.onward.shape))


@inner_kernel
def _empty_parts(most: int, size: int) -> SequenceParts:
    return SequenceParts(np.empty((most, size)), np.zeros((size, size)), np.zeros((2, size)))


@inner_kernel
def _height(
    log_sum: float,
    first: int,
    count: int,
    beliefs: SequenceParts,
    potentials: SequenceParts,
    targets: Ids,
    costs: Floats,
) -> float:
    """The entropy of a distribution with these beliefs and potentials, or its expected cost."""
    tokens, moves, _ = beliefs
    edges, size = potentials.edges, tokens.shape[1]
    total = 0.0
    if costs.shape[0] > 0:
        for t in range(count):
            cost = costs[targets[first + t]]
            for label in range(size):
                total += tokens[t, label] * cost[label]
        return total
    for t in range(count):
        for label in range(size):
            total += tokens[t, label] * potentials.tokens[t, label]
    for label in range(size):
        total += tokens[0, label] * edges[0, label] + tokens[count - 1, label] * edges[1, label]
        for following in range(size):
            total += moves[label, following] * potentials.moves[label, following]
    return log_sum - total


@inner_kernel
def _add_closed(potentials: SequenceParts, closed: Floats, transition: Floats, start: Floats, end: Floats) -> None:
    size = closed.shape[1]
    for label in range(size):
        start[label] = potentials.edges[0, label] + closed[size, label]
        end[label] = potentials.edges[1, label] + closed[size + 1, label]
        for following in range(size):
            transition[label, following] = potentials.moves[label, following] + closed[label, following]


@inner_kernel
def _beliefs_of(count: int, closed: Floats, potentials: SequenceParts, work: Work, beliefs: SequenceParts) -> float:
    """The log-sum of a distribution given by its potentials; beliefs take the potentials of tokens and become its own.

    Beliefs of edges are not computed: they are those of the first and the last token.
    """
    transition, start, end, exp_moves, room, gathered = work
    moves, size = beliefs.moves, closed.shape[1]
    _add_closed(potentials, closed, transition, start, end)
    exp_scores_into(transition, start, end, exp_moves, room.work, room.bits)
    gathered[:] = 0.0
    moves[:] = 0.0
    value, _ = sequence_beliefs(beliefs.tokens, 0, count, transition, start, end, exp_moves, room, 1.0, gathered, moves)
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
    potentials: Potentials,
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
    work, beliefs = _work_for(most, size), _empty_parts(most, size)
    for i in range(lo, hi):
        first = starts[i]
        count = starts[i + 1] - first
        own = SequenceParts(potentials.tokens[first : first + count], potentials.moves[i], potentials.edges[i])
        beliefs.tokens[:count] = own.tokens
        value = _beliefs_of(count, closed, own, work, beliefs)
        if value == -np.inf:
            values[i] = value
            continue
        values[i] = _height(value, first, count, beliefs, own, targets, costs)
        for label in range(size):
            for following in range(size):
                moves[label, following] += prices[i] * beliefs.moves[label, following]
        for t in range(count):
            for label in range(size):
                tokens[first - base + t, label] = prices[i] * beliefs.tokens[t, label]


@inner_kernel
def _shift(weights: Floats, at: int, amount: float) -> float:
    """Add to a weight; returns by how much its square grew."""
    old: float = weights[at]
    weights[at] = old + amount
    return amount * (2.0 * old + amount)


@inner_kernel
def _shift_token(t: int, chains: OnlineChains, weights: TokenWeights, total: Floats, row: Floats) -> float:
    """weights += row ⊗ features of token t; returns by how much ‖w‖² grew. # row: [L]"""
    wide_ptr, codes, wide_values, pair_ptr, pairs, labels, pair_values, dense = chains.entries
    exists, shift = chains.exists, chains.shift
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
def _shift_moves(difference: SequenceParts, count: int, chains: OnlineChains, sign: float, v: Floats) -> float:
    """v += sign · differences of start, end and transition counts; returns by how much ‖w‖² grew."""
    first, last, size = difference.tokens[0], difference.tokens[count - 1], chains.closed.shape[1]
    bias, chain, shift, places, kept = chains.bias, chains.chain, chains.shift, chains.places, chains.kept
    grown = 0.0
    for label in range(size):
        if bias and label >= shift:
            grown += _shift(v, places[0] + label - shift, sign * first[label])
        if chain:
            grown += _shift(v, places[1] + label, sign * last[label])
            for following in range(size):
                if kept.shape[0] == 0 or kept[label, following] != 0:
                    grown += _shift(v, places[2] + label * size + following, sign * difference.moves[label, following])
    return grown


@kernel
def sweep(
    chains: OnlineChains,
    targets: Ids,
    costs: Floats,
    prices: Floats,
    order: Ints,
    v: Floats,
    weights: TokenWeights,  # views of v
    potentials: Potentials,
) -> tuple[float, int]:
    """One visit to every example of `order`; v and the potentials move. Returns by how much D rose, wasted trials."""
    starts, closed, places, rates = chains.starts, chains.closed, chains.places, potentials.rates
    size = closed.shape[1]
    hinge = costs.shape[0] > 0
    most = longest(starts, 0, starts.shape[0] - 1)
    work, scores, trial = _work_for(most, size), _empty_parts(most, size), _empty_parts(most, size)
    old, new = _empty_parts(most, size), _empty_parts(most, size)
    total = np.empty(weights.table.shape[1])
    all_gained = 0.0
    wasted = 0
    for i in order:
        first = starts[i]
        count = starts[i + 1] - first
        for t in range(count):
            token_scores(first + t, chains, weights, 1.0, total, scores.tokens[t])
            if hinge:
                cost = costs[targets[first + t]]
                for label in range(size):
                    scores.tokens[t, label] += cost[label]
        for label in range(size):
            if chains.bias and label >= chains.shift:
                scores.edges[0, label] = v[places[0] + label - chains.shift]
            if chains.chain:
                scores.edges[1, label] = v[places[1] + label]
                for following in range(size):
                    scores.moves[label, following] = v[places[2] + label * size + following]
        own = SequenceParts(potentials.tokens[first : first + count], potentials.moves[i], potentials.edges[i])
        old.tokens[:count] = own.tokens
        value = _beliefs_of(count, closed, own, work, old)
        if value == -np.inf:
            return value, wasted
        height = _height(value, first, count, old, own, targets, costs)
        for _ in range(TRIES):
            rate = rates[i]
            _step(count, own, scores, 1.0 if hinge else 1.0 - rate, rate, trial)
            new.tokens[:count] = trial.tokens[:count]
            value = _beliefs_of(count, closed, trial, work, new)
            gained = prices[i] * (_height(value, first, count, new, trial, targets, costs) - height)
            for t in range(count):
                for label in range(size):
                    new.tokens[t, label] = prices[i] * (old.tokens[t, label] - new.tokens[t, label])
            for label in range(size):
                for following in range(size):
                    change = old.moves[label, following] - new.moves[label, following]
                    new.moves[label, following] = prices[i] * change
            grown = _shift_moves(new, count, chains, 1.0, v)
            for t in range(count):
                grown += _shift_token(first + t, chains, weights, total, new.tokens[t])
            gained -= 0.5 * grown
            if gained >= 0.0:
                own.tokens[:] = trial.tokens[:count]
                own.edges[:] = trial.edges
                own.moves[:] = trial.moves
                rates[i] = rate * GROWTH
                all_gained += gained
                break
            wasted += 1
            rates[i] = 0.5 * rate
            _shift_moves(new, count, chains, -1.0, v)
            for t in range(count):
                for label in range(size):
                    new.tokens[t, label] = -new.tokens[t, label]
                _shift_token(first + t, chains, weights, total, new.tokens[t])
    return all_gained, wasted


@kernel
def _step(
    count: int, potentials: SequenceParts, scores: SequenceParts, keep: float, rate: float, out: SequenceParts
) -> None:
    """out = keep · potentials + rate · scores."""
    size = out.moves.shape[0]
    for t in range(count):
        for label in range(size):
            out.tokens[t, label] = keep * potentials.tokens[t, label] + rate * scores.tokens[t, label]
    for label in range(size):
        for e in range(2):
            out.edges[e, label] = keep * potentials.edges[e, label] + rate * scores.edges[e, label]
        for following in range(size):
            kept = keep * potentials.moves[label, following]
            out.moves[label, following] = kept + rate * scores.moves[label, following]

"""Sums over all labelings of all reorderings of a sequence that swap some neighbours, each token at most once.

There are exponentially many such reorderings; a chain over positions sums them all. At position t stands

    alone    token t itself                  after alone or second
    first    token t + 1, about to swap      after alone or second
    second   token t − 1, having swapped     after first

so a step is two products with exp A, one of (alone + second) and one of first; everything else is as in
`chain_scaled_kernels`. A sequence whose scores span too much for exponentials is summed in logarithms, as a chain over
three copies of the labels.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_log_kernels import log_backward, log_forward, log_pair
from sidelight.spaces.chains.chain_scaled_kernels import (
    TINY,
    ExpMoves,
    add_moves,
    close,
    ended,
    exp_scores,
    exp_tokens,
    lost,
    padded,
    times,
)


@inner_kernel
def _references(tops: Floats, count: int, factors: Floats) -> float:
    """factors[t]: the factors of the exponentials of tokens t, t + 1 and t − 1 at position t; returns the logarithm of
    the scale.
    """
    total = 0.0
    for t in range(count):
        top = tops[t]
        if t + 1 < count:
            top = max(top, tops[t + 1])
        if t > 0:
            top = max(top, tops[t - 1])
        factors[t, 0] = math.exp(tops[t] - top)
        factors[t, 1] = math.exp(tops[t + 1] - top) if t + 1 < count else 0.0
        factors[t, 2] = math.exp(tops[t - 1] - top) if t > 0 else 0.0
        total += top
    return total


@inner_kernel
def _lost_at_start(start: Floats, exps: Floats, now: Floats) -> bool:
    is_lost = False
    for label in range(now.shape[0]):
        is_lost = is_lost or (now[label] < TINY and start[label] > 0.0 and exps[label] > 0.0)
    return is_lost


@inner_kernel
def swap_forward(
    scores: Floats,
    first: int,
    count: int,
    exp_moves: ExpMoves,
    exps: Floats,  # out [count, P]
    factors: Floats,  # out [count, 3]
    alone: Floats,  # out [count, P]
    ahead: Floats,  # out [count, P] first of a swap, divided by the position's scale
    behind: Floats,  # out [count, P] second of a swap
    plain: Floats,  # out [count, P] alone + second, divided by their scale
    scales: Floats,  # out [count]
    token_tops: Floats,
    work: Floats,
    bits: Ints,
) -> float:
    """The log-sum of a sequence; −inf if it has no path, NaN if it must be summed in logarithms."""
    onward, back, edges, tops = exp_moves
    size = scores.shape[1]
    wide = edges.shape[1]
    if not exp_tokens(scores, first, count, exps, token_tops, work, bits):
        return -np.inf
    total = tops[1] + tops[2] + (count - 1) * tops[0] + _references(token_tops, count, factors)
    product = 1.0
    for t in range(count):
        last = t == count - 1
        if t == 0:
            alone[0] = edges[0]
        else:
            times(plain[t - 1], onward, alone[t])
            times(ahead[t - 1], onward, behind[t])
        ahead[t] = alone[t]
        expected = size
        there, fit = close(alone[t], exps[t], factors[t, 0])
        if last:
            ahead[t] = 0.0
        else:
            more, fits = close(ahead[t], exps[t + 1], factors[t, 1])
            there, fit, expected = there + more, fit + fits, expected + size
        if t == 0:
            behind[t] = 0.0
        else:
            more, fits = close(behind[t], exps[t - 1], factors[t, 2])
            there, fit, expected = there + more, fit + fits, expected + size
        if fit < expected:
            if t == 0:
                if _lost_at_start(edges[0], exps[0], alone[0]):
                    return np.nan
                if not last and _lost_at_start(edges[0], exps[1], ahead[0]):
                    return np.nan
            else:
                if lost(plain[t - 1], exps[t], alone[t], back):
                    return np.nan
                if not last and lost(plain[t - 1], exps[t + 1], ahead[t], back):
                    return np.nan
                if lost(ahead[t - 1], exps[t - 1], behind[t], back):
                    return np.nan
            if there == 0.0:
                return -np.inf
        scales[t] = 1.0 / there
        for label in range(wide):
            plain[t, label] = (alone[t, label] + behind[t, label]) * scales[t]
            ahead[t, label] *= scales[t]
        product *= there
        if product < 1e-90 or product > 1e90:
            total += math.log(product)
            product = 1.0
    return ended(total + math.log(product), plain[count - 1], 1.0, edges[1])


@inner_kernel
def swap_backward(
    count: int,
    exp_moves: ExpMoves,
    exps: Floats,
    factors: Floats,
    alone: Floats,
    ahead: Floats,
    behind: Floats,
    plain: Floats,
    scales: Floats,
    onto_plain: Floats,  # out [count, P] what transitions out of alone and second meet
    onto_behind: Floats,  # out [count, P] what transitions out of first meet
    first: int,
    price: float,
    beliefs: Floats,  # out [T, L] price · p(token t has label l) from row `first` on
    ends: Floats,  # [2, L] += price · expected starts and ends
) -> None:
    """The beliefs of a sequence after `swap_forward`, token by token of the sequence as it was given."""
    back, edges = exp_moves.back, exp_moves.edges
    size = beliefs.shape[1]
    wide = edges.shape[1]
    after, after_ahead = np.zeros(wide), np.zeros(wide)
    ending = 0.0
    for label in range(size):
        ending += plain[count - 1, label] * edges[1, label]
    for label in range(wide):
        after[label] = edges[1, label] / ending
    beliefs[first : first + count] = 0.0
    for t in range(count - 1, -1, -1):
        scale = scales[t]
        g, h = onto_plain[t], onto_behind[t]
        e = exps[t]
        e_next, e_before = exps[min(t + 1, count - 1)], exps[max(t - 1, 0)]
        f0, f1, f2 = factors[t, 0] * scale, factors[t, 1] * scale, factors[t, 2] * scale
        for label in range(wide):
            # an unreachable label may have any value after it, even inf
            g[label] = f0 * e[label] * after[label] if alone[t, label] > 0.0 else 0.0
            g[label] += f1 * e_next[label] * after_ahead[label] if ahead[t, label] > 0.0 else 0.0
            h[label] = f2 * e_before[label] * after[label] if behind[t, label] > 0.0 else 0.0
        for label in range(size):
            b0 = alone[t, label] * scale * after[label] if alone[t, label] > 0.0 else 0.0
            b1 = ahead[t, label] * after_ahead[label] if ahead[t, label] > 0.0 else 0.0
            b2 = behind[t, label] * scale * after[label] if behind[t, label] > 0.0 else 0.0
            beliefs[first + t, label] += price * b0
            if t + 1 < count:
                beliefs[first + t + 1, label] += price * b1
            if t > 0:
                beliefs[first + t - 1, label] += price * b2
            if t == 0:
                ends[0, label] += price * (b0 + b1)
            if t == count - 1:
                ends[1, label] += price * (b0 + b2)
        if t > 0:
            times(g, back, after)
            times(h, back, after_ahead)


@inner_kernel
def _in_three(
    scores: Floats, first: int, count: int, transition: Floats, start: Floats, end: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The same sums as a plain chain over three copies of the labels: alone, first, second."""
    size = start.shape[0]
    tokens = np.full((count, 3 * size), -np.inf)
    moves = np.full((3 * size, 3 * size), -np.inf)
    starts, ends = np.full(3 * size, -np.inf), np.full(3 * size, -np.inf)
    for label in range(size):
        for t in range(count):
            tokens[t, label] = scores[first + t, label]
            if t + 1 < count:
                tokens[t, size + label] = scores[first + t + 1, label]
            if t > 0:
                tokens[t, 2 * size + label] = scores[first + t - 1, label]
        starts[label] = start[label]
        starts[size + label] = start[label]
        ends[label] = end[label]
        ends[2 * size + label] = end[label]
        for following in range(size):
            for kind in (0, 2):
                moves[kind * size + label, following] = transition[label, following]
                moves[kind * size + label, size + following] = transition[label, following]
            moves[size + label, 2 * size + following] = transition[label, following]
    return tokens, moves, starts, ends


@inner_kernel
def _beliefs_in_logs(
    scores: Floats,
    first: int,
    count: int,
    transition: Floats,
    start: Floats,
    end: Floats,
    price: float,
    moves: Floats,
    ends: Floats,
) -> float:
    """As `swap_forward` and `swap_backward`, in logarithms; scores become beliefs."""
    size = start.shape[0]
    tokens, tripled, starts, lasts = _in_three(scores, first, count, transition, start, end)
    before, after = np.empty(tokens.shape), np.empty(tokens.shape)
    value = log_forward(tokens, 0, count, tripled, starts, lasts, before)
    if value == -np.inf:
        return value
    log_backward(tokens, 0, count, tripled, lasts, after)
    pairs = np.zeros(tripled.shape)
    for t in range(1, count):
        log_pair(tokens, 0, t, tripled, before, after, price, pairs)
    for label in range(size):
        for following in range(size):
            for kind in range(3):
                for other in range(3):
                    moves[label, following] += pairs[kind * size + label, other * size + following]
    scores[first : first + count] = 0.0
    for t in range(count):
        for kind, place in ((0, t), (1, t + 1), (2, t - 1)):
            for label in range(size):
                share = price * math.exp(before[t, kind * size + label] + after[t, kind * size + label] - value)
                if share > 0.0:
                    scores[first + place, label] += share
                    if t == 0:
                        ends[0, label] += share
                    if t == count - 1:
                        ends[1, label] += share
    return value


@kernel
def swap_beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    scores: Floats,  # [tokens of the block, L]; out: price · beliefs
    transition: Floats,
    start: Floats,
    end: Floats,
    prices: Floats,  # [N], or empty for ones
    with_beliefs: bool,  # whether beliefs are; otherwise only log-sums are written
    values: Floats,  # out [N] log-sums over reorderings and labelings
    moves: Floats,  # out [L, L] expected transitions, times price
    ends: Floats,  # out [2, L] expected starts and ends, times price
) -> int:
    """The log-sum, and the beliefs, of every sequence lo..hi; returns how many were summed in logarithms."""
    size = start.shape[0]
    exp_moves = exp_scores(transition, start, end)
    most = longest(starts, lo, hi)
    wide = padded(size)
    exps, alone, ahead = np.empty((most, wide)), np.empty((most, wide)), np.empty((most, wide))
    behind, plain = np.empty((most, wide)), np.empty((most, wide))
    onto_plain, onto_behind = np.empty((most, wide)), np.empty((most, wide))
    factors, scales, token_tops, work = np.empty((most, 3)), np.empty(most), np.empty(most), np.empty(most * wide)
    bits = work.view(np.int64)
    gathered = np.zeros((wide, wide))
    moves[:] = 0.0
    ends[:] = 0.0
    slow = 0
    for i in range(lo, hi):
        first, count = starts[i] - starts[lo], starts[i + 1] - starts[i]
        price = prices[i] if prices.shape[0] > 0 else 1.0
        chain = (exps, factors, alone, ahead, behind, plain, scales, token_tops, work, bits)
        value = swap_forward(scores, first, count, exp_moves, *chain)
        if np.isnan(value):
            slow += 1
            if with_beliefs:
                value = _beliefs_in_logs(scores, first, count, transition, start, end, price, moves, ends)
            else:
                tokens, tripled, firsts, lasts = _in_three(scores, first, count, transition, start, end)
                value = log_forward(tokens, 0, count, tripled, firsts, lasts, np.empty(tokens.shape))
        elif value > -np.inf and with_beliefs:
            arrays = (exps, factors, alone, ahead, behind, plain, scales, onto_plain, onto_behind)
            swap_backward(count, exp_moves, *arrays, first, price, scores, ends)
            add_moves(count, plain, onto_plain, price, gathered)
            add_moves(count, ahead, onto_behind, price, gathered)
        values[i] = value
    for k in range(size):
        for label in range(size):
            moves[k, label] += gathered[k, label] * exp_moves.onward[k, label]
    return slow

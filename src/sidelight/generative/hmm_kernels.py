"""Forward and backward sums of an HMM on its probabilities: no exponential and no logarithm per token.

A token's row of factors is looked up by the symbol that it emits: P(w | l)^(1/γ) over the largest of the row, whose
logarithm is kept aside, so that a table of symbols serves all tokens. Sequences are summed in groups of four
(`hmm_group_kernels`), or over lists of their candidates where these are few (`hmm_narrow_kernels`); one whose numbers
span more than a double can hold is summed in logarithms.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.generative.hmm_group_kernels import GROUP, add_moves_four, backward_four, forward_four
from sidelight.generative.hmm_narrow_kernels import narrow_backward, narrow_forward, open_labels
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_log_kernels import log_backward, log_forward, log_pair, log_token
from sidelight.spaces.chains.chain_scaled_kernels import exp_scores

NARROW = 0.1  # lists of open labels pay up to this share of all pairs of labels
FLOOR = -690.0  # logarithm of the least factor that is not 0: small enough for the sums to see that it is lost


def emission_factors(emission: Floats, power: float) -> tuple[Floats, Floats]:
    """The factors of every symbol, padded to eight labels [S, P], and the logarithms of their scales [S].

    >>> factors, tops = emission_factors(np.array([[0.25, 0.5]]), 1.0)
    >>> factors[0, :3].tolist(), np.exp(tops).tolist()
    ([0.5, 1.0, 0.0], [0.5])
    """
    symbols, size = emission.shape
    factors = np.zeros((symbols, -(-size // 8) * 8))
    largest = emission.max(axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    np.divide(emission, largest[:, None], out=factors[:, :size])
    tops = np.log(largest) * power
    if power != 1.0:
        with np.errstate(divide="ignore"):
            logs = np.log(factors[:, :size]) * power
        factors[:, :size] = np.where(emission > 0.0, np.exp(np.maximum(logs, FLOOR)), 0.0)
    return factors, tops


@inner_kernel
def _in_logarithms(
    first: int,
    count: int,
    symbols: Ids,
    emission: Floats,
    power: float,
    admitted: Bytes,
    transition: Floats,
    start: Floats,
    end: Floats,
    weight: float,
    tokens: Floats,
    moves: Floats,
) -> float:
    """The log-sum and the beliefs of one sequence whose numbers span too much for the others."""
    size = start.shape[0]
    logs, sums, rest = np.empty((count, size)), np.empty((count, size)), np.empty((count, size))
    for t in range(count):
        for label in range(size):
            closed = admitted.shape[0] > 0 and admitted[first + t, label] == 0
            p = emission[symbols[first + t], label]
            logs[t, label] = -np.inf if closed or p == 0.0 else np.log(p) * power
    value = log_forward(logs, 0, count, transition, start, end, sums)
    if value > -np.inf:
        log_backward(logs, 0, count, transition, end, rest)
        for t in range(1, count):
            log_pair(logs, 0, t, transition, sums, rest, weight, moves)
        for t in range(count):
            log_token(sums, rest, t, weight, tokens[first + t])
    return value


@inner_kernel
def _load(
    first: int,
    count: int,
    place: int,
    symbols: Ids,
    factors: Floats,
    admitted: Bytes,
    exps: Floats,  # out [most, 4, P]
    opened: Ints,  # out [most, 4] how many are above 0
) -> None:
    """The factors of a sequence's tokens, 0 for labels that are closed, to its place in a group."""
    size = admitted.shape[1]
    for t in range(count):
        row, out = factors[symbols[first + t]], exps[t, place]
        for label in range(row.shape[0]):
            out[label] = row[label]
        if admitted.shape[0] > 0:
            mask = admitted[first + t]
            for label in range(size):
                out[label] *= mask[label]
        above = 0
        for label in range(row.shape[0]):
            above += out[label] > 0.0
        opened[t, place] = above


@kernel
def beliefs(
    starts: Ints,
    lo: int,
    hi: int,
    symbols: Ids,  # [T] what each token emits
    emission: Floats,  # [S, L] P(w | l)
    power: float,  # 1 / γ
    factors: Floats,  # [S, P]
    tops: Floats,  # [S]
    admitted: Bytes,  # [T, L], or empty
    transition: Floats,  # [L, L] power · log P(l | k), as start and end
    start: Floats,
    end: Floats,
    weights: Floats,  # [N]
    values: Floats,  # out [N] log Σ P^power
    tokens: Floats,  # out [T, L] weight · q(y_t = l)
    moves: Floats,  # out [L, L] expected transitions of the sequences lo..hi, times weight
) -> int:
    """The sums and beliefs of the sequences lo..hi; returns how many were summed in logarithms."""
    size = start.shape[0]
    masked = admitted.shape[0] > 0
    most = longest(starts, lo, hi)
    onward, back, edges, peaks = exp_scores(transition, start, end)
    wide = edges.shape[1]
    exps, sums, scales = np.empty((most, GROUP, wide)), np.empty((most, GROUP, wide)), np.empty((most, GROUP))
    opened = np.zeros((most, GROUP), np.int64)
    lists, bounds = np.empty(most * size if masked else 0, np.int32), np.empty(most + 1, np.int64)
    later = np.empty(most * size if masked else 0)
    firsts, counts = np.zeros(GROUP, np.int64), np.zeros(GROUP, np.int64)
    who, totals, shares = np.zeros(GROUP, np.int64), np.zeros(GROUP), np.zeros(GROUP)
    gathered = np.zeros((wide, wide))
    moves[:] = 0.0
    slow = 0
    filled = 0
    order = np.argsort(starts[lo + 1 : hi + 1] - starts[lo:hi])  # a group has sequences of about the same length
    for number in range(hi - lo):
        i = lo + order[number]
        first, count = starts[i], starts[i + 1] - starts[i]
        total = peaks[1] + peaks[2] + (count - 1) * peaks[0]
        for t in range(count):
            total += tops[symbols[first + t]]
        if masked and open_labels(admitted, first, count, lists, bounds) <= NARROW * count * size * size:
            a, e, c = sums.ravel(), exps.ravel(), scales.ravel()
            value = narrow_forward(total, first, count, symbols, factors, lists, bounds, onward, edges, a, e, c)
            values[i] = value
            if value > -np.inf:
                narrow_backward(
                    first, count, lists, bounds, onward, edges, a, e, later, c, weights[i], tokens, gathered
                )
        else:
            who[filled], firsts[filled], counts[filled] = i, first, count
            totals[filled], shares[filled] = total, weights[i]
            filled += 1
        if filled == GROUP or (number == hi - lo - 1 and filled > 0):
            counts[filled:] = 0
            for s in range(filled):
                _load(firsts[s], counts[s], s, symbols, factors, admitted, exps, opened)
            forward_four(counts, opened, onward, back, edges, exps, sums, scales, totals)
            backward_four(counts, back, edges, exps, sums, scales, totals, firsts, shares, tokens)
            add_moves_four(counts.max(), sums, exps, shares, gathered)
            for s in range(filled):
                values[who[s]] = totals[s]
            filled = 0
    for i in range(lo, hi):
        if np.isnan(values[i]):
            slow += 1
            first, count = starts[i], starts[i + 1] - starts[i]
            values[i] = _in_logarithms(
                first, count, symbols, emission, power, admitted, transition, start, end, weights[i], tokens, moves
            )
    for k in range(size):
        for label in range(size):
            moves[k, label] += gathered[k, label] * onward[k, label]
    return slow


@kernel
def gather(order: Ints, bounds: Ints, lo: int, hi: int, rows: Floats, out: Floats) -> None:
    """out[s] = the sum of the rows of the tokens that emit s, for the symbols lo..hi."""
    for symbol in range(lo, hi):
        total = out[symbol]
        total[:] = 0.0
        for k in range(bounds[symbol], bounds[symbol + 1]):
            row = rows[order[k]]
            for label in range(total.shape[0]):
                total[label] += row[label]

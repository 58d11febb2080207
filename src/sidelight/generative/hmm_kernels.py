"""Forward and backward sums of an HMM on its probabilities: no exponential and no logarithm per token.

A token's row of factors is looked up by the symbol that it emits: P(w | l)^(1/γ) over the largest of the row, whose
logarithm is kept aside, so that a table of symbols serves all tokens. The sums are those of `chain_scaled_kernels`; a
sequence whose numbers span more than a double can hold is summed in logarithms.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids, Ints
from sidelight.generative.hmm_narrow_kernels import narrow_backward, narrow_forward, open_labels
from sidelight.kernels import kernel
from sidelight.spaces.chain_kernels import longest
from sidelight.spaces.chain_log_kernels import log_backward, log_forward, log_pair
from sidelight.spaces.chain_scaled_kernels import add_moves, backward, exp_scores, forward_sums, room

NARROW = 0.1  # lists of open labels are worth it where they make up to such a share of all pairs of labels
FLOOR = -690.0  # logarithm of the least factor that is not 0: small enough for `forward_sums` to see that it is lost


def emission_factors(emission: Floats, power: float) -> tuple[Floats, Floats]:
    """The factors of every symbol, padded to eight labels [S, P], and the logarithms of what was taken out [S].

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
    exps, sums, scales, work, _ = room(most, size)
    wide = edges.shape[1]
    gathered = np.zeros((wide, wide))
    logs = np.empty((0, size))
    lists, bounds = np.empty(most * size if masked else 0, np.int32), np.empty(most + 1, np.int64)
    moves[:] = 0.0
    slow = 0
    for i in range(lo, hi):
        first, count = starts[i], starts[i + 1] - starts[i]
        total = peaks[1] + peaks[2] + (count - 1) * peaks[0]
        for t in range(count):
            total += tops[symbols[first + t]]
        narrow = masked and open_labels(admitted, first, count, lists, bounds) <= NARROW * count * size * size
        if narrow:
            a, e = sums.ravel(), exps.ravel()
            value = narrow_forward(total, first, count, symbols, factors, lists, bounds, onward, edges, a, e, scales)
        else:
            for t in range(count):
                row, out = factors[symbols[first + t]], exps[t]
                if masked:
                    mask = admitted[first + t]
                    for label in range(size):
                        out[label] = row[label] if mask[label] != 0 else 0.0
                    for label in range(size, wide):
                        out[label] = 0.0
                else:
                    for label in range(wide):
                        out[label] = row[label]
            value = forward_sums(total, count, size, onward, back, edges, exps, sums, scales)
        if np.isnan(value):
            slow += 1
            if logs.shape[0] == 0:
                logs = np.empty((most, size))
            for t in range(count):
                for label in range(size):
                    closed = masked and admitted[first + t, label] == 0
                    p = emission[symbols[first + t], label]
                    logs[t, label] = -np.inf if closed or p == 0.0 else np.log(p) * power
            value = log_forward(logs, 0, count, transition, start, end, sums)
            if value > -np.inf:
                log_backward(logs, 0, count, transition, end, exps)
                for t in range(1, count):
                    log_pair(logs, 0, t, transition, sums, exps, value, weights[i], moves)
                for t in range(count):
                    for label in range(size):
                        tokens[first + t, label] = weights[i] * np.exp(sums[t, label] + exps[t, label] - value)
        elif value > -np.inf and narrow:
            given = lists, bounds, onward, edges, sums.ravel(), exps.ravel(), work, scales
            narrow_backward(first, count, *given, weights[i], tokens, gathered)
        elif value > -np.inf:
            backward(count, back, edges, exps, sums, scales, work[:wide], first, weights[i], tokens)
            add_moves(count, sums, exps, weights[i], gathered)
        values[i] = value
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

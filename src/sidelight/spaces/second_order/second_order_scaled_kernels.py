"""Sums over the labelings of one second-order chain, in the scaled exponential domain.

With the largest score of each kind taken out, M(j, i, k) = exp(W(i, j, k) + A(j, k)) and e_t = exp s_t:

    forward    a_t(j, k) = e_t(k) Σ_i a_{t-1}(i, j) M(j, i, k) / c_t,    c_t so that Σ a_t = 1
    backward   b_{t-1}(i, j) = Σ_k M(j, i, k) x_t(j, k),    x_t(j, k) = e_t(k) b_t(j, k) / c_t
    beliefs    p(j, k at t) = a_t(j, k) b_t(j, k),    p(i, j, k at t) = a_{t-1}(i, j) M(j, i, k) x_t(j, k)

so that a token costs L exponentials, and the three passes over L³ numbers multiply and add. What M has in common for
all tokens is multiplied in once, after the sum over tokens (`Spread.second`). Rows are padded to a multiple of eight.

No score that is not closed may be below exp −138 of the largest one, and no sum below TINY: then a product that comes
out as 0 has a closed part. A sequence of which this is not so is `LOST` and is summed in the domain of logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.spaces.chains.chain_scaled_kernels import largest, padded, weighted

TINY = 1e-150
STEEPEST = 138.0  # exp of minus this is 1e-60
LOST = np.inf  # instead of a log-sum


class ScaledMoves(NamedTuple):
    """Exponentials of all scores but those of tokens, with the largest ones taken out; P is L padded."""

    onward: Floats  # [L, L, P] M(j, i, k)
    backward: Floats  # [L, L, P] M(j, k, i)
    pairs: Floats  # [L, P] exp A
    edges: Floats  # [2, P] exp of start and end
    tops: Floats  # [4] what was taken out: of M, pairs, starts, ends
    flat: bool  # whether scores are near enough to each other


class Spread(NamedTuple):
    """Expectations of parts; `second` lacks the factor M. Padded as `ScaledMoves`."""

    pairs: Floats  # [L, P]
    start: Floats  # [P]
    end: Floats  # [P]
    second: Floats  # [L, L, P]


class Sweep(NamedTuple):
    """Memory for a sequence of at most m tokens."""

    exps: Floats  # [m, P]
    scales: Floats  # [m] c_t
    sums: Floats  # [m, L, P] a_t
    backs: Floats  # [m, L, P] b_t
    after: Floats  # [L, P] x_t
    column: Floats  # [L]


@inner_kernel
def exps_of(values: Floats, top: float, out: Floats) -> bool:
    """exp(values − top), zeros from the end of `values` on; whether all that are open are near enough."""
    out[:] = 0.0
    flat = True
    for k in range(values.shape[0]):
        if values[k] > -np.inf:
            out[k] = np.exp(values[k] - top)
            flat = flat and values[k] - top >= -STEEPEST
    return flat


@kernel
def scaled_moves(second: Floats, transition: Floats, start: Floats, end: Floats) -> ScaledMoves:
    """Exponentials of scores."""
    size = start.shape[0]
    wide = padded(size)
    onward, backward = np.zeros((size, size, wide)), np.zeros((size, size, wide))
    pairs, edges, tops = np.empty((size, wide)), np.empty((2, wide)), np.empty(4)
    both = np.empty((size, size, size))
    for j in range(size):
        for i in range(size):
            for k in range(size):
                both[j, i, k] = second[i, j, k] + transition[j, k]
    tops[0], tops[1] = largest(both.ravel()), largest(transition.ravel())
    tops[2], tops[3] = largest(start), largest(end)
    flat = exps_of(start, tops[2], edges[0])
    flat = exps_of(end, tops[3], edges[1]) and flat
    for j in range(size):
        flat = exps_of(transition[j], tops[1], pairs[j]) and flat
        for i in range(size):
            flat = exps_of(both[j, i], tops[0], onward[j, i]) and flat
            for k in range(size):
                backward[j, k, i] = onward[j, i, k]
    return ScaledMoves(onward, backward, pairs, edges, tops, flat)


@kernel
def empty_spread(size: int) -> Spread:
    """Zero expectations."""
    wide = padded(size)
    return Spread(np.zeros((size, wide)), np.zeros(wide), np.zeros(wide), np.zeros((size, size, wide)))


@inner_kernel
def empty_sweep(longest: int, size: int) -> Sweep:
    """Memory for a sequence of at most so many tokens."""
    wide = padded(size)
    shape = (longest, size, wide)
    return Sweep(
        np.empty((longest, wide)),
        np.empty(longest),
        np.empty(shape),
        np.empty(shape),
        np.empty((size, wide)),
        np.empty(size),
    )


@inner_kernel
def fill_product(values: Floats, others: Floats, factor: float, out: Floats) -> None:
    """out = values · others · factor, number by number."""
    for k in range(out.shape[0]):
        out[k] = values[k] * others[k] * factor


@inner_kernel
def total_of(values: Floats) -> float:
    """The sum, column by column, so that it is made by vectors."""
    columns = np.zeros(values.shape[1])
    for j in range(values.shape[0]):
        row = values[j]
        for k in range(columns.shape[0]):
            columns[k] += row[k]
    total = 0.0
    for k in range(columns.shape[0]):
        total += columns[k]
    return total


@inner_kernel
def lost(values: Floats, factor: float) -> bool:
    """Multiply all numbers; whether one may have lost bits, or whole parts."""
    count = 0
    for j in range(values.shape[0]):
        row = values[j]
        for k in range(row.shape[0]):
            row[k] *= factor
            count += (row[k] < TINY) & (row[k] > 0.0)
    return count > 0


@inner_kernel
def scaled_forward(scores: Floats, moves: ScaledMoves, sweep: Sweep) -> float:
    """log Z of a sequence with these token scores; −inf if there is no labeling, `LOST` where it is not sure."""
    count, size = scores.shape
    total = moves.tops[2] + moves.tops[3]
    for t in range(count):
        top = largest(scores[t])
        total += top
        if not exps_of(scores[t], top, sweep.exps[t]):
            return LOST
        now, exps = sweep.sums[t], sweep.exps[t]
        if t == 0:
            now[:] = 0.0
            fill_product(moves.edges[0], exps, 1.0, now[0])
        elif t == 1:
            total += moves.tops[1]
            for j in range(size):
                fill_product(moves.pairs[j], exps, sweep.sums[0, 0, j], now[j])
        else:
            total += moves.tops[0]
            for j in range(size):
                for i in range(size):
                    sweep.column[i] = sweep.sums[t - 1, i, j]
                weighted(sweep.column, moves.onward[j], now[j])
                fill_product(now[j], exps, 1.0, now[j])
        scale = total_of(now)
        if scale == 0.0:
            return -np.inf
        if scale < TINY or lost(now, 1.0 / scale):
            return LOST
        sweep.scales[t] = scale
        total += np.log(scale)
    ending = ending_sum(count, moves, sweep)
    return float(total + np.log(ending))


@inner_kernel
def ending_sum(count: int, moves: ScaledMoves, sweep: Sweep) -> float:
    """Σ of the last token's states times the scores of ends."""
    ending, last = 0.0, sweep.sums[count - 1]
    for j in range(last.shape[0]):
        for k in range(last.shape[1]):
            ending += last[j, k] * moves.edges[1, k]
    return ending


@inner_kernel
def fill_after(t: int, sweep: Sweep) -> None:
    """x_t."""
    factor, exps, back = 1.0 / sweep.scales[t], sweep.exps[t], sweep.backs[t]
    for j in range(back.shape[0]):
        for k in range(back.shape[1]):
            sweep.after[j, k] = back[j, k] * exps[k] * factor


@inner_kernel
def scaled_backward(count: int, moves: ScaledMoves, sweep: Sweep) -> None:
    """b of all states that can be reached, after `scaled_forward`; what is lost is not seen in p ≤ b."""
    size = sweep.column.shape[0]
    factor = 1.0 / ending_sum(count, moves, sweep)
    for j in range(size):
        for k in range(sweep.after.shape[1]):
            sweep.backs[count - 1, j, k] = moves.edges[1, k] * factor if sweep.sums[count - 1, j, k] > 0.0 else 0.0
    row = np.empty(sweep.after.shape[1])
    for t in range(count - 1, 0, -1):
        fill_after(t, sweep)
        before = sweep.backs[t - 1]
        before[:] = 0.0
        for j in range(size):
            if t == 1:
                for k in range(size if sweep.sums[0, 0, j] > 0.0 else 0):
                    before[0, j] += moves.pairs[j, k] * sweep.after[j, k]
                continue
            weighted(sweep.after[j, :size], moves.backward[j], row)
            for i in range(size):
                before[i, j] = row[i] if sweep.sums[t - 1, i, j] > 0.0 else 0.0


@inner_kernel
def add_expected(count: int, price: float, moves: ScaledMoves, sweep: Sweep, tokens: Floats, spread: Spread) -> None:
    """Token marginals, and the expected parts of a sequence, after `scaled_backward`."""
    size = sweep.column.shape[0]
    for t in range(count):
        token = tokens[t]
        token[:] = 0.0
        for j in range(size if t > 0 else 1):
            now, back, pairs = sweep.sums[t, j], sweep.backs[t, j], spread.pairs[j]
            for k in range(size):
                share = price * now[k] * back[k]
                token[k] += share
                if t > 0:
                    pairs[k] += share
        if t > 1:
            fill_after(t, sweep)
            for j in range(size):
                after = sweep.after[j]
                for i in range(size):
                    factor, out = price * sweep.sums[t - 1, i, j], spread.second[j, i]
                    for k in range(out.shape[0]):
                        out[k] += factor * after[k]
    for k in range(size):
        spread.start[k] += tokens[0, k]
        spread.end[k] += tokens[count - 1, k]

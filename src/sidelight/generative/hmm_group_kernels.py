"""Forward and backward sums of four sequences at a time: a row of the transition matrix is read once for all of them.

The sums are those of `chain_scaled_kernels`, with memory [tokens, 4, P] where it has [tokens, P]. Sequences in a group
may differ in length; those that have ended, and places that are empty (length 0), have zeros. Reading the matrix is
what takes the time, so four sequences cost little more than two.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.spaces.chains.chain_scaled_kernels import SMALL, TINY, close, lost

GROUP = 4


@inner_kernel
def times_four(before: Floats, matrix: Floats, now: Floats) -> None:
    """now = before · matrix, for four rows."""
    wide = now.shape[1]
    n0, n1, n2, n3 = now[0], now[1], now[2], now[3]
    for k in range(0, wide, 4):
        r0, r1, r2, r3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        a0, a1, a2, a3 = before[0, k], before[0, k + 1], before[0, k + 2], before[0, k + 3]
        b0, b1, b2, b3 = before[1, k], before[1, k + 1], before[1, k + 2], before[1, k + 3]
        c0, c1, c2, c3 = before[2, k], before[2, k + 1], before[2, k + 2], before[2, k + 3]
        d0, d1, d2, d3 = before[3, k], before[3, k + 1], before[3, k + 2], before[3, k + 3]
        if k == 0:
            for label in range(wide):
                x0, x1, x2, x3 = r0[label], r1[label], r2[label], r3[label]
                n0[label] = (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                n1[label] = (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
                n2[label] = (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3)
                n3[label] = (d0 * x0 + d1 * x1) + (d2 * x2 + d3 * x3)
        else:
            for label in range(wide):
                x0, x1, x2, x3 = r0[label], r1[label], r2[label], r3[label]
                n0[label] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                n1[label] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
                n2[label] += (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3)
                n3[label] += (d0 * x0 + d1 * x1) + (d2 * x2 + d3 * x3)


@inner_kernel
def _settle(
    now: Floats,
    exps: Floats,
    before: Floats,
    back: Floats,
    start: Floats,
    is_first: bool,
    opened: int,
    factor: float,
) -> tuple[float, float]:
    """now becomes a_t; its sum (0 if there is no path, NaN where numbers were lost) and a logarithm taken out."""
    scale, fit = close(now, exps, factor)
    if fit < opened:
        if is_first:
            for label in range(now.shape[0]):
                if now[label] < TINY and start[label] > 0.0 and exps[label] > 0.0:
                    return np.nan, 0.0
        elif lost(before, exps, now, back):
            return np.nan, 0.0
    if scale >= SMALL or scale == 0.0:
        return scale, 0.0
    inverse = 1.0 / scale
    for label in range(now.shape[0]):
        now[label] *= inverse
        exps[label] *= inverse
    return 1.0, math.log(scale)


@inner_kernel
def forward_four(
    counts: Ints,  # [4] tokens of each sequence
    opened: Ints,  # [most, 4] labels with e_t above 0
    onward: Floats,
    back: Floats,
    edges: Floats,
    exps: Floats,  # [most, 4, P] e_t
    sums: Floats,  # out [most, 4, P] a_t
    scales: Floats,  # out [most, 4] 1 / c_t
    values: Floats,  # [4] in: the logarithms of what was taken out; out: log-sums, −inf, or NaN as from `forward`
) -> None:
    """The log-sums of four sequences."""
    products = np.ones(GROUP)
    alive = counts > 0
    for t in range(counts.max()):
        if t > 0:
            times_four(sums[t - 1], onward, sums[t])
        for s in range(GROUP):
            now = sums[t, s]
            if not alive[s] or t >= counts[s]:
                now[:] = 0.0
                continue
            if t == 0:
                now[:] = edges[0]
            before = sums[max(t - 1, 0), s]
            factor = 1.0 if t == 0 else scales[t - 1, s]
            scale, logarithm = _settle(now, exps[t, s], before, back, edges[0], t == 0, opened[t, s], factor)
            values[s] += logarithm
            if not scale > 0.0:
                values[s] = -np.inf if scale == 0.0 else np.nan
                alive[s] = False
                now[:] = 0.0
                continue
            scales[t, s] = 1.0 / scale
            products[s] *= scale
            if products[s] < 1e-90 or products[s] > 1e90:
                values[s] += math.log(products[s])
                products[s] = 1.0
    for s in range(GROUP):
        if alive[s]:
            last, scale = sums[counts[s] - 1, s], scales[counts[s] - 1, s]
            ending = 0.0
            open_ends = False
            for label in range(edges.shape[1]):
                ending += last[label] * scale * edges[1, label]
                open_ends = open_ends or (last[label] > 0.0 and edges[1, label] > 0.0)
            if not open_ends:
                values[s] = -np.inf
            elif ending < TINY:
                values[s] = np.nan
            else:
                values[s] += math.log(products[s]) + math.log(ending)


@inner_kernel
def backward_four(
    counts: Ints,
    back: Floats,
    edges: Floats,
    exps: Floats,  # in e_t, out e_t b_t / c_t
    sums: Floats,  # in a_t, out a_t / c_t
    scales: Floats,
    values: Floats,  # [4] of `forward_four`
    firsts: Ints,  # [4] the first token of each sequence
    weights: Floats,  # [4]
    tokens: Floats,  # out [T, L] weight · q(y_t = l)
) -> None:
    """The beliefs of four sequences after `forward_four`; it leaves the factors of transitions in exps and sums."""
    size, wide = tokens.shape[1], edges.shape[1]
    after = np.zeros((GROUP, wide))
    for t in range(counts.max() - 1, -1, -1):
        for s in range(GROUP):
            now, factor, later = sums[t, s], exps[t, s], after[s]
            if t >= counts[s] or not values[s] > -np.inf:
                factor[:] = 0.0
                now[:] = 0.0
                continue
            scale = scales[t, s]
            if t == counts[s] - 1:
                ending = 0.0
                for label in range(wide):
                    ending += now[label] * scale * edges[1, label]
                for label in range(wide):
                    later[label] = edges[1, label] / ending
            for label in range(wide):
                # an unreachable label may have any b_t, even inf
                factor[label] *= later[label] * scale if now[label] > 0.0 else 0.0
            row = tokens[firsts[s] + t]
            for label in range(wide):
                later[label] = later[label] if now[label] > 0.0 else 0.0
                now[label] *= scale
                later[label] *= now[label]
            for label in range(size):
                row[label] = weights[s] * later[label]
        if t > 0:
            times_four(exps[t], back, after)


@inner_kernel
def add_moves_four(most: int, sums: Floats, factors: Floats, weights: Floats, moves: Floats) -> None:
    """moves(k, l) += Σ_s weight_s Σ_t sums_{t-1, s}(k) factors_{t, s}(l): times exp A, the expected transitions."""
    wide = sums.shape[2]
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    t = 1
    while t + 1 < most:
        f0, f1, f2, f3 = factors[t, 0], factors[t, 1], factors[t, 2], factors[t, 3]
        g0, g1, g2, g3 = factors[t + 1, 0], factors[t + 1, 1], factors[t + 1, 2], factors[t + 1, 3]
        early, late = sums[t - 1], sums[t]
        for k in range(wide):
            a0, a1, a2, a3 = w0 * early[0, k], w1 * early[1, k], w2 * early[2, k], w3 * early[3, k]
            b0, b1, b2, b3 = w0 * late[0, k], w1 * late[1, k], w2 * late[2, k], w3 * late[3, k]
            row = moves[k]
            for label in range(wide):
                one = (a0 * f0[label] + a1 * f1[label]) + (a2 * f2[label] + a3 * f3[label])
                two = (b0 * g0[label] + b1 * g1[label]) + (b2 * g2[label] + b3 * g3[label])
                row[label] += one + two
        t += 2
    if t < most:
        f0, f1, f2, f3 = factors[t, 0], factors[t, 1], factors[t, 2], factors[t, 3]
        for k in range(wide):
            early = sums[t - 1]
            a0, a1, a2, a3 = w0 * early[0, k], w1 * early[1, k], w2 * early[2, k], w3 * early[3, k]
            row = moves[k]
            for label in range(wide):
                row[label] += (a0 * f0[label] + a1 * f1[label]) + (a2 * f2[label] + a3 * f3[label])

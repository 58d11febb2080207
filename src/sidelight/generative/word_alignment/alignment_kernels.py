"""Sums over the alignments of one sentence pair in one direction, in the scaled exponential domain.

T words are generated one after another, each by one of I words or by the null word. The state after a step is the
*column* of the word that generated last: columns 1 … I are words, column 0 is the beginning, and a null word leaves the
column as it is (Och and Ney 2003). With jump weights s, Z(k) = Σ_{i=1…I} s(i − k), null probability p and emissions e:

    real   r_t(i) = e_t(i) Σ_k m_{t-1}(k) / c_{t-1} · (1 − p) s(i − k) / Z(k)
    null   n_t(i) = e_t(null) p m_{t-1}(i) / c_{t-1}
    m_t = r_t + n_t,   c_t = Σ_i m_t(i),   posterior of a link   r_t(i) b_t(i) / c_t

All weights may be raised to the power 1/γ first. The weight of a transition depends on i − k, so its matrix is never
made: one row of jump weights, read from different places, serves every sentence length. Rows are padded with zeros to
a multiple of eight. Where so much is taken out by scaling that bits are lost, the sum is NaN, and the caller sums in
logarithms (γ near 0): I² exponentials a word.

The best alignment is the same recursion with maxima; it keeps values only and finds the path by looking again.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner_kernel, kernel

TINY = 1e-200  # a scale below this, or a column that counts and is below it, may have lost bits


@kernel
def padded(columns: int) -> int:
    """The next multiple of eight."""
    return (columns + 7) // 8 * 8


@inner_kernel
def spread(values: Floats, weights: Floats, centre: int, out: Floats) -> None:
    """out(i) = Σ_k values(k) weights(centre + i − k), eight k at a time."""
    wide = out.shape[0]
    for k in range(0, wide, 8):
        v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        v4, v5, v6, v7 = values[k + 4], values[k + 5], values[k + 6], values[k + 7]
        at = centre - k
        w0, w1 = weights[at : at + wide], weights[at - 1 : at - 1 + wide]
        w2, w3 = weights[at - 2 : at - 2 + wide], weights[at - 3 : at - 3 + wide]
        w4, w5 = weights[at - 4 : at - 4 + wide], weights[at - 5 : at - 5 + wide]
        w6, w7 = weights[at - 6 : at - 6 + wide], weights[at - 7 : at - 7 + wide]
        if k == 0:
            for i in range(wide):
                low = (v0 * w0[i] + v1 * w1[i]) + (v2 * w2[i] + v3 * w3[i])
                out[i] = low + ((v4 * w4[i] + v5 * w5[i]) + (v6 * w6[i] + v7 * w7[i]))
        else:
            for i in range(wide):
                low = (v0 * w0[i] + v1 * w1[i]) + (v2 * w2[i] + v3 * w3[i])
                out[i] += low + ((v4 * w4[i] + v5 * w5[i]) + (v6 * w6[i] + v7 * w7[i]))


@inner_kernel
def forward(
    emissions: Floats,  # [T, P] column 0 and padding are 0
    nulls: Floats,  # [T] null emissions times the probability of a null word
    leave: Floats,  # [P] (1 − p) / Z(k)
    jumps: Floats,  # jump weights, that of distance 0 at `centre`
    centre: int,
    columns: Floats,  # out [T + 1, P] m_t
    real: Floats,  # out [T, P] r_t
    scales: Floats,  # out [T + 1] 1 / c_t, of which the first is 1
    work: Floats,  # [P]
) -> float:
    """The logarithm of the sum over all alignments; NaN if it must be summed in logarithms."""
    wide = emissions.shape[1]
    columns[0, :] = 0.0
    columns[0, 0] = 1.0
    scales[0] = 1.0
    total = 0.0
    product = 1.0
    for t in range(emissions.shape[0]):
        before, now, out, emission = columns[t], columns[t + 1], real[t], emissions[t]
        inverse = scales[t]
        if t == 0:
            start = leave[0]
            weights = jumps[centre : centre + wide]
            for i in range(wide):
                out[i] = start * weights[i]
        else:
            for k in range(wide):
                work[k] = before[k] * (leave[k] * inverse)
            spread(work, jumps, centre, out)
        null = nulls[t] * inverse
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(0, wide, 4):
            e, r, m, b = emission[i : i + 4], out[i : i + 4], now[i : i + 4], before[i : i + 4]
            r0, r1, r2, r3 = r[0] * e[0], r[1] * e[1], r[2] * e[2], r[3] * e[3]
            m0, m1, m2, m3 = r0 + null * b[0], r1 + null * b[1], r2 + null * b[2], r3 + null * b[3]
            r[0], r[1], r[2], r[3] = r0, r1, r2, r3
            m[0], m[1], m[2], m[3] = m0, m1, m2, m3
            s0, s1, s2, s3 = s0 + m0, s1 + m1, s2 + m2, s3 + m3
        scale = (s0 + s1) + (s2 + s3)
        if not TINY < scale < 1.0 / TINY:
            return np.nan
        scales[t + 1] = 1.0 / scale
        product *= scale
        if product < 1e-100 or product > 1e100:
            total += math.log(product)
            product = 1.0
    value: float = total + math.log(product)
    return value


@inner_kernel
def backward(
    emissions: Floats,  # in e_t, out e_t b_t / c_t: with m_{t-1} / c_{t-1}, leave and jumps a transition's posterior
    nulls: Floats,
    leave: Floats,
    reversed_jumps: Floats,  # the jump weight of distance −d at centre + d
    centre: int,
    columns: Floats,
    real: Floats,  # in r_t, out posteriors of links [T, P]
    scales: Floats,
    after: Floats,  # work [P]
    work: Floats,  # work [P]
) -> bool:
    """Posteriors of links after `forward`; False if bits were lost."""
    wide = emissions.shape[1]
    after[:] = 1.0
    for t in range(emissions.shape[0] - 1, -1, -1):
        factor, out, before = emissions[t], real[t], columns[t]
        scale = scales[t + 1]
        for i in range(wide):
            share = after[i] * scale
            out[i] *= share
            factor[i] *= share
        spread(factor, reversed_jumps, centre, work)
        null = nulls[t] * scale
        for k in range(wide):
            value = leave[k] * work[k] + null * after[k]
            after[k] = value if before[k] > TINY else 0.0
    whole: bool = abs(after[0] - 1.0) < 1e-6
    return whole


@inner_kernel
def add_moves(
    columns: Floats,
    factors: Floats,
    scales: Floats,
    leave: Floats,
    jumps: Floats,
    centre: int,
    size: int,  # I + 1
    moves: Floats,  # work [P, P]
    distances: Floats,  # added to: [2 D + 1], distance 0 at D
    leaving: Floats,  # added to: [I + 1] how often a column was left by a jump
) -> None:
    """Expected jumps of a pair after `backward`, by distance and by column."""
    count, wide = factors.shape
    moves[:size] = 0.0
    t = 0
    while t + 3 < count:
        g0, g1, g2, g3 = factors[t], factors[t + 1], factors[t + 2], factors[t + 3]
        m0, m1, m2, m3 = columns[t], columns[t + 1], columns[t + 2], columns[t + 3]
        c0, c1, c2, c3 = scales[t], scales[t + 1], scales[t + 2], scales[t + 3]
        for k in range(size):
            a0, a1, a2, a3 = m0[k] * c0, m1[k] * c1, m2[k] * c2, m3[k] * c3
            row = moves[k]
            for i in range(wide):
                row[i] += (a0 * g0[i] + a1 * g1[i]) + (a2 * g2[i] + a3 * g3[i])
        t += 4
    while t < count:
        g0 = factors[t]
        for k in range(size):
            a0 = columns[t, k] * scales[t]
            row = moves[k]
            for i in range(wide):
                row[i] += a0 * g0[i]
        t += 1
    middle = distances.shape[0] // 2
    for k in range(size):
        row = moves[k]
        weights = jumps[centre - k : centre - k + size]
        places = distances[middle - k : middle - k + size]
        out = 0.0
        for i in range(1, size):
            value = row[i] * leave[k] * weights[i]
            places[i] += value
            out += value
        leaving[k] += out


@inner_kernel
def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    top, low = max(a, b), min(a, b)
    if low == -np.inf:
        return top
    value: float = top + math.log1p(math.exp(low - top))
    return value


@inner_kernel
def sums_in_logs(
    scores: Floats,  # [T, P] log emissions, of columns 1 … size − 1
    nulls: Floats,  # [T] log of null emission times null probability
    leave: Floats,  # [P] logs
    jumps: Floats,  # logs, distance 0 at `centre`
    centre: int,
    size: int,  # I + 1
    columns: Floats,  # work [T + 1, P]
    posteriors: Floats,  # out [T, P]
    after: Floats,  # work [P]
    work: Floats,  # work [P]
    distances: Floats,  # added to, unless empty: expected jumps by distance
    leaving: Floats,  # added to, with `distances`
) -> float:
    """The log-sum over all alignments, with posteriors of links and of jumps."""
    count = scores.shape[0]
    columns[:] = -np.inf
    columns[0, 0] = 0.0
    for t in range(count):
        for i in range(size):
            value = nulls[t] + columns[t, i]
            for k in range(size if i > 0 else 0):
                value = log_add(value, columns[t, k] + leave[k] + jumps[centre + i - k] + scores[t, i])
            columns[t + 1, i] = value
    total = -np.inf
    for i in range(size):
        total = log_add(total, columns[count, i])
        after[i] = 0.0
    middle = distances.shape[0] // 2
    for t in range(count - 1, -1, -1):
        posteriors[t, :] = 0.0
        for k in range(size):
            value = nulls[t] + after[k]
            for i in range(1, size):
                step = leave[k] + jumps[centre + i - k] + scores[t, i] + after[i]
                value = log_add(value, step)
                share = math.exp(columns[t, k] + step - total) if columns[t, k] > -np.inf else 0.0
                posteriors[t, i] += share
                if distances.shape[0] > 0:
                    distances[middle + i - k] += share
                    leaving[k] += share
            work[k] = value
        for k in range(size):
            after[k] = work[k]
    return total


@inner_kernel
def best_alignment(
    scores: Floats,  # [T, P] log emissions, −inf in column 0 and padding
    nulls: Floats,  # [T]
    leave: Floats,  # [P] logs
    jumps: Floats,  # logs
    centre: int,
    size: int,
    columns: Floats,  # work [T + 1, P]
    real: Floats,  # work [T, P]
    work: Floats,  # [P]
    path: Ids,  # out [T]: the column of each word, 0 for the null word
) -> float:
    """The logarithm of the best alignment's weight, and the alignment."""
    count, wide = scores.shape
    columns[0, :] = -np.inf
    columns[0, 0] = 0.0
    for t in range(count):
        before, now, out, score = columns[t], columns[t + 1], real[t], scores[t]
        out[:] = -np.inf
        for k in range(size):
            value = before[k] + leave[k]
            if value == -np.inf:
                continue
            weights = jumps[centre - k : centre - k + wide]
            for i in range(wide):
                out[i] = max(out[i], value + weights[i])
        null = nulls[t]
        for i in range(wide):
            out[i] += score[i]
            now[i] = max(out[i], null + before[i])
    column = 0
    for i in range(size):
        if columns[count, i] > columns[count, column]:
            column = i
    best: float = columns[count, column]
    for t in range(count - 1, -1, -1):
        if real[t, column] < nulls[t] + columns[t, column]:
            path[t] = 0
            continue
        path[t] = column
        before = columns[t]
        came, top = 0, -np.inf
        for k in range(size):
            value = before[k] + leave[k] + jumps[centre + column - k]
            if value > top:
                came, top = k, value
        column = came
    return best

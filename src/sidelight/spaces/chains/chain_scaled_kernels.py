"""Sums over the paths of one first-order chain, in the scaled exponential domain.

For one sequence with token scores s, transition scores A and the largest score of each kind taken out:

    forward    a_t(l) = e_t(l) Σ_k a_{t-1}(k) / c_{t-1} · exp A(k, l),    e_t = exp s_t,    c_t = Σ_l a_t(l)
    backward   b_t(l) = Σ_k exp A(l, k) · e_{t+1}(k) b_{t+1}(k) / c_{t+1}
    beliefs    p(y_t = l) = a_t(l) b_t(l) / c_t

so that a token costs L exponentials and three passes over L × L numbers, no matter how long the sequence. Rows are
padded to a multiple of eight with zeros: then no loop over labels has a remainder.

A label that is closed has score -inf and so exp = 0; finite scores never give 0 here (`exponentials` has a floor). So a
zero that is not closed, or a number below TINY, can be told from a closed one; where a sequence's scores span so much
that this happens, it is summed in the domain of logarithms instead, with L² exponentials a token
(`chain_log_kernels`). So every finite score is summed to the precision of a double.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel

TINY = 1e-200  # a number below this might have lost bits
SMALL = 1e-50  # sums below this are scaled at once: TINY times SMALL is still far from the smallest number
LOG_2_E = 1.4426950408889634
LN_2_HIGH = 6.93147180369123816490e-01
LN_2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 · 2^52: adding it leaves the nearest whole number in the low bits


class ExpMoves(NamedTuple):
    """Exponentials of the scores of transitions, starts and ends, with their largest ones taken out."""

    onward: Floats  # [P, P] exp A
    back: Floats  # [P, P] its transpose
    edges: Floats  # [2, P] exp of start and end
    tops: Floats  # [3] what was taken out: of transitions, starts, ends


class Room(NamedTuple):
    """Memory for the sums of one sequence of at most M tokens."""

    exps: Floats  # [M, P]
    sums: Floats  # [M, P]
    scales: Floats  # [M]
    work: Floats  # [max(M, P) · P]
    bits: Ints  # the same memory as `work`


@kernel
def exponentials(values: Floats, count: int, work: Floats, bits: Ints) -> None:
    """values[:count] become their exponentials, within an ulp; they must not be positive.

    Finite values below −700 count as −700; only −inf gives 0. `bits` is `work` seen as whole numbers. Written out
    because a loop with a library call in it does not vectorise.
    """
    for k in range(count):
        work[k] = max(values[k], -700.0) * LOG_2_E + ROUNDER
    for k in range(count):
        value = values[k]
        floored = max(value, -700.0)
        whole = work[k] - ROUNDER
        r = (floored - whole * LN_2_HIGH) - whole * LN_2_LOW
        p = r * (1.0 / 479001600) + 1.0 / 39916800
        p = p * r + 1.0 / 3628800
        p = p * r + 1.0 / 362880
        p = p * r + 1.0 / 40320
        p = p * r + 1.0 / 5040
        p = p * r + 1.0 / 720
        p = p * r + 1.0 / 120
        p = p * r + 1.0 / 24
        p = p * r + 1.0 / 6
        p = p * r + 0.5
        p = (p * (r * r) + r) + 1.0
        values[k] = p if value > -np.inf else 0.0
    for k in range(count):
        bits[k] = (bits[k] << 52) + (1023 << 52)
    for k in range(count):
        values[k] *= work[k]


@inner_kernel
def padded(size: int) -> int:
    """The next multiple of eight."""
    return (size + 7) // 8 * 8


@inner_kernel
def largest(values: Floats) -> float:
    """The largest number, or 0 if there is none above -inf."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    return top if top > -np.inf else 0.0


@inner_kernel
def empty_moves(size: int) -> ExpMoves:
    """Memory for the exponentials of so many labels."""
    wide = padded(size)
    return ExpMoves(np.empty((wide, wide)), np.empty((wide, wide)), np.empty((2, wide)), np.empty(3))


def exp_moves(transition: Floats, start: Floats, end: Floats) -> ExpMoves:
    """Exponentials of scores; for kernels that do nothing else with these, it is not compiled."""
    size, wide = len(start), (len(start) + 7) // 8 * 8
    onward, edges = np.zeros((wide, wide)), np.zeros((2, wide))
    moves = transition, start, end
    tops = np.array([part.max(initial=-np.inf) for part in moves])
    tops[np.isneginf(tops)] = 0.0
    for part, top, out in zip(moves, tops, (onward[:size, :size], edges[0, :size], edges[1, :size])):
        np.exp(np.maximum(part - top, -700.0), out=out, where=part > -np.inf)
    return ExpMoves(onward, np.ascontiguousarray(onward.T), edges, tops)


@inner_kernel
def exp_scores(transition: Floats, start: Floats, end: Floats) -> ExpMoves:
    """Exponentials of scores."""
    room = empty_moves(start.shape[0])
    work = np.empty(room.onward.size)
    exp_scores_into(transition, start, end, room, work, work.view(np.int64))
    return room


@inner_kernel
def exp_scores_into(
    transition: Floats,
    start: Floats,
    end: Floats,
    room: ExpMoves,
    work: Floats,  # [P · P] or more
    bits: Ints,
) -> None:
    """As `exp_scores`, in existing memory."""
    onward, back, edges, tops = room
    size = start.shape[0]
    wide = edges.shape[1]
    onward[:] = -np.inf
    edges[:] = -np.inf
    tops[0], tops[1], tops[2] = largest(transition.ravel()), largest(start), largest(end)
    for label in range(size):
        edges[0, label] = start[label] - tops[1]
        edges[1, label] = end[label] - tops[2]
        for following in range(size):
            onward[label, following] = transition[label, following] - tops[0]
    exponentials(onward.ravel(), wide * wide, work, bits)
    exponentials(edges.ravel(), 2 * wide, work, bits)
    for label in range(wide):
        row = onward[label]
        for following in range(wide):
            back[following, label] = row[following]


@inner_kernel
def room_for(most: int, size: int) -> Room:
    """Memory for sequences of at most so many tokens, with so many labels."""
    wide = padded(size)
    work = np.empty(max(most, wide) * wide)
    return Room(np.empty((most, wide)), np.empty((most, wide)), np.empty(most), work, work.view(np.int64))


@inner_kernel
def times(before: Floats, matrix: Floats, now: Floats) -> None:
    """now = before · matrix, four rows at a time."""
    wide = now.shape[0]
    for k in range(0, wide, 4):
        v0, v1, v2, v3 = before[k], before[k + 1], before[k + 2], before[k + 3]
        r0, r1, r2, r3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        if k == 0:
            for label in range(wide):
                now[label] = (v0 * r0[label] + v1 * r1[label]) + (v2 * r2[label] + v3 * r3[label])
        else:
            for label in range(wide):
                now[label] += (v0 * r0[label] + v1 * r1[label]) + (v2 * r2[label] + v3 * r3[label])


@inner_kernel
def weighted(values: Floats, matrix: Floats, out: Floats) -> None:
    """out = values · matrix, four rows at a time, where rows are not padded."""
    out[:] = 0.0
    whole = values.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = values[i], values[i + 1], values[i + 2], values[i + 3]
        in_a, in_b, in_c, in_d = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for k in range(out.shape[0]):
            out[k] += (a * in_a[k] + b * in_b[k]) + (c * in_c[k] + d * in_d[k])
    for i in range(whole, values.shape[0]):
        value, row = values[i], matrix[i]
        for k in range(out.shape[0]):
            out[k] += value * row[k]


@inner_kernel
def close(now: Floats, exps: Floats, factor: float) -> tuple[float, int]:
    """now *= exps · factor; returns the sum, and how many are at least TINY."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n0, n1, n2, n3 = 0, 0, 0, 0
    for k in range(0, now.shape[0], 4):
        row = now[k : k + 4]
        e = exps[k : k + 4]
        v0, v1, v2, v3 = row[0] * e[0], row[1] * e[1], row[2] * e[2], row[3] * e[3]
        v0, v1, v2, v3 = v0 * factor, v1 * factor, v2 * factor, v3 * factor
        row[0], row[1], row[2], row[3] = v0, v1, v2, v3
        s0, s1, s2, s3 = s0 + v0, s1 + v1, s2 + v2, s3 + v3
        n0, n1, n2, n3 = n0 + (v0 >= TINY), n1 + (v1 >= TINY), n2 + (v2 >= TINY), n3 + (v3 >= TINY)
    return (s0 + s1) + (s2 + s3), (n0 + n1) + (n2 + n3)


@inner_kernel
def lost(before: Floats, exps: Floats, now: Floats, back: Floats) -> bool:
    """Whether a number below TINY is not simply closed, given that no number of `before` was lost."""
    for label in range(now.shape[0]):
        if now[label] >= TINY or exps[label] == 0.0:
            continue
        if now[label] > 0.0:
            return True
        row = back[label]
        for k in range(before.shape[0]):
            if before[k] > 0.0 and row[k] > 0.0:
                return True
    return False


@inner_kernel
def exp_tokens(scores: Floats, first: int, count: int, exps: Floats, tops: Floats, work: Floats, bits: Ints) -> bool:
    """Exponentials of the token scores less their tops; whether every token has an open label."""
    size = scores.shape[1]
    wide = exps.shape[1]
    for t in range(count):
        row = scores[first + t]
        top = -np.inf
        for label in range(size):
            top = max(top, row[label])
        if top == -np.inf:
            return False
        tops[t] = top
        out = exps[t]
        for label in range(size):
            out[label] = row[label] - top
        for label in range(size, wide):
            out[label] = -np.inf
    exponentials(exps.ravel(), count * wide, work, bits)
    return True


@inner_kernel
def ended(total: float, last: Floats, scale: float, ends: Floats) -> float:
    """total + log Σ_l last(l) · scale · ends(l); −inf if no label may end, NaN if the sum may have lost bits."""
    ending = 0.0
    open_ends = False
    for label in range(last.shape[0]):
        ending += last[label] * scale * ends[label]
        open_ends = open_ends or (last[label] > 0.0 and ends[label] > 0.0)
    if not open_ends:
        return -np.inf
    if ending < TINY:
        return np.nan
    value: float = total + math.log(ending)
    return value


@inner_kernel
def forward(
    scores: Floats,
    first: int,
    count: int,
    moves: ExpMoves,
    room: Room,  # out: exps e_t, sums a_t, scales 1 / c_t
) -> float:
    """The log-sum of a sequence; −inf if it has no path, NaN if it must be summed in logarithms."""
    onward, back, edges, tops = moves
    exps, sums, scales, work, bits = room
    size = scores.shape[1]
    wide = edges.shape[1]
    token_tops = scales  # until the scales are known
    if not exp_tokens(scores, first, count, exps, token_tops, work, bits):
        return -np.inf
    total = tops[1] + tops[2] + (count - 1) * tops[0]
    for t in range(count):
        total += token_tops[t]
    product = 1.0
    for t in range(count):
        now = sums[t]
        if t == 0:
            for label in range(wide):
                now[label] = edges[0, label]
            scale, fit = close(now, exps[0], 1.0)
        else:
            times(sums[t - 1], onward, now)
            scale, fit = close(now, exps[t], scales[t - 1])
        if fit < size:
            if t == 0:
                for label in range(size):
                    if now[label] < TINY and edges[0, label] > 0.0 and exps[0, label] > 0.0:
                        return np.nan
            elif lost(sums[t - 1], exps[t], now, back):
                return np.nan
            if scale == 0.0:
                return -np.inf
        if scale < SMALL:  # or its products with small transitions would lose their last bits
            inverse = 1.0 / scale
            for label in range(wide):
                now[label] *= inverse
                exps[t, label] *= inverse
            total += math.log(scale)
            scale = 1.0
        scales[t] = 1.0 / scale
        product *= scale
        if product < 1e-90 or product > 1e90:
            total += math.log(product)
            product = 1.0
    return ended(total + math.log(product), sums[count - 1], scales[count - 1], edges[1])


@inner_kernel
def backward(
    count: int,
    moves: ExpMoves,
    room: Room,  # in: as `forward` leaves it; out: exps e_t b_t / c_t, sums a_t / c_t
    first: int,
    price: float,
    beliefs: Floats,  # out [T, L] price · p(y_t = l) from row `first` on
) -> None:
    """The beliefs of a sequence after `forward`; what it leaves in exps and sums are the factors of a transition."""
    back, edges = moves.back, moves.edges
    exps, sums, scales = room.exps, room.sums, room.scales
    size = beliefs.shape[1]
    wide = edges.shape[1]
    after = room.work[:wide]
    last = sums[count - 1]
    ending = 0.0
    for label in range(wide):
        ending += last[label] * scales[count - 1] * edges[1, label]
    for label in range(wide):
        after[label] = edges[1, label] / ending
    for t in range(count - 1, -1, -1):
        now = sums[t]
        factor = exps[t]
        scale = scales[t]
        for label in range(wide):
            # an unreachable label may have any b_t, even inf
            factor[label] *= after[label] * scale if now[label] > 0.0 else 0.0
        row = beliefs[first + t]
        for label in range(wide):
            after[label] = after[label] if now[label] > 0.0 else 0.0
            now[label] *= scale
            after[label] *= now[label]
        for label in range(size):
            row[label] = price * after[label]
        if t > 0:
            times(factor, back, after)


@inner_kernel
def add_moves(count: int, sums: Floats, factors: Floats, price: float, moves: Floats) -> None:
    """moves(k, l) += price Σ_t sums_{t-1}(k) factors_t(l): times exp A, the expected transitions of a sequence."""
    wide = sums.shape[1]
    t = 1
    while t + 3 < count:
        g0, g1, g2, g3 = factors[t], factors[t + 1], factors[t + 2], factors[t + 3]
        for k in range(wide):
            a0, a1, a2, a3 = sums[t - 1, k], sums[t, k], sums[t + 1, k], sums[t + 2, k]
            a0, a1, a2, a3 = a0 * price, a1 * price, a2 * price, a3 * price
            row = moves[k]
            for label in range(wide):
                row[label] += (a0 * g0[label] + a1 * g1[label]) + (a2 * g2[label] + a3 * g3[label])
        t += 4
    while t < count:
        g0 = factors[t]
        for k in range(wide):
            a0 = sums[t - 1, k] * price
            row = moves[k]
            for label in range(wide):
                row[label] += a0 * g0[label]
        t += 1

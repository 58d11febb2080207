"""Monotone alignments of two strings by dynamic programming, for batches: best ones, log-sums and their gradient.

A slot is a symbol of the left string. Choice 0 aligns it with nothing; 1 + (j · M + m − 1) · F + n (n − 1) / 2 + o
means that it is number o of n left symbols that are aligned with the m right symbols from j on (M and N are the maximum
numbers of right and left symbols of a pair, F = N (N + 1) / 2). Right symbols that no pair covers are aligned with
nothing.

    best[i, j] of the first i left and j right symbols is the maximum of
        best[i − n, j − m] + pair          a pair of n × m symbols: the sum of its symbols' scores
        best[i − 1, j] + scores[i − 1, 0]  a left symbol with nothing
        best[i, j − 1]                     a right symbol with nothing: its score is folded into the other scores

In sums every alignment must be counted once: between two pairs, unaligned right symbols come before unaligned left
ones. So there are two tables; the second is for prefixes that end with an unaligned left symbol.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest


@inline_kernel
def pair_code(n: int, j: int, m: int, wide: int, forms: int) -> int:
    """The choice of the first of n symbols that are aligned with the m from j on; the next ones follow."""
    return 1 + (j * wide + m - 1) * forms + n * (n - 1) // 2


@inline_kernel
def _pair(own: Floats, i: int, n: int, code: int) -> float:
    total = 0.0
    for o in range(n):
        total += own[i + o, code + o]
    return total


@kernel
def best(
    starts: Ints,
    lo: int,
    hi: int,
    rights: Ints,  # [N] length of the right string
    scores: Floats,  # [T, K]
    shape: Ints,  # [4] most left and right symbols of a pair; whether left and right symbols may have nothing
    choices: Ids,  # out [T]
    values: Floats,  # out [N]
) -> None:
    """The best alignment of the pairs lo..hi; a value of −inf if there is none."""
    tall, wide, bare, free = shape[0], shape[1], shape[2], shape[3]
    forms = tall * (tall + 1) // 2
    table = np.empty((longest(starts, lo, hi) + 1, np.max(rights[lo:hi]) + 1))
    for number in range(lo, hi):
        first, right = starts[number], rights[number]
        left = starts[number + 1] - first
        own = scores[first : first + left]
        table[: left + 1, : right + 1] = -np.inf
        table[0, 0] = 0.0
        for i in range(left + 1):
            here = table[i]
            if free:
                for j in range(right):
                    here[j + 1] = max(here[j + 1], here[j])
            if i < left and bare:
                nothing, there = own[i, 0], table[i + 1]
                for j in range(right + 1):
                    there[j] = max(there[j], here[j] + nothing)
            for n in range(1, min(tall, left - i) + 1):
                _push(here, own[i : i + n], n, right, wide, forms, table[i + n])
        values[number] = table[left, right]
        if table[left, right] > -np.inf:
            _read(table, own, left, right, tall, wide, bare, free, choices[first : first + left])


@inner_kernel
def _push(here: Floats, own: Floats, n: int, right: int, wide: int, forms: int, there: Floats) -> None:
    """All pairs of these n left symbols, from a row of the table to the one that they lead to."""
    form = n * (n - 1) // 2
    for j in range(right):
        before = here[j]
        if before == -np.inf:
            continue
        code = 1 + j * wide * forms + form
        for m in range(1, min(wide, right - j) + 1):
            value = before
            for o in range(n):
                value += own[o, code + o]
            there[j + m] = max(there[j + m], value)
            code += forms


@inner_kernel
def _read(
    table: Floats, own: Floats, left: int, right: int, tall: int, wide: int, bare: int, free: int, choices: Ids
) -> None:
    """The choices of the best alignment: the steps that give the values of the table, found once more."""
    forms = tall * (tall + 1) // 2
    i, j = left, right
    while i > 0:
        value = table[i, j]
        if free and j > 0 and table[i, j - 1] == value:
            j -= 1
            continue
        if bare and table[i - 1, j] + own[i - 1, 0] == value:
            choices[i - 1] = 0
            i -= 1
            continue
        n, m = _step(table, own, i, j, tall, wide)
        code = pair_code(n, j - m, m, wide, forms)
        for o in range(n):
            choices[i - n + o] = code + o
        i -= n
        j -= m


@inner_kernel
def _step(table: Floats, own: Floats, i: int, j: int, tall: int, wide: int) -> tuple[int, int]:
    forms = tall * (tall + 1) // 2
    for n in range(1, min(tall, i) + 1):
        for m in range(1, min(wide, j) + 1):
            before = table[i - n, j - m]
            if before > -np.inf:
                code = pair_code(n, j - m, m, wide, forms)
                value = before
                for o in range(n):
                    value += own[i - n + o, code + o]
                if value == table[i, j]:
                    return n, m
    return 1, 1


@inline_kernel
def _plus(a: float, b: float) -> float:
    """log(exp a + exp b)"""
    top, low = max(a, b), min(a, b)
    return top if low == -np.inf else top + np.log1p(np.exp(low - top))


@kernel
def sums(
    starts: Ints,
    lo: int,
    hi: int,
    rights: Ints,
    scores: Floats,
    shape: Ints,
    log_sums: Floats,  # out [N]
    shares: Floats,  # out [T, K], of zeros; or [0, K]
) -> None:
    """Log-sums over all alignments, and the probability of each choice."""
    tall, wide, bare, free = shape[0], shape[1], shape[2], shape[3]
    forms = tall * (tall + 1) // 2
    size = longest(starts, lo, hi) + 1, np.max(rights[lo:hi]) + 1
    open_, shut, both = np.empty(size), np.empty(size), np.empty(size)  # `shut`: ends with a left symbol with nothing
    slopes = np.empty((2, size[0], size[1]))
    for number in range(lo, hi):
        first, right = starts[number], rights[number]
        left = starts[number + 1] - first
        own = scores[first : first + left]
        for i in range(left + 1):
            for j in range(right + 1):
                total = 0.0 if i == 0 and j == 0 else -np.inf
                if free and j > 0:
                    total = open_[i, j - 1]
                for n in range(1, min(tall, i) + 1):
                    for m in range(1, min(wide, j) + 1):
                        before = both[i - n, j - m]
                        if before > -np.inf:
                            code = pair_code(n, j - m, m, wide, forms)
                            total = _plus(total, before + _pair(own, i - n, n, code))
                open_[i, j] = total
                shut[i, j] = both[i - 1, j] + own[i - 1, 0] if bare and i > 0 else -np.inf
                both[i, j] = _plus(total, shut[i, j])
        log_sums[number] = both[left, right]
        if shares.shape[0] > 0 and both[left, right] > -np.inf:
            _go_back(left, right, own, shape, open_, both, slopes, shares[first : first + left])


@inner_kernel
def _go_back(
    left: int, right: int, own: Floats, shape: Ints, open_: Floats, both: Floats, slopes: Floats, shares: Floats
) -> None:
    """The gradient of both[left, right] by all scores; slopes[0] of `both`, slopes[1] of `open_` by itself."""
    tall, wide, bare, free = shape[0], shape[1], shape[2], shape[3]
    forms = tall * (tall + 1) // 2
    slopes[:, : left + 1, : right + 1] = 0.0
    slopes[0, left, right] = 1.0
    for i in range(left, -1, -1):
        for j in range(right, -1, -1):
            slope = slopes[0, i, j]
            if bare and i > 0 and slope > 0.0:
                share = slope * np.exp(both[i - 1, j] + own[i - 1, 0] - both[i, j])
                shares[i - 1, 0] += share
                slopes[0, i - 1, j] += share
            if slope > 0.0:
                slopes[1, i, j] += slope * np.exp(open_[i, j] - both[i, j])
            slope = slopes[1, i, j]
            if slope == 0.0:
                continue
            if free and j > 0:
                slopes[1, i, j - 1] += slope * np.exp(open_[i, j - 1] - open_[i, j])
            for n in range(1, min(tall, i) + 1):
                for m in range(1, min(wide, j) + 1):
                    before = both[i - n, j - m]
                    if before > -np.inf:
                        code = pair_code(n, j - m, m, wide, forms)
                        share = slope * np.exp(before + _pair(own, i - n, n, code) - open_[i, j])
                        slopes[0, i - n, j - m] += share
                        for o in range(n):
                            shares[i - n + o, code + o] += share

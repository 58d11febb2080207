"""Projective trees of heads by Eisner's algorithm (1996), for batches: best trees, log-sums and their gradient.

Nodes are 0, the root, and the tokens 1..n. scores[t, h] is that of head h for token t (row t of a batch is node t + 1
of its sentence, minus the sentence's first row), −inf if excluded. Spans are built from the inside:

    inner[i, j]  = max over q of right[i, q] + left[q + 1, j]          everything between i and j, before their arc
    right[i, j]  = max over k of inner[i, k] + arc(i → k) + right[k, j]   all below i, up to j on its right
    left[i, j]   = max over k of left[i, k] + inner[k, j] + arc(j → k)    all below j, down to i on its left

With a single root, there is no other child of 0 between 0 and its child: q = 0. Sums use log-sums instead of maxima; a
backward pass from the last to the first gives the gradient, which is the probability of each arc. O(n³) time and O(n²)
memory.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inline_kernel, inner_kernel, kernel
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.chain_log_kernels import log_sum


@kernel
def best(starts: Ints, lo: int, hi: int, scores: Floats, single: bool, heads: Ids, values: Floats) -> None:
    """The best tree of the sentences lo..hi; a value of −inf if there is none. # scores: [T, H]"""
    size = longest(starts, lo, hi) + 1
    inner, right, left = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    split, down, up = (
        np.empty((size, size), np.int32),
        np.empty((size, size), np.int32),
        np.empty((size, size), np.int32),
    )
    stack = np.empty((2 * size + 2, 3), np.int32)
    for sentence in range(lo, hi):
        first = starts[sentence]
        n = starts[sentence + 1] - first
        own = scores[first : first + n]
        for i in range(n + 1):
            right[i, i] = 0.0
            left[i, i] = 0.0
        for span in range(1, n + 1):
            for i in range(n + 1 - span):
                j = i + span
                top, at = -np.inf, i
                for q in range(i, i + 1 if single and i == 0 else j):
                    value = right[i, q] + left[q + 1, j]
                    if value > top:
                        top, at = value, q
                inner[i, j] = top
                split[i, j] = at
                top, at = -np.inf, j
                for k in range(i + 1, j + 1):
                    value = inner[i, k] + own[k - 1, i] + right[k, j]
                    if value > top:
                        top, at = value, k
                right[i, j] = top
                down[i, j] = at
                top, at = -np.inf, i
                if i > 0:
                    for k in range(i, j):
                        value = left[i, k] + inner[k, j] + own[k - 1, j]
                        if value > top:
                            top, at = value, k
                left[i, j] = top
                up[i, j] = at
        values[sentence] = right[0, n]
        if n > 0 and right[0, n] > -np.inf:
            _read(n, split, down, up, stack, heads[first : first + n])


@inline_kernel
def _pushed(stack: Ids, size: int, i: int, j: int, side: int) -> int:
    stack[size, 0] = i
    stack[size, 1] = j
    stack[size, 2] = side
    return size + 1


@inner_kernel
def _read(n: int, split: Ids, down: Ids, up: Ids, stack: Ids, heads: Ids) -> None:
    """The heads of the best tree, from where its spans were split; side 1 is `right`, 0 `left`."""
    size = _pushed(stack, 0, 0, n, 1)
    while size > 0:
        size -= 1
        i, j, side = stack[size, 0], stack[size, 1], stack[size, 2]
        if i == j:
            continue
        if side == 1:
            k = down[i, j]
            heads[k - 1] = i
            size = _pushed(stack, size, k, j, 1)
            a, b = i, k
        else:
            k = up[i, j]
            heads[k - 1] = j
            size = _pushed(stack, size, i, k, 0)
            a, b = k, j
        q = split[a, b]
        size = _pushed(stack, size, a, q, 1)
        size = _pushed(stack, size, q + 1, b, 0)


@kernel
def sums(starts: Ints, lo: int, hi: int, scores: Floats, single: bool, log_sums: Floats, shares: Floats) -> None:
    """Log-sums over all trees, and the probability of each head. # shares: out [T, H], of zeros; or [0, H]"""
    size = longest(starts, lo, hi) + 1
    inner, right, left = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    slopes = np.empty((3, size, size))
    terms = np.empty(size)
    for sentence in range(lo, hi):
        first = starts[sentence]
        n = starts[sentence + 1] - first
        own = scores[first : first + n]
        for i in range(n + 1):
            right[i, i] = 0.0
            left[i, i] = 0.0
        for span in range(1, n + 1):
            for i in range(n + 1 - span):
                j = i + span
                count = 1 if single and i == 0 else span
                for q in range(count):
                    terms[q] = right[i, i + q] + left[i + q + 1, j]
                inner[i, j] = log_sum(terms[:count])
                for k in range(i + 1, j + 1):
                    terms[k - i - 1] = inner[i, k] + own[k - 1, i] + right[k, j]
                right[i, j] = log_sum(terms[:span])
                left[i, j] = -np.inf
                if i > 0:
                    for k in range(i, j):
                        terms[k - i] = left[i, k] + inner[k, j] + own[k - 1, j]
                    left[i, j] = log_sum(terms[:span])
        log_sums[sentence] = right[0, n]
        if shares.shape[0] > 0 and right[0, n] > -np.inf:
            _go_back(n, own, single, inner, right, left, slopes, shares[first : first + n])


@inner_kernel
def _go_back(
    n: int, own: Floats, single: bool, inner: Floats, right: Floats, left: Floats, slopes: Floats, shares: Floats
) -> None:
    """The gradient of right[0, n] by all scores: from long spans to short ones, the terms of each by their share."""
    slopes[:, : n + 1, : n + 1] = 0.0
    by_inner, by_right, by_left = slopes[0], slopes[1], slopes[2]
    by_right[0, n] = 1.0
    for span in range(n, 0, -1):
        for i in range(n + 1 - span):
            j = i + span
            slope = by_right[i, j]
            if slope > 0.0:
                for k in range(i + 1, j + 1):
                    share = slope * np.exp(inner[i, k] + own[k - 1, i] + right[k, j] - right[i, j])
                    by_inner[i, k] += share
                    by_right[k, j] += share
                    shares[k - 1, i] += share
            slope = by_left[i, j]
            if slope > 0.0:
                for k in range(i, j):
                    share = slope * np.exp(left[i, k] + inner[k, j] + own[k - 1, j] - left[i, j])
                    by_left[i, k] += share
                    by_inner[k, j] += share
                    shares[k - 1, j] += share
        for i in range(n + 1 - span):
            j = i + span
            slope = by_inner[i, j]
            if slope > 0.0:
                for q in range(i, i + 1 if single and i == 0 else j):
                    share = slope * np.exp(right[i, q] + left[q + 1, j] - inner[i, j])
                    by_right[i, q] += share
                    by_left[q + 1, j] += share

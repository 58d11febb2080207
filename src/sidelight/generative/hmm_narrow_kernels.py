"""Sums of an HMM over sequences whose tokens have few candidate labels: a dictionary leaves two or three of forty-five.

The same scaled sums as in `hmm_kernels`, over lists of open labels instead of rows of all: a token costs the product of
its number of candidates and that of the token before it.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.spaces.chains.chain_scaled_kernels import SMALL, TINY


@inner_kernel
def open_labels(admitted: Bytes, first: int, count: int, labels: Ids, bounds: Ints) -> int:
    """The open labels of a sequence's tokens, list after list; returns how many pairs of neighbours they make."""
    place = 0
    pairs = 0
    before = 0
    bounds[0] = 0
    for t in range(count):
        row = admitted[first + t]
        for label in range(row.shape[0]):
            if row[label] != 0:
                labels[place] = label
                place += 1
        bounds[t + 1] = place
        pairs += before * (place - bounds[t])
        before = place - bounds[t]
    return pairs


@inner_kernel
def _reachable(a: Floats, labels: Ids, lo: int, hi: int, onward: Floats, label: int) -> bool:
    """Whether any label of the list has a sum and may be followed by this one."""
    reachable = False
    for p in range(lo, hi):
        reachable = reachable or (a[p] > 0.0 and onward[labels[p], label] > 0.0)
    return reachable


@inner_kernel
def narrow_forward(
    total: float,  # logarithm of the scales of factors, onward and edges
    first: int,
    count: int,
    symbols: Ids,
    factors: Floats,
    labels: Ids,
    bounds: Ints,
    onward: Floats,
    edges: Floats,
    a: Floats,  # out, by open label: the forward sums
    e: Floats,  # out: the factors
    scales: Floats,  # out [count]
) -> float:
    """The log-sum of a sequence; −inf if it has no path, NaN if it must be summed in logarithms."""
    product = 1.0
    for t in range(count):
        lo, hi = bounds[t], bounds[t + 1]
        row = factors[symbols[first + t]]
        scale = 0.0
        for p in range(lo, hi):
            label = labels[p]
            e[p] = row[label]
            value = 0.0
            if t == 0:
                value = edges[0, label] * e[p]
            elif e[p] > 0.0:
                for q in range(bounds[t - 1], lo):
                    value += a[q] * onward[labels[q], label]
                value *= e[p] * scales[t - 1]
            if value < TINY and e[p] > 0.0:
                if t == 0:
                    if edges[0, label] > 0.0:
                        return np.nan
                elif value > 0.0 or _reachable(a, labels, bounds[t - 1], lo, onward, label):
                    return np.nan
            a[p] = value
            scale += value
        if scale == 0.0:
            return -np.inf
        if scale < SMALL:
            for p in range(lo, hi):
                a[p] /= scale
                e[p] /= scale
            total += math.log(scale)
            scale = 1.0
        scales[t] = 1.0 / scale
        product *= scale
        if product < 1e-90 or product > 1e90:
            total += math.log(product)
            product = 1.0
    ending = 0.0
    open_ends = False
    for p in range(bounds[count - 1], bounds[count]):
        last = edges[1, labels[p]]
        ending += a[p] * scales[count - 1] * last
        open_ends = open_ends or (a[p] > 0.0 and last > 0.0)
    if not open_ends:
        return -np.inf
    if ending < TINY:
        return np.nan
    return total + math.log(product) + math.log(ending)


@inner_kernel
def narrow_backward(
    first: int,
    count: int,
    labels: Ids,
    bounds: Ints,
    onward: Floats,
    edges: Floats,
    a: Floats,
    e: Floats,
    b: Floats,  # work, by open label: the backward sums
    scales: Floats,
    weight: float,
    tokens: Floats,  # out [T, L] weight · q(y_t = l)
    moves: Floats,  # [P, P] becomes expected transitions when multiplied by `onward`
) -> None:
    """The beliefs of a sequence after `narrow_forward`."""
    ending = 0.0
    for p in range(bounds[count - 1], bounds[count]):
        ending += a[p] * scales[count - 1] * edges[1, labels[p]]
    for p in range(bounds[count - 1], bounds[count]):
        b[p] = edges[1, labels[p]] / ending
    for t in range(count - 1, -1, -1):
        lo, hi = bounds[t], bounds[t + 1]
        row = tokens[first + t]
        row[:] = 0.0
        for p in range(lo, hi):
            if a[p] > 0.0:  # an unreachable label may have any backward sum, even inf
                row[labels[p]] = weight * a[p] * scales[t] * b[p]
                e[p] *= b[p] * scales[t]
            else:
                e[p] = 0.0
        if t == 0:
            break
        for q in range(bounds[t - 1], lo):
            following = onward[labels[q]]
            share = weight * a[q] * scales[t - 1]
            total = 0.0
            out = moves[labels[q]]
            for p in range(lo, hi):
                total += following[labels[p]] * e[p]
                out[labels[p]] += share * e[p]
            b[q] = total

"""Sums and best alignments of one pair in one direction, in the domain of logarithms.

The sums are those of `alignment_kernels`, for weights that span too much for scaling (γ near 0): I² exponentials a
word. The best alignment is the same recursion with maxima; it keeps values only and finds the path by looking again.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner_kernel


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

"""Sums over the paths of one chain in the domain of logarithms: for scores that span more than exponentials can.

With token scores s and transition scores A,  forward(t, l) = s_t(l) + log Σ_k exp(forward(t − 1, k) + A(k, l)) and
backward(t, l) = log Σ_k exp(A(l, k) + s_{t+1}(k) + backward(t + 1, k)). Slow, L² exponentials a token, and right for
any finite scores; `chain_sum_kernels` comes here only where it must.

Probabilities are shares of the sum of their own token, or pair of tokens, not of the log-sum of the sequence: with
scores of 1e9 and more the two differ by accumulated rounding, but shares remain between 0 and 1.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.kernels import inner_kernel


@inner_kernel
def log_sum(values: Floats) -> float:
    """log Σ exp of the values."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for value in values:
        total += math.exp(value - top)
    return top + math.log(total)


@inner_kernel
def log_sum_with(values: Floats, others: Floats) -> float:
    """log Σ exp(values + others)."""
    top = -np.inf
    for k in range(values.shape[0]):
        top = max(top, values[k] + others[k])
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for k in range(values.shape[0]):
        total += math.exp(values[k] + others[k] - top)
    return top + math.log(total)


@inner_kernel
def log_forward(
    scores: Floats, first: int, count: int, transition: Floats, start: Floats, end: Floats, out: Floats
) -> float:
    """The forward sums of the sequence from token `first` of the scores on. # out [count, L]; returns the log-sum"""
    size = start.shape[0]
    terms = np.empty(size)
    for label in range(size):
        out[0, label] = start[label] + scores[first, label]
    for t in range(1, count):
        for label in range(size):
            for k in range(size):
                terms[k] = out[t - 1, k] + transition[k, label]
            out[t, label] = log_sum(terms) + scores[first + t, label]
    for label in range(size):
        terms[label] = out[count - 1, label] + end[label]
    return log_sum(terms)


@inner_kernel
def log_backward(scores: Floats, first: int, count: int, transition: Floats, end: Floats, out: Floats) -> None:
    """The backward sums of the sequence from token `first` of the scores on. # out [count, L]"""
    size = end.shape[0]
    terms = np.empty(size)
    for label in range(size):
        out[count - 1, label] = end[label]
    for t in range(count - 2, -1, -1):
        for label in range(size):
            for k in range(size):
                terms[k] = transition[label, k] + scores[first + t + 1, k] + out[t + 1, k]
            out[t, label] = log_sum(terms)


@inner_kernel
def log_pair(
    scores: Floats,
    first: int,
    t: int,
    transition: Floats,
    forward: Floats,
    backward: Floats,
    price: float,
    out: Floats,  # [>= L, >= L]
) -> None:
    """out += price · p(y_{t-1} = k, y_t = l), for token t >= 1 of the sequence."""
    size = transition.shape[0]
    shares = np.empty((size, size))
    top = -np.inf
    for k in range(size):
        for label in range(size):
            shares[k, label] = forward[t - 1, k] + transition[k, label] + scores[first + t, label] + backward[t, label]
            top = max(top, shares[k, label])
    total = 0.0
    for k in range(size):
        for label in range(size):
            shares[k, label] = math.exp(shares[k, label] - top)
            total += shares[k, label]
    for k in range(size):
        for label in range(size):
            out[k, label] += price * (shares[k, label] / total)


@inner_kernel
def log_token(forward: Floats, backward: Floats, t: int, price: float, out: Floats) -> None:
    """out[l] = price · p(y_t = l), from the sums of the sequence. # out [>= L]"""
    size = forward.shape[1]
    top = -np.inf
    for label in range(size):
        top = max(top, forward[t, label] + backward[t, label])
    total = 0.0
    for label in range(size):
        total += math.exp(forward[t, label] + backward[t, label] - top)
    for label in range(size):
        out[label] = price * (math.exp(forward[t, label] + backward[t, label] - top) / total)

"""IBM model 1 (Brown et al. 1993): every word chooses the word that generates it for itself.

p(f_j, a_j = i | e) = (1 − p) / I · t(f_j | e_i),      p(f_j, a_j = null | e) = p · t(f_j | null)
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner_kernel


@inner_kernel
def link_weight(null: float, words: int, power: float) -> float:
    """The logarithm of the weight that every link has, whatever its words."""
    value: float = power * math.log((1.0 - null) / words)
    return value


@inner_kernel
def independent_sums(emissions: Floats, nulls: Floats, posteriors: Floats) -> float:
    """The log-sum over all alignments of a pair and the posteriors of its links. # [T, P]"""
    count, wide = emissions.shape
    total = 0.0
    product = 1.0
    for t in range(count):
        row, out = emissions[t], posteriors[t]
        s0, s1, s2, s3 = nulls[t], 0.0, 0.0, 0.0
        for i in range(0, wide, 4):
            e = row[i : i + 4]
            s0, s1, s2, s3 = s0 + e[0], s1 + e[1], s2 + e[2], s3 + e[3]
        scale = (s0 + s1) + (s2 + s3)
        inverse = 1.0 / scale
        for i in range(wide):
            out[i] = row[i] * inverse
        product *= scale
        if product < 1e-100 or product > 1e100:
            total += math.log(product)
            product = 1.0
    value: float = total + math.log(product)
    return value


@inner_kernel
def independent_best(scores: Floats, nulls: Floats, size: int, path: Ids) -> float:
    """The best alignment of a pair: for every word its column, 0 for the null word."""
    total = 0.0
    for t in range(scores.shape[0]):
        best, top = 0, nulls[t]
        for i in range(1, size):
            if scores[t, i] > top or (best == 0 and scores[t, i] == top and top > -np.inf):
                best, top = i, scores[t, i]
        path[t] = best
        total += top
    return total

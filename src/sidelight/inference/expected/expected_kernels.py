"""Sums over a chain whose labels and edges have their own multipliers, in one forward and one backward pass.

A *cell* is a column (a label of a token, or a pair of labels of neighbouring tokens) that occurs in rows. Its cost is
d = Σ_r μ_r φ_r. Cells of edges change the factor of their pair only at their position; all other pairs share one table.
Sums are scaled at every token; if scores span too much for this, they are computed in logarithms.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.spaces.chains.chain_log_kernels import log_sum

FARTHEST = 200.0  # the most that a cell may cost, either way, for scaled sums
FAINTEST = 1e-200  # the least that a scaled sum may be


@inner_kernel
def costs_of(multipliers: Floats, entry_starts: Ints, entry_rows: Ints, entry_weights: Floats, costs: Floats) -> None:
    """costs[c] = Σ_r μ_r φ_r of cell c."""
    for c in range(costs.shape[0]):
        total = 0.0
        for k in range(entry_starts[c], entry_starts[c + 1]):
            total += multipliers[entry_rows[k]] * entry_weights[k]
        costs[c] = total


@inner_kernel
def means_of(chances: Floats, entry_starts: Ints, entry_rows: Ints, entry_weights: Floats, means: Floats) -> None:
    """means[r] = E[φ_r], given the chance of every cell."""
    for r in range(means.shape[0]):
        means[r] = 0.0
    for c in range(chances.shape[0]):
        for k in range(entry_starts[c], entry_starts[c + 1]):
            means[entry_rows[k]] += entry_weights[k] * chances[c]


@inner_kernel
def scaled(
    tokens: Floats,  # [T, L] −inf where ruled out
    top: float,  # of the transition scores
    factors: Floats,  # [T, L, L] exp(transition − top), 0 where ruled out; cells are overwritten here
    places: Ints,  # [C] columns of cells
    plain: Floats,  # [C] the factor of an edge cell without its cost
    costs: Floats,  # [C]
    nodes: Floats,  # work [T, L]
    ahead: Floats,  # out [T, L] scaled sums of prefixes
    behind: Floats,  # out [T, L] of suffixes
    scales: Floats,  # out [T]
) -> float:
    """The log-sum, or NaN if it must be computed in logarithms."""
    length, size = tokens.shape
    n_nodes = length * size
    for t in range(length):
        for label in range(size):
            nodes[t, label] = tokens[t, label]
    for c in range(places.shape[0]):
        if places[c] < n_nodes:
            nodes[places[c] // size, places[c] % size] -= costs[c]
        else:
            if not abs(costs[c]) <= FARTHEST:
                return np.nan
            rest = places[c] - n_nodes
            pair = rest % (size * size)
            factors[rest // (size * size) + 1, pair // size, pair % size] = plain[c] * np.exp(-costs[c])
    value = 0.0
    for t in range(length):
        row, sums = nodes[t], ahead[t]
        peak = -np.inf
        for label in range(size):
            peak = max(peak, row[label])
        if peak == -np.inf:
            return -np.inf
        for label in range(size):
            sums[label] = 1.0 if t == 0 else 0.0
        if t > 0:
            before = ahead[t - 1]
            for k in range(size):
                amount, line = before[k], factors[t, k]
                for label in range(size):
                    sums[label] += amount * line[label]
        total = 0.0
        for label in range(size):
            row[label] = np.exp(row[label] - peak)
            sums[label] *= row[label]
            total += sums[label]
        if not FAINTEST < total < np.inf:
            return np.nan
        for label in range(size):
            sums[label] /= total
        scales[t] = total
        value += np.log(total) + peak + (top if t > 0 else 0.0)
    for label in range(size):
        behind[length - 1, label] = 1.0
    for t in range(length - 1, 0, -1):
        onward, row = behind[t], nodes[t]
        for label in range(size):
            row[label] *= onward[label] / scales[t]  # from here on: what a pair that ends in the label is multiplied by
        for k in range(size):
            line = factors[t, k]
            total = 0.0
            for label in range(size):
                total += line[label] * row[label]
            if not total < np.inf:
                return np.nan
            behind[t - 1, k] = total
    return value


@inner_kernel
def scaled_beliefs(
    factors: Floats, places: Ints, nodes: Floats, ahead: Floats, behind: Floats, chances: Floats, beliefs: Floats
) -> None:
    """Chances of cells [C], beliefs [T, L]."""
    length, size = nodes.shape
    n_nodes = length * size
    for t in range(length):
        for label in range(size):
            beliefs[t, label] = ahead[t, label] * behind[t, label] if ahead[t, label] > 0.0 else 0.0
    for c in range(places.shape[0]):
        if places[c] < n_nodes:
            chances[c] = beliefs[places[c] // size, places[c] % size]
        else:
            rest = places[c] - n_nodes
            t, pair = rest // (size * size) + 1, rest % (size * size)
            k, label = pair // size, pair % size
            chances[c] = ahead[t - 1, k] * factors[t, k, label] * nodes[t, label]


@inner_kernel
def scaled_moves(factors: Floats, nodes: Floats, ahead: Floats, moves: Floats) -> None:
    """Expected transitions, summed over places: moves [L, L]."""
    length, size = nodes.shape
    for k in range(size):
        for label in range(size):
            moves[k, label] = 0.0
    for t in range(1, length):
        for k in range(size):
            amount, line, out = ahead[t - 1, k], factors[t, k], moves[k]
            for label in range(size):
                out[label] += amount * line[label] * nodes[t, label]


@inner_kernel
def in_logs(
    tokens: Floats,
    transition: Floats,  # [L, L]
    ruled_out: Ints,  # columns of edges
    places: Ints,
    costs: Floats,
    ahead: Floats,  # out [T, L]
    behind: Floats,  # out [T, L]
    chances: Floats,  # out [C]
    beliefs: Floats,  # out [T, L]
    moves: Floats,  # out [L, L]
) -> float:
    """The log-sum and all beliefs, in logarithms."""
    length, size = tokens.shape
    n_nodes, square = length * size, size * size
    nodes, edges, terms = np.empty((length, size)), np.empty((length, size, size)), np.empty(size)
    for t in range(length):
        for label in range(size):
            nodes[t, label] = tokens[t, label]
            for k in range(size):
                edges[t, k, label] = transition[k, label]
    for c in range(places.shape[0]):
        if places[c] < n_nodes:
            nodes[places[c] // size, places[c] % size] -= costs[c]
        else:
            rest = places[c] - n_nodes
            edges[rest // square + 1, rest % square // size, rest % size] -= costs[c]
    for k in range(ruled_out.shape[0]):
        rest = ruled_out[k] - n_nodes
        edges[rest // square + 1, rest % square // size, rest % size] = -np.inf
    for t in range(length):
        for label in range(size):
            ahead[t, label] = nodes[t, label]
            if t > 0:
                for k in range(size):
                    terms[k] = ahead[t - 1, k] + edges[t, k, label]
                ahead[t, label] += log_sum(terms)
    value = log_sum(ahead[length - 1])
    if value == -np.inf:
        return value
    for t in range(length - 1, -1, -1):
        for label in range(size):
            behind[t, label] = 0.0
            if t < length - 1:
                for k in range(size):
                    terms[k] = edges[t + 1, label, k] + nodes[t + 1, k] + behind[t + 1, k]
                behind[t, label] = log_sum(terms)
    for k in range(size):
        for label in range(size):
            moves[k, label] = 0.0
    for t in range(length):
        for label in range(size):
            beliefs[t, label] = np.exp(ahead[t, label] + behind[t, label] - value)
            if t > 0:
                for k in range(size):
                    edge = ahead[t - 1, k] + edges[t, k, label] + nodes[t, label] + behind[t, label] - value
                    edges[t, k, label] = np.exp(edge)
                    moves[k, label] += edges[t, k, label]
    for c in range(places.shape[0]):
        if places[c] < n_nodes:
            chances[c] = beliefs[places[c] // size, places[c] % size]
        else:
            rest = places[c] - n_nodes
            chances[c] = edges[rest // square + 1, rest % square // size, rest % size]
    return value

"""The linear program of a chain without rules.

Columns: z[t, l] of tokens, e[t, i, j] of neighbouring pairs, f[t, i, j, k] of triples (second order only), tied by

    Σ_l z[0, l] = 1     Σ_j e[t, i, j] = z[t−1, i]     Σ_i e[t, i, j] = z[t, j]
                        Σ_k f[t, i, j, k] = e[t−1, i, j]     Σ_i f[t, i, j, k] = e[t, j, k]

whose corners are the labelings, so that only z (and the columns that rules bring) must be whole numbers.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.features.rows import offsets_of
from sidelight.spaces.highs import LinearProgram


def chain_program(tokens: Floats, edges: Floats, triple: Floats | None = None) -> LinearProgram:
    """The program of a chain without rules; what scores rule out is fixed at 0.

    `tokens` [T, L] have the scores of the start and the end added; `edges` are [T, L, L], of which the first is not
    read, or [L, L] for all tokens alike; `triple` is [L, L, L].
    """
    length, size = tokens.shape
    nodes, pairs = length * size, max(length - 1, 0) * size * size
    triples = 0 if triple is None else max(length - 2, 0) * size**3
    gain = np.empty(nodes + pairs + triples)
    gain[:nodes] = tokens.ravel()
    gain[nodes : nodes + pairs].reshape(-1, size, size)[:] = edges[1:] if edges.ndim == 3 else edges
    if triple is not None:
        gain[nodes + pairs :].reshape(-1, size, size, size)[:] = triple
    possible = gain > -math.inf
    starts, columns, weights, low = _flow(length, size, triples > 0)
    return LinearProgram(
        gain=np.where(possible, gain, 0.0),
        constant=0.0,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < nodes,
        starts=starts,
        columns=columns,
        weights=weights,
        low=low,
        high=low,
    )


def _flow(length: int, size: int, triples: bool) -> tuple[Ints, Ints, Floats, Floats]:
    """The rows that tie columns together: starts, columns, weights, and what each sums to."""
    nodes = np.arange(length * size).reshape(length, size)
    edges = length * size + np.arange(max(length - 1, 0) * size * size).reshape(-1, size, size)
    blocks = [(nodes[:1], np.ones((1, size)))]
    if length > 1:
        blocks += _ties(edges, nodes[:-1], nodes[1:])
    if triples and length > 2:
        first = length * size + edges.size
        cubes = first + np.arange((length - 2) * size**3).reshape(-1, size, size, size)
        pairs = edges.reshape(len(edges), -1)
        blocks += _ties(cubes.reshape(len(cubes), size * size, size), pairs[:-1], None)
        blocks += _ties(cubes.reshape(len(cubes), size, size * size), None, pairs[1:])
    columns = np.concatenate([block.ravel() for block, _ in blocks]).astype(np.int64)
    weights = np.concatenate([weight.ravel() for _, weight in blocks]).astype(np.float64)
    sizes = np.concatenate([np.full(len(block), block.shape[1]) for block, _ in blocks])
    low = np.zeros(len(sizes))
    low[0] = 1.0
    return offsets_of(sizes), columns, weights, low


def _ties(joint: Ints, before: Ints | None, after: Ints | None) -> list[tuple[Ints, Floats]]:
    """Rows that say that sums of joint columns [K, A, B] over B are `before` [K, A], over A `after` [K, B]."""
    ties: list[tuple[Ints, Floats]] = []
    for single, sums in ((before, joint), (after, joint.transpose(0, 2, 1))):
        if single is not None:
            rows = np.concatenate([sums, single[:, :, None]], axis=2).reshape(-1, sums.shape[2] + 1)
            weights = np.ones(rows.shape)
            weights[:, -1] = -1.0
            ties.append((rows, weights))
    return ties

"""The linear program of variables that are scored one by one and in pairs.

Columns: z[v, l] of variables and e[v, w, i, j] of scored pairs, with Σ_l z[v, l] = 1, Σ_j e[v, w, i, j] = z[v, i] and
Σ_i e[v, w, i, j] = z[w, j]. Its relaxation is the local polytope, which is not exact where pairs go around in circles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.rules.columns import InputColumns, columns_of
from sidelight.spaces.highs import LinearProgram, solve

CLOSE = 1e-6


def variable_program(columns: InputColumns, gain: Floats, *, constant: float = 0.0) -> LinearProgram:
    """The program of all outputs, with the scores of all columns; what they rule out is fixed at 0."""
    rows: list[Ints] = [np.arange(first, last) for first, last in pairwise(columns.offsets)]
    count = len(rows)
    weights: list[Floats] = [np.ones(len(row)) for row in rows]
    for (first, second), place in columns.edges.items():
        shape = columns.size(first), columns.size(second)
        cells = np.arange(place, place + math.prod(shape)).reshape(shape)
        for variable, block in ((first, cells), (second, cells.T)):
            rows += [np.append(line, columns.offsets[variable] + label) for label, line in enumerate(block)]
            weights += [np.append(np.ones(block.shape[1]), -1.0)] * len(block)
    possible = gain > -math.inf
    sums = np.zeros(len(rows))
    sums[:count] = 1.0
    return LinearProgram(
        gain=np.where(possible, gain, 0.0),
        constant=constant,
        upper=possible.astype(np.float64),
        whole=np.arange(len(gain)) < columns.offsets[-1],
        starts=np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64),
        columns=np.concatenate(rows).astype(np.int64),
        weights=np.concatenate(weights),
        low=sums,
        high=sums,
    )


def best_by_program(tables: Mapping[tuple[int, ...], Floats], sizes: tuple[int, ...]) -> tuple[Ids, float]:
    """The best labels, where tables are of every variable, in their order, and then of pairs; −inf where none are.

    The linear relaxation is enough where it is whole.
    """
    columns = columns_of(sizes, [(scope[0], scope[1]) for scope in tables if len(scope) == 2])
    program = variable_program(columns, np.concatenate([table.ravel() for table in tables.values()]))
    optimum = solve(program, integer=False)
    if optimum.point is not None:
        nodes = optimum.point[: columns.offsets[-1]]
        if np.abs(nodes - np.round(nodes)).max(initial=0.0) > CLOSE:
            optimum = solve(program, integer=True)
    if optimum.point is None:
        return np.zeros(len(sizes), np.int32), -math.inf
    labels = [int(optimum.point[first:last].argmax()) for first, last in pairwise(columns.offsets)]
    value = sum(float(table[tuple([labels[v] for v in scope])]) for scope, table in tables.items())
    return np.array(labels, np.int32), value

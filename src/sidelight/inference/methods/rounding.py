"""From fractions to a legal output: labels by weight, most certain variables first, going back where rules forbid it.

A depth-first search that gives up after some visits; what it returns obeys every hard clause, but is not the best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.rules.expr import Expr, variables
from sidelight.rules.lowering.truth import OPEN, truth

MOST_VISITS = 50  # per variable


def rounded(
    weights: Sequence[Floats],  # [labels of v] for each variable: −inf where a label is not allowed
    says: Sequence[Expr],  # what it must obey
    pairs: Mapping[tuple[int, int], Floats],  # v < w: −inf where two labels do not go together
) -> tuple[int, ...] | None:
    """A legal output that follows the weights, or None where none was found."""
    order = sorted(range(len(weights)), key=lambda v: (-float(np.max(weights[v])), v))
    hard: list[list[Expr]] = [[] for _ in weights]
    for one in says:
        for variable in variables(one):
            hard[variable].append(one)
    near: list[list[tuple[int, Floats]]] = [[] for _ in weights]
    for (first, second), table in pairs.items():
        near[first].append((second, table))
        near[second].append((first, table.T))
    labels = [OPEN] * len(weights)
    visits = 0

    def fits(variable: int) -> bool:
        for other, table in near[variable]:
            if labels[other] != OPEN and table[labels[variable], labels[other]] == -math.inf:
                return False
        return all(truth(one, labels)[1] for one in hard[variable])

    def ranked(variable: int) -> list[int]:
        """Its labels, the best last."""
        mine = weights[variable]
        allowed = [label for label in range(len(mine)) if mine[label] > -math.inf]
        return sorted(allowed, key=lambda label: (mine[label], -label))

    depth, left = 0, [ranked(order[0])]
    while depth >= 0:
        variable, fitting = order[depth], False
        while left[depth] and not fitting:
            labels[variable] = left[depth].pop()
            fitting = fits(variable)
            visits += 1
        if not fitting:
            labels[variable] = OPEN
            left.pop()
            depth -= 1
        elif depth + 1 == len(order):
            return tuple(labels)
        else:
            depth += 1
            left.append(ranked(order[depth]))
        if visits > MOST_VISITS * len(order):
            return None
    return None

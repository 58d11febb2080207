"""Equal alignments in both directions of one sentence pair, for γ = 0: dual decomposition with best alignments.

    minimise   V(λ) = max_a [log p₁(a) + λ·u(a)] + max_b [log p₂(b) − λ·u(b)],    a subgradient is u(a) − u(b)

The step is 1 / (1 + how often V has risen) (Rush et al. 2010). Where both best alignments have the same links they are
the optimum. Otherwise the average of the alignments met in the second half of the steps, weighted by the steps, stands
for the solution of the linear program: it tends to it, and so to agreement, as steps go on.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.generative.alignment_sides import Direction, Side, best_side
from sidelight.kernels import kernel


@kernel
def tilt(a: Side, b: Side, path_a: Ids, path_b: Ids, step: float) -> float:
    """λ −= step · (u(a) − u(b)); returns how many links are in one alignment alone."""
    apart = 0.0
    for j in range(path_a.shape[0]):
        i = path_a[j]
        if i > 0 and path_b[i - 1] != j + 1:
            a.scores[j, i] -= step
            b.scores[i - 1, j + 1] += step
            apart += 1.0
    for i in range(path_b.shape[0]):
        j = path_b[i]
        if j > 0 and path_a[j - 1] != i + 1:
            a.scores[j - 1, i + 1] += step
            b.scores[i, j] -= step
            apart += 1.0
    return apart


@kernel
def agree_hard(
    a: Side,
    b: Side,
    one: Direction,
    other: Direction,
    paths_a: Ids,  # out [steps, J]
    paths_b: Ids,  # out [steps, I]
    weights: Floats,  # out [steps] of the alignments; they sum to 1
) -> tuple[float, int]:
    """The smallest V, and how many alignments of either direction were found: as many as there is room for at most."""
    rows, columns = paths_b.shape[1], paths_a.shape[1]
    least, last, rises, found = np.inf, np.inf, 0, 0
    while found < weights.shape[0]:
        value = best_side(a, one, rows + 1, paths_a[found]) + best_side(b, other, columns + 1, paths_b[found])
        rises += value > last
        least, last = min(least, value), value
        step = 1.0 / (1.0 + rises)
        weights[found] = step
        apart = tilt(a, b, paths_a[found], paths_b[found], step)
        found += 1
        if apart == 0.0:
            weights[:found] = 0.0
            weights[found - 1] = 1.0
            return least, found
    total = 0.0
    for k in range(found):
        weights[k] = weights[k] if 2 * k >= found else 0.0
        total += weights[k]
    for k in range(found):
        weights[k] /= total
    return least, found


@kernel
def set_shares(side: Side, paths: Ids, weights: Floats, found: int) -> None:
    """Posteriors of links: the weights of the alignments that have them."""
    side.real[:] = 0.0
    for k in range(found):
        if weights[k] > 0.0:
            for t in range(paths.shape[1]):
                if paths[k, t] > 0:
                    side.real[t, paths[k, t]] += weights[k]


@kernel
def path_jumps(paths: Ids, weights: Floats, found: int, distances: Floats, leaving: Floats) -> None:
    """Add the jumps of weighted alignments, by distance and by column."""
    middle = distances.shape[0] // 2
    for k in range(found):
        if weights[k] > 0.0:
            column = 0
            for t in range(paths.shape[1]):
                to = paths[k, t]
                if to > 0:
                    distances[middle + to - column] += weights[k]
                    leaving[column] += weights[k]
                    column = to

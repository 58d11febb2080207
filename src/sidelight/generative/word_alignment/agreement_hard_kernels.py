"""Equal alignments in both directions of one sentence pair, for γ = 0: dual decomposition with best alignments.

    minimise   V(λ) = max_a [log p₁(a) + λ·u(a)] + max_b [log p₂(b) − λ·u(b)],    a subgradient is u(a) − u(b)

Steps are Polyak's towards a target level (Goffin and Kiwiel 1999), which reaches the optimum from anywhere:

    step = (V(λ) − target) / ‖u(a) − u(b)‖²,    target = smallest V so far, at the last change of the target, − δ

Where V falls by δ / 2 the target moves on; where λ has walked `REACH` · √cells in vain, δ asked for too much and is
halved. Where both best alignments have the same links they are the optimum. Otherwise the average of the alignments met
in the second half of the steps, weighted by the steps, stands for the solution of the linear program: it tends to it,
and so to agreement, as steps go on.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner_kernel
from sidelight.generative.word_alignment.alignment_sides import AlignmentSide, Direction, best_side

FIRST = 2.0  # the length of the first step, in nats per link: δ begins with what that step promises
REACH = 4.0  # how far λ walks for a target, per square root of the number of cells; both settled on real sentence pairs


@inner_kernel
def links_apart(path_a: Ids, path_b: Ids) -> float:
    """‖u(a) − u(b)‖²: how many links are in one alignment alone."""
    apart = 0.0
    for j in range(path_a.shape[0]):
        i = path_a[j]
        apart += i > 0 and path_b[i - 1] != j + 1
    for i in range(path_b.shape[0]):
        j = path_b[i]
        apart += j > 0 and path_a[j - 1] != i + 1
    return apart


@inner_kernel
def tilt(a: AlignmentSide, b: AlignmentSide, path_a: Ids, path_b: Ids, step: float) -> None:
    """λ −= step · (u(a) − u(b))."""
    for j in range(path_a.shape[0]):
        i = path_a[j]
        if i > 0 and path_b[i - 1] != j + 1:
            a.scores[j, i] -= step
            b.scores[i - 1, j + 1] += step
    for i in range(path_b.shape[0]):
        j = path_b[i]
        if j > 0 and path_a[j - 1] != i + 1:
            a.scores[j - 1, i + 1] += step
            b.scores[i, j] -= step


@inner_kernel
def agree_hard(
    a: AlignmentSide,
    b: AlignmentSide,
    one: Direction,
    other: Direction,
    paths_a: Ids,  # out [steps, J]
    paths_b: Ids,  # out [steps, I]
    weights: Floats,  # out [steps] of the alignments; they sum to 1
) -> tuple[float, int]:
    """The smallest V, and how many alignments of either direction were found: as many as there is room for at most."""
    rows, columns = paths_b.shape[1], paths_a.shape[1]
    reach = REACH * np.sqrt(float(rows * columns))
    least, record, delta, walked = np.inf, np.inf, 0.0, 0.0
    for k in range(weights.shape[0]):
        value = best_side(a, one, rows + 1, paths_a[k]) + best_side(b, other, columns + 1, paths_b[k])
        least = min(least, value)
        apart = links_apart(paths_a[k], paths_b[k])
        if apart == 0.0:
            weights[:k] = 0.0
            weights[k] = 1.0
            return least, k + 1
        if k == 0:
            record, delta = value, FIRST * apart
        elif value <= record - 0.5 * delta:
            record, walked = least, 0.0
        elif walked > reach:
            record, walked, delta = least, 0.0, 0.5 * delta
        step = (value - record + delta) / apart
        weights[k] = step
        walked += step * np.sqrt(apart)
        tilt(a, b, paths_a[k], paths_b[k], step)
    met = weights.shape[0] // 2
    weights[:met] = 0.0
    weights[met:] /= weights[met:].sum()
    return least, weights.shape[0]


@inner_kernel
def set_shares(side: AlignmentSide, paths: Ids, weights: Floats, found: int) -> None:
    """Posteriors of links: the weights of the alignments that have them."""
    side.real[:] = 0.0
    for k in range(found):
        if weights[k] > 0.0:
            for t in range(paths.shape[1]):
                if paths[k, t] > 0:
                    side.real[t, paths[k, t]] += weights[k]


@inner_kernel
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

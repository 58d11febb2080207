"""Equal marginals in both directions of one sentence pair.

For γ > 0 by limited-memory BFGS on the multipliers. With ν = λ/γ, one number for each of the I × J cells, and Z₁, Z₂
the sums over all alignments of either direction, their weights raised to 1/γ, log weights of links changed by +ν in the
first and −ν in the second direction:

    minimise   V(ν) = log Z₁(ν) + log Z₂(ν)             gradient   q₁ − q₂: the difference of the links' posteriors

V is convex and smooth; γ V is the objective of the E-step (`agreement`). Each step starts from the curvature of single
links, q₁(1 − q₁) + q₂(1 − q₂), and is shortened until V decreases enough (Armijo). So V never rises, and at a
stationary point the directions agree. It ends when no link differs by more than the tolerance, or when the sums have
been computed `most` times.

For γ = 0 by dual decomposition with best alignments:

    minimise   V(λ) = max_a [log p₁(a) + λ·u(a)] + max_b [log p₂(b) − λ·u(b)],    a subgradient is u(a) − u(b)

Steps are Polyak's towards a target level (Goffin and Kiwiel 1999), which reaches the optimum from anywhere:

    step = (V(λ) − target) / ‖u(a) − u(b)‖²,    target = smallest V so far, at the last change of the target, − δ

If V falls by δ / 2, the target is updated. If λ has moved by `REACH` · √cells without success, δ was too large and is
halved. If both best alignments have the same links, they are optimal. Otherwise the average of the alignments in the
second half of the steps, weighted by the steps, approximates the solution of the linear program: it converges to it,
and so to agreement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner_kernel
from sidelight.generative.word_alignment.alignment_sides import (
    AlignmentSide,
    Direction,
    best_side,
    posteriors,
    sum_side,
)

MEMORY = 4  # pairs of steps and gradients that are remembered
EASE = 0.1  # of the largest difference, added to the curvature of a link
ENOUGH = 1e-4  # the part of the promised fall that a step must give
SHORTER = 0.4  # of a step that did not


@inner_kernel
def inner(a: Floats, b: Floats) -> float:
    """The inner product of two short vectors."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = a.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        x, y = a[k : k + 4], b[k : k + 4]
        s0, s1, s2, s3 = s0 + x[0] * y[0], s1 + x[1] * y[1], s2 + x[2] * y[2], s3 + x[3] * y[3]
    for k in range(whole, a.shape[0]):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)


@inner_kernel
def search_room(cells: int) -> Floats:
    """Memory for pairs of at most so many cells."""
    return np.empty((2 * MEMORY + 3, cells))


@inner_kernel
def move(side: AlignmentSide, step: float) -> None:
    """Make a step final."""
    steps, wide = side.scores.shape
    for t in range(steps):
        score, way = side.scores[t], side.moves[t]
        for i in range(wide):
            score[i] += step * way[i]


@inner_kernel
def set_gradient(
    a: AlignmentSide, b: AlignmentSide, rows: int, columns: int, gradient: Floats, curvature: Floats
) -> float:
    """q₁ − q₂ of every cell, and the approximate curvature of V there; returns the largest difference."""
    worst = 0.0
    for i in range(rows):
        other = b.real[i]
        out, bend = gradient[i * columns : (i + 1) * columns], curvature[i * columns : (i + 1) * columns]
        for j in range(columns):
            p, q = a.real[j, i + 1], other[j + 1]
            gap = p - q
            out[j] = gap
            bend[j] = p * (1.0 - p) + q * (1.0 - q)
            worst = max(worst, abs(gap))
    for c in range(rows * columns):
        curvature[c] += EASE * worst
    return worst


@inner_kernel
def set_moves(a: AlignmentSide, b: AlignmentSide, rows: int, columns: int, way: Floats) -> None:
    """The direction of both sides."""
    for i in range(rows):
        here, out = way[i * columns : (i + 1) * columns], b.moves[i]
        for j in range(columns):
            a.moves[j, i + 1] = here[j]
            out[j + 1] = -here[j]


@inner_kernel
def quasi_newton(gradient: Floats, curvature: Floats, memory: Floats, weights: Floats, seen: int, way: Floats) -> None:
    """way = −H gradient by the two loops of limited-memory BFGS, over pairs as `agree` keeps them."""
    cells = gradient.shape[0]
    shares = np.empty(MEMORY)
    for c in range(cells):
        way[c] = -gradient[c]
    for h in range(seen - 1, max(0, seen - MEMORY) - 1, -1):
        m = h % MEMORY
        share = weights[m] * inner(memory[m, :cells], way)
        shares[m] = share
        bend = memory[MEMORY + m, :cells]
        for c in range(cells):
            way[c] -= share * bend[c]
    for c in range(cells):
        way[c] /= curvature[c]
    for h in range(max(0, seen - MEMORY), seen):
        m = h % MEMORY
        share = shares[m] - weights[m] * inner(memory[MEMORY + m, :cells], way)
        step = memory[m, :cells]
        for c in range(cells):
            way[c] += share * step[c]


@inner_kernel
def agree(
    a: AlignmentSide,
    b: AlignmentSide,
    one: Direction,
    other: Direction,
    rows: int,
    columns: int,
    most: int,
    tolerance: float,
    memory: Floats,  # as `search_room` makes it: steps, then the bends that belong to them
) -> tuple[float, int]:
    """V, and how often the sums were made.

    Afterwards the sides are as after `posteriors` with step 0.
    """
    cells = rows * columns
    gradient, curvature = memory[2 * MEMORY, :cells], memory[2 * MEMORY + 1, :cells]
    way = memory[2 * MEMORY + 2, :cells]
    weights = np.empty(MEMORY)
    value = sum_side(a, one, rows + 1, 0.0) + sum_side(b, other, columns + 1, 0.0)
    posteriors(a, one, rows + 1, 0.0)
    posteriors(b, other, columns + 1, 0.0)
    worst = set_gradient(a, b, rows, columns, gradient, curvature)
    sums: int = 1
    seen: Any = np.int64(0)  # a separate type would compile its users again
    while worst > tolerance and sums < most:
        quasi_newton(gradient, curvature, memory, weights, seen, way)
        slope = inner(gradient, way)
        set_moves(a, b, rows, columns, way)
        step, enough = 1.0, False
        while sums < most and not enough:
            trial = sum_side(a, one, rows + 1, step) + sum_side(b, other, columns + 1, step)
            sums += 1
            enough = trial <= value + ENOUGH * step * slope
            if not enough:
                step *= SHORTER
        if not enough:
            step = 0.0
            trial = sum_side(a, one, rows + 1, 0.0) + sum_side(b, other, columns + 1, 0.0)
        value = trial
        posteriors(a, one, rows + 1, step)
        posteriors(b, other, columns + 1, step)
        move(a, step)
        move(b, step)
        m = seen % MEMORY
        last, bend = memory[m, :cells], memory[MEMORY + m, :cells]
        for c in range(cells):
            last[c] = step * way[c]
            bend[c] = -gradient[c]
        worst = set_gradient(a, b, rows, columns, gradient, curvature)
        for c in range(cells):
            bend[c] += gradient[c]
        turn = inner(last, bend)
        if turn > 1e-10 * inner(bend, bend) and turn > 0.0:
            weights[m] = 1.0 / turn
            seen += 1
    return value, sums


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
def set_shares(side: AlignmentSide, paths: Ids, weights: Floats, count: int) -> None:
    """Posteriors of links: the weights of the alignments that have them."""
    side.real[:] = 0.0
    for k in range(count):
        if weights[k] > 0.0:
            for t in range(paths.shape[1]):
                if paths[k, t] > 0:
                    side.real[t, paths[k, t]] += weights[k]


@inner_kernel
def path_jumps(paths: Ids, weights: Floats, count: int, distances: Floats, leaving: Floats) -> None:
    """Add the jumps of weighted alignments, by distance and by column."""
    middle = distances.shape[0] // 2
    for k in range(count):
        if weights[k] > 0.0:
            column = 0
            for t in range(paths.shape[1]):
                to = paths[k, t]
                if to > 0:
                    distances[middle + to - column] += weights[k]
                    leaving[column] += weights[k]
                    column = to

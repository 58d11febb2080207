"""Steps of dual coordinate descent, term by term: shared code of all losses, and the steps of the hinge.

See `solvers.dual_coordinate` for the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import GOLDEN, inner_kernel, kernel, mix
from sidelight.features.rows import offsets_of
from sidelight.solvers.duals.working_set import WorkingSet, dot, row_product, subtract

STEPS = 20  # maximum steps of one term per visit
NEAR = 0.01  # share of the initial difference between worst and average below which the next term follows


class TermCuts(NamedTuple):
    """The cuts of terms with their dual variables, in the form for kernels: those of a working set, and which are
    active.
    """

    begin: Ints
    end: Ints
    indices: Ids
    values: Floats
    offsets: Floats
    norms: Floats
    prices: Floats  # of terms
    alphas: Floats
    sums: Floats  # of terms
    weights: Floats
    ptr: Ints  # [N + 1] cuts of each term among the members
    members: Ints
    places: Ints
    rooms: Ints
    ats: Ints
    gram: Floats
    active: Ints  # terms


def sweep_terms(
    steps: Callable[..., tuple[int, float]],
    pool: WorkingSet,
    weights: Floats,
    prices: Floats,
    cuts: Ints,
    at_most: int,
    enough: float,
    state: Keys,
) -> tuple[int, float]:
    """As `dual_coordinate.sweeps`, with a kernel that works term by term."""
    if pool.whole:
        raise ValueError("steps of whole terms need a working set with values")
    terms = pool.terms[: pool.count]
    pool.products.make_room(terms)
    requested = np.zeros(pool.count, dtype=bool)
    requested[cuts] = True
    visited = np.zeros(pool.n_terms, dtype=bool)
    visited[terms[cuts]] = True
    selection = np.flatnonzero((requested | (pool.alphas[: pool.count] > 0.0)) & visited[terms])
    members = selection[np.argsort(terms[selection], kind="stable")]
    ptr = offsets_of(np.bincount(terms[selection], minlength=pool.n_terms))
    grams = pool.products.places, pool.products.rooms, pool.products.at, pool.products.gram
    rows = pool.begin, pool.end, pool.indices, pool.values, pool.offsets, pool.norms
    active = np.flatnonzero(visited & (prices > 0.0))
    cuts_of_terms = TermCuts(*rows, prices, pool.alphas, pool.sums, weights, ptr, members, *grams, active)
    return steps(cuts_of_terms, at_most, enough, state)


@inner_kernel
def shuffle(active: Ints, count: int, state: Keys) -> None:
    """Fisher–Yates shuffle."""
    for i in range(count - 1, 0, -1):
        state[0] += GOLDEN
        other = np.int64(mix(state[0]) % np.uint64(i + 1))
        keep = active[i]
        active[i] = active[other]
        active[other] = keep


@kernel  # code of its own, because the sweeps are slower by a sixth with this loop inside
def products(place: Any, mine: Ints, which: int, room: int, at: int, gram: Floats, out: Floats) -> None:
    """The inner products of one slope with all slopes of a term; new ones are stored for later."""
    begin, end, indices, values, norms, places = place
    one = mine[which]
    for m in range(mine.shape[0]):
        other = mine[m]
        to = at + places[one] * room + places[other]
        if np.isnan(gram[to]):
            if one == other:
                gram[to] = norms[one]
            else:
                gram[to] = row_product(indices, values, begin[one], end[one], begin[other], end[other])
                gram[at + places[other] * room + places[one]] = gram[to]
        out[m] = gram[to]


@kernel
def hinge_steps(cuts: TermCuts, at_most: int, enough: float, state: Keys) -> tuple[int, float]:
    begin, end, indices, values, offsets, norms, prices, alphas, sums, weights = cuts[:10]
    ptr, members, places, rooms, ats, gram, active = cuts[10:]
    most = 1
    for i in active:
        most = max(most, ptr[i + 1] - ptr[i])
    violations, moves = np.empty(most), np.empty(most)
    up_row, down_row = np.empty(most), np.empty(most)
    counts = ptr[1:] - ptr[:-1]
    place = (begin, end, indices, values, norms, places)
    all_gained = 0.0
    for sweep in range(at_most):
        shuffle(active, active.shape[0], state)
        gained = 0.0
        for i in active:
            mine = members[ptr[i] : ptr[i] + counts[i]]
            count = mine.shape[0]
            paid = 0.0
            for m in range(count):
                j = mine[m]
                violations[m] = offsets[j] + dot(indices, values, weights, begin[j], end[j], end[j])
                paid += alphas[j] * violations[m]
                moves[m] = 0.0
            near = -1.0
            moved = False
            for _ in range(STEPS):
                left = prices[i] - sums[i]
                up, down, high, low = _extremes(violations, alphas, mine, left)
                if near < 0.0:
                    near = max(NEAR * (high - paid / prices[i]), 0.0)
                if up == down or high - low <= near:
                    break
                if up >= 0:
                    products(place, mine, up, rooms[i], ats[i], gram, up_row)
                else:
                    up_row[:count] = 0.0
                if down >= 0:
                    products(place, mine, down, rooms[i], ats[i], gram, down_row)
                else:
                    down_row[:count] = 0.0
                curve = 0.0
                if up >= 0:
                    curve += up_row[up] - down_row[up]
                if down >= 0:
                    curve += down_row[down] - up_row[down]
                room = alphas[mine[down]] if down >= 0 else left
                step = room if curve * room <= high - low else (high - low) / curve
                for m in range(count):
                    violations[m] -= step * (up_row[m] - down_row[m])
                if up >= 0:
                    alphas[mine[up]] += step
                    moves[up] += step
                if down >= 0:
                    alphas[mine[down]] = 0.0 if step == room else alphas[mine[down]] - step
                    moves[down] -= step
                if down < 0:
                    sums[i] = prices[i] if step == room else sums[i] + step
                elif up < 0:
                    sums[i] = max(sums[i] - step, 0.0)
                gained += step * (high - low - 0.5 * step * curve)
                moved = True
            if moved:
                for m in range(count):
                    if moves[m] != 0.0:
                        j = mine[m]
                        subtract(indices, values, weights, begin[j], end[j], end[j], moves[m])
            low = _extremes(violations, alphas, mine, prices[i] - sums[i])[3]
            kept = 0
            for m in range(count):
                if alphas[mine[m]] > 0.0 or violations[m] > low:
                    mine[kept] = mine[m]
                    kept += 1
            counts[i] = kept
        all_gained += gained
        if gained <= enough:
            return sweep + 1, all_gained
    return at_most, all_gained


@inner_kernel
def _extremes(violations: Floats, alphas: Floats, mine: Ints, left: float) -> tuple[int, int, float, float]:
    """The most violated cut and the least violated one with weight; -1 is the unused part of the price."""
    up, down = -1, -1
    high = 0.0
    low = 0.0 if left > 0.0 else np.inf
    for m in range(mine.shape[0]):
        if violations[m] > high:
            high = violations[m]
            up = m
        if violations[m] < low and alphas[mine[m]] > 0.0:
            low = violations[m]
            down = m
    return up, down, high, low

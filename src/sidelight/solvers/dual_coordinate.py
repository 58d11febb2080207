"""Dual coordinate descent over a working set of cuts.

The problem, over cuts j of terms i with price C_i:

    min_w  ½ ‖w‖² + Σ_i C_i ξ_i^p        ξ_i >= offset_j + slope_j · w  for the cuts j of term i,  ξ_i >= 0

Squared hinge (p = 2), dual:   max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖² − Σ_i (Σ_{j of i} α_j)² / (4 C_i)
Hinge (p = 1), dual:           max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖²      with Σ_{j of i} α_j <= C_i
where w(α) = −Σ_j α_j slope_j in both.

Squared hinge: one variable at a time, the step of Chang's thesis Eq. 6.9 and 6.10,

    d = max(−α_j, (offset_j + slope_j · w − (Σα)/(2 C_i)) / (‖slope_j‖² + 1/(2 C_i))).

Hinge: term by term, pairs of variables (Platt's SMO step), where what Σα leaves of C_i is a variable as well: from the
cut with weight that is violated least to the one that is violated most, until they differ by little. Steps are made in
the violations of one term's cuts, with the inner products of their slopes (`cut_products`); the weights move after
them.

Each sweep visits the cuts, or the terms, in a fresh random order (Hsieh et al. 2008); cuts without weight that are not
violated, or less than the others of their term, sit out the rest of the call (shrinking). A sweep returns by how much
it raised the dual objective; the caller stops when that is little against the duality gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import GOLDEN, inner_kernel, kernel, mix
from sidelight.features.rows import offsets_of
from sidelight.solvers.duals.working_set import WorkingSet, dot, row_product, subtract

STEPS = 20  # of one term in one visit at most
NEAR = 0.01  # of the difference between worst and average at first: if it is so small, the next term has its turn


def sweeps(
    pool: WorkingSet,
    weights: Floats,
    prices: Floats,
    *,
    cuts: Ints,
    power: int,
    at_most: int,
    enough: float,
    state: Keys,
) -> tuple[int, float]:
    """Sweep some cuts until a sweep gains at most `enough`; returns the sweeps made and all they gained.

    `weights` and the pool's dual variables change in place; `state` [1] is the random state.
    """
    if power == 1:
        return sweep_terms(_hinge, pool, weights, prices, np.asarray(cuts), at_most, enough, state)
    active = np.array(cuts, dtype=np.int64)
    return _squared_hinge(
        pool.begin,
        pool.middle,
        pool.end,
        pool.indices,
        pool.values,
        pool.offsets,
        pool.norms,
        pool.terms,
        prices,
        pool.alphas,
        pool.sums,
        weights,
        active,
        at_most,
        enough,
        state,
    )


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
    """As `sweeps`, with a kernel that goes term by term."""
    if pool.whole:
        raise ValueError("steps of whole terms need a working set with values")
    terms = pool.terms[: pool.count]
    pool.products.make_room(terms)
    asked = np.zeros(pool.count, dtype=bool)
    asked[cuts] = True
    visited = np.zeros(pool.n_terms, dtype=bool)
    visited[terms[cuts]] = True
    chosen = np.flatnonzero((asked | (pool.alphas[: pool.count] > 0.0)) & visited[terms])
    members = chosen[np.argsort(terms[chosen], kind="stable")]
    ptr = offsets_of(np.bincount(terms[chosen], minlength=pool.n_terms))
    products = pool.products
    return steps(
        pool.begin,
        pool.end,
        pool.indices,
        pool.values,
        pool.offsets,
        pool.norms,
        prices,
        pool.alphas,
        pool.sums,
        weights,
        ptr,
        members,
        products.places,
        products.rooms,
        products.at,
        products.gram,
        np.flatnonzero(visited & (prices > 0.0)),
        at_most,
        enough,
        state,
    )


def slacks(pool: WorkingSet, weights: Floats, cuts: Ints, *, least: float = 0.0) -> Floats:
    """max(least, largest offset + slope · w) of every term over some cuts. # [N]"""
    out = np.full(pool.n_terms, least)
    place = pool.begin, pool.middle, pool.end, pool.indices, pool.values
    _slacks(*place, pool.offsets, pool.terms, weights, cuts, out)
    return out


@inner_kernel
def _shuffle(active: Ints, count: int, state: Keys) -> None:
    """Fisher and Yates."""
    for i in range(count - 1, 0, -1):
        state[0] += GOLDEN
        other = np.int64(mix(state[0]) % np.uint64(i + 1))
        keep = active[i]
        active[i] = active[other]
        active[other] = keep


@kernel
def _slacks(
    begin: Ints,
    middle: Ints,
    end: Ints,
    indices: Ids,
    values: Floats,
    offsets: Floats,
    terms: Ints,
    weights: Floats,
    cuts: Ints,
    out: Floats,
) -> None:
    for j in cuts:
        value = offsets[j] + dot(indices, values, weights, begin[j], middle[j], end[j])
        if value > out[terms[j]]:
            out[terms[j]] = value


@kernel
def _squared_hinge(
    begin: Ints,
    middle: Ints,
    end: Ints,
    indices: Ids,
    values: Floats,
    offsets: Floats,
    norms: Floats,
    terms: Ints,
    prices: Floats,
    alphas: Floats,
    sums: Floats,
    weights: Floats,
    active: Ints,
    at_most: int,
    enough: float,
    state: Keys,
) -> tuple[int, float]:
    count = active.shape[0]
    all_gained = 0.0
    for sweep in range(at_most):
        _shuffle(active, count, state)
        gained = 0.0
        kept = 0
        for a in range(count):
            j = active[a]
            i = terms[j]
            if prices[i] <= 0.0:
                continue
            ease = 0.5 / prices[i]
            slope = offsets[j] + dot(indices, values, weights, begin[j], middle[j], end[j]) - sums[i] * ease
            if alphas[j] == 0.0 and slope <= 0.0:
                continue
            active[kept] = j
            kept += 1
            curve = norms[j] + ease
            step = max(-alphas[j], slope / curve)
            if step != 0.0:
                alphas[j] += step
                sums[i] += step
                subtract(indices, values, weights, begin[j], middle[j], end[j], step)
                gained += step * (slope - 0.5 * step * curve)
        count = kept
        all_gained += gained
        if gained <= enough:
            return sweep + 1, all_gained
    return at_most, all_gained


@kernel
def _hinge(
    begin: Ints,
    end: Ints,
    indices: Ids,
    values: Floats,
    offsets: Floats,
    norms: Floats,
    prices: Floats,
    alphas: Floats,
    sums: Floats,
    weights: Floats,
    ptr: Ints,  # [N + 1] cuts of each term among the members
    members: Ints,
    places: Ints,
    rooms: Ints,
    ats: Ints,
    gram: Floats,
    active: Ints,  # terms
    at_most: int,
    enough: float,
    state: Keys,
) -> tuple[int, float]:
    most = 1
    for i in active:
        most = max(most, ptr[i + 1] - ptr[i])
    violations, moves = np.empty(most), np.empty(most)
    up_row, down_row = np.empty(most), np.empty(most)
    counts = ptr[1:] - ptr[:-1]
    place = (begin, end, indices, values, norms, places)
    all_gained = 0.0
    for sweep in range(at_most):
        _shuffle(active, active.shape[0], state)
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
                    _products(place, mine, up, rooms[i], ats[i], gram, up_row)
                else:
                    up_row[:count] = 0.0
                if down >= 0:
                    _products(place, mine, down, rooms[i], ats[i], gram, down_row)
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
    """The most violated cut and the least violated one with weight, -1 for what is left of the price."""
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


@inner_kernel
def _products(place: Any, mine: Ints, which: int, room: int, at: int, gram: Floats, out: Floats) -> None:
    """The inner products of one slope with all of a term's, those that are new put down for the next time."""
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

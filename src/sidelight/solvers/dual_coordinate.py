"""Dual coordinate descent over a working set of cuts.

The problem, over cuts j of terms i with price C_i:

    min_w  ½ ‖w‖² + Σ_i C_i ξ_i^p        ξ_i >= offset_j + slope_j · w  for the cuts j of term i,  ξ_i >= 0

Squared hinge (p = 2), dual:   max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖² − Σ_i (Σ_{j of i} α_j)² / (4 C_i)
Hinge (p = 1), dual:           max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖²      with Σ_{j of i} α_j <= C_i
where w(α) = −Σ_j α_j slope_j in both.

Squared hinge: one variable at a time, the step of Chang's thesis Eq. 6.9 and 6.10,

    d = max(−α_j, (offset_j + slope_j · w − (Σα)/(2 C_i)) / (‖slope_j‖² + 1/(2 C_i))).

Hinge: one variable at a time within the room that Σα <= C_i leaves; where that room is used up, pairs of variables of
one term, so that their sum stays (Platt's SMO step). Each sweep visits the cuts in a fresh random order (Hsieh et al.
2008); cuts without weight that are not violated sit out the rest of the call (shrinking). A sweep returns by how much
it raised the dual objective; the caller stops when that is little against the duality gap.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Floats, Ids, Ints, Keys
from sidelight.kernels import GOLDEN, inline_kernel, inner, kernel, mix
from sidelight.solvers.working_set import WorkingSet, dot, subtract


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
    arguments = (
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
    )
    active = np.array(cuts, dtype=np.int64)
    if power == 2:
        made, gained = _squared_hinge(*arguments, active, at_most, enough, state)
    else:
        if pool.whole:
            raise ValueError("the hinge needs a working set with values")
        ptr, members = _by_term(pool)
        made, gained = _hinge(*arguments, ptr, members, active, at_most, enough, state)
    return made, gained


def dual_value(pool: WorkingSet, weights: Floats, prices: Floats, *, power: int, origin: Floats | None = None) -> float:
    """The dual objective of the working set's variables, a lower bound of the primal one."""
    moved = weights if origin is None else weights - origin
    value = inner(pool.offsets[: pool.count], pool.alphas[: pool.count]) - 0.5 * inner(moved, moved)
    if origin is not None:
        value -= inner(origin, moved)
    if power == 2:
        priced = prices > 0
        value -= float(np.sum(pool.sums[priced] ** 2 / (4.0 * prices[priced])))
    return value


def slacks(pool: WorkingSet, weights: Floats, cuts: Ints) -> Floats:
    """max(0, largest offset + slope · w) of every term over some cuts. # [N]"""
    out = np.zeros(pool.n_terms)
    place = pool.begin, pool.middle, pool.end, pool.indices, pool.values
    _slacks(*place, pool.offsets, pool.terms, weights, cuts, out)
    return out


def _by_term(pool: WorkingSet) -> tuple[Ints, Ints]:
    terms = pool.terms[: pool.count]
    members = np.argsort(terms, kind="stable")
    ptr = np.zeros(pool.n_terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=pool.n_terms), out=ptr[1:])
    return ptr, members


@kernel
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


@inline_kernel
def _rows_dot(indices: Ids, values: Floats, a: int, a_end: int, b: int, b_end: int) -> float:
    """The inner product of two rows with sorted indices."""
    total = 0.0
    while a < a_end and b < b_end:
        if indices[a] == indices[b]:
            total += values[a] * values[b]
            a += 1
            b += 1
        elif indices[a] < indices[b]:
            a += 1
        else:
            b += 1
    return total


@kernel
def _hinge(
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
    term_ptr: Ints,
    members: Ints,
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
            slope = offsets[j] + dot(indices, values, weights, begin[j], middle[j], end[j])
            if alphas[j] == 0.0 and slope <= 0.0:
                continue
            active[kept] = j
            kept += 1
            room = max(prices[i] - sums[i], 0.0)
            if norms[j] > 0.0:
                step = min(max(-alphas[j], slope / norms[j]), room)
            else:
                step = room if slope > 0.0 else -alphas[j] if slope < 0.0 else 0.0
            if step != 0.0:
                alphas[j] += step
                sums[i] += step
                subtract(indices, values, weights, begin[j], middle[j], end[j], step)
                gained += step * (slope - 0.5 * step * norms[j])
                slope -= step * norms[j]
            if slope <= 0.0:
                continue
            for m in range(term_ptr[i], term_ptr[i + 1]):
                other = members[m]
                if other == j or alphas[other] == 0.0:
                    continue
                other_slope = offsets[other] + dot(indices, values, weights, begin[other], middle[other], end[other])
                difference = slope - other_slope
                if difference <= 0.0:
                    continue
                cross = _rows_dot(indices, values, begin[j], end[j], begin[other], end[other])
                curve = norms[j] + norms[other] - 2.0 * cross
                step = min(alphas[other], difference / curve) if curve > 1e-12 else alphas[other]
                alphas[j] += step
                alphas[other] -= step
                subtract(indices, values, weights, begin[j], middle[j], end[j], step)
                subtract(indices, values, weights, begin[other], middle[other], end[other], -step)
                gained += step * (difference - 0.5 * step * curve)
                slope -= step * (norms[j] - cross)
        count = kept
        all_gained += gained
        if gained <= enough:
            return sweep + 1, all_gained
    return at_most, all_gained

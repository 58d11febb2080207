"""Dual coordinate descent over a working set of cuts.

The problem, over cuts j of terms i with price C_i:

    min_w  ½ ‖w‖² + Σ_i C_i ξ_i^p        ξ_i >= offset_j + slope_j · w  for the cuts j of term i,  ξ_i >= 0

Squared hinge (p = 2), dual:   max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖² − Σ_i (Σ_{j of i} α_j)² / (4 C_i)
Hinge (p = 1), dual:           max_{α >= 0}  Σ_j α_j offset_j − ½ ‖w(α)‖²      with Σ_{j of i} α_j <= C_i
where w(α) = −Σ_j α_j slope_j in both.

Squared hinge: one variable at a time, the step of Chang's thesis Eq. 6.9 and 6.10,

    d = max(−α_j, (offset_j + slope_j · w − (Σα)/(2 C_i)) / (‖slope_j‖² + 1/(2 C_i))).

Hinge: term by term, pairs of variables (Platt's SMO step), where the rest of C_i, which Σα does not use, is a variable
as well. Weight moves from the least violated cut with weight to the most violated cut, until their violations differ
little. Steps use the violations of one term's cuts, and the inner products of their slopes (`cut_products`); the weight
vector is updated afterwards.

Each sweep visits the cuts, or the terms, in a fresh random order (Hsieh et al. 2008); cuts without weight that are not
violated, or less than the others of their term, are skipped for the rest of the call (shrinking). A sweep returns its
gain in the dual objective; the caller stops when this is small compared with the duality gap.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.kernels import inner, kernel
from sidelight.objective.cuts import LOGISTIC, conjugate_total
from sidelight.solvers.duals.dual_logistic import logistic_steps
from sidelight.solvers.duals.term_steps import hinge_steps, shuffle, sweep_terms
from sidelight.solvers.duals.working_set import WorkingSet, dot, subtract


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
    """Sweep some cuts until a sweep gains at most `enough`; returns the number of sweeps and their total gain.

    `weights` and the pool's dual variables change in place; `state` [1] is the random state.
    """
    if power != 2:
        steps = logistic_steps if power == LOGISTIC else hinge_steps
        return sweep_terms(steps, pool, weights, prices, np.asarray(cuts), at_most, enough, state)
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


def dual_value(pool: WorkingSet, weights: Floats, prices: Floats, *, power: int, origin: Floats | None = None) -> float:
    """The dual objective of the working set's variables, a lower bound of the primal one."""
    moved = weights if origin is None else weights - origin
    value = inner(pool.offsets[: pool.count], pool.alphas[: pool.count]) - 0.5 * inner(moved, moved)
    if origin is not None:
        value -= inner(origin, moved)
    return value - conjugate_total(pool.sums, prices, power)


def worst_values(pool: WorkingSet, weights: Floats, cuts: Ints, *, power: int) -> Floats:
    """The largest offset + slope · w of every term over some cuts, or the value of a term without cuts. # [N]"""
    out = np.full(pool.n_terms, -np.inf if power == LOGISTIC else 0.0)
    place = pool.begin, pool.middle, pool.end, pool.indices, pool.values
    _slacks(*place, pool.offsets, pool.terms, weights, cuts, out)
    return out


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
        shuffle(active, count, state)
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

"""Dual coordinate descent over a working set, whatever the loss: the hinge, its square, or the logistic loss."""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.kernels import inner
from sidelight.objective.cuts import LOGISTIC, conjugate_total
from sidelight.solvers import dual_coordinate
from sidelight.solvers.duals.dual_logistic import logistic_steps
from sidelight.solvers.duals.working_set import WorkingSet


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
    if power == LOGISTIC:
        every = np.asarray(cuts)
        return dual_coordinate.sweep_terms(logistic_steps, pool, weights, prices, every, at_most, enough, state)
    return dual_coordinate.sweeps(
        pool, weights, prices, cuts=cuts, power=power, at_most=at_most, enough=enough, state=state
    )


def dual_value(pool: WorkingSet, weights: Floats, prices: Floats, *, power: int, origin: Floats | None = None) -> float:
    """The dual objective of the working set's variables, a lower bound of the primal one."""
    moved = weights if origin is None else weights - origin
    value = inner(pool.offsets[: pool.count], pool.alphas[: pool.count]) - 0.5 * inner(moved, moved)
    if origin is not None:
        value -= inner(origin, moved)
    return value - conjugate_total(pool.sums, prices, power)


def worst_values(pool: WorkingSet, weights: Floats, cuts: Ints, *, power: int) -> Floats:
    """The largest offset + slope · w of every term over some cuts, with what it is without any. # [N]"""
    return dual_coordinate.slacks(pool, weights, cuts, least=-np.inf if power == LOGISTIC else 0.0)

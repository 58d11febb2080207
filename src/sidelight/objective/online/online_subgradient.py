"""Whole epochs of stochastic subgradient steps over chains and classes, inside one kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import kernel
from sidelight.features.layout import Layout
from sidelight.objective.chain_block import (
    contest,
    cost_of,
    decode,
    leads,
    move_weights,
    scratch_for,
    slope_products,
)
from sidelight.objective.cuts import logistic_slope
from sidelight.objective.entries import ChainWeights, Examples, score_tokens, views_of


class Clock(NamedTuple):
    """Where a run stands. The weights are scale · u with scale = shrink / (λ steps), so that a step costs no more than
    the features of one example; see `solvers.subgradient`."""

    steps: float = 0.0
    shrink: float = 1.0  # product of all projections
    norm: float = 0.0  # ‖u‖², known where projections are made
    scales: float = 0.0  # Σ weight · scale over the steps that are averaged
    weight: float = 0.0  # Σ weight
    offset: float = 0.0  # Σ rate · slope of the loss · Δ over the steps, in units of u


def subgradient_epoch(
    data: Examples,
    layout: Layout,
    rates: Floats,  # [N] N C_i / Σ C
    *,
    order: Ints,
    vector: Floats,
    totals: Floats,
    shares: Floats,
    clock: Clock,
    decay: float,
    radius: float,
    by_time: bool,
    power: int,
) -> Clock:
    """One step w ← (1 − 1/t) w − rate · g · slope / (λ t) for each example in the given order, λ = `decay`.

    The slope is that of the example's worst output at the weights, g that of the loss of the given power there, or for
    smooth losses where the step ends. Then the weights are drawn back to the ball of the given radius, if that is
    finite. `vector` (u) moves in place, and so do `shares` [N], the sums of g in units of u, and `totals`, from which
    the average of the weights is made, each with weight t if `by_time`, else 1. Returns the clock.
    """
    arguments = (data, rates, order, views_of(layout, vector), views_of(layout, totals), shares)
    return Clock(*_epoch(*arguments, views_of(layout, layout.zeros()), clock, decay, radius, by_time, power))


@kernel
def loss_slope(value: float, bend: float, power: int) -> float:
    """g = ℓ'(value − bend · g), the slope of a loss where a step against it ends; of the hinge where it begins."""
    if power == 1:
        return 1.0 if value > 0.0 else 0.0
    if power == 2:
        return 2.0 * max(value, 0.0) / (1.0 + 2.0 * bend)
    return logistic_slope(value, bend, 0.0)


@kernel
def _epoch(
    data: Examples,
    rates: Floats,
    order: Ints,
    vector: ChainWeights,
    totals: ChainWeights,
    shares: Floats,
    slope: ChainWeights,
    clock: Clock,
    decay: float,
    radius: float,
    by_time: bool,
    power: int,
) -> tuple[float, float, float, float, float, float]:
    zero: Any = np.int64(0)  # as numbers of their own they would compile everything once more
    one: Any = np.int64(1)
    room = scratch_for(data, vector, one)
    starts, scores, guess, every, transition = data.starts, room.scores, room.guess, room.every, room.transition
    where, turn, moves, values = room.where, room.turn, room.moves, room.values
    steps, shrink, norm, scales, weight, offset = clock
    projecting = radius < np.inf
    for i in order:
        scale = shrink / (decay * max(steps, 1.0))
        score_tokens(data, vector, i, every, starts[i + 1] - starts[i], scores)
        decode(data, i, 1.0 / scale, room)  # the best of score + cost under w, in units of u
        leads(data, vector, i, guess, zero, one, scores, values)
        ahead = values[0]
        cost = cost_of(data, i, guess, zero)
        value = cost + scale * ahead
        steps += 1.0
        squared = 0.0
        if projecting or power != 1:
            slope_products(data, slope, i, guess, zero, one, zero, room, values)
            squared = values[0]
        if power != 1:
            value -= scale * ahead / steps
        share = loss_slope(value, rates[i] * squared / (decay * steps), power)
        if share > 0.0 and rates[i] > 0.0:
            shares[i] += share / shrink
            moves[0] = share * rates[i] / shrink
            offset += moves[0] * cost
            contested = contest(data, i, guess, zero, one, where)
            move_weights(data, vector, i, guess, zero, one, moves, 1.0, where, contested, turn, transition)
            move_weights(data, totals, i, guess, zero, one, moves, scales, where, contested, turn, room.none)
            if projecting:
                norm = max(norm - 2.0 * moves[0] * ahead + moves[0] * moves[0] * squared, 0.0)
        scale = shrink / (decay * steps)
        if projecting and scale * np.sqrt(norm) > radius:
            shrink *= radius / (scale * np.sqrt(norm))
            scale = shrink / (decay * steps)
        now = steps if by_time else 1.0
        scales += now * scale
        weight += now
    return steps, shrink, norm, scales, weight, offset

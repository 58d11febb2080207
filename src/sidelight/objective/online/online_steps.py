"""Whole epochs of MIRA, passive–aggressive, AROW and subgradient steps over chains and classes, inside one kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import copy_row, kernel
from sidelight.features.counts import RowRoom, add_path, shape_of
from sidelight.features.layout import Layout
from sidelight.features.rows import TokenFeatures
from sidelight.objective.chain_block import (
    augment,
    contest,
    cost_of,
    decode,
    leads,
    move_weights,
    pairwise_steps,
    scratch_for,
    slope_products,
)
from sidelight.objective.cuts import logistic_slope
from sidelight.objective.entries import ChainWeights, Examples, score_tokens, views_of
from sidelight.spaces.chains.chain_kernels import longest
from sidelight.spaces.chains.k_best_kernels import k_best_path, lists_for

PRECISE = 1e-10  # to which the problem of several outputs is solved, relative to the violation
MOST_STEPS = 1000
FLAT = 1e-12  # a squared slope no longer than this cannot be learned from


def mira_epoch(
    data: Examples,
    layout: Layout,
    caps: Floats,  # [N] may be inf
    eases: Floats,  # [N]
    *,
    order: Ints,
    weights: Floats,
    totals: Floats,
    clock: float,
    k: int,
    with_cost: bool,
    root: bool,
) -> tuple[int, float]:
    """One step for each example in the given order: the least change of the weights that leaves its k best outputs
    no violation, or as little as the cap allows; see `solvers.mira`.

    Outputs are the best ones of score plus cost if `with_cost`, else of score; they are to score below the target by
    their cost, or if `root` by its square root. `weights` move in place, and `totals` sum clock · move, so that the
    average of all weights so far is weights − totals / clock. Returns the number of examples that moved the weights,
    and the clock, one tick per example.
    """
    views = views_of(layout, weights), views_of(layout, totals), views_of(layout, layout.zeros())
    several = None if k == 1 else k
    return _mira_epoch(data, caps, eases, order, *views, clock, k, several, 1.0 if with_cost else 0.0, root)


@kernel
def _mira_epoch(
    data: Examples,
    caps: Floats,
    eases: Floats,
    order: Ints,
    weights: ChainWeights,
    totals: ChainWeights,
    slope: ChainWeights,
    clock: float,
    k: int,
    several: int | None,  # k once more; None for 1, and then no k best outputs are compiled
    cost_scale: float,
    root: bool,
) -> tuple[int, float]:
    room = scratch_for(data, weights, k)
    most = longest(data.starts, 0, data.starts.shape[0] - 1)
    size = data.closed.shape[1]
    lists = lists_for(1 if several is None else most, size, k)
    starts, scores, every, where, turn = data.starts, room.scores, room.every, room.where, room.turn
    transition, values, moves = room.transition, room.values, room.moves
    labels = np.empty(k * most, np.int32)
    gram = np.empty(k * k)
    alphas = np.empty(k)
    zero: Any = np.int64(0)  # a separate type would compile everything again
    moved = 0
    for i in order:
        length = starts[i + 1] - starts[i]
        score_tokens(data, weights, i, every, length, scores)
        if several is None:
            decode(data, i, cost_scale, room)
            for t in range(length):
                labels[t] = room.guess[t]
            count = zero + 1
        else:
            augment(data, i, cost_scale, scores, room.augmented)
            into = transition.T.copy()
            count = k_best_path(room.augmented, into, room.start, room.end, 0, length, lists, alphas, labels, 0, length)
        leads(data, weights, i, labels, zero, count, scores, values)
        violated = False
        for j in range(count):
            offset = cost_of(data, i, labels, j * length)
            values[j] += np.sqrt(offset) if root else offset
            violated |= values[j] > 0.0
        if violated and caps[i] > 0.0:
            for j in range(count):
                slope_products(data, slope, i, labels, zero, count, j, room, moves)
                copy_row(moves[:count], gram[j * k : j * k + count])
            if count == 1:
                curve = gram[0] + eases[i]
                moves[0] = min(caps[i], values[0] / curve) if curve > FLAT else 0.0
                steps_taken = 1 if moves[0] > 0.0 else 0
            else:
                for j in range(count):
                    alphas[j] = 0.0
                    if caps[i] == np.inf and gram[j * k + j] <= FLAT:
                        values[j] = -np.inf  # no weights can satisfy it
                steps_taken = pairwise_steps(
                    caps[i], alphas, zero, count, gram, zero, k, values, moves, MOST_STEPS, PRECISE
                )
            if steps_taken > 0:
                moved += 1
                contested = contest(data, i, labels, zero, count, where)
                move_weights(data, weights, i, labels, zero, count, moves, 1.0, where, contested, turn, transition)
                move_weights(data, totals, i, labels, zero, count, moves, clock, where, contested, turn, room.none)
        clock += 1.0
    return moved, clock


def arow_epoch(
    data: Examples,
    layout: Layout,
    rates: Floats,  # [N] may be inf
    *,
    order: Ints,
    weights: Floats,
    variances: Floats,
    with_cost: bool,
    root: bool,
) -> int:
    """One step for each example in the given order; see `solvers.arow`.

    The output is the best one of score plus cost if `with_cost`, else of score; it is to score below the target by its
    cost, or if `root` by its square root. `weights` and `variances` move in place. Returns the number of examples that
    moved them.
    """
    shape = shape_of(layout)
    shape[8] = layout.dense_at  # entries count the rows of dense features too
    scale = 1.0 if with_cost else 0.0
    slope = layout.zeros()
    return _arow_epoch(data, rates, order, views_of(layout, weights), weights, variances, slope, shape, scale, root)


@kernel
def _arow_epoch(
    data: Examples,
    rates: Floats,
    order: Ints,
    views: ChainWeights,  # of the weights
    weights: Floats,  # [W]
    variances: Floats,  # [W]
    slope: Floats,  # [W] all zero before and after
    shape: Ints,  # of `counts.add_path`
    cost_scale: float,
    root: bool,
) -> int:
    room = scratch_for(data, views, 1)
    starts, scores, values = data.starts, room.scores, room.values
    opened = room.transition.reshape(-1)
    most = 0
    for i in range(starts.shape[0] - 1):
        tokens = starts[i + 1] - starts[i]
        entries = data.indptr[starts[i + 1]] - data.indptr[starts[i]] + tokens * data.dense.shape[1]
        most = max(most, 2 * entries + 4 * tokens + 4)
    touched, amounts = np.empty(most, np.int32), np.empty(most)
    entered = RowRoom(touched, amounts, np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
    features = TokenFeatures(data.indptr, data.indices, data.values, data.dense)
    zero: Any = np.int64(0)  # as numbers of their own they would compile everything once more
    one: Any = np.int64(1)
    moved = 0
    for i in order:
        length = starts[i + 1] - starts[i]
        score_tokens(data, views, i, room.every, length, scores)
        decode(data, i, cost_scale, room)
        leads(data, views, i, room.guess, zero, one, scores, values)
        offset = cost_of(data, i, room.guess, zero)
        violation = values[0] + (np.sqrt(offset) if root else offset)
        if not violation > 0.0 or rates[i] == np.inf:
            continue
        guess, right = room.guess[:length], data.targets[starts[i] : starts[i + 1]]
        count = add_path(starts[i], guess, right, features, shape, 1.0, entered, zero)
        count = add_path(starts[i], right, guess, features, shape, -1.0, entered, count)
        for k in range(count):
            slope[touched[k]] += amounts[k]
        unsure = 0.0
        for k in range(count):  # a place that was touched twice is found empty the second time
            amounts[k] = slope[touched[k]]
            slope[touched[k]] = 0.0
            unsure += variances[touched[k]] * amounts[k] * amounts[k]
        if unsure == 0.0:
            continue
        moved += 1
        step = violation / (unsure + rates[i])
        for k in range(count):
            at = touched[k]
            move = step * variances[at] * amounts[k]
            weights[at] -= move
            if shape[6] <= at < shape[7]:
                opened[at - shape[6]] -= move
            variances[at] /= 1.0 + variances[at] * amounts[k] * amounts[k] / rates[i]
    return moved


class Clock(NamedTuple):
    """The state of a run. The weights are scale · u with scale = shrink / (λ steps), so that a step costs no more than
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
    return Clock(
        *_subgradient_epoch(*arguments, views_of(layout, layout.zeros()), clock, decay, radius, by_time, power)
    )


@kernel
def loss_slope(value: float, bend: float, power: int) -> float:
    """g = ℓ'(value − bend · g), the slope of a loss where a step against it ends; of the hinge where it begins."""
    if power == 1:
        return 1.0 if value > 0.0 else 0.0
    if power == 2:
        return 2.0 * max(value, 0.0) / (1.0 + 2.0 * bend)
    return logistic_slope(value, bend, 0.0)


@kernel
def _subgradient_epoch(
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

"""Whole epochs of MIRA and passive–aggressive steps over chains and classes, inside one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import copy_row, kernel
from sidelight.features.layout import Layout
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
    return _epoch(data, caps, eases, order, *views, clock, k, several, 1.0 if with_cost else 0.0, root)


@kernel
def _epoch(
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
    zero: Any = np.int64(0)  # as a number of its own it would compile everything once more
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

"""Epochs of online learners over any structure: a call of its inference for every example.

First-order chains and classes have whole epochs in one kernel (`online`, `online_subgradient`), which make the same
steps.
"""

from __future__ import annotations

import math

import numpy as np

from sidelight.arrays import Floats, Floats32, Ids, Ints
from sidelight.objective.batch import Batch
from sidelight.objective.chain_scorer import ChainScorer
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online_subgradient import Clock
from sidelight.spaces import ChainSpace

FIRST = np.zeros(1, dtype=np.int64)


def has_kernels(batch: Batch) -> bool:
    """Whether epochs over these inputs can be made in one kernel."""
    space = batch.space
    return isinstance(batch.scorer, ChainScorer) and isinstance(space, ChainSpace) and space.left_out is None


def plain_perceptron_epoch(
    batch: Batch, targets: Ids, importance: Floats, order: Ints, weights: Floats32, totals: Floats, clock: float
) -> tuple[int, float]:
    """One pass of the structured perceptron, as `online.perceptron_epoch` makes it."""
    now, mistakes = weights.astype(np.float64), 0
    for i in order.tolist():
        one, right = batch.part(i, i + 1), targets[int(batch.starts[i]) : int(batch.starts[i + 1])]
        found = one.best(now).labels
        if not np.array_equal(found, right):
            mistakes += 1
            moves = one.differences(FIRST, right, found, scales=importance[i : i + 1])
            now[moves.indices] += moves.values
            totals[moves.indices] += clock * moves.values
        clock += 1.0
    weights[:] = now
    return mistakes, clock


def plain_subgradient_epoch(
    terms: TargetTerms,
    rates: Floats,  # [N] N C_i / Σ C
    *,
    order: Ints,
    vector: Floats,
    totals: Floats,
    clock: Clock,
    decay: float,
    radius: float,
    by_time: bool,
) -> Clock:
    """One step for each example in the given order, as `online_subgradient.subgradient_epoch` makes it."""
    steps, shrink, norm, scales, weight, offset = clock
    projecting = radius < math.inf
    for i in order.tolist():
        scale = shrink / (decay * max(steps, 1.0))
        one = terms.part(i, i + 1)
        worst = one.worst(scale * vector)
        steps += 1.0
        if worst.values[0] > 0.0 and rates[i] > 0.0:
            cut = one.cuts(worst, FIRST)
            slope, where, move = cut.slopes.values, cut.slopes.indices, rates[i] / shrink
            offset += move * float(cut.offsets[0])
            if projecting:
                ahead = float(slope @ vector[where])
                norm = max(norm - 2.0 * move * ahead + move * move * float(slope @ slope), 0.0)
            vector[where] -= move * slope
            totals[where] -= scales * move * slope
        scale = shrink / (decay * steps)
        if projecting and scale * math.sqrt(norm) > radius:
            shrink *= radius / (scale * math.sqrt(norm))
            scale = shrink / (decay * steps)
        now = steps if by_time else 1.0
        scales += now * scale
        weight += now
    return Clock(steps, shrink, norm, scales, weight, offset)

"""Whole epochs of AROW steps over chains and classes, inside one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import kernel
from sidelight.features.counts import RowRoom, add_path, shape_of
from sidelight.features.layout import Layout
from sidelight.features.rows import TokenFeatures
from sidelight.objective.chain_block import cost_of, decode, leads, scratch_for
from sidelight.objective.entries import ChainWeights, Examples, score_tokens, views_of


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
    return _epoch(data, rates, order, views_of(layout, weights), weights, variances, slope, shape, scale, root)


@kernel
def _epoch(
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

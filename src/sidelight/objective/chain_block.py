"""One example of a chain inside a kernel: its worst output, and steps of the dual variables of its known outputs.

The dual variables α_j >= 0 of one example's outputs o_j sum to at most its price C; the rest belongs to the target y,
whose cut is zero. With the slopes s_j = Φ(o_j) − Φ(y) and v_j = Δ(o_j, y) + w·s_j, moving the variables by m moves the
weights by −Σ_j m_j s_j and changes the dual objective by m·v − ½ mᵀ G m, where G holds the inner products of the
slopes. So steps use only the small vectors α and v, and the weights are updated once after all steps.

The inner product of two slopes is the lead of one output under weights that are the slope of the other.

Outputs lie one after another in a flat array, those of one example from `at` on; so do their inner products. Views of
them would cost more than the work on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import AnyFloats, Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.objective.entries import ChainWeights, Examples, add_tokens, clear_tokens, score_tokens
from sidelight.spaces.chains.chain_kernels import forward, longest

TIE = 1e-12  # violations that differ by less are equal, and the first of them is chosen


class Scratch(NamedTuple):
    """Room for one example at a time."""

    scores: Floats  # [longest, L]
    augmented: Floats  # [longest, L] with costs, and -inf if a label is not admitted
    best: Floats  # [longest, L]
    guess: Ids  # [longest]
    every: Ints  # [longest] 0, 1, …
    transition: Floats  # [L, L] weights, -inf where not allowed
    start: Floats  # [L] 0, or -inf where not allowed
    end: Floats  # [L]
    where: Ints  # [longest] tokens at which known outputs differ from the target
    turn: Floats  # [longest, L] how the weights of these tokens' labels are to change
    values: Floats  # [outputs] v
    moves: Floats  # [outputs] m
    minus_one: Floats  # [1]
    none: Floats  # [0, 0]


@inner_kernel
def scratch_for(data: Examples, weights: ChainWeights, outputs: int) -> Scratch:
    """Room for the examples, with so many outputs each at most."""
    size = data.closed.shape[1]
    most = longest(data.starts, 0, data.starts.shape[0] - 1)
    transition = data.closed[:size].copy()
    if weights.transition.shape[0] > 0:
        transition += weights.transition
    return Scratch(
        np.empty((most, size)),
        np.empty((most, size)),
        np.empty((most, size)),
        np.empty(most, np.int32),
        np.arange(most),
        transition,
        data.closed[size].copy(),
        data.closed[size + 1].copy(),
        np.empty(most, np.int64),
        np.zeros((most, size)),
        np.empty(max(outputs, 1)),
        np.empty(max(outputs, 1)),
        np.full(1, -1.0),
        np.empty((0, 0)),
    )


@inner_kernel
def augment(data: Examples, i: int, cost_scale: float, scores: Floats, out: Floats) -> None:
    """The scores of example i with so many times its costs, and -inf if a label is not admitted."""
    targets, costs, token_weights, admitted = data.targets, data.costs, data.token_weights, data.admitted
    first = data.starts[i]
    weighted = token_weights.shape[0] > 0
    masked = admitted.shape[0] > 0
    for t in range(data.starts[i + 1] - first):
        row = scores[t]
        to = out[t]
        if cost_scale != 0.0:
            cost = costs[targets[first + t]]
            weight = cost_scale * token_weights[first + t] if weighted else cost_scale
            for label in range(row.shape[0]):
                to[label] = row[label] + weight * cost[label]
        else:
            for label in range(row.shape[0]):
                to[label] = row[label]
        if masked:
            for label in range(row.shape[0]):
                if admitted[first + t, label] == 0:
                    to[label] = -np.inf


@inner_kernel
def backtrack(best: AnyFloats, transition: AnyFloats, end: AnyFloats, count: int, out: Ids) -> float:
    """The path that the values of `forward` lead back to; returns its value."""
    size = end.shape[0]
    label = 0
    value: float = best[count - 1, 0] + end[0]
    for other in range(1, size):
        candidate = best[count - 1, other] + end[other]
        if candidate > value:
            value = candidate
            label = other
    out[count - 1] = label
    for t in range(count - 1, 0, -1):
        previous = 0
        top = best[t - 1, 0] + transition[0, label]
        for other in range(1, size):
            candidate = best[t - 1, other] + transition[other, label]
            if candidate > top:
                top = candidate
                previous = other
        label = previous
        out[t - 1] = label
    return value


@inner_kernel
def decode(data: Examples, i: int, cost_scale: float, room: Scratch) -> float:
    """The best output of example i under the scores and so many times its costs, in `guess`; returns its value."""
    count = data.starts[i + 1] - data.starts[i]
    augment(data, i, cost_scale, room.scores, room.augmented)
    forward(room.augmented, room.transition, room.start, 0, count, room.best)
    return backtrack(room.best, room.transition, room.end, count, room.guess)


@inner_kernel
def cost_of(data: Examples, i: int, labels: Ids, at: int) -> float:
    """Δ(o, y) of the output at `at`."""
    first = data.starts[i]
    weighted = data.token_weights.shape[0] > 0
    total = 0.0
    for t in range(data.starts[i + 1] - first):
        cost = data.costs[data.targets[first + t], labels[at + t]]
        total += data.token_weights[first + t] * cost if weighted else cost
    return total


@inner_kernel
def leads(
    data: Examples, weights: ChainWeights, i: int, labels: Ids, at: int, count: int, scores: Floats, out: Floats
) -> None:
    """out[j] = w·Φ(o_j) − w·Φ(y) for `count` outputs, from the scores of the tokens at which they differ."""
    starts, targets, transition = data.starts, data.targets, weights.transition
    first = starts[i]
    length = starts[i + 1] - first
    chain = transition.shape[0] > 0
    for j in range(count):
        total = 0.0
        differed = False
        for t in range(length):
            label, target = labels[at + t], targets[first + t]
            differs = label != target
            if differs:
                total += scores[t, label] - scores[t, target]
            if chain and t > 0 and (differs or differed):
                total += transition[labels[at + t - 1], label] - transition[targets[first + t - 1], target]
            differed = differs
        out[j] = total
        at += length


@inner_kernel
def contest(data: Examples, i: int, labels: Ids, at: int, count: int, where: Ints) -> int:
    """Find the tokens at which some of `count` outputs differ from the target; returns their number."""
    first = data.starts[i]
    length = data.starts[i + 1] - first
    contested = 0
    for t in range(length):
        target = data.targets[first + t]
        for j in range(count):
            if labels[at + j * length + t] != target:
                where[contested] = t
                contested += 1
                break
    return contested


@inner_kernel
def turn_by(
    data: Examples,
    i: int,
    labels: Ids,
    at: int,
    count: int,
    moves: Floats,
    scale: float,
    where: Ints,
    contested: int,
    turn: Floats,
    transition: Floats,
    opened: Floats,
) -> None:
    """Add −scale · Σ_j m_j s_j to the rows of `turn`, one for each contested token, and to the transition weights.

    `opened` are the transitions that decoding uses, or none.
    """
    targets = data.targets
    first, last = data.starts[i], data.starts[i + 1]
    chain, both = transition.shape[0] > 0, opened.shape[0] > 0
    for j in range(count):
        amount = scale * moves[j]
        if amount != 0.0:
            following = -1  # the transition into this token has been moved
            for p in range(contested):
                t = where[p]
                label, target = labels[at + t], targets[first + t]
                if label == target:
                    continue
                turn[p, label] -= amount
                turn[p, target] += amount
                if not chain:
                    continue
                for to in range(t, t + 2):
                    if to != following and to > 0 and first + to < last:
                        before, after = labels[at + to - 1], labels[at + to]
                        target_before, target_after = targets[first + to - 1], targets[first + to]
                        transition[before, after] -= amount
                        transition[target_before, target_after] += amount
                        if both:
                            opened[before, after] -= amount
                            opened[target_before, target_after] += amount
                following = t + 1
        at += last - first


@inner_kernel
def move_weights(
    data: Examples,
    weights: ChainWeights,
    i: int,
    labels: Ids,
    at: int,
    count: int,
    moves: Floats,
    scale: float,
    where: Ints,
    contested: int,
    turn: Floats,
    opened: Floats,
) -> None:
    """weights −= scale · Σ_j m_j s_j; `turn` is all zero before and after.

    `opened` are the transitions of these weights that decoding uses, or none.
    """
    turn_by(data, i, labels, at, count, moves, scale, where, contested, turn, weights.transition, opened)
    add_tokens(data, weights, i, where, contested, turn)
    for p in range(contested):
        for label in range(turn.shape[1]):
            turn[p, label] = 0.0


@inner_kernel
def slope_products(
    data: Examples,
    slope: ChainWeights,
    i: int,
    labels: Ids,
    at: int,
    count: int,
    which: int,
    room: Scratch,
    out: Floats,
) -> None:
    """out[j] = s_which · s_j for `count` outputs; `slope` is all zero before and after."""
    where, scores, turn, ones = room.where, room.augmented, room.turn, room.minus_one
    own_at = at + which * (data.starts[i + 1] - data.starts[i])
    one: Any = np.int64(1)  # a separate type would compile everything again
    own = contest(data, i, labels, own_at, one, where)
    move_weights(data, slope, i, labels, own_at, one, ones, 1.0, where, own, turn, room.none)
    contested = contest(data, i, labels, at, count, where)
    score_tokens(data, slope, i, where, contested, scores)
    leads(data, slope, i, labels, at, count, scores, out)
    own = contest(data, i, labels, own_at, one, where)
    clear_tokens(data, slope, i, where, own)
    clear_transitions(data, slope.transition, i, labels, own_at)


@inner_kernel
def clear_transitions(data: Examples, transition: Floats, i: int, labels: Ids, at: int) -> None:
    """Set the weights of the transitions of an output and of the target to zero."""
    if transition.shape[0] > 0:
        targets = data.targets
        first = data.starts[i]
        for t in range(1, data.starts[i + 1] - first):
            transition[labels[at + t - 1], labels[at + t]] = 0.0
            transition[targets[first + t - 1], targets[first + t]] = 0.0


@kernel
def pairwise_steps(
    price: float,
    alphas: Floats,
    base: int,
    count: int,
    gram: Floats,
    gram_at: int,
    rows: int,
    values: Floats,
    moves: Floats,
    at_most: int,
    share: float,
) -> int:
    """Move weight from the output that is violated least to the one that is violated most, by exact steps.

    Stops when they differ by at most `share` of what the worst and the average differed by at first: of the gap, that
    is, over the price; a tiny weight on some output must not count. `moves` is how the variables, from `base` on, have
    moved in all. The target takes part with v = 0 and what the variables leave of the price. The inner
    products of the slopes are rows of `rows` from `gram_at` on. Returns the steps made.
    """
    left = price
    paid = 0.0
    for j in range(count):
        left -= alphas[base + j]
        paid += alphas[base + j] * values[j]
        moves[j] = 0.0
    left = max(left, 0.0)
    enough = 0.0
    for step in range(at_most):
        up, down = -1, -1
        high = 0.0
        low = 0.0 if left > 0.0 else np.inf
        for j in range(count):
            value = values[j]
            if value > high + TIE:
                high = value
                up = j
            if value < low - TIE and alphas[base + j] > 0.0:
                low = value
                down = j
        if step == 0:
            enough = max(share * (high - paid / price), TIE * (1.0 + abs(high)))
        if up == down or high - low <= enough:
            return step
        most = left if down < 0 else alphas[base + down]
        up_at, down_at = gram_at + up * rows, gram_at + down * rows
        curve = 0.0
        if up >= 0:
            curve += gram[up_at + up]
        if down >= 0:
            curve += gram[down_at + down]
        if up >= 0 and down >= 0:
            curve -= 2.0 * gram[up_at + down]
        amount = most if curve * most <= high - low else (high - low) / curve
        if up >= 0:
            alphas[base + up] += amount
            moves[up] += amount
            for j in range(count):
                values[j] -= amount * gram[up_at + j]
        else:
            left += amount
        if down >= 0:
            alphas[base + down] = 0.0 if amount == most else alphas[base + down] - amount
            moves[down] -= amount
            for j in range(count):
                values[j] += amount * gram[down_at + j]
        else:
            left = 0.0 if amount == most else left - amount
    return at_most

"""Epochs of online learners over outputs of any structure: an inference for every example, and a sparse step.

The steps are those of the kernels for first-order chains (`online`, `online_steps`), which are many times faster;
solvers can use either. The term of an example provides the best output by score, or by score plus cost, and the slope
Φ(x, ŷ) − Φ(x, y) and the cost of an output.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.objective.chain_block import pairwise_steps
from sidelight.objective.cuts import Worst
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online.online_steps import FLAT, MOST_STEPS, PRECISE, Clock, loss_slope
from sidelight.spaces import Cost, sums

ALONE = np.zeros(1, dtype=np.int64)  # the number of an example in a batch of one


class Slope(NamedTuple):
    """Φ(x, ŷ) − Φ(x, y) of an output ŷ, and its cost."""

    indices: Ids  # distinct
    values: Floats
    cost: float

    def dot(self, weights: Floats) -> float:
        return float(self.values @ weights[self.indices])


def perceptron_epoch(
    terms: TargetTerms, importance: Floats, order: Ints, weights: Floats32, totals: Floats, clock: float
) -> tuple[int, float]:
    """`online.perceptron_epoch`, of any structure."""
    wide = weights.astype(np.float64)
    mistakes = 0
    for i in order:
        one = terms.part(i, i + 1)
        guess = one.batch.best(wide).labels
        if not np.array_equal(guess, one.cost.targets):
            mistakes += 1
            slope = _slope(one, guess)
            moves = -importance[i] * slope.values
            weights[slope.indices] += moves
            wide[slope.indices] = weights[slope.indices]
            totals[slope.indices] += clock * moves
        clock += 1.0
    return mistakes, clock


def mira_epoch(
    terms: TargetTerms,
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
    """`online_steps.mira_epoch`, of any structure that has the k best outputs, or the best for k = 1."""
    scratch = np.zeros(len(weights))
    moved = 0
    for i in order:
        one = terms.part(i, i + 1)
        slopes = [_slope(one, output) for output in _outputs(one, weights, k, with_cost)]
        margins = np.array([np.sqrt(slope.cost) if root else slope.cost for slope in slopes])
        values = margins + [slope.dot(weights) for slope in slopes]
        if np.any(values > 0.0) and caps[i] > 0.0:
            moves = _least_change(slopes, values, float(caps[i]), float(eases[i]), scratch)
            moved += bool(np.any(moves > 0.0))
            for move, slope in zip(moves, slopes):
                weights[slope.indices] -= move * slope.values
                totals[slope.indices] -= clock * move * slope.values
        clock += 1.0
    return moved, clock


def arow_epoch(
    terms: TargetTerms,
    rates: Floats,  # [N] may be inf
    *,
    order: Ints,
    weights: Floats,
    variances: Floats,
    with_cost: bool,
    root: bool,
) -> int:
    """`online_steps.arow_epoch`, of any structure."""
    moved = 0
    for i in order:
        one = terms.part(i, i + 1)
        slope = _slope(one, _outputs(one, weights, 1, with_cost)[0])
        violation = slope.dot(weights) + (np.sqrt(slope.cost) if root else slope.cost)
        if not violation > 0.0 or rates[i] == np.inf:
            continue
        unsure = variances[slope.indices]
        squares = slope.values * slope.values
        spread = float(unsure @ squares)
        if spread == 0.0:
            continue
        moved += 1
        weights[slope.indices] -= violation / (spread + rates[i]) * unsure * slope.values
        variances[slope.indices] = unsure / (1.0 + unsure * squares / rates[i])
    return moved


def subgradient_epoch(
    terms: TargetTerms,
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
    """`online_steps.subgradient_epoch`, of any structure."""
    steps, shrink, norm, scales, weight, offset = clock
    for i in order:
        scale = shrink / (decay * max(steps, 1.0))
        one = terms.part(i, i + 1)
        assert isinstance(one.cost, Cost)
        raised = replace(one.cost, costs=one.cost.costs / scale)  # the best of score + cost under w, in units of u
        slope = _slope(one, one.batch.best(vector, cost=raised).labels)
        ahead, squared = slope.dot(vector), float(slope.values @ slope.values)
        value = slope.cost + scale * ahead
        steps += 1.0
        if power != 1:
            value -= scale * ahead / steps
        share = loss_slope(value, float(rates[i]) * squared / (decay * steps), power)
        if share > 0.0 and rates[i] > 0.0:
            move = share * float(rates[i]) / shrink
            shares[i] += share / shrink
            offset += move * slope.cost
            vector[slope.indices] -= move * slope.values
            totals[slope.indices] -= scales * move * slope.values
            norm = max(norm - 2.0 * move * ahead + move * move * squared, 0.0)
        scale = shrink / (decay * steps)
        if scale * np.sqrt(norm) > radius:
            shrink *= radius / (scale * np.sqrt(norm))
            scale = shrink / (decay * steps)
        now = steps if by_time else 1.0
        scales += now * scale
        weight += now
    return Clock(steps, shrink, norm, scales, weight, offset)


def _slope(one: TargetTerms, output: Ids) -> Slope:
    """The slope and the cost of an output of the example."""
    cuts = one.cuts(Worst(np.zeros(1), output), ALONE)
    return Slope(cuts.slopes.indices, cuts.slopes.values, float(cuts.offsets[0]))


def _outputs(one: TargetTerms, weights: Floats, k: int, with_cost: bool) -> Ids:
    """The k best outputs of the one example, by score plus cost if `with_cost`, else by score. # [k or fewer, T]"""
    batch = one.batch
    if k == 1:
        return batch.best(weights, cost=one.cost if with_cost else None).labels[None]
    space, scores = batch.space, batch.scores(weights)
    if with_cost:
        bonus = np.zeros((len(one.cost.targets), space.n_labels))
        one.cost.add_to(bonus, 0)
        space, scores = sums.raised(space, scores, bonus)
    labels, values = sums.k_best(space, scores, k, n_jobs=1)
    return labels[values[:, 0] > -np.inf]


def _least_change(slopes: list[Slope], values: Floats, cap: float, ease: float, scratch: Floats) -> Floats:
    """How far to go against each slope: the dual variables of `solvers.mira`. # [k]"""
    count = len(slopes)
    gram = np.empty((count, count))
    for j, slope in enumerate(slopes):
        scratch[slope.indices] = slope.values
        gram[j] = [other.dot(scratch) for other in slopes]
        scratch[slope.indices] = 0.0
    if count == 1:
        curve = gram[0, 0] + ease
        return np.array([min(cap, values[0] / curve) if curve > FLAT else 0.0])
    alphas, moves = np.zeros(count), np.zeros(count)
    if cap == np.inf:
        values = np.where(np.diag(gram) <= FLAT, -np.inf, values)  # no weights can satisfy these
    pairwise_steps(cap, alphas, 0, count, gram.ravel(), 0, count, values, moves, MOST_STEPS, PRECISE)
    return moves

"""Dual ascent over expectation constraints, for a batch of chains (thesis A.1, with Eq. A.3 corrected).

With scores s and multipliers μ = λ/γ, the best belief is q ∝ exp(s/γ − μ·φ), and μ minimises the smooth convex

    D(μ) = log Σ_y exp(s(y)/γ − μ·φ(y)) + μ·b        over  μ >= 0,  Σ_{r in g} share_r μ_r <= ρ_g/γ  for soft groups

whose gradient is b − E_q[φ]. Each step goes towards the minimum of a quadratic model of the dual and is halved until D
decreases enough (Armijo), so D never rises. It stops when a unit step along the projected gradient is shorter than the
tolerance: then no hard row is violated by more, and multipliers and slacks are consistent.

The admitted multipliers are μ >= 0 with Σ_{r in g} share_r μ_r <= cap_g for every soft group g; FIXED ones do not
change. The model is minimised over this set (projected quasi-Newton; Schmidt, van den Berg, Friedlander and Murphy
2009), and its matrix B learns the curvature from gradients (BFGS with Powell's damping). The minimisation uses
projected gradients with exact steps, which need products with B but no sums over the chain.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.inference.expected.expected_kernels import (
    costs_of,
    in_logs,
    means_of,
    scaled,
    scaled_beliefs,
    scaled_moves,
)
from sidelight.spaces.chains.chain_kernels import longest

FIXED = -2
HARD = -1
MOST_MULTIPLIER = 1e9  # a row that this multiplier does not satisfy is infeasible
INNER_STEPS = 60


@inner_kernel
def project(point: Floats, group: Ints, share: Floats, cap: Floats) -> None:
    """Project to the nearest admitted multipliers; cap [R] is the cap of a row's group, and rows of a group are
    consecutive.
    """
    r = 0
    while r < point.shape[0]:
        last = r + 1
        if group[r] == HARD:
            point[r] = min(max(point[r], 0.0), MOST_MULTIPLIER)
        elif group[r] >= 0:
            while last < point.shape[0] and group[last] == group[r]:
                last += 1
            used = 0.0
            most = 0.0
            for k in range(r, last):
                used += share[k] * max(point[k], 0.0)
                most = max(most, point[k] / share[k])
            shift = 0.0
            if used > cap[r]:  # the shift at which the cap is met, by halving
                low, high = 0.0, most
                for _ in range(100):
                    shift = 0.5 * (low + high)
                    used = 0.0
                    for k in range(r, last):
                        used += share[k] * max(point[k] - shift * share[k], 0.0)
                    if used > cap[r]:
                        low = shift
                    else:
                        high = shift
                shift = high
            for k in range(r, last):
                point[k] = max(point[k] - shift * share[k], 0.0)
        r = last


@inner_kernel
def turn(curvature: Floats, direction: Floats, turned: Floats) -> float:
    """B·direction, and its product with the direction."""
    bend = 0.0
    for r in range(direction.shape[0]):
        row = curvature[r]
        total = 0.0
        for k in range(direction.shape[0]):
            total += row[k] * direction[k]
        turned[r] = total
        bend += total * direction[r]
    return bend


@inner_kernel
def minimise_model(
    now: Floats,  # [R]
    slope: Floats,  # [R]
    curvature: Floats,  # [R, R] B
    group: Ints,
    share: Floats,
    cap: Floats,
    tolerance: float,
    trial: Floats,  # in: where to begin, admitted; out: the next multipliers, admitted
) -> None:
    """Minimise slope·(z − now) + ½ (z − now)·B (z − now) over admitted z."""
    count = now.shape[0]
    gradient, direction, turned = np.empty(count), np.empty(count), np.empty(count)
    for r in range(count):
        direction[r] = trial[r] - now[r]
    turn(curvature, direction, gradient)
    for r in range(count):
        gradient[r] += slope[r]
    step = 1.0 / max(curvature[0, 0], 1e-12)
    for _ in range(INNER_STEPS):
        for r in range(count):
            direction[r] = trial[r] - step * gradient[r]
        project(direction, group, share, cap)
        reach = fall = length = 0.0
        for r in range(count):
            direction[r] -= trial[r]
            reach = max(reach, abs(direction[r]))
            fall += gradient[r] * direction[r]
            length += direction[r] * direction[r]
        if reach <= tolerance * min(step, 1.0) or not fall < 0.0:
            return
        bend = turn(curvature, direction, turned)
        along = min(1.0, -fall / bend) if bend > 0.0 else 1.0
        for r in range(count):
            trial[r] += along * direction[r]
            gradient[r] += along * turned[r]
        step = min(max(length / bend, 1e-10), 1e10) if bend > 0.0 else step


@inner_kernel
def learn_curvature(curvature: Floats, moved: Floats, change: Floats, first: bool) -> None:
    """Update B with a step and the change of the slope along it; at first, B is a multiple of one."""
    count = moved.shape[0]
    across = size = 0.0
    for r in range(count):
        across += moved[r] * change[r]
        size += change[r] * change[r]
    if first and across > 0.0:
        for r in range(count):
            curvature[r, r] = size / across
    turned = np.empty(count)
    bend = turn(curvature, moved, turned)
    if not bend > 1e-300:
        return
    if across < 0.1 * bend:
        keep = 0.9 * bend / (bend - across)
        across = 0.0
        for r in range(count):
            change[r] = keep * change[r] + (1.0 - keep) * turned[r]
            across += change[r] * moved[r]
    for r in range(count):
        for k in range(count):
            curvature[r, k] += change[r] * change[k] / across - turned[r] * turned[k] / bend


MOST_ROWS = 200  # maximum rows for which curvature is learned; with more, steps follow Barzilai and Borwein


@inner_kernel
def evaluate(
    point: Floats,  # [R] μ
    scores: Floats,  # [T, L]
    transition: Floats,
    top: float,
    factors: Floats,
    out: Ints,
    places: Ints,
    entry_starts: Ints,
    entry_rows: Ints,
    entry_weights: Floats,
    plain: Floats,
    costs: Floats,
    chances: Floats,
    nodes: Floats,  # work [T, L], as the next two
    ahead: Floats,
    behind: Floats,
    scales: Floats,  # work [T]
    beliefs: Floats,  # out [T, L]
    moves: Floats,  # out [L, L], written only where `with_moves`
    means: Floats,  # out [R]
    with_moves: bool,
) -> float:
    """The log-sum at μ, beliefs and E[φ]; −inf if there is no path, and then nothing else."""
    costs_of(point, entry_starts, entry_rows, entry_weights, costs)
    value = scaled(scores, top, factors, places, plain, costs, nodes, ahead, behind, scales)
    if np.isnan(value):
        value = in_logs(scores, transition, out, places, costs, ahead, behind, chances, beliefs, moves)
    elif value > -np.inf:
        scaled_beliefs(factors, places, nodes, ahead, behind, chances, beliefs)
        if with_moves:
            scaled_moves(factors, nodes, ahead, moves)
    if value > -np.inf:
        means_of(chances, entry_starts, entry_rows, entry_weights, means)
    return value


@kernel
def ascend(
    starts: Ints,  # [N + 1] of tokens
    lo: int,
    hi: int,
    tokens: Floats,  # [T, L] scores/γ with start and end, −inf where ruled out
    transition: Floats,  # [L, L] scores/γ
    out_starts: Ints,  # [N + 1] of `ruled_out`
    ruled_out: Ints,  # columns of edges
    cell_starts: Ints,  # [N + 1] of `places`
    places: Ints,  # columns of cells
    entry_starts: Ints,  # [cells + 1]
    entry_rows: Ints,  # row of an entry, counted within its problem
    entry_weights: Floats,
    row_starts: Ints,  # [N + 1]
    bound: Floats,  # [R]
    group: Ints,  # [R]
    share: Floats,  # [R]
    cap: Floats,  # [R]
    most_steps: int,
    tolerance: float,
    multipliers: Floats,  # in, out [R] μ
    beliefs: Floats,  # out [T, L]
    moves: Floats,  # out [N, L, L]
    means: Floats,  # out [R] E[φ]
    values: Floats,  # out [N] log-sums at μ
    duals: Floats,  # out [N, S] D after 0, 1, … accepted steps, as far as there is room, then repeated
    residuals: Floats,  # out [N]
    steps: Ints,  # out [N] how often sums were taken
) -> None:
    """The beliefs of the sequences lo..hi; a sequence without a path has the value −inf."""
    size = transition.shape[0]
    square = size * size
    most = longest(starts, lo, hi)
    top = -np.inf
    for k in range(size):
        for label in range(size):
            top = max(top, transition[k, label])
    top = top if top > -np.inf else 0.0
    table = np.empty((size, size))
    for k in range(size):
        for label in range(size):
            table[k, label] = np.exp(transition[k, label] - top)
    all_factors, scales = np.empty((most, size, size)), np.empty(most)
    works = np.empty((most, size)), np.empty((most, size)), np.empty((most, size))
    for i in range(lo, hi):
        first, length = starts[i], starts[i + 1] - starts[i]
        n_nodes = length * size
        scores, believed = tokens[first : first + length], beliefs[first : first + length]
        where = places[cell_starts[i] : cell_starts[i + 1]]
        entries = entry_starts[cell_starts[i] : cell_starts[i + 1] + 1]
        out = ruled_out[out_starts[i] : out_starts[i + 1]]
        a, b = row_starts[i], row_starts[i + 1]
        groups, shares, caps, bounds, expected = group[a:b], share[a:b], cap[a:b], bound[a:b], means[a:b]
        factors = all_factors[:length]  # cut along the first axis, so that inner loops see contiguous rows
        nodes, ahead, behind = works[0][:length], works[1][:length], works[2][:length]
        for t in range(1, length):
            for k in range(size):
                for label in range(size):
                    factors[t, k, label] = table[k, label]
        for k in range(out.shape[0]):
            rest = out[k] - n_nodes
            factors[rest // square + 1, rest % square // size, rest % size] = 0.0
        plain, costs, chances = np.zeros(len(where)), np.empty(len(where)), np.empty(len(where))
        for c in range(len(where)):
            rest = where[c] - n_nodes
            if rest >= 0:
                plain[c] = factors[rest // square + 1, rest % square // size, rest % size]
        now = multipliers[a:b]
        project(now, groups, shares, caps)
        count, learns = b - a, b - a <= MOST_ROWS
        goal, trial, slope, new_slope = now.copy(), now.copy(), np.zeros(count), np.zeros(count)
        moved, change = np.zeros(count), np.zeros(count)
        curvature = np.zeros((count, count)) if learns else np.zeros((1, 1))
        for r in range(curvature.shape[0]):
            curvature[r, r] = 1.0
        step, part, dual, tries, accepted = 1.0, 1.0, np.inf, 0, 0
        residuals[i] = 0.0
        last = False  # whether sums are taken once more, at the best multipliers, for all beliefs
        while True:
            value = evaluate(
                trial, scores, transition, top, factors, out, where, entries, entry_rows, entry_weights, plain, costs,
                chances, nodes, ahead, behind, scales, believed, moves[i], expected, last,
            )  # fmt: skip
            values[i] = value
            if last or value == -np.inf:
                break
            tries += 1
            new_dual = value
            fall = along = across = 0.0
            for r in range(count):
                new_slope[r] = bounds[r] - expected[r] if groups[r] != FIXED else 0.0
                new_dual += trial[r] * bounds[r]
                moved[r], change[r] = trial[r] - now[r], new_slope[r] - slope[r]
                fall += slope[r] * moved[r]
                along += moved[r] * moved[r]
                across += moved[r] * change[r]
            if tries == 1 or new_dual <= dual + 1e-4 * fall:
                dual, part = new_dual, 1.0
                for k in range(min(accepted, duals.shape[1] - 1), duals.shape[1]):
                    duals[i, k] = dual
                accepted += 1
                for r in range(count):
                    now[r], slope[r] = trial[r], new_slope[r]
                    goal[r] = now[r] - slope[r]
                project(goal, groups, shares, caps)
                residuals[i] = 0.0
                for r in range(count):
                    residuals[i] = max(residuals[i], abs(goal[r] - now[r]))
                if residuals[i] > tolerance:
                    if learns:
                        if tries > 1:
                            learn_curvature(curvature, moved, change, accepted == 2)
                        for r in range(count):
                            goal[r] = now[r]
                        minimise_model(now, slope, curvature, groups, shares, caps, 0.1 * residuals[i], goal)
                    else:
                        if tries > 1:
                            step = min(along / across, 1e4) if across > 1e-300 else min(step * 4.0, 1e4)
                        for r in range(count):
                            goal[r] = now[r] - step * slope[r]
                        project(goal, groups, shares, caps)
            else:
                part *= 0.5 if learns else 0.25
            last = residuals[i] <= tolerance or tries >= most_steps or part < 1e-12
            for r in range(count):
                trial[r] = now[r] if last else now[r] + part * (goal[r] - now[r])
        steps[i] = tries

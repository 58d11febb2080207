"""Multipliers of expectation constraints: where they may be, and the next ones to try.

The admitted multipliers are μ >= 0 with Σ_{r in g} share_r μ_r <= cap_g for every soft group g; FIXED ones stay.
The next ones minimise a quadratic model of the dual over that set (projected quasi-Newton; Schmidt, van den Berg,
Friedlander and Murphy 2009), whose matrix B learns the curvature from gradients (BFGS with Powell's damping). The model
is minimised by projected gradients with exact steps: it costs a product with B, no sums over the chain.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel

FIXED = -2
HARD = -1
MOST_MULTIPLIER = 1e9  # a row that this does not satisfy cannot be satisfied
INNER_STEPS = 60


@inner_kernel
def project(point: Floats, group: Ints, share: Floats, cap: Floats) -> None:
    """To the nearest admitted multipliers; cap [R] is that of a row's group, rows of a group stand together."""
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

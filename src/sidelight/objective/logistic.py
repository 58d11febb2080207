"""The slope of the logistic loss log(1 + exp x) after a step against it, which lowers x by as much as the slope says.

The loss's slope is σ(x) = 1 / (1 + exp −x), and the step goes from `value` to the x that solves

    x = value − bend · σ(x)

by Newton's method in a bracket; the difference of the sides has a slope of at least 1.
"""

from __future__ import annotations

import math

from sidelight.core.kernels import inner_kernel

STEPS = 100  # at most; some ten are usual


@inner_kernel
def logistic_slope(value: float, bend: float, start: float) -> float:
    """σ(x) of the solution, sought from `start`; `bend` is not negative."""
    low, high = value - bend, value
    x = min(max(start, low), high)
    for _ in range(STEPS):
        share = _share(x)
        off = value - bend * share - x
        if off > 0.0:
            low = x
        else:
            high = x
        if abs(off) <= 1e-14 * (1.0 + abs(x)):
            break
        step = off / (1.0 + bend * share * (1.0 - share))
        x = x + step if low < x + step < high else 0.5 * (low + high)
    return _share(x)


@inner_kernel
def _share(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0

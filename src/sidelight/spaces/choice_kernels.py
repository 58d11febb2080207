"""Choices in the backward pass of dynamic programs: the best, one of all best, or a random draw by weight."""

from __future__ import annotations

import math

import numpy as np

from sidelight.core.arrays import Floats, Keys
from sidelight.core.kernels import inner_kernel, uniform


@inner_kernel
def highest(values: Floats) -> float:
    """The highest number, or -inf if there is none."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    return top


@inner_kernel
def drawn(weights: Floats, state: Keys) -> int:
    """A place, with probability in proportion to its weight."""
    total = 0.0
    for weight in weights:
        total += weight
    left = uniform(state) * total
    choice = 0
    for k in range(weights.shape[0]):
        if weights[k] > 0.0:
            choice = k
            left -= weights[k]
            if left < 0.0:
                break
    return choice


@inner_kernel
def choose(worth: Floats, ways: Floats | None, state: Keys | None) -> int:
    """The first place of the highest worth; or, with a state, a draw in proportion to exp(worth).

    With ways and a state, a draw from all places of the highest worth, in proportion to the ways that lead there.
    What is None is known when a kernel is compiled, so that each of the three is compiled alone. `worth` is written to.
    """
    top, first = -np.inf, 0
    for k in range(worth.shape[0]):
        if worth[k] > top:
            top, first = worth[k], k
    if state is None:
        return first
    if top == -np.inf:
        return 0
    for k in range(worth.shape[0]):
        if ways is None:
            worth[k] = math.exp(worth[k] - top)
        else:
            worth[k] = ways[k] if worth[k] == top else 0.0
    return drawn(worth, state)

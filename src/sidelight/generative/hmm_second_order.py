"""Second-order transitions: P(l | j, k) from counts of three labels in a row.

The first two tokens of a sequence have first-order probabilities of their own. Where smoothing mixes with another
distribution (unigram, witten_bell), that is P(l | k) over all tokens after the first, itself smoothed in the same way.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.generative.smoothing import Smoothing, smoothed


class PathCounts(Protocol):
    """Counts of two and of three labels in a row."""

    @property
    def transition(self) -> Floats:  # [L, L]
        ...

    @property
    def second(self) -> Floats:  # [L, L, L]
        ...


def second_order(counts: PathCounts, smoothing: Smoothing) -> Floats:
    """P(l | j, k). # [L, L, L] j, k, l"""
    lower = None
    if smoothing.kind in ("unigram", "witten_bell"):
        lower = smoothed(counts.transition, smoothing, axis=1)[None]
    return smoothed(np.ascontiguousarray(counts.second), smoothing, axis=2, lower=lower)

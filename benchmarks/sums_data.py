"""Random chains with scores ready: all of one length, so that a peer that pads wastes nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LENGTH = 25


class Chains(NamedTuple):
    tokens: NDArray[np.float64]  # [N, LENGTH, L] scores
    transition: NDArray[np.float64]  # [L, L] from, to
    start: NDArray[np.float64]  # [L]
    end: NDArray[np.float64]  # [L]
    labels: NDArray[np.int32]  # [N, LENGTH]


def chains(sequences: int, labels: int) -> Chains:
    """The same chains for the same sizes, in every process; float32 can hold the scores without loss."""
    rng = np.random.default_rng([labels, 11])
    sizes = ((sequences, LENGTH, labels), (labels, labels), (labels,), (labels,))
    tokens, transition, start, end = (rng.normal(size=size).astype(np.float32).astype(np.float64) for size in sizes)
    drawn = rng.integers(0, labels, size=(sequences, LENGTH), dtype=np.int32)
    return Chains(2.0 * tokens, transition, start, end, drawn)

"""How sure weights are of the best output: by how much it beats the next best one.

    confidence(x) = (max_{y ∈ Y} s(y) − max_{y ∈ Y, y ≠ ŷ} s(y)) / |x|,        ŷ the best output in Y,  s(y) = w·Φ(x, y)

per token, so that long inputs compare with short ones. The second maximum is over the labelings of Y in which at least
one token leaves the label that ŷ gives it. An input with one output alone is certain: its confidence is infinite.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Bytes, Floats, Ids
from sidelight.objective.margin import ChainBatch
from sidelight.spaces import Paths


def has_choice(batch: ChainBatch) -> NDArray[np.bool_]:
    """Whether an input has more than one output. # [N]"""
    some = batch.space.random(np.random.default_rng(0), n_jobs=batch.n_jobs)
    return batch.space.outside(_only(some, batch.layout.n_labels)).feasible(n_jobs=batch.n_jobs)


def confidence(batch: ChainBatch, weights: Floats, best: Paths, *, choice: NDArray[np.bool_] | None = None) -> Floats:
    """The confidence in the best outputs of a batch under the weights; `choice` is what `has_choice` says. # [N]"""
    open_ones = np.flatnonzero(has_choice(batch) if choice is None else choice)
    out = np.full(len(batch), np.inf)
    labels, part = best.labels, batch
    if len(open_ones) < len(batch):
        labels, part = labels[batch.rows.tokens_of(open_ones)], batch.take(open_ones)
    if len(part):
        others = replace(part, space=part.space.outside(_only(labels, batch.layout.n_labels)))
        ahead = best.values[open_ones] - others.best(weights).values
        out[open_ones] = np.maximum(ahead, 0.0) / part.rows.lengths
    return out


def _only(labels: Ids, size: int) -> Bytes:
    mask = np.zeros((len(labels), size), dtype=np.uint8)  # [T, L]
    mask[np.arange(len(labels)), labels] = 1
    return mask

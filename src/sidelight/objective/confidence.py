"""The confidence in the best output ŷ of an input, with Y its admitted outputs and s(y) = w·Φ(x, y).

    output    (s(ŷ) − max_{y ∈ Y, y ≠ ŷ} s(y)) / |x|                    by how much ŷ beats the next best output
    tokens    mean over t of  s(ŷ) − max_{y ∈ Y, y_t ≠ ŷ_t} s(y)        by how much it beats the best one with another
                                                                        label at t, for the tokens t that may have one

For classes both are the same. For sequences, the first depends only on the least certain token, divided by the length;
if there are few labels, the second is a better estimate of the number of right tokens. An input with only one output is
certain: its confidence is infinite.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.errors import Intractable
from sidelight.objective.batch import Batch
from sidelight.spaces import ChainSpace, Paths
from sidelight.spaces.chains.chain_margins import token_margins

Measure = Literal["tokens", "output"]


def confidence(batch: Batch, weights: Floats, best: Paths, *, measure: Measure = "tokens") -> Floats:
    """The confidence in the best outputs of a batch under the weights. # [N]

    Raises `Intractable` for the measure "tokens" of second-order chains.
    """
    return _of_tokens(batch, weights) if measure == "tokens" else _of_output(batch, weights, best)


def _of_tokens(batch: Batch, weights: Floats) -> Floats:
    if not isinstance(batch.space, ChainSpace):
        raise Intractable("the confidence of tokens is known for first-order chains only; use the measure 'output'")
    margins = token_margins(batch.space, batch.scores(weights), n_jobs=batch.n_jobs)
    firsts = batch.starts[:-1]
    if not len(firsts):
        return np.zeros(0)
    open_ones = np.isfinite(margins)
    counts = np.add.reduceat(open_ones.astype(np.float64), firsts)
    totals = np.add.reduceat(np.where(open_ones, margins, 0.0), firsts)
    means: Floats = totals / np.maximum(counts, 1.0)
    return np.where(counts > 0, means, np.inf)


def _of_output(batch: Batch, weights: Floats, best: Paths) -> Floats:
    space = batch.space.outside(_only(best.labels, batch.space.n_labels))
    open_ones = np.flatnonzero(space.feasible(n_jobs=batch.n_jobs))
    others = batch.within(space)
    if len(open_ones) < len(batch):
        others = others.take(open_ones)
    out = np.full(len(batch), np.inf)
    if len(others):
        ahead = best.values[open_ones] - others.best(weights).values
        out[open_ones] = np.maximum(ahead, 0.0) / others.lengths
    return out


def _only(labels: Ids, size: int) -> Bytes:
    mask = np.zeros((len(labels), size), dtype=np.uint8)  # [T, L]
    mask[np.arange(len(labels)), labels] = 1
    return mask

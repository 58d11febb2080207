"""The k best labelings of each sequence of a `ChainSpace`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.parallel import shards, threads
from sidelight.spaces.chains.chain import AnyCost, ChainScores, ChainSpace, check_feasible
from sidelight.spaces.chains.chain_kernels import close_labels
from sidelight.spaces.chains.k_best_kernels import k_best as k_best_kernel


class KBest(NamedTuple):
    """k labelings per sequence, best first; where a sequence has fewer, labels are -1 and the value is -inf."""

    labels: Ids  # [k, T]
    values: Floats  # [k, N] score, and cost if one was added


def k_best(
    space: ChainSpace, scores: ChainScores, *, k: int, cost: AnyCost | None = None, n_jobs: int | None = None
) -> KBest:
    """The k best labelings of each sequence, all different, with their cost added where one is given.

    The first is that of `ChainSpace.best`. Raises `ValueError` if k is less than 1 and `Infeasible` where the masks
    leave no labeling.

    >>> from sidelight.spaces.chains.chain import GivenScores
    >>> scores = GivenScores(np.array([[0.0, 1.0], [0.0, 3.0]]), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> k_best(ChainSpace(np.array([0, 2]), 2), scores, k=3).labels.tolist()
    [[1, 1], [0, 1], [1, 0]]
    """
    if k < 1:
        raise ValueError(f"k is {k}; give 1 or more")
    tokens, size = int(space.starts[-1]), space.n_labels
    labels = np.empty(k * tokens, dtype=np.int32)
    values = np.empty((len(space.starts) - 1, k))
    transition, start, end = space.masked(scores)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        first = int(space.starts[lo])
        block = scores.block(first, int(space.starts[hi]))
        if cost is not None:
            cost.add_to(block, first)
        if space.admitted is not None:
            close_labels(block, first, space.admitted)
        if space.left_out is not None:
            block = _three_times(block, space.left_out[first : first + len(block)])
        k_best_kernel(space.starts, lo, hi, block, transition, start, end, labels, values)

    if space.left_out is not None:
        transition, start, end = _leaving(transition, start, end)
    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values[:, 0])
    if space.left_out is not None:
        np.remainder(labels, size, out=labels, where=labels >= 0)
    return KBest(labels.reshape(k, tokens), np.ascontiguousarray(values.T))


def _leaving(transition: Floats, start: Floats, end: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores over labels that stay within what is left out, labels that leave it for the first time, and those after.

    Every labeling that leaves has exactly one path here, so that no labeling is counted twice.
    """
    closed, none = np.full_like(transition, -np.inf), np.full_like(start, -np.inf)
    rows = [[transition, transition, closed], [closed, closed, transition], [closed, closed, transition]]
    return np.block(rows), np.concatenate([start, start, none]), np.concatenate([none, end, end])


def _three_times(block: Floats, left_out: Bytes) -> Floats:
    """Token scores of the three kinds of labels."""
    stays = np.where(left_out != 0, block, -np.inf)
    leaves = np.where(left_out == 0, block, -np.inf)
    return np.concatenate([stays, leaves, block], axis=1)

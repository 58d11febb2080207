"""The k best labelings of each sequence of a `ChainSpace`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.parallel import shards, threads
from sidelight.spaces.chains.chain import AnyCost, ChainScores, ChainSpace, check_feasible
from sidelight.spaces.chains.chain_sums import MaskedChain
from sidelight.spaces.chains.k_best_kernels import k_best as k_best_kernel


class KBest(NamedTuple):
    """k labelings per sequence, best first; where a sequence has fewer, labels are -1 and the value is -inf."""

    labels: Ids  # [k, T]
    values: Floats  # [k, N] score, and cost if one was added


def k_best(
    space: ChainSpace, scores: ChainScores, *, k: int, cost: AnyCost | None = None, n_jobs: int | None = None
) -> KBest:
    """The k best labelings of each sequence, all different, with their cost added where one is given.

    The first is that of `ChainSpace.best`. Raises `ValueError` if k is less than 1 and `Infeasible` if the masks
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
    chain = MaskedChain.of(space, scores, cost, 1.0)

    def run(shard: tuple[int, int]) -> None:
        k_best_kernel(space.starts, *shard, chain.block(*shard), *chain.moves, labels, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values[:, 0])
    if chain.copies > 1:  # every labeling that leaves has exactly one path
        np.remainder(labels, size, out=labels, where=labels >= 0)
    return KBest(labels.reshape(k, tokens), np.ascontiguousarray(values.T))

"""Sums over all labelings of a sequence and of its reorderings by swaps of neighbours that do not overlap.

A token takes its scores, and the labels that it is admitted, along when it moves; transitions are those of the new
order. The sequence as it was given is one of the reorderings.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import NO_FLOATS, Floats
from sidelight.errors import Intractable
from sidelight.parallel import shards, threads
from sidelight.spaces.chains.chain import ChainScores, ChainSpace, check_feasible
from sidelight.spaces.chains.chain_sums import Beliefs, MaskedChain
from sidelight.spaces.chains.swap_kernels import swap_beliefs as _beliefs


def swap_log_sums(space: ChainSpace, scores: ChainScores, *, n_jobs: int | None = None) -> Floats:
    """log Σ exp(score) over reorderings and labelings. # [N]"""
    return _sums(space, scores, None, False, n_jobs).log_sums


def swap_beliefs(
    space: ChainSpace, scores: ChainScores, *, prices: Floats | None = None, n_jobs: int | None = None
) -> Beliefs:
    """Log-sums, and what is expected of a labeling of a reordering; `tokens` are in the order given."""
    return _sums(space, scores, prices, True, n_jobs)


def _sums(
    space: ChainSpace, scores: ChainScores, prices: Floats | None, with_beliefs: bool, n_jobs: int | None
) -> Beliefs:
    if space.left_out is not None:
        raise Intractable("reorderings are summed within candidate labels, not outside of them")
    chain = MaskedChain.of(space, scores, None, 1.0)
    starts, size = space.starts, space.n_labels
    values = np.empty(len(starts) - 1)
    tokens = np.empty((int(starts[-1]) if with_beliefs else 0, size))
    priced = NO_FLOATS if prices is None else prices

    def run(shard: tuple[int, int]) -> tuple[Floats, Floats, int]:
        lo, hi = shard
        block = chain.block(lo, hi)
        moves, ends = np.empty((size, size)), np.empty((2, size))
        slow = _beliefs(starts, lo, hi, block, *chain.moves, priced, with_beliefs, values, moves, ends)
        if with_beliefs:
            tokens[starts[lo] : starts[hi]] = block
        return moves, ends, slow

    parts = threads(run, shards(starts), n_jobs=n_jobs)
    check_feasible(values)
    moves, ends = np.zeros((size, size)), np.zeros((2, size))
    for part, more, _ in parts:  # in the order of the shards, so that threads do not matter
        moves += part
        ends += more
    return Beliefs(values, tokens, moves, ends[0], ends[1], sum(slow for *_, slow in parts))

"""Log-sums, expectations and random labelings of second-order chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.arrays import Floats, Ids
from sidelight.errors import Intractable
from sidelight.parallel import shards, threads
from sidelight.parallel.threads import SHARD_TOKENS
from sidelight.spaces import second_order_sum_kernels as kernels
from sidelight.spaces.chain_kernels import close_labels
from sidelight.spaces.second_order import SecondOrderScores, SecondOrderSpace, check_feasible

MOST_PARTS = 16  # expected second-order parts are L³ numbers, so there are at most so many partial sums of them


class SecondOrderBeliefs(NamedTuple):
    """Log-sums, and expectations of the parts of some sequences, times the scale of each sequence."""

    log_sums: Floats  # [N]
    tokens: Floats  # [T, L]
    transition: Floats  # [L, L] summed over the sequences, as all that follow
    start: Floats  # [L]
    end: Floats  # [L]
    second: Floats  # [L, L, L]


def log_sums(space: SecondOrderSpace, scores: SecondOrderScores, *, n_jobs: int | None = None) -> Floats:
    """log Σ exp(score) over the labelings of each sequence. # [N]

    Raises `Infeasible` where there are none.
    """
    values = np.empty(len(space.starts) - 1)
    steps = _steps(space, scores)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        kernels.log_sums(space.starts, lo, hi, _block(space, scores, lo, hi), *steps, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    return values


def sample(
    space: SecondOrderSpace, scores: SecondOrderScores, rng: np.random.Generator, *, n_jobs: int | None = None
) -> Ids:
    """A labeling of each sequence, drawn with probability in proportion to exp(score). # [T]

    Raises `Infeasible` where there are none.
    """
    values = np.empty(len(space.starts) - 1)
    labels = np.empty(int(space.starts[-1]), dtype=np.int32)
    seeds = rng.integers(0, 2**64, size=len(values), dtype=np.uint64)
    steps = _steps(space, scores)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        kernels.sample(space.starts, lo, hi, _block(space, scores, lo, hi), *steps, seeds, labels, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    return labels


def beliefs(
    space: SecondOrderSpace,
    scores: SecondOrderScores,
    *,
    scales: Floats | None = None,  # [N]
    n_jobs: int | None = None,
) -> SecondOrderBeliefs:
    """Log-sums and the expectations of all parts, multiplied by the sequences' scales where these are given.

    Raises `Infeasible` where a sequence has no labeling.
    """
    size, total = space.n_labels, int(space.starts[-1])
    values = np.empty(len(space.starts) - 1)
    tokens = np.empty((total, size))
    given = np.ones(len(values)) if scales is None else scales
    steps = _steps(space, scores)

    def run(part: tuple[int, int]) -> list[Floats]:
        sums = [np.zeros((size,) * axes) for axes in (2, 1, 1, 3)]
        begin, end = part
        for a, b in shards(space.starts[begin : end + 1] - space.starts[begin]):
            lo, hi = begin + a, begin + b
            block = _block(space, scores, lo, hi)
            kernels.beliefs(space.starts, lo, hi, block, *steps, given, values, tokens, *sums)
        return sums

    parts = shards(space.starts, tokens=max(SHARD_TOKENS, -(-total // MOST_PARTS)))
    found = threads(run, parts, n_jobs=n_jobs)
    check_feasible(values)
    sums = [np.zeros((size,) * axes) for axes in (2, 1, 1, 3)]
    for one in found:
        for out, piece in zip(sums, one):
            out += piece
    return SecondOrderBeliefs(values, tokens, *sums)


def _steps(space: SecondOrderSpace, scores: SecondOrderScores) -> tuple[Floats, float, Floats, Floats, Floats, Floats]:
    """exp(W − peak), the peak of W, W, and transition, start and end scores."""
    if space.left_out is not None:
        raise Intractable("there are no sums over what lies outside candidate sets; take the difference of two sums")
    masked = space.masked(scores)
    top = float(masked[0].max(initial=-np.inf))
    peak = top if np.isfinite(top) else 0.0
    return np.exp(masked[0] - peak), peak, *masked


def _block(space: SecondOrderSpace, scores: SecondOrderScores, lo: int, hi: int) -> Floats:
    first = int(space.starts[lo])
    block = scores.block(first, int(space.starts[hi]))
    if space.admitted is not None:
        close_labels(block, first, space.admitted)
    return block

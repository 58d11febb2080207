"""Sums over all labelings of a second-order space: log-partition, expectations, exact samples.

As in `chain_sums`, with score s(y) of a labeling, log-sum = log Σ_y exp(s(y) / temperature) and
p(y) = exp(s(y) / temperature − log-sum); a cost is added to the score before it is divided. All functions raise
`Infeasible` if the masks leave no labeling, and `Intractable` for labelings outside candidate sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.errors import Intractable
from sidelight.parallel import shards, threads
from sidelight.parallel.threads import SHARD_TOKENS
from sidelight.spaces.chains.chain import AnyCost, check_feasible
from sidelight.spaces.chains.chain_kernels import close_labels
from sidelight.spaces.second_order import second_order_sum_kernels as kernels
from sidelight.spaces.second_order.second_order import SecondOrderScores, SecondOrderSpace
from sidelight.spaces.second_order.second_order_scaled_kernels import ScaledMoves, Spread, empty_spread, scaled_moves

MOSTLY = 0.6  # of labels open: fewer are faster one by one
MOST_PARTS = 16  # expected second-order parts are L³ numbers, so there are at most so many partial sums of them


class SecondOrderBeliefs(NamedTuple):
    """Expectations over the labelings of a batch; with prices, each sequence is multiplied by its price."""

    log_sums: Floats  # [N] without prices
    tokens: Floats  # [T, L] p(y_t = l)
    transitions: Floats  # [L, L] expected number over the whole batch, as all that follow
    start: Floats  # [L]
    end: Floats  # [L]
    second: Floats  # [L, L, L]


def log_sums(
    space: SecondOrderSpace,
    scores: SecondOrderScores,
    *,
    cost: AnyCost | None = None,
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> Floats:
    """The log-sum of every sequence. # [N]"""
    sums = _Sums.of(space, scores, cost, temperature)
    moves = sums.moves()
    values = np.empty(len(space.starts) - 1)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        kernels.log_sums(space.starts, lo, hi, sums.block(lo, hi), sums.onward, sums.peak, *sums.steps, moves, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    return values


def sample(
    space: SecondOrderSpace,
    scores: SecondOrderScores,
    rng: np.random.Generator,
    *,
    cost: AnyCost | None = None,
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> Ids:
    """One labeling of every sequence, drawn exactly from p. # [T]"""
    sums = _Sums.of(space, scores, cost, temperature)
    values = np.empty(len(space.starts) - 1)
    labels = np.empty(int(space.starts[-1]), dtype=np.int32)
    seeds = rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        block = sums.block(lo, hi)
        kernels.sample(space.starts, lo, hi, block, sums.onward, sums.peak, *sums.steps, seeds, labels, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    return labels


def beliefs(
    space: SecondOrderSpace,
    scores: SecondOrderScores,
    *,
    cost: AnyCost | None = None,
    prices: Floats | None = None,  # [N]
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> SecondOrderBeliefs:
    """Log-sums, token marginals, and expected transitions and second-order parts."""
    sums = _Sums.of(space, scores, cost, temperature)
    moves, backward = sums.moves(), np.ascontiguousarray(sums.onward.transpose(0, 2, 1))
    size, total = space.n_labels, int(space.starts[-1])
    values = np.empty(len(space.starts) - 1)
    tokens = np.empty((total, size))
    priced = np.ones(len(values)) if prices is None else prices

    def run(part: tuple[int, int]) -> list[Floats]:
        counts, spread = _zeros(size), empty_spread(size)
        begin, end = part
        for a, b in shards(space.starts[begin : end + 1] - space.starts[begin]):
            lo, hi = begin + a, begin + b
            arrays = sums.block(lo, hi), sums.onward, backward, sums.peak, *sums.steps, moves, spread
            kernels.beliefs(space.starts, lo, hi, *arrays, priced, values, tokens, *counts)
        _add_spread(spread, moves, counts)
        return counts

    parts = shards(space.starts, tokens=max(SHARD_TOKENS, -(-total // MOST_PARTS)))
    parts_summed = threads(run, parts, n_jobs=n_jobs)
    check_feasible(values)
    counts = _zeros(size)
    for piece in parts_summed:  # in the order of the parts, so that threads do not matter
        for out, one in zip(counts, piece):
            out += one
    return SecondOrderBeliefs(values, tokens, *counts)


def _zeros(size: int) -> list[Floats]:
    """Places for expected transitions, starts, ends and second-order parts."""
    return [np.zeros((size, size)), np.zeros(size), np.zeros(size), np.zeros((size, size, size))]


def _add_spread(spread: Spread, moves: ScaledMoves, counts: list[Floats]) -> None:
    """Add the expectations of scaled sums, with the common factor of all tokens."""
    if not moves.flat:
        return
    size = len(counts[1])
    counts[0] += spread.pairs[:, :size]
    counts[1] += spread.start[:size]
    counts[2] += spread.end[:size]
    counts[3] += (spread.second * moves.onward)[:, :, :size].transpose(1, 0, 2)


@dataclass(frozen=True, slots=True)
class _Sums:
    """A space with its masked and tempered scores."""

    space: SecondOrderSpace
    scores: SecondOrderScores
    cost: AnyCost | None
    temperature: float
    onward: Floats  # [L, L, L] exp(second-order scores - peak): previous, before the previous, label
    peak: float
    steps: tuple[Floats, Floats, Floats, Floats]  # second-order, transition, start and end scores

    @classmethod
    def of(
        cls,
        space: SecondOrderSpace,
        scores: SecondOrderScores,
        cost: AnyCost | None,
        temperature: float,
    ) -> _Sums:
        if not temperature > 0:
            raise ValueError(f"temperature is {temperature}; give a positive number")
        if space.left_out is not None:
            raise Intractable("there are no second-order sums over what lies outside candidate sets; use order 1")
        second, transition, start, end = (part / temperature for part in space.masked(scores))
        top = float(second.max(initial=-np.inf))
        peak = top if np.isfinite(top) else 0.0
        steps = second, transition, start, end
        onward = np.exp(np.ascontiguousarray(second.transpose(1, 0, 2)) - peak)
        return cls(space, scores, cost, temperature, onward, peak, steps)

    def moves(self) -> ScaledMoves:
        """Factors for scaled sums, which pay if most labels are open."""
        admitted = self.space.admitted
        share = 1.0 if admitted is None else np.count_nonzero(admitted) / max(admitted.size, 1)
        if share > MOSTLY:
            return scaled_moves(*self.steps)
        nothing = np.zeros((0, 0, 0))
        return ScaledMoves(nothing, nothing, np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(4), False)

    def block(self, lo: int, hi: int) -> Floats:
        """Token scores of the sequences lo..hi, with all that costs, masks and temperature do to them."""
        first = int(self.space.starts[lo])
        block = self.scores.block(first, int(self.space.starts[hi]))
        if self.cost is not None:
            self.cost.add_to(block, first)
        if self.space.admitted is not None:
            close_labels(block, first, self.space.admitted)
        if self.temperature != 1.0:
            block /= self.temperature
        return block

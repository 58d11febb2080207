"""Sums over all labelings of a chain space: log-partition, marginals, exact samples.

With score s(y) of a labeling, log-sum = log Σ_y exp(s(y) / temperature) over the labelings y of the space, and
p(y) = exp(s(y) / temperature − log-sum). A cost is added to the score before it is divided. Clamping is
`space.inside(mask)`. All functions raise `Infeasible` if the masks leave no labeling.

A space with `left_out` (at least one token must leave its candidates) is summed as a chain over three copies of the
labels: still within the candidates, leaving them at this token, having left before. That costs nine times as much and,
unlike a difference of two sums, loses no precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import NO_FLOATS, Bytes, Floats, Ids
from sidelight.parallel import shards, threads
from sidelight.spaces.chains import chain_kernels
from sidelight.spaces.chains import chain_sum_kernels as kernels
from sidelight.spaces.chains.chain import AnyCost, ChainScores, ChainSpace, Transitions, check_feasible
from sidelight.spaces.chains.chain_scaled_kernels import exp_moves


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Expectations over the labelings of a batch; with prices, each sequence is multiplied by its price."""

    log_sums: Floats  # [N] without prices
    tokens: Floats  # [T, L] p(y_t = l)
    transitions: Floats  # [L, L] expected number, over the whole batch
    start: Floats  # [L] expected number of sequences that begin with l
    end: Floats  # [L]
    in_logs: int  # sequences whose scores span so much that they were summed in logarithms, which is slower


@dataclass(frozen=True, slots=True)
class _ChangedTokens:
    """Scores of which those of tokens are others."""

    whole: ChainScores

    @property
    def transition(self) -> Floats:
        return self.whole.transition

    @property
    def start(self) -> Floats:
        return self.whole.start

    @property
    def end(self) -> Floats:
        return self.whole.end


@dataclass(frozen=True, slots=True)
class ScoresFrom(_ChangedTokens):
    """The scores of the part of a batch that begins at a token."""

    first: int

    def block(self, first: int, last: int) -> Floats:
        return self.whole.block(self.first + first, self.first + last)


@dataclass(frozen=True, slots=True)
class RaisedScores(_ChangedTokens):
    """Scores with a bonus for every token and label."""

    bonus: Floats  # [T, L]

    @property
    def second(self) -> Floats:
        """The second-order scores of all, if there are any. # [L, L, L]"""
        second: Floats = self.whole.second  # type: ignore[attr-defined]
        return second

    def block(self, first: int, last: int) -> Floats:
        return self.whole.block(first, last) + self.bonus[first:last]


def log_sums(
    space: ChainSpace,
    scores: ChainScores,
    *,
    cost: AnyCost | None = None,
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> Floats:
    """The log-sum of every sequence. # [N]

    >>> from sidelight.spaces import GivenScores
    >>> zero = GivenScores(np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> np.exp(log_sums(ChainSpace(np.array([0, 3]), 2), zero)).round(9)
    array([8.])
    """
    chain = MaskedChain.of(space, scores, cost, temperature)
    exps = exp_moves(*chain.moves)
    values = np.empty(len(space.starts) - 1)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        kernels.log_sums(space.starts, lo, hi, chain.block(lo, hi), *chain.moves, exps, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    return values


def beliefs(
    space: ChainSpace,
    scores: ChainScores,
    *,
    cost: AnyCost | None = None,
    prices: Floats | None = None,  # [N]
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> Beliefs:
    """Log-sums, token marginals and expected transitions."""
    chain = MaskedChain.of(space, scores, cost, temperature)
    exps = exp_moves(*chain.moves)
    starts = space.starts
    size = chain.space.n_labels
    values = np.empty(len(starts) - 1)
    tokens = np.empty((int(starts[-1]), space.n_labels))
    priced = NO_FLOATS if prices is None else prices

    def run(shard: tuple[int, int]) -> tuple[Floats, int]:
        lo, hi = shard
        block = chain.block(lo, hi)
        moves = np.empty((size, size))
        head, tail = (starts, lo, hi, block, *chain.moves), (priced, values, moves)
        if slow := kernels.beliefs(*head, exps, *tail):
            kernels.log_beliefs(*head, *tail)
        tokens[starts[lo] : starts[hi]] = chain.folded(block)
        return moves, slow

    results = threads(run, shards(starts), n_jobs=n_jobs)
    check_feasible(values)
    moves = np.zeros((size, size))
    for part, _ in results:  # in the order of the shards, so that threads do not matter
        moves += part
    return Beliefs(
        values,
        tokens,
        chain.folded(chain.folded(moves).T).T,
        tokens[starts[:-1]].sum(0),
        tokens[starts[1:] - 1].sum(0),
        sum(slow for _, slow in results),
    )


def sample(
    space: ChainSpace,
    scores: ChainScores,
    rng: np.random.Generator,
    *,
    cost: AnyCost | None = None,
    temperature: float = 1.0,
    n_jobs: int | None = None,
) -> Ids:
    """One labeling of every sequence, drawn exactly from p. # [T]"""
    chain = MaskedChain.of(space, scores, cost, temperature)
    exps = exp_moves(*chain.moves)
    values = np.empty(len(space.starts) - 1)
    labels = np.empty(int(space.starts[-1]), dtype=np.int32)
    seeds = rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

    def run(shard: tuple[int, int]) -> None:
        lo, hi = shard
        kernels.draw(space.starts, lo, hi, chain.block(lo, hi), *chain.moves, exps, seeds, labels, values)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    check_feasible(values)
    labels %= space.n_labels
    return labels


@dataclass(frozen=True, slots=True)
class MaskedChain:
    """A space without `left_out`, its masked and tempered scores, and how many copies of the labels it has."""

    space: ChainSpace
    scores: ChainScores
    cost: AnyCost | None
    temperature: float
    moves: tuple[Floats, Floats, Floats]
    copies: int

    @classmethod
    def of(cls, space: ChainSpace, scores: ChainScores, cost: AnyCost | None, temperature: float) -> MaskedChain:
        if not temperature > 0:
            raise ValueError(f"temperature is {temperature}; give a positive number")
        transition, start, end = scores.transition, scores.start, scores.end
        copies = 1
        if space.left_out is not None:
            copies = 3
            transition, start, end = np.tile(transition, (3, 3)), np.tile(start, 3), np.tile(end, 3)
            space = _in_three(space, space.left_out)
        if space.allowed is not None:
            transition, start, end = space.allowed.masked(transition, start, end)
        moves = transition / temperature, start / temperature, end / temperature
        return cls(space, scores, cost, temperature, moves, copies)

    def block(self, lo: int, hi: int) -> Floats:
        """Token scores of the sequences lo..hi, with all that costs, masks and temperature do to them."""
        first, last = int(self.space.starts[lo]), int(self.space.starts[hi])
        block = self.scores.block(first, last)
        if self.cost is not None:
            self.cost.add_to(block, first)
        if self.copies > 1:
            block = np.tile(block, (1, self.copies))
        if self.space.admitted is not None:
            chain_kernels.close_labels(block, first, self.space.admitted)
        if self.temperature != 1.0:
            block /= self.temperature
        return block

    def folded(self, values: Floats) -> Floats:
        """Sums over the copies of each label, along the last axis."""
        if self.copies == 1:
            return values
        summed: Floats = values.reshape(*values.shape[:-1], self.copies, -1).sum(-2)
        return summed


def _in_three(space: ChainSpace, candidates: Bytes) -> ChainSpace:
    """At least one token leaves its candidates: labels within them, leaving them now, and after leaving them."""
    size = space.n_labels
    one = np.ones((size, size), np.uint8), np.ones(size, np.uint8), np.ones(size, np.uint8)
    allowed = Transitions(*one) if space.allowed is None else space.allowed
    order = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=np.uint8)
    tripled = Transitions(
        np.kron(order, allowed.between),
        np.kron(np.array([1, 1, 0], dtype=np.uint8), allowed.start),
        np.kron(np.array([0, 1, 1], dtype=np.uint8), allowed.end),
    )
    inside = (candidates != 0).astype(np.uint8)
    masks = np.concatenate([inside, 1 - inside, np.ones_like(inside)], axis=1)
    if space.admitted is not None:
        masks &= np.tile(space.admitted, (1, 3))
    return ChainSpace(space.starts, 3 * size, tripled, masks)

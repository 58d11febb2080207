"""Expected features of the labelings of a batch, added to a gradient: what log-linear terms have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sidelight.arrays import Floats
from sidelight.features.gradient import AttributeBlock
from sidelight.features.layout import Layout
from sidelight.kernels import inner
from sidelight.parallel import shards, threads
from sidelight.spaces import second_order_sums
from sidelight.spaces.chain import ChainScores, ChainSpace, GivenScores
from sidelight.spaces.chain_sums import Beliefs, ScoresFrom, beliefs
from sidelight.spaces.second_order import SecondOrderSpace


class WeightForm(Protocol):
    """A form of the weight vector: full, or only the pairs that were seen."""

    @property
    def layout(self) -> Layout: ...

    @property
    def size(self) -> int:
        """How many weights there are."""
        ...

    def squares(self, prices: Floats) -> Floats:
        """Σ_t price_t · (squared feature) for each weight of a token's features, zero elsewhere; prices are [T]."""
        ...

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        ...

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout."""
        ...


class WeightedFeatures(WeightForm, Protocol):
    """The features of a batch under a weight vector of some form."""

    @property
    def blocks(self) -> tuple[AttributeBlock, ...]:
        """Ranges of sequences whose beliefs are added together."""
        ...

    def scores(self, weights: Floats) -> ChainScores: ...

    def add_tokens(self, number: int, beliefs: Floats, gradient: Floats, *, n_jobs: int | None = None) -> None: ...

    def add_edges(self, start: Floats, end: Floats, transitions: Floats, gradient: Floats) -> None: ...


@dataclass(frozen=True, slots=True)
class Edges:
    """Expected numbers of starts, ends and transitions, summed over blocks in their order."""

    start: Floats
    end: Floats
    transitions: Floats

    @classmethod
    def none(cls, size: int) -> Edges:
        return cls(np.zeros(size), np.zeros(size), np.zeros((size, size)))

    def add(self, found: Beliefs, sign: float) -> None:
        self.start[:] += sign * found.start
        self.end[:] += sign * found.end
        self.transitions[:] += sign * found.transitions


@dataclass(slots=True)
class Expected:
    """A gradient that expected features are added to, block by block, and the log-sums that they belong to."""

    features: WeightedFeatures
    gradient: Floats
    n_jobs: int | None
    edges: Edges
    value: float = 0.0

    @classmethod
    def none(cls, features: WeightedFeatures, gradient: Floats, n_jobs: int | None) -> Expected:
        return cls(features, gradient, n_jobs, Edges.none(features.layout.n_labels))

    def add(self, number: int, prices: Floats, found: Beliefs, known: Beliefs | None = None) -> None:
        """Add what is expected of the block of this number, less what is expected of what is known of it."""
        self.value += inner(prices, found.log_sums)
        self.edges.add(found, 1.0)
        tokens = found.tokens
        if known is not None:
            self.value -= inner(prices, known.log_sums)
            self.edges.add(known, -1.0)
            tokens -= known.tokens
        self.features.add_tokens(number, tokens, self.gradient, n_jobs=self.n_jobs)

    def total(self) -> float:
        """After the last block: the gradient has its transitions too; returns Σ price · difference of log-sums."""
        self.features.add_edges(self.edges.start, self.edges.end, self.edges.transitions, self.gradient)
        return self.value


def add_log_sums(
    features: WeightedFeatures,
    space: ChainSpace | SecondOrderSpace,
    prices: Floats,  # [N], of either sign
    weights: Floats,
    gradient: Floats,
    *,
    n_jobs: int | None = None,
) -> float:
    """gradient += Σ price · expected features; returns Σ price · log-sum."""
    if isinstance(space, SecondOrderSpace):
        return _add_second_order(features, space, prices, weights, gradient, n_jobs)
    scores = features.scores(weights)
    expected = Expected.none(features, gradient, n_jobs)
    for number, block in enumerate(features.blocks):
        part = space.part(block.lo, block.hi)
        own = prices[block.lo : block.hi]
        expected.add(number, own, beliefs(part, ScoresFrom(scores, block.first), prices=own, n_jobs=n_jobs))
    return expected.total()


def _add_second_order(
    features: WeightedFeatures,
    space: SecondOrderSpace,
    prices: Floats,
    weights: Floats,
    gradient: Floats,
    n_jobs: int | None,
) -> float:
    layout, value = features.layout, 0.0
    scores = features.scores(weights)
    for number, block in enumerate(features.blocks):
        own = prices[block.lo : block.hi]
        here = _SecondOrderScoresFrom(scores, block.first, layout.second(weights))
        found = second_order_sums.beliefs(space.part(block.lo, block.hi), here, prices=own, n_jobs=n_jobs)
        value += inner(own, found.log_sums)
        features.add_tokens(number, found.tokens, gradient, n_jobs=n_jobs)
        if layout.bias:
            gradient[layout.start_at : layout.end_at] += found.start[layout.n_labels - layout.columns :]
        gradient[layout.end_at : layout.transition_at] += found.end
        gradient[layout.transition_at : layout.second_at] += found.transitions.ravel()
        gradient[layout.second_at : layout.dense_at] += found.second.ravel()
    return value


@dataclass(frozen=True, slots=True)
class _SecondOrderScoresFrom(ScoresFrom):
    second: Floats


def held(scores: ChainScores, space: ChainSpace, *, n_jobs: int | None = None) -> GivenScores:
    """The token scores of a space in memory, where they are needed twice."""
    tokens = np.empty((int(space.starts[-1]), space.n_labels))

    def run(shard: tuple[int, int]) -> None:
        first, last = int(space.starts[shard[0]]), int(space.starts[shard[1]])
        tokens[first:last] = scores.block(first, last)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    return GivenScores(tokens, scores.transition, scores.start, scores.end)

"""Log-sums of a batch and their gradient, expected features: shared code of log-linear terms for any structure.

`add_log_sums` is the entry point. Each structure has its own sums and its own form of beliefs, and so its own
accumulation: first-order chains compute token scores once, also for the sum over known outputs, and add the difference
of both beliefs to the gradient in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.kernels import inner
from sidelight.features.counts import Differences, difference_rows
from sidelight.features.gradient import AttributeBlock, FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.segments.segment_counts import add_expected
from sidelight.features.support import Support
from sidelight.objective.batch import LinearScorer, SmoothScorer
from sidelight.objective.scorers.segment_scorer import SegmentScorer
from sidelight.parallel import shards, threads
from sidelight.spaces import Space, sums
from sidelight.spaces.chains.chain import ChainScores, ChainSpace, GivenScores
from sidelight.spaces.chains.chain_sums import Beliefs, RaisedScores, ScoresFrom, beliefs
from sidelight.spaces.second_order import second_order_sums
from sidelight.spaces.second_order.second_order import SecondOrderSpace
from sidelight.spaces.segments.segment_space import SegmentSpace

GROUPS = 8  # maximum shards: each sums its counts in its own vector, so that their order depends only on the data


class WeightForm(Protocol):
    """A form of the weight vector: full, or only the pairs that were seen."""

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        ...

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout."""
        ...


class Weighted(WeightForm, Protocol):
    """The features of a batch of any structure, under a weight vector of some form."""

    def scores(self, weights: Floats) -> Any:
        """The scores of all parts, as the space of the same structure takes them."""
        ...

    def curvature(self, prices: Floats, lengths: Any, share: float) -> Floats:
        """A rough estimate of the Hessian's diagonal for inputs with these prices and lengths [N]. # [size]"""
        ...


class FeatureTerms:
    """The base of log-linear terms whose features and outputs are in this process."""

    __slots__ = ()

    features: Weighted
    space: Space
    prices: Floats  # [N]

    def __len__(self) -> int:
        return len(self.prices)

    def curvature(self, share: float) -> Floats:
        """A rough estimate of their part of the Hessian's diagonal. # [size]"""
        return self.features.curvature(self.prices, np.diff(self.space.starts), share)


class WeightedFeatures(Weighted, Protocol):
    """The features of a batch of chains."""

    @property
    def layout(self) -> Layout: ...

    @property
    def blocks(self) -> tuple[AttributeBlock, ...]:
        """Ranges of sequences whose beliefs are added together."""
        ...

    def add_tokens(self, number: int, beliefs: Floats, gradient: Floats, *, n_jobs: int | None = None) -> None: ...

    def add_edges(self, start: Floats, end: Floats, transitions: Floats, gradient: Floats) -> None: ...


@dataclass(frozen=True, slots=True)
class ShortFeatures:
    """Features of a full layout under the short vector of a support: spread before use, gathered after."""

    full: FullFeatures
    support: Support

    @property
    def size(self) -> int:
        return self.support.size

    def scores(self, weights: Floats) -> Any:
        return self.full.scores(self.support.expand(weights))

    def curvature(self, prices: Floats, lengths: Any, share: float) -> Floats:
        return self.support.shorten(self.full.curvature(prices, lengths, share))

    def expand(self, weights: Floats) -> Floats:
        return self.support.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        return self.support.shorten(full)


class Known(NamedTuple):
    """Partial knowledge about the outputs of a batch."""

    space: Space  # those that are admitted
    bonus: Floats | None = None  # [T, K] finite; added to their scores


def add_log_sums(
    features: Weighted,
    space: Space,
    prices: Floats,  # [N], of either sign
    weights: Floats,
    gradient: Floats,
    *,
    known: Known | None = None,
    bonus: Floats | None = None,  # [T, K] finite; added to all scores, those of `known` with it
    n_jobs: int | None = None,
) -> float:
    """gradient += Σ price · expected features; returns Σ price · log-sum.

    With `known`, the same quantities over the known outputs are subtracted from both.
    """
    if isinstance(features, ShortFeatures):
        slopes, full = np.zeros(features.full.size), features.expand(weights)
        shared = features.full, space, prices, full, slopes
        value = add_log_sums(*shared, known=known, bonus=bonus, n_jobs=n_jobs)
        gradient += features.shorten(slopes)
        return value
    if isinstance(space, ChainSpace) and not isinstance(features, SmoothScorer):
        return _add_chains(features, space, prices, weights, gradient, known, bonus, n_jobs)  # type: ignore[arg-type]
    value = _add(features, Known(space, bonus), prices, weights, gradient, n_jobs)
    if known is None:
        return value
    if bonus is not None:
        known = known._replace(bonus=bonus if known.bonus is None else known.bonus + bonus)
    return value + _add(features, known, -prices, weights, gradient, n_jobs)


def add_outputs(
    features: Weighted, space: Space, labels: Ids, prices: Floats, gradient: Floats, *, n_jobs: int | None = None
) -> None:
    """gradient += Σ price · Φ(x, y), of given outputs [T]."""
    if isinstance(features, ShortFeatures):
        slopes = np.zeros(features.full.size)
        add_outputs(features.full, space, labels, prices, slopes, n_jobs=n_jobs)
        gradient += features.shorten(slopes)
    elif isinstance(space, ChainSpace):
        _add_labels(features, space, labels, prices, gradient, n_jobs)  # type: ignore[arg-type]
    else:
        every = np.arange(len(prices), dtype=np.int64)
        if isinstance(features, LinearScorer):
            rows = features.differences(every, labels, None, scales=prices, n_jobs=n_jobs)
        else:
            assert isinstance(features, FullFeatures)
            differences = Differences.of(every, labels, None, scales=prices)
            rows = difference_rows(features.rows, features.layout, differences, n_jobs=n_jobs)
        np.add.at(gradient, rows.indices, rows.values)


@dataclass(frozen=True, slots=True)
class Edges:
    """Expected numbers of starts, ends and transitions, summed over blocks in their order."""

    start: Floats
    end: Floats
    transitions: Floats

    @classmethod
    def none(cls, size: int) -> Edges:
        return cls(np.zeros(size), np.zeros(size), np.zeros((size, size)))

    def add(self, beliefs: Beliefs, sign: float) -> None:
        self.start[:] += sign * beliefs.start
        self.end[:] += sign * beliefs.end
        self.transitions[:] += sign * beliefs.transitions


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

    def add(self, number: int, prices: Floats, beliefs: Beliefs, known: Beliefs | None = None) -> None:
        """Add the expectations of a block, minus those within its known outputs."""
        self.value += inner(prices, beliefs.log_sums)
        self.edges.add(beliefs, 1.0)
        tokens = beliefs.tokens
        if known is not None:
            self.value -= inner(prices, known.log_sums)
            self.edges.add(known, -1.0)
            tokens -= known.tokens
        self.features.add_tokens(number, tokens, self.gradient, n_jobs=self.n_jobs)

    def total(self) -> float:
        """After the last block: the gradient has its transitions too; returns Σ price · difference of log-sums."""
        self.features.add_edges(self.edges.start, self.edges.end, self.edges.transitions, self.gradient)
        return self.value


def _add_chains(
    features: WeightedFeatures,
    space: ChainSpace,
    prices: Floats,
    weights: Floats,
    gradient: Floats,
    known: Known | None,
    bonus: Floats | None,
    n_jobs: int | None,
) -> float:
    scores = features.scores(weights)
    expected = Expected.none(features, gradient, n_jobs)
    for number, block in enumerate(features.blocks):
        part, own = space.part(block.lo, block.hi), prices[block.lo : block.hi]
        here: ChainScores = ScoresFrom(scores, block.first)
        if bonus is not None:
            here = RaisedScores(here, bonus[block.first : block.last])
        if known is None:
            expected.add(number, own, beliefs(part, here, prices=own, n_jobs=n_jobs))
            continue
        here = held(here, part, n_jobs=n_jobs)
        around = beliefs(part, here, prices=own, n_jobs=n_jobs)
        inside = known.space.part(block.lo, block.hi)
        assert isinstance(inside, ChainSpace)
        raised: ChainScores = here
        if known.bonus is not None:
            raised = RaisedScores(here, known.bonus[block.first : block.last])
        expected.add(number, own, around, beliefs(inside, raised, prices=own, n_jobs=n_jobs))
    return expected.total()


def _add_labels(
    features: WeightedFeatures, space: ChainSpace, targets: Ids, prices: Floats, gradient: Floats, n_jobs: int | None
) -> None:
    size = features.layout.n_labels
    edges = Edges.none(size)
    per_token = np.repeat(prices, np.diff(space.starts))
    for number, block in enumerate(features.blocks):
        here = slice(block.first, block.last)
        labels = targets[here]
        certain = np.zeros((block.last - block.first, size))
        certain[np.arange(len(labels)), labels] = per_token[here]
        features.add_tokens(number, certain, gradient, n_jobs=n_jobs)
        starts = space.starts[block.lo : block.hi + 1] - block.first
        within = np.ones(len(labels), dtype=bool)
        within[starts[:-1]] = False
        after = np.flatnonzero(within)
        np.add.at(edges.transitions, (labels[after - 1], labels[after]), per_token[here][after])
        edges.start[:] += certain[starts[:-1]].sum(0)
        edges.end[:] += certain[starts[1:] - 1].sum(0)
    features.add_edges(edges.start, edges.end, edges.transitions, gradient)


def _add(
    features: Weighted, within: Known, prices: Floats, weights: Floats, gradient: Floats, n_jobs: int | None
) -> float:
    """gradient += Σ price · expected features within some outputs; returns Σ price · log-sum."""
    if isinstance(features, SegmentScorer):
        return _add_segments(features, within, prices, weights, gradient, n_jobs)
    if isinstance(features, SmoothScorer):
        return _add_smooth(features, within, prices, weights, gradient, n_jobs)
    return _add_second_order(features, within, prices, weights, gradient, n_jobs)  # type: ignore[arg-type]


def _add_second_order(
    features: WeightedFeatures,
    within: Known,
    prices: Floats,
    weights: Floats,
    gradient: Floats,
    n_jobs: int | None,
) -> float:
    layout, value = features.layout, 0.0
    space = within.space
    assert isinstance(space, SecondOrderSpace)
    scores = features.scores(weights)
    for number, block in enumerate(features.blocks):
        own = prices[block.lo : block.hi]
        here: Any = _SecondOrderScoresFrom(scores, block.first, layout.second(weights))
        if within.bonus is not None:
            here = RaisedScores(here, within.bonus[block.first : block.last])
        around = second_order_sums.beliefs(space.part(block.lo, block.hi), here, prices=own, n_jobs=n_jobs)
        value += inner(own, around.log_sums)
        features.add_tokens(number, around.tokens, gradient, n_jobs=n_jobs)
        if layout.bias:
            gradient[layout.start_at : layout.end_at] += around.start[layout.n_labels - layout.columns :]
        gradient[layout.end_at : layout.transition_at] += around.end
        gradient[layout.transition_at : layout.second_at] += around.transitions.ravel()
        gradient[layout.second_at : layout.dense_at] += around.second.ravel()
    return value


@dataclass(frozen=True, slots=True)
class _SecondOrderScoresFrom(ScoresFrom):
    second: Floats


def _add_smooth(
    features: SmoothScorer,
    within: Known,
    prices: Floats,
    weights: Floats,
    gradient: Floats,
    n_jobs: int | None,
) -> float:
    """For any structure with beliefs, and any scorer that maps their gradients back."""
    space, scores = within.space, features.scores(weights)
    if within.bonus is not None:
        space, scores = sums.raised(space, scores, within.bonus)
    around = sums.beliefs(space, scores, prices=prices, n_jobs=n_jobs)
    features.add_gradient(weights, around, gradient)
    return inner(prices, around.log_sums)


def _add_segments(
    features: SegmentScorer,
    within: Known,
    prices: Floats,
    weights: Floats,
    gradient: Floats,
    n_jobs: int | None,
) -> float:
    assert isinstance(within.space, SegmentSpace)
    space = within.space if within.bonus is None else within.space.raised(within.bonus)
    parts, scores = space.shards(), features.scores(weights)
    bounds = np.linspace(0, len(parts), min(GROUPS, len(parts)) + 1).astype(int)
    log_sums = np.zeros(len(prices))

    def run(group: int) -> Floats:
        counts = np.zeros(features.size)
        for lo, hi in parts[bounds[group] : bounds[group + 1]]:
            around = space.block_beliefs(scores, lo, hi, prices)
            log_sums[lo:hi] = around.log_sums
            add_expected(
                features.rows,
                features.segments,
                features.layout,
                first=int(space.starts[lo]),
                tokens=around.tokens,
                lasts=around.segments,
                edges=(around.transition, around.start, around.end),
                out=counts,
            )
        return counts

    for counts in threads(run, range(len(bounds) - 1), n_jobs=n_jobs):
        gradient += counts
    return inner(prices, log_sums)


def held(scores: ChainScores, space: ChainSpace, *, n_jobs: int | None = None) -> GivenScores:
    """The token scores of a space in memory, if they are needed twice."""
    tokens = np.empty((int(space.starts[-1]), space.n_labels))

    def run(shard: tuple[int, int]) -> None:
        first, last = int(space.starts[shard[0]]), int(space.starts[shard[1]])
        tokens[first:last] = scores.block(first, last)

    threads(run, shards(space.starts), n_jobs=n_jobs)
    return GivenScores(tokens, scores.transition, scores.start, scores.end)

"""The labelled segmentations of a batch of sequences, and inference over them.

A segmentation tiles a sequence with segments (first token, last token, label). Its score is

    start(first label) + end(last label) + Σ over pairs of neighbours of transition(label, next label)
        + Σ over segments of [ Σ over tokens of token score(t, label) + segment score(last, length, label) ]

(Sarawagi and Cohen 2004). It costs O(T L² + T M L) for T tokens, L labels and segments of at most M tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import NO_FLOATS, Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible
from sidelight.features.rows import taken
from sidelight.parallel import shards, threads
from sidelight.parallel.threads import SHARD_TOKENS
from sidelight.spaces import chain_kernels, segment_k_best, segment_kernels, segment_sums
from sidelight.spaces.chain import ChainScores, Transitions

SHARD_SEGMENTS = 16384  # tokens times lengths of a shard: its block of totals stays near a core


class SegmentScores(ChainScores, Protocol):
    """Scores of the parts of a batch; those of tokens and segments are asked for block by block."""

    def segments(self, first: int, last: int) -> Floats:
        """A fresh array [last - first, M, L] of scores of a segment of length d + 1 and label l that ends at t."""
        ...


@dataclass(frozen=True, slots=True)
class GivenSegmentScores:
    """Scores that a caller hands in as arrays."""

    tokens: Floats  # [T, L]
    lasts: Floats  # [T, M, L] by last token and length - 1
    transition: Floats
    start: Floats
    end: Floats

    def block(self, first: int, last: int) -> Floats:
        return np.array(self.tokens[first:last], dtype=np.float64, order="C")

    def segments(self, first: int, last: int) -> Floats:
        return np.array(self.lasts[first:last], dtype=np.float64, order="C")


class Segments(NamedTuple):
    """One segmentation per sequence."""

    labels: Ids  # [T] label of the segment that covers a token
    begins: Bytes  # [T] 1 where a segment begins

    def part(self, first: int, last: int) -> Segments:
        """Those of the tokens first..last."""
        return Segments(self.labels[first:last], self.begins[first:last])


class BestSegments(NamedTuple):
    """The best segmentation of each sequence."""

    segments: Segments
    values: Floats  # [N] score, and cost if one was added
    targets: Floats  # [N] score of the cost's targets, or empty without a cost


@dataclass(frozen=True, slots=True)
class SegmentCost:
    """A cost that decomposes over tokens: of being the first token of a segment, or another one, where k is right."""

    targets: Segments  # the right segmentation
    tokens: Ids  # [T] the right token label
    first: Floats  # [K, L] first[k, l]: the first token of a segment l
    inside: Floats  # [K, L]
    token_weights: Floats = field(default_factory=lambda: NO_FLOATS)  # [T] or empty

    def part(self, first: int, last: int) -> SegmentCost:
        """The cost of the tokens first..last alone."""
        weights = self.token_weights[first:last] if len(self.token_weights) else self.token_weights
        return replace(
            self, targets=self.targets.part(first, last), tokens=self.tokens[first:last], token_weights=weights
        )

    def of(self, starts: Ints, found: Segments) -> Floats:
        """The cost of each sequence's segmentation. # [N]"""
        where = self.tokens, found.labels
        per_token = np.where(found.begins != 0, self.first[where], self.inside[where])
        if len(self.token_weights):
            per_token = per_token * self.token_weights
        return np.add.reduceat(per_token, starts[:-1]) if len(per_token) else np.zeros(len(starts) - 1)


class SegmentBeliefs(NamedTuple):
    """Log-sums, and expectations of the parts of some sequences, times the scale of each sequence."""

    log_sums: Floats  # [N]
    tokens: Floats  # [T, L] a segment of label l covers token t
    firsts: Floats  # [T, L] a segment of label l begins at token t
    segments: Floats  # [T, M, L] a segment of length d + 1 and label l ends at token t
    transition: Floats  # [L, L] summed over the sequences, as the next two
    start: Floats  # [L]
    end: Floats  # [L]


@dataclass(frozen=True, slots=True)
class SegmentSpace:
    """All segmentations of a batch, less what masks exclude.

    `runs`: a segment may follow one of its own label only where that one is as long as can be. Then every token
    labeling has one segmentation: each run of a label, cut from the left into pieces of the greatest length and a rest.
    """

    starts: Ints  # [N + 1] first token of each sequence
    n_labels: int
    max_length: int  # M, of a segment, in tokens
    longest: Ints | None = None  # [L] the same per label, 1 to M; None: M for all
    runs: bool = False
    allowed: Transitions | None = None  # between the labels of segments
    admitted: Bytes | None = None  # [T, L] labels of segments that a token may be in, as other than the first
    opening: Bytes | None = None  # [T, L] labels of segments that a token may be the first of; None: as admitted

    def inside(self, admitted: Bytes, opening: Bytes | None = None) -> SegmentSpace:
        """The segmentations within per-token label sets; `opening` for first tokens, where these differ."""
        opened = _both(self._openers, admitted if opening is None else opening)
        return replace(self, admitted=_both(self.admitted, admitted), opening=opened)

    def part(self, lo: int, hi: int) -> SegmentSpace:
        """The space of the sequences lo..hi alone, without copying masks."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        return replace(
            self,
            starts=self.starts[lo : hi + 1] - first,
            admitted=None if self.admitted is None else self.admitted[first:last],
            opening=None if self.opening is None else self.opening[first:last],
        )

    def take(self, which: Ints) -> SegmentSpace:
        """The space of some of the sequences."""
        starts, tokens = taken(self.starts, which)
        masks = [None if mask is None else mask[tokens] for mask in (self.admitted, self.opening)]
        return replace(self, starts=starts, admitted=masks[0], opening=masks[1])

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Which sequences have any segmentation. # [N]"""
        size = self.n_labels
        values = np.empty(len(self.starts) - 1)
        found = self._blank()
        zeros = GivenSegmentScores(
            np.broadcast_to(0.0, (len(found.labels), size)),
            np.broadcast_to(0.0, (len(found.labels), self.max_length, size)),
            np.zeros((size, size)),
            np.zeros(size),
            np.zeros(size),
        )
        edges = self.masked(zeros)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_kernels.best(self.starts, lo, hi, totals, *edges, *self._shape, *found, values)

        self._each(zeros, run, n_jobs)
        return values > -np.inf

    def shards(self) -> list[tuple[int, int]]:
        """Ranges of sequences that are worked on one after another or at once."""
        return shards(self.starts, tokens=min(SHARD_TOKENS, max(32, SHARD_SEGMENTS // self.max_length)))

    def best(
        self, scores: SegmentScores, *, cost: SegmentCost | None = None, n_jobs: int | None = None
    ) -> BestSegments:
        """The best segmentation of each sequence, with its cost added where one is given.

        Raises `Infeasible` where the masks leave none.
        """
        found = self._blank()
        values = np.empty(len(self.starts) - 1)
        targets = np.empty(0 if cost is None else len(values))
        given = scores.transition, scores.start, scores.end
        edges = self.masked(scores)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            tokens, segments = scores.block(first, last), scores.segments(first, last)
            if cost is not None:
                segment_kernels.scores_of(self.starts, lo, hi, tokens, segments, *given, *cost.targets, targets)
            totals = self._totals(lo, hi, tokens, segments, cost)
            segment_kernels.best(self.starts, lo, hi, totals, *edges, *self._shape, *found, values)

        threads(run, self.shards(), n_jobs=n_jobs)
        self._check(values)
        return BestSegments(found, values, targets)

    def k_best(self, scores: SegmentScores, k: int, *, n_jobs: int | None = None) -> tuple[list[Segments], Floats]:
        """The k best segmentations, best first, and their scores [N, k].

        Where a sequence has fewer, their score is -inf and their labels are -1. Raises `Infeasible` where it has none.
        """
        labels = np.empty((k, int(self.starts[-1])), dtype=np.int32)
        begins = np.empty(labels.shape, dtype=np.uint8)
        values = np.empty((len(self.starts) - 1, k))
        edges = self.masked(scores)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_k_best.k_best(self.starts, lo, hi, totals, *edges, *self._shape, labels, begins, values)

        self._each(scores, run, n_jobs)
        self._check(values[:, 0])
        return [Segments(*one) for one in zip(labels, begins)], values

    def log_sums(self, scores: SegmentScores, *, n_jobs: int | None = None) -> Floats:
        """log Σ exp(score) over the segmentations of each sequence. # [N]

        Raises `Infeasible` where there are none.
        """
        values = np.empty(len(self.starts) - 1)
        edges = self.masked(scores)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_sums.log_sums(self.starts, lo, hi, totals, *edges, *self._shape, values)

        self._each(scores, run, n_jobs)
        self._check(values)
        return values

    def sample(self, scores: SegmentScores, rng: np.random.Generator, *, n_jobs: int | None = None) -> Segments:
        """A segmentation of each sequence, drawn with probability in proportion to exp(score).

        Raises `Infeasible` where there are none.
        """
        found = self._blank()
        values = np.empty(len(self.starts) - 1)
        edges = self.masked(scores)
        seeds = rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_sums.sample(self.starts, lo, hi, totals, *edges, *self._shape, seeds, *found, values)

        self._each(scores, run, n_jobs)
        self._check(values)
        return found

    def beliefs(self, scores: SegmentScores, *, n_jobs: int | None = None) -> SegmentBeliefs:
        """Log-sums and the expectations of all parts; it takes T · M · L numbers.

        Raises `Infeasible` where a sequence has no segmentation.
        """
        ones = np.ones(len(self.starts) - 1)
        pieces = threads(lambda shard: self.block_beliefs(scores, *shard, ones), self.shards(), n_jobs=n_jobs)
        if not pieces:
            size = self.n_labels
            tokens, edges = np.zeros((0, size)), (np.zeros((size, size)), np.zeros(size), np.zeros(size))
            return SegmentBeliefs(ones, tokens, tokens, np.zeros((0, self.max_length, size)), *edges)
        columns = list(zip(*pieces))
        joined = [np.concatenate(column) for column in columns[:4]]
        return SegmentBeliefs(*joined, *(np.sum(column, axis=0) for column in columns[4:]))

    def token_beliefs(self, scores: SegmentScores, *, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """Tokens and firsts of `beliefs` alone, without the room that those of segments take. # [T, L] twice"""
        ones = np.ones(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> tuple[Floats, Floats]:
            found = self.block_beliefs(scores, *shard, ones)
            return found.tokens, found.firsts

        parts = [(np.zeros((0, self.n_labels)),) * 2, *threads(run, self.shards(), n_jobs=n_jobs)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def block_beliefs(self, scores: SegmentScores, lo: int, hi: int, scales: Floats) -> SegmentBeliefs:
        """As `beliefs`, of the sequences lo..hi alone; expectations of sequence i are multiplied by scales[i]."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        totals = self._totals(lo, hi, scores.block(first, last), scores.segments(first, last))
        size = self.n_labels
        values = np.empty(len(self.starts) - 1)
        tokens, firsts = np.zeros((last - first, size)), np.zeros((last - first, size))
        edges = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        masked = self.masked(scores)
        shape = self._shape
        segment_sums.beliefs(self.starts, lo, hi, totals, *masked, *shape, scales, values, tokens, firsts, *edges)
        self._check(values[lo:hi], lo)
        return SegmentBeliefs(values[lo:hi], tokens, firsts, totals, *edges)

    def score(self, scores: SegmentScores, found: Segments, *, n_jobs: int | None = None) -> Floats:
        """The score of a given segmentation of each sequence, -inf with a segment of more than M tokens. # [N]"""
        values = np.empty(len(self.starts) - 1)
        edges = scores.transition, scores.start, scores.end

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            blocks = scores.block(first, last), scores.segments(first, last)
            segment_kernels.scores_of(self.starts, lo, hi, *blocks, *edges, *found, values)

        threads(run, self.shards(), n_jobs=n_jobs)
        return values

    def totals(self, scores: SegmentScores, i: int) -> Floats:
        """What each segment of sequence i adds to the score, -inf where it may not be. # [t, M, L] as `lasts`"""
        first, last = int(self.starts[i]), int(self.starts[i + 1])
        return self._totals(i, i + 1, scores.block(first, last), scores.segments(first, last))

    @property
    def _shape(self) -> tuple[Ints, bool]:
        if self.longest is None:
            return np.full(self.n_labels, self.max_length, dtype=np.int64), self.runs
        return self.longest, self.runs

    @property
    def _openers(self) -> Bytes | None:
        return self.admitted if self.opening is None else self.opening

    def _blank(self) -> Segments:
        tokens = int(self.starts[-1])
        return Segments(np.empty(tokens, dtype=np.int32), np.empty(tokens, dtype=np.uint8))

    def _totals(self, lo: int, hi: int, tokens: Floats, segments: Floats, cost: SegmentCost | None = None) -> Floats:
        """The totals that kernels take; changes the blocks it is given."""
        base = int(self.starts[lo])
        openers = self._openers
        first = tokens if cost is None and openers is self.admitted else tokens.copy()
        if cost is not None:
            chain_kernels.add_costs(first, base, cost.tokens, cost.first, cost.token_weights)
            chain_kernels.add_costs(tokens, base, cost.tokens, cost.inside, cost.token_weights)
        if openers is not None and first is not tokens:
            chain_kernels.close_labels(first, base, openers)
        if self.admitted is not None:
            chain_kernels.close_labels(tokens, base, self.admitted)
        segment_kernels.add_tokens(self.starts, lo, hi, first, tokens, self._shape[0], segments)
        return segments

    def _each(self, scores: SegmentScores, run: Callable[[int, int, Floats], None], n_jobs: int | None) -> None:
        def one(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            run(lo, hi, self._totals(lo, hi, scores.block(first, last), scores.segments(first, last)))

        threads(one, self.shards(), n_jobs=n_jobs)

    def masked(self, scores: SegmentScores) -> tuple[Floats, Floats, Floats]:
        """Scores of transitions, starts and ends, -inf where they are not allowed. # [L, L], [L], [L]"""
        given = scores.transition, scores.start, scores.end
        return given if self.allowed is None else self.allowed.masked(*given)

    def _check(self, values: Floats, first: int = 0) -> None:
        if not np.all(values > -np.inf):
            where = first + int(np.flatnonzero(~(values > -np.inf))[0])
            raise Infeasible(f"sequence {where}: the masks and the longest segments allowed leave no segmentation")


def _both(one: Bytes | None, other: Bytes) -> Bytes:
    return np.ascontiguousarray(other if one is None else one & other, dtype=np.uint8)

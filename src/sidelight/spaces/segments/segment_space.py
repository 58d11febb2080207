"""The labelled segmentations of a batch of sequences, and inference over them.

A segmentation tiles a sequence with segments (first token, last token, label). Its score is

    start(first label) + end(last label) + Σ over pairs of neighbours of transition(label, next label)
        + Σ over segments of [ Σ over tokens of token score(t, label) + segment score(last, length, label) ]

(Sarawagi and Cohen 2004). It costs O(T L² + T M L) for T tokens, L labels and segments of at most M tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import taken
from sidelight.features.segments.segment_rows import Segments
from sidelight.parallel import shards, threads
from sidelight.parallel.threads import SHARD_TOKENS
from sidelight.spaces.chains import chain_kernels
from sidelight.spaces.chains.chain import AnyCost, ChainScores, Paths, Transitions
from sidelight.spaces.outside import Outside
from sidelight.spaces.segments import segment_k_best, segment_kernels, segment_sums
from sidelight.spaces.segments.segment_log_kernels import Moves, SegmentRoom, moves_of, room_of
from sidelight.spaces.segments.token_reading import TokenReading

SHARD_SEGMENTS = 16384  # tokens times lengths of a shard: its block of totals stays near a core


class SegmentScores(ChainScores, Protocol):
    """Scores of the parts of a batch; those of tokens and segments are computed block by block."""

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
    """All segmentations of a batch, less what masks exclude; outputs are the token labels that they read as."""

    starts: Ints  # [N + 1] first token of each sequence
    reading: TokenReading
    max_length: int  # M, of a segment, in tokens
    allowed: Transitions | None = None  # between the labels of segments
    admitted: Bytes | None = None  # [T, K] token labels
    bonus: Floats | None = None  # [T, K] finite; added to the scores of token labels

    @property
    def n_labels(self) -> int:
        """K, of tokens."""
        return self.reading.n_labels

    def inside(self, admitted: Bytes) -> SegmentSpace:
        """The segmentations within per-token sets of token labels."""
        both = admitted if self.admitted is None else self.admitted & admitted
        return replace(self, admitted=np.ascontiguousarray(both, dtype=np.uint8))

    def raised(self, bonus: Floats) -> SegmentSpace:
        """The same segmentations, with an additional bonus for every token label. # bonus: [T, K]"""
        return replace(self, bonus=bonus if self.bonus is None else self.bonus + bonus)

    def outside(self, admitted: Bytes) -> Outside:
        """The segmentations in which at least one token leaves its candidate set."""
        return Outside.of(self, admitted)

    def part(self, lo: int, hi: int) -> SegmentSpace:
        """The space of the sequences lo..hi alone, without copying masks."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        return self._of(self.starts[lo : hi + 1] - first, slice(first, last))

    def take(self, which: Ints) -> SegmentSpace:
        """The space of some of the sequences."""
        return self._of(*taken(self.starts, which))

    def _of(self, starts: Ints, tokens: Ints | slice) -> SegmentSpace:
        admitted = None if self.admitted is None else self.admitted[tokens]
        return replace(self, starts=starts, admitted=admitted, bonus=None if self.bonus is None else self.bonus[tokens])

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Which sequences have any segmentation. # [N]"""
        return self._best(self.zero_scores(), None, n_jobs).values > -np.inf

    def zero_scores(self) -> GivenSegmentScores:
        """Scores that prefer nothing."""
        tokens, size = int(self.starts[-1]), self.reading.n_segments
        return GivenSegmentScores(
            np.broadcast_to(0.0, (tokens, size)),
            np.broadcast_to(0.0, (tokens, self.max_length, size)),
            np.zeros((size, size)),
            np.zeros(size),
            np.zeros(size),
        )

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """The token labels of a segmentation of each sequence, uniformly at random from the space. # [T]"""
        return self.sample(self.zero_scores(), rng, n_jobs=n_jobs)

    def shards(self) -> list[tuple[int, int]]:
        """Ranges of sequences that are worked on one after another or at once."""
        return shards(self.starts, tokens=min(SHARD_TOKENS, max(32, SHARD_SEGMENTS // self.max_length)))

    def best(
        self,
        scores: SegmentScores,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths:
        """The best segmentation of each sequence as token labels, with its cost added where one is given.

        Raises `Infeasible` if the masks leave none.
        """
        if rng is not None:
            raise Intractable("the ties of segmentations are not broken at random; leave random_ties and restarts out")
        paths = self._best(scores, cost, n_jobs)
        self._check(paths.values)
        return paths

    def _best(self, scores: SegmentScores, cost: AnyCost | None, n_jobs: int | None) -> Paths:
        best_segments = self._blank()
        values = np.empty(len(self.starts) - 1)
        targets = np.empty(0 if cost is None else len(values))
        edges_of_scores = scores.transition, scores.start, scores.end
        edges = self.masked(scores)
        right, whole = (best_segments, None) if cost is None else self.reading.cut(self.starts, cost.targets)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            tokens, segments = scores.block(first, last), scores.segments(first, last)
            if cost is not None:
                segment_kernels.scores_of(self.starts, lo, hi, tokens, segments, *edges_of_scores, *right, targets)
            totals = self._totals(lo, hi, tokens, segments, cost)
            segment_kernels.best(self.starts, lo, hi, totals, *edges, *self._shape, *best_segments, values)

        threads(run, self.shards(), n_jobs=n_jobs)
        if cost is not None and whole is not None:
            targets += self._bonus_of(cost.targets)
            targets[~whole] = -np.inf
        return Paths(self.reading.labels(best_segments), values, targets)

    def k_best(self, scores: SegmentScores, k: int, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        """The token labels [k, T] of the k best segmentations, best first, and their scores [k, N].

        Where a sequence has fewer, their score is -inf and their labels are -1. Raises `Infeasible` if it has none.
        """
        labels = np.empty((k, int(self.starts[-1])), dtype=np.int32)
        begins = np.empty(labels.shape, dtype=np.uint8)
        values = np.empty((len(self.starts) - 1, k))
        edges = self.masked(scores)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_k_best.k_best(self.starts, lo, hi, totals, *edges, *self._shape, labels, begins, values)

        self._each(scores, run, n_jobs)
        self._check(values[:, 0])
        there = np.repeat(-np.inf < values.T, np.diff(self.starts), axis=1)
        outputs = self.reading.labels(Segments(labels, begins))
        return np.where(there, outputs, np.int32(-1)), np.ascontiguousarray(values.T)

    def log_sums(self, scores: SegmentScores, *, n_jobs: int | None = None) -> Floats:
        """log Σ exp(score) over the segmentations of each sequence. # [N]

        Raises `Infeasible` if there are none.
        """
        values = np.empty(len(self.starts) - 1)
        edges = self._steps(scores)

        def run(lo: int, hi: int, totals: Floats) -> None:
            segment_sums.log_sums(self.starts, lo, hi, totals, *edges, *self._shape, self._room(lo, hi), values)

        self._each(scores, run, n_jobs)
        self._check(values)
        return values

    def sample(self, scores: SegmentScores, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids:
        """The token labels of a segmentation of each sequence, drawn with probability in proportion to exp(score).

        Raises `Infeasible` if there are none.
        """
        segments = self._blank()
        values = np.empty(len(self.starts) - 1)
        edges = self._steps(scores)
        seeds = rng.integers(0, 2**64, size=len(values), dtype=np.uint64)

        def run(lo: int, hi: int, totals: Floats) -> None:
            shape = *self._shape, self._room(lo, hi)
            segment_sums.sample(self.starts, lo, hi, totals, *edges, *shape, seeds, *segments, values)

        self._each(scores, run, n_jobs)
        self._check(values)
        return self.reading.labels(segments)

    def beliefs(self, scores: SegmentScores, *, n_jobs: int | None = None) -> SegmentBeliefs:
        """Log-sums and the expectations of all parts; it takes T · M · L numbers.

        Raises `Infeasible` if a sequence has no segmentation.
        """
        ones = np.ones(len(self.starts) - 1)
        pieces = threads(lambda shard: self.block_beliefs(scores, *shard, ones), self.shards(), n_jobs=n_jobs)
        if not pieces:
            size = self.reading.n_segments
            tokens, edges = np.zeros((0, size)), (np.zeros((size, size)), np.zeros(size), np.zeros(size))
            return SegmentBeliefs(ones, tokens, tokens, np.zeros((0, self.max_length, size)), *edges)
        columns = list(zip(*pieces))
        joined = [np.concatenate(column) for column in columns[:4]]
        return SegmentBeliefs(*joined, *(np.sum(column, axis=0) for column in columns[4:]))

    def marginals(self, scores: SegmentScores, *, n_jobs: int | None = None) -> Floats:
        """p(y_t = k) of token labels, without the room that beliefs of segments take. # [T, K]"""
        ones = np.ones(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> Floats:
            beliefs = self.block_beliefs(scores, *shard, ones)
            return self.reading.shares(beliefs.tokens, beliefs.firsts)

        return np.concatenate([np.zeros((0, self.n_labels)), *threads(run, self.shards(), n_jobs=n_jobs)])

    def block_beliefs(self, scores: SegmentScores, lo: int, hi: int, scales: Floats) -> SegmentBeliefs:
        """As `beliefs`, of the sequences lo..hi alone; expectations of sequence i are multiplied by scales[i]."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        totals = np.ascontiguousarray(self._totals(lo, hi, scores.block(first, last), scores.segments(first, last)))
        size = self.reading.n_segments
        values = np.empty(len(self.starts) - 1)
        tokens, firsts = np.zeros((last - first, size)), np.zeros((last - first, size))
        edges = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        steps = self._steps(scores)
        flat, pairs, room = totals.reshape(len(totals), -1), np.zeros((size, size)), self._room(lo, hi)
        given, out = (self.starts, lo, hi, totals, *steps, *self._shape), (values, tokens, firsts, *edges)
        segment_sums.beliefs(*given, room, flat, pairs, scales, *out)
        self._check(values[lo:hi], lo)
        return SegmentBeliefs(values[lo:hi], tokens, firsts, totals, *edges)

    def score(self, scores: SegmentScores, labels: Ids, *, n_jobs: int | None = None) -> Floats:
        """The score of the segmentation that token labels read as, -inf where they read as none. # [N]"""
        values = np.empty(len(self.starts) - 1)
        edges = scores.transition, scores.start, scores.end
        segments, whole = self.reading.cut(self.starts, labels)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            blocks = scores.block(first, last), scores.segments(first, last)
            segment_kernels.scores_of(self.starts, lo, hi, *blocks, *edges, *segments, values)

        threads(run, self.shards(), n_jobs=n_jobs)
        values += self._bonus_of(labels)
        values[~whole] = -np.inf
        return values

    def _bonus_of(self, labels: Ids) -> Floats | float:
        """The bonus of given token labels of each sequence. # [N]"""
        if self.bonus is None or not len(labels):
            return 0.0
        return np.asarray(np.add.reduceat(self.bonus[np.arange(len(labels)), labels], self.starts[:-1]))

    def admits(self, labels: Ids) -> Bytes:
        """Whether each sequence's token labels read as a segmentation of the space. # [N] of 0 and 1"""
        zeros = self.zero_scores()
        fits = self.score(GivenSegmentScores(zeros.tokens, zeros.lasts, *self.masked(zeros)), labels) > -np.inf
        if self.admitted is not None and len(labels):
            per_token = self.admitted[np.arange(len(labels)), labels]
            fits &= np.minimum.reduceat(per_token, self.starts[:-1]) > 0
        return fits.astype(np.uint8)

    def totals(self, scores: SegmentScores, i: int) -> Floats:
        """The score of each segment of sequence i, -inf if it is excluded. # [t, M, L] as `lasts`"""
        first, last = int(self.starts[i]), int(self.starts[i + 1])
        return self._totals(i, i + 1, scores.block(first, last), scores.segments(first, last))

    @property
    def _shape(self) -> tuple[Ints, bool]:
        return self.reading.longest, self.reading.runs

    def _room(self, lo: int, hi: int) -> SegmentRoom:
        """Memory for the sums of the sequences lo..hi, one at a time."""
        return room_of(self.starts, lo, hi, self.max_length, self.reading.n_segments)

    def _blank(self) -> Segments:
        tokens = int(self.starts[-1])
        return Segments(np.empty(tokens, dtype=np.int32), np.empty(tokens, dtype=np.uint8))

    def _totals(self, lo: int, hi: int, tokens: Floats, segments: Floats, cost: AnyCost | None = None) -> Floats:
        """The totals that kernels take; changes the block of segments it is given."""
        base, first, inside = int(self.starts[lo]), tokens, tokens
        if cost is not None or self.admitted is not None or self.bonus is not None:
            extra = np.zeros((len(tokens), self.n_labels))  # by token label
            if self.bonus is not None:
                extra += self.bonus[base : base + len(tokens)]
            if cost is not None:
                cost.add_to(extra, base)
            if self.admitted is not None:
                chain_kernels.close_labels(extra, base, self.admitted)
            first, inside = tokens + extra[:, self.reading.first], tokens + extra[:, self.reading.inside]
        segment_kernels.add_tokens(self.starts, lo, hi, first, inside, self.reading.longest, segments)
        return segments

    def _each(self, scores: SegmentScores, run: Callable[[int, int, Floats], None], n_jobs: int | None) -> None:
        def one(shard: tuple[int, int]) -> None:
            lo, hi = shard
            first, last = int(self.starts[lo]), int(self.starts[hi])
            run(lo, hi, self._totals(lo, hi, scores.block(first, last), scores.segments(first, last)))

        threads(one, self.shards(), n_jobs=n_jobs)

    def masked(self, scores: SegmentScores) -> tuple[Floats, Floats, Floats]:
        """Scores of transitions, starts and ends, -inf where they are not allowed. # [L, L], [L], [L]"""
        edges = scores.transition, scores.start, scores.end
        return edges if self.allowed is None else self.allowed.masked(*edges)

    def _steps(self, scores: SegmentScores) -> tuple[Moves, Floats, Floats]:
        """As `masked`, ready for sums."""
        transition, start, end = self.masked(scores)
        return moves_of(transition, self.reading.runs), start, end

    def _check(self, values: Floats, first: int = 0) -> None:
        if not np.all(values > -np.inf):
            where = first + int(np.flatnonzero(~(values > -np.inf))[0])
            raise Infeasible(f"sequence {where}: the masks and the longest segments allowed leave no segmentation")

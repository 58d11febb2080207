"""Segment features of a batch, where their weights live, and the scores they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.features.layout import LARGEST, Layout
from sidelight.features.rows import NO_VALUES, LinearScores, Rows, scores, sparse_scores, taken


class Segments(NamedTuple):
    """One segmentation per sequence, as kernels take it."""

    labels: Ids  # [T] label of the segment that covers a token
    begins: Bytes  # [T] 1 where a segment begins


@dataclass(frozen=True, slots=True)
class SegmentRows:
    """Binary features of every segment of at most M tokens: row t · M + d − 1 is the one of length d that ends at t.

    Rows of segments that would begin before their sequence are empty; the entries of row 0 need not be the first.
    """

    starts: Ints  # [N + 1] first token of each sequence
    max_length: int  # M
    indptr: Ints  # [T · M + 1]
    indices: Ids  # [entries] segment attribute

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, lo: int, hi: int) -> SegmentRows:
        """The sequences lo..hi, without copying features."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        bounds = self.indptr[first * self.max_length : last * self.max_length + 1]
        return SegmentRows(self.starts[lo : hi + 1] - first, self.max_length, bounds, self.indices)

    def take(self, which: Ints) -> SegmentRows:
        """The rows of some of the sequences."""
        bounds, rows = taken(self.starts * self.max_length, which)
        indptr, picked = taken(self.indptr, rows)
        return SegmentRows(bounds // self.max_length, self.max_length, indptr, self.indices[picked])


@dataclass(frozen=True, slots=True)
class SegmentedRows:
    """Features of the tokens and of the segments of a batch."""

    tokens: Rows
    segments: SegmentRows

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def starts(self) -> Ints:
        return self.tokens.starts

    @property
    def lengths(self) -> Ints:
        return self.tokens.lengths

    @property
    def n_tokens(self) -> int:
        return self.tokens.n_tokens

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, to distinguish batches."""
        return (*self.tokens.arrays(), self.segments.indptr, self.segments.indices)

    def take(self, which: Ints | Sequence[int]) -> SegmentedRows:
        """The rows of some of the sequences."""
        return SegmentedRows(self.tokens.take(which), self.segments.take(np.asarray(which, dtype=np.int64)))

    def tokens_of(self, which: Ints | Sequence[int]) -> Ints:
        """The token numbers of some of the sequences, in order."""
        return self.tokens.tokens_of(which)


@dataclass(frozen=True, slots=True)
class SegmentLayout:
    """The weights of tokens, transitions and ends as in a chain over segment labels, then those of segments."""

    tokens: Layout
    n_attributes: int  # S, of segments

    def __post_init__(self) -> None:
        if self.size > LARGEST:
            raise DataError(
                f"{self.n_attributes:,} segment attributes times {self.n_labels} labels, with those of tokens, "
                f"are more than {LARGEST:,} weights",
                remedy="raise min_count, or use hash_bits",
            )

    @property
    def n_labels(self) -> int:
        return self.tokens.n_labels

    @property
    def size(self) -> int:
        return self.tokens.size + self.n_attributes * self.tokens.n_labels

    @property
    def order(self) -> int:
        """The order of the chain of segments."""
        return 1

    def zeros(self) -> Floats:
        """Zero weights."""
        return np.zeros(self.size)

    def token_weights(self, weights: Floats) -> Floats:
        """A view of the weights that a chain would have."""
        return weights[: self.tokens.size]

    def segment_weights(self, weights: Floats) -> Floats:
        """A view of the weights of segment attributes. # [S, L]"""
        return weights[self.tokens.size :].reshape(self.n_attributes, self.n_labels)


@dataclass(frozen=True, slots=True)
class LinearSegmentScores:
    """Scores of a batch's tokens, segments and transitions, computed block by block."""

    chain: LinearScores
    rows: SegmentRows
    weights: Floats  # [S, L]

    @property
    def transition(self) -> Floats:
        return self.chain.transition

    @property
    def start(self) -> Floats:
        return self.chain.start

    @property
    def end(self) -> Floats:
        return self.chain.end

    def block(self, first: int, last: int) -> Floats:
        return self.chain.block(first, last)

    def segments(self, first: int, last: int) -> Floats:
        most, labels = self.rows.max_length, self.weights.shape[1]
        out = np.zeros(((last - first) * most, labels))
        sparse_scores(self.rows.indptr, self.rows.indices, NO_VALUES, self.weights, first * most, out)
        return out.reshape(last - first, most, labels)


def segment_scores(rows: Rows, segments: SegmentRows, layout: SegmentLayout, weights: Floats) -> LinearSegmentScores:
    """The scores of all parts of a batch under the weights."""
    chain = scores(rows, layout.tokens, layout.token_weights(weights))
    return LinearSegmentScores(chain, segments, layout.segment_weights(weights))

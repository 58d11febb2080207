"""Scores of a batch under a short weight vector (`support`), and their adjoint.

Attributes seen with many labels are few but make two thirds of all entries: their weights are spread into full rows
before scores are computed, and one loop over labels adds them. Of the others only the pairs that exist are listed,
token by token for the scores; for the gradient, block of tokens by block, in parts that have no weight in common, so
that threads can share them and their number does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.gradient import (
    PARTS,
    AttributeBlock,
    add_dense,
    add_edges,
    attribute_blocks,
    chain_curvature,
    squared_features,
    sum_beliefs,
)
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows, _dense_scores
from sidelight.features.support import Support, spread_rows
from sidelight.parallel import threads


@dataclass(frozen=True, slots=True)
class PairBlock:
    """The pairs of a block's tokens, in parts that have no weight in common."""

    ptr: Ints  # [PARTS + 1]
    pairs: Ids  # [entries]
    places: Ids  # [entries] token · L + label, counted from the block's first token
    values: Floats  # [entries], or [0] when every value is 1


class SortedEntries(NamedTuple):
    """The entries of a batch as scores take them."""

    spread: Ids  # [W] attributes with many labels
    wide: Rows  # entries of these, by their number in `spread`
    indptr: Ints  # [T + 1] first pair of each token
    pairs: Ids  # [entries] pairs of the other attributes
    labels: Ids  # [entries] and their labels
    values: Floats  # [entries], or [0] when every value is 1

    @classmethod
    def of(cls, rows: Rows, support: Support) -> SortedEntries:
        """Sort the entries of a batch."""
        layout = support.layout
        many = max(2, (layout.columns + 5) // 6)
        spread = np.flatnonzero(np.diff(support.ptr) >= many).astype(np.int32)
        number = np.full(layout.n_attributes, -1, dtype=np.int32)
        number[spread] = np.arange(len(spread), dtype=np.int32)
        wide_ptr, pair_ptr = np.zeros((2, rows.n_tokens + 1), dtype=np.int64)
        _measure(rows.indptr, rows.indices, number, support.ptr, wide_ptr, pair_ptr)
        np.cumsum(wide_ptr, out=wide_ptr)
        np.cumsum(pair_ptr, out=pair_ptr)
        valued = len(rows.values) > 0
        codes, wide_values = np.empty(wide_ptr[-1], dtype=np.int32), np.empty(wide_ptr[-1] if valued else 0)
        pairs, pair_values = np.empty(pair_ptr[-1], dtype=np.int32), np.empty(pair_ptr[-1] if valued else 0)
        _sort(rows.indptr, rows.indices, rows.values, number, support.ptr, codes, wide_values, pairs, pair_values)
        labels = support.columns[pairs]
        labels += layout.n_labels - layout.columns
        wide = Rows(rows.starts, wide_ptr, codes, wide_values, rows.dense)
        return cls(spread, wide, pair_ptr, pairs, labels, pair_values)


@dataclass(frozen=True)
class SupportedFeatures:
    """The features of a batch with weights for some pairs only; sorted for scores, transposed for gradients."""

    rows: Rows
    support: Support
    n_jobs: int | None = None

    @classmethod
    def of(cls, rows: Rows, support: Support, *, n_jobs: int | None = None) -> SupportedFeatures:
        """The features of a batch."""
        return cls(rows, support, n_jobs)

    @cached_property
    def entries(self) -> SortedEntries:
        """The entries of the batch, sorted into those of attributes with many labels, and pairs of the others."""
        return SortedEntries.of(self.rows, self.support)

    @property
    def spread(self) -> Ids:
        """Attributes with many labels. # [W]"""
        return self.entries.spread

    @property
    def wide(self) -> Rows:
        """Entries of these, by their number in `spread`."""
        return self.entries.wide

    @cached_property
    def blocks(self) -> tuple[AttributeBlock, ...]:
        """The entries of `wide`, seen from their attributes."""
        return attribute_blocks(self.wide, len(self.spread), n_jobs=self.n_jobs)

    @cached_property
    def pair_blocks(self) -> tuple[PairBlock, ...]:
        """The pairs of the same blocks."""

        def group(block: AttributeBlock) -> PairBlock:
            own = self.entries
            first, last = own.indptr[block.first], own.indptr[block.last]
            out = np.empty((2, last - first), dtype=np.int32)
            values = np.empty(last - first if len(own.values) else 0)
            span = block.first, block.last, len(self.support.columns), self.layout.n_labels
            ptr = _group(own.indptr, own.pairs, own.labels, own.values, *span, out[0], out[1], values)
            return PairBlock(ptr, out[0], out[1], values)

        return tuple(threads(group, self.blocks, n_jobs=self.n_jobs))

    @property
    def layout(self) -> Layout:
        return self.support.layout

    @property
    def size(self) -> int:
        return self.support.size

    def scores(self, weights: Floats) -> SupportedScores:
        """The scores of all parts of the batch."""
        layout, support = self.layout, self.support
        table = np.zeros((len(self.spread), (layout.columns + 7) // 8 * 8))
        spread_rows(support.ptr, support.columns, weights[layout.emission_at :], self.spread, table)
        parts = layout.transition(weights), layout.start(weights), layout.end(weights)
        return SupportedScores(self, weights, table, *parts)

    def add_tokens(self, number: int, beliefs: Floats, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ over a block's tokens of belief · token features; beliefs are [tokens of the block, L]."""
        layout, support = self.layout, self.support
        block, grouped = self.blocks[number], self.pair_blocks[number]
        shift = layout.n_labels - layout.columns
        target = gradient[layout.emission_at :]

        def run(part: int) -> None:
            entries = block.attributes, block.ptr, block.tokens, block.values
            if part < len(block.parts):
                span = block.parts[part]
                _add_wide(*entries, *span, beliefs, shift, self.spread, support.ptr, support.columns, target)
            lo, hi = grouped.ptr[part], grouped.ptr[part + 1]
            _add_pairs(grouped.pairs, grouped.places, grouped.values, lo, hi, beliefs.ravel(), target)

        threads(run, range(PARTS), n_jobs=n_jobs)
        add_dense(self.rows, layout, block, beliefs, gradient, n_jobs=n_jobs)

    def add_edges(self, start: Floats, end: Floats, transitions: Floats, gradient: Floats) -> None:
        """gradient += expected numbers of starts, ends and transitions that have weights."""
        supported = transitions if self.support.kept is None else transitions * self.support.kept
        add_edges(self.layout, start, end, supported, gradient)

    def squares(self, prices: Floats) -> Floats:
        """Σ_t price_t · (squared feature) for each weight of a token's features, zero elsewhere; prices are [T]."""
        sparse, dense = squared_features(self.rows, self.layout, prices)
        out = np.zeros(self.size)
        self.layout.dense_weights(out)[:] = dense[:, None]
        out[self.layout.emission_at :] = np.repeat(sparse, np.diff(self.support.ptr))
        return out

    def curvature(self, prices: Floats, lengths: Ints, share: float) -> Floats:
        """See `chain_curvature`. # [size]"""
        return chain_curvature(self.layout, self.squares(np.repeat(prices, lengths)), prices, lengths, share)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return self.support.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout."""
        return self.support.shorten(full)


@dataclass(frozen=True, slots=True)
class SupportedScores:
    """Token scores of a batch, computed block by block."""

    features: SupportedFeatures
    weights: Floats  # short
    table: Floats  # [W, columns, padded to a multiple of eight] weights of attributes with many labels
    transition: Floats
    start: Floats
    end: Floats

    def block(self, first: int, last: int) -> Floats:
        features, layout = self.features, self.features.layout
        out = np.empty((last - first, layout.n_labels))
        shift = layout.n_labels - layout.columns
        wide = features.wide
        _wide_scores(wide.indptr, wide.indices, wide.values, self.table, first, shift, out)
        pairs = features.entries[2:]
        _pair_scores(*pairs, self.weights[layout.emission_at :], first, out)
        if layout.n_dense:
            _dense_scores(features.rows.dense[first:last], layout.dense_weights(self.weights), out[:, shift:])
        return out


@kernel
def _measure(indptr: Ints, indices: Ids, number: Ids, ptr: Ints, wide: Ints, pairs: Ints) -> None:
    """wide[t + 1], pairs[t + 1]: how many entries and pairs token t has."""
    for t in range(wide.shape[0] - 1):
        for k in range(indptr[t], indptr[t + 1]):
            attribute = indices[k]
            if number[attribute] >= 0:
                wide[t + 1] += 1
            else:
                pairs[t + 1] += ptr[attribute + 1] - ptr[attribute]


@kernel
def _sort(
    indptr: Ints,
    indices: Ids,
    values: Floats,
    number: Ids,
    ptr: Ints,
    codes: Ids,
    wide_values: Floats,
    pairs: Ids,
    pair_values: Floats,
) -> None:
    valued = values.shape[0] > 0
    at = 0
    pair_at = 0
    for k in range(indptr[0], indptr[-1]):
        attribute = indices[k]
        if number[attribute] >= 0:
            codes[at] = number[attribute]
            if valued:
                wide_values[at] = values[k]
            at += 1
        else:
            for pair in range(ptr[attribute], ptr[attribute + 1]):
                pairs[pair_at] = pair
                if valued:
                    pair_values[pair_at] = values[k]
                pair_at += 1


@kernel
def _group(
    indptr: Ints,
    pairs: Ids,
    labels: Ids,
    values: Floats,
    first: int,
    last: int,
    n_pairs: int,
    n_labels: int,
    out_pairs: Ids,
    out_places: Ids,
    out_values: Floats,
) -> Ints:
    """Sort a block's pairs into parts by their number, in order of tokens within a part; returns the parts' ends."""
    valued = values.shape[0] > 0
    share = n_pairs // PARTS + 1
    ptr = np.zeros(PARTS + 1, np.int64)
    for k in range(indptr[first], indptr[last]):
        ptr[pairs[k] // share + 1] += 1
    for part in range(PARTS):
        ptr[part + 1] += ptr[part]
    places = ptr.copy()
    for t in range(first, last):
        for k in range(indptr[t], indptr[t + 1]):
            pair = pairs[k]
            at = places[pair // share]
            places[pair // share] = at + 1
            out_pairs[at] = pair
            out_places[at] = (t - first) * n_labels + labels[k]
            if valued:
                out_values[at] = values[k]
    return ptr


@kernel
def _wide_scores(indptr: Ints, codes: Ids, values: Floats, table: Floats, first: int, shift: int, out: Floats) -> None:
    """out[t, l] = Σ over the token's entries of table rows."""
    valued = values.shape[0] > 0
    total = np.empty(table.shape[1])
    for t in range(out.shape[0]):
        total[:] = 0.0
        for k in range(indptr[first + t], indptr[first + t + 1]):
            weight = table[codes[k]]
            if valued:
                value = values[k]
                for column in range(total.shape[0]):
                    total[column] += value * weight[column]
            else:
                for column in range(total.shape[0]):
                    total[column] += weight[column]
        row = out[t]
        for label in range(shift):
            row[label] = 0.0
        for label in range(shift, row.shape[0]):
            row[label] = total[label - shift]


@kernel
def _pair_scores(
    indptr: Ints,
    pairs: Ids,
    labels: Ids,
    values: Floats,
    weights: Floats,
    first: int,
    out: Floats,
) -> None:
    valued = values.shape[0] > 0
    for t in range(out.shape[0]):
        row = out[t]
        for k in range(indptr[first + t], indptr[first + t + 1]):
            weight = weights[pairs[k]]
            row[labels[k]] += values[k] * weight if valued else weight


@kernel
def _add_wide(
    attributes: Ids,
    entries: Ints,
    tokens: Ids,
    values: Floats,
    lo: int,
    hi: int,
    beliefs: Floats,
    shift: int,
    spread: Ids,
    ptr: Ints,
    columns: Ids,
    gradient: Floats,
) -> None:
    total = np.empty(beliefs.shape[1])
    for u in range(lo, hi):
        total[:] = 0.0
        sum_beliefs(tokens, values, entries[u], entries[u + 1], beliefs, total)
        attribute = spread[attributes[u]]
        for pair in range(ptr[attribute], ptr[attribute + 1]):
            gradient[pair] += total[shift + columns[pair]]


@kernel
def _add_pairs(pairs: Ids, places: Ids, values: Floats, lo: int, hi: int, beliefs: Floats, gradient: Floats) -> None:
    if values.shape[0] > 0:
        for k in range(lo, hi):
            gradient[pairs[k]] += values[k] * beliefs[places[k]]
    else:
        for k in range(lo, hi):
            gradient[pairs[k]] += beliefs[places[k]]

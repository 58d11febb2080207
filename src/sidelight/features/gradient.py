"""The adjoint of the scores for beliefs: Σ_t Σ_l belief(t, l) · Φ(x, t, l), added to a vector of weights' size.

`counts` does this for one labeling and gives sparse rows; here every token believes a little in every label, and all
that is wanted is the sum. The entries of a batch are turned around once, block of tokens by block: for each attribute
the tokens that have it. Then threads share the attributes of a block and none writes where another does, so that the
sum is the same on any number of them; and the beliefs of a block stay in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import LinearScores, Rows, scores
from sidelight.parallel import shards, threads

BLOCK_TOKENS = 32768  # whose beliefs are in memory at once
PARTS = 8  # of a block's attributes, for threads
DENSE_PART = 16  # dense features that one thread does at a time


@dataclass(frozen=True, slots=True)
class AttributeBlock:
    """The sequences lo..hi of a batch, seen from their attributes."""

    lo: int
    hi: int
    first: int  # token
    last: int
    attributes: Ids  # [U] ascending
    ptr: Ints  # [U + 1]
    tokens: Ids  # [entries] counted from `first`
    values: Floats  # [entries], or [0] when every value is 1
    parts: tuple[tuple[int, int], ...]  # ranges of U with about as many entries each


def attribute_blocks(rows: Rows, n_attributes: int, *, n_jobs: int | None = None) -> tuple[AttributeBlock, ...]:
    """Turn the entries of a batch around."""

    def turn(shard: tuple[int, int]) -> AttributeBlock:
        lo, hi = shard
        first, last = int(rows.starts[lo]), int(rows.starts[hi])
        entries = int(rows.indptr[last] - rows.indptr[first])
        places = np.zeros(n_attributes, dtype=np.int32)
        attributes = np.empty(min(entries, n_attributes), dtype=np.int32)
        ptr = np.zeros(len(attributes) + 1, dtype=np.int64)
        count = _number(rows.indptr, rows.indices, first, last, places, attributes, ptr)
        ptr = ptr[: count + 1].copy()
        tokens = np.empty(entries, dtype=np.int32)
        values = np.empty(entries if len(rows.values) else 0)
        _turn(rows.indptr, rows.indices, rows.values, first, last, places, tokens, values)
        marks = np.linspace(0, entries, PARTS + 1)
        ends = np.unique(np.searchsorted(ptr, marks))
        parts = tuple((int(a), int(b)) for a, b in pairwise(ends))
        return AttributeBlock(lo, hi, first, last, attributes[:count].copy(), ptr, tokens, values, parts)

    return tuple(threads(turn, shards(rows.starts, tokens=BLOCK_TOKENS), n_jobs=n_jobs))


@dataclass(frozen=True, slots=True)
class FullFeatures:
    """The features of a batch with a weight for every attribute and label: scores and their adjoint."""

    rows: Rows
    layout: Layout
    blocks: tuple[AttributeBlock, ...]

    @classmethod
    def of(cls, rows: Rows, layout: Layout, *, n_jobs: int | None = None) -> FullFeatures:
        return cls(rows, layout, attribute_blocks(rows, layout.n_attributes, n_jobs=n_jobs))

    @property
    def size(self) -> int:
        return self.layout.size

    def scores(self, weights: Floats) -> LinearScores:
        """The scores of all parts of the batch."""
        return scores(self.rows, self.layout, weights)

    def add_tokens(self, number: int, beliefs: Floats, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ over a block's tokens of belief · token features; beliefs are [tokens of the block, L]."""
        block = self.blocks[number]
        sparse = self.layout.attribute_weights(gradient)

        def run(part: tuple[int, int]) -> None:
            _add_rows(block.attributes, block.ptr, block.tokens, block.values, *part, beliefs, sparse)

        threads(run, block.parts, n_jobs=n_jobs)
        add_dense(self.rows, self.layout, block, beliefs, gradient, n_jobs=n_jobs)

    def add_edges(self, start: Floats, end: Floats, transitions: Floats, gradient: Floats) -> None:
        """gradient += expected numbers of starts, ends and transitions."""
        add_edges(self.layout, start, end, transitions, gradient)

    def squares(self, prices: Floats) -> Floats:
        """Σ_t price_t · (squared feature) for each weight of a token's features, zero elsewhere; prices are [T]."""
        sparse, dense = squared_features(self.rows, self.layout, prices)
        out = np.zeros(self.size)
        self.layout.dense_weights(out)[:] = dense[:, None]
        self.layout.attribute_weights(out)[:] = sparse[:, None]
        return out

    def curvature(self, prices: Floats, lengths: Ints, share: float) -> Floats:
        """See `chain_curvature`. # [size]"""
        return chain_curvature(self.layout, self.squares(np.repeat(prices, lengths)), prices, lengths, share)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout: themselves."""
        return weights

    def shorten(self, full: Floats) -> Floats:
        """The weights of this form, out of the full layout: all of them."""
        return full


def chain_curvature(layout: Layout, squares: Floats, prices: Floats, lengths: Ints, share: float) -> Floats:
    """A share of what tokens on their own add to the Hessian's diagonal at w = 0, by their squared features.

    Prices and lengths are those of sequences [N]; begins and ends as the layout does. # as `squares`
    """
    even = share / layout.n_labels * (1.0 - 1.0 / layout.n_labels)
    out = even * squares
    out[layout.start_at : layout.transition_at] += even * prices.sum()
    out[layout.transition_at : layout.dense_at] += even / layout.n_labels * (prices * (lengths - 1)).sum()
    return out


def squared_features(rows: Rows, layout: Layout, prices: Floats) -> tuple[Floats, Floats]:
    """Σ_t price_t · (squared feature) of each attribute and each dense feature. # [A], [D]"""
    sparse = np.zeros(layout.n_attributes)
    _add_squares(rows.indptr, rows.indices, rows.values, prices, sparse)
    return sparse, np.einsum("t,td,td->d", prices, rows.dense, rows.dense, dtype=np.float64)


def add_edges(layout: Layout, start: Floats, end: Floats, transitions: Floats, gradient: Floats) -> None:
    """gradient += expected numbers of starts [L], ends [L] and transitions [L, L]."""
    if layout.bias:
        gradient[layout.start_at : layout.end_at] += start[layout.n_labels - layout.columns :]
    if layout.chain:
        gradient[layout.end_at : layout.transition_at] += end
        gradient[layout.transition_at : layout.second_at] += transitions.ravel()


def add_dense(
    rows: Rows, layout: Layout, block: AttributeBlock, beliefs: Floats, gradient: Floats, *, n_jobs: int | None = None
) -> None:
    """gradient += Σ over the block's tokens of belief · dense features."""
    if layout.n_dense == 0:
        return
    dense = rows.dense[block.first : block.last]
    run = partial(add_dense_part, dense, beliefs, layout.n_labels - layout.columns, layout.dense_weights(gradient))
    threads(run, range(0, layout.n_dense, DENSE_PART), n_jobs=n_jobs)


@kernel
def _number(indptr: Ints, indices: Ids, first: int, last: int, places: Ids, attributes: Ids, ptr: Ints) -> int:
    """List the attributes of a block in ascending order and find the place of each one's first entry."""
    for k in range(indptr[first], indptr[last]):
        places[indices[k]] += 1
    filled = 0
    place = 0
    for attribute in range(places.shape[0]):
        count = places[attribute]
        if count > 0:
            attributes[filled] = attribute
            places[attribute] = place
            place += count
            filled += 1
            ptr[filled] = place
    return filled


@kernel
def _turn(
    indptr: Ints, indices: Ids, values: Floats, first: int, last: int, places: Ids, tokens: Ids, turned: Floats
) -> None:
    valued = values.shape[0] > 0
    for t in range(first, last):
        for k in range(indptr[t], indptr[t + 1]):
            place = places[indices[k]]
            places[indices[k]] = place + 1
            tokens[place] = t - first
            if valued:
                turned[place] = values[k]


@inner_kernel
def sum_beliefs(tokens: Ids, values: Floats, k: int, end: int, beliefs: Floats, out: Floats) -> None:
    """out += Σ over the entries k..end of value · beliefs of their tokens. # out [L]"""
    if values.shape[0] > 0:
        for j in range(k, end):
            value = values[j]
            row = beliefs[tokens[j]]
            for label in range(out.shape[0]):
                out[label] += value * row[label]
    else:
        while k + 3 < end:
            r0, r1, r2, r3 = beliefs[tokens[k]], beliefs[tokens[k + 1]], beliefs[tokens[k + 2]], beliefs[tokens[k + 3]]
            for label in range(out.shape[0]):
                out[label] += (r0[label] + r1[label]) + (r2[label] + r3[label])
            k += 4
        for j in range(k, end):
            row = beliefs[tokens[j]]
            for label in range(out.shape[0]):
                out[label] += row[label]


@kernel
def _add_rows(
    attributes: Ids,
    ptr: Ints,
    tokens: Ids,
    values: Floats,
    lo: int,
    hi: int,
    beliefs: Floats,
    gradient: Floats,  # [A, columns]
) -> None:
    size = beliefs.shape[1]
    shift = size - gradient.shape[1]
    total = np.empty(size)
    for u in range(lo, hi):
        row = gradient[attributes[u]]
        if shift == 0:
            sum_beliefs(tokens, values, ptr[u], ptr[u + 1], beliefs, row)
        else:
            total[:] = 0.0
            sum_beliefs(tokens, values, ptr[u], ptr[u + 1], beliefs, total)
            for column in range(row.shape[0]):
                row[column] += total[shift + column]


@kernel
def add_dense_part(dense: Floats32, beliefs: Floats, shift: int, gradient: Floats, lo: int) -> None:
    """gradient += Σ_t belief of labels from `shift` on · dense features, of some dense features from `lo` on."""
    hi = min(lo + DENSE_PART, gradient.shape[0])
    for t in range(dense.shape[0]):
        belief = beliefs[t, shift:]
        for k in range(lo, hi):
            value = np.float64(dense[t, k])
            row = gradient[k]
            for label in range(row.shape[0]):
                row[label] += value * belief[label]


@kernel
def _add_squares(indptr: Ints, indices: Ids, values: Floats, prices: Floats, out: Floats) -> None:
    valued = values.shape[0] > 0
    for t in range(prices.shape[0]):
        for k in range(indptr[t], indptr[t + 1]):
            out[indices[k]] += prices[t] * values[k] * values[k] if valued else prices[t]

"""Features of a batch: a sparse row and a dense row per token, and the scores they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Floats32, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.errors import DataError
from sidelight.features.layout import Layout

NO_VALUES = np.empty(0)  # where every value is 1
LARGEST = 1e150  # of feature values: sums of their squares are numbers
UNUSABLE = "replace NaN and infinite feature values, and scale those that are too large to be squared"


class TokenFeatures(NamedTuple):
    """The features of tokens, as kernels take them."""

    indptr: Ints  # [T + 1] first entry of each token
    indices: Ids  # [entries] attribute
    values: Floats  # [entries], or [0] when every value is 1
    dense: Floats32  # [T, D]


@dataclass(frozen=True, slots=True)
class Rows:
    """Token features of N sequences with T tokens in all; the entries of token 0 need not be the first."""

    starts: Ints  # [N + 1] first token of each sequence
    indptr: Ints  # [T + 1] first entry of each token
    indices: Ids  # [entries] attribute
    values: Floats  # [entries], or [0] when every value is 1
    dense: Floats32  # [T, D]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.starts[-1])

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @property
    def tokens(self) -> TokenFeatures:
        """All but where sequences begin."""
        return TokenFeatures(self.indptr, self.indices, self.values, self.dense)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, to distinguish batches."""
        return (self.starts, *self.tokens)

    @property
    def is_binary(self) -> bool:
        """Every feature has value 1."""
        return len(self.values) == 0 and self.dense.shape[1] == 0

    def part(self, lo: int, hi: int) -> Rows:
        """The sequences lo..hi, without copying features."""
        first, last = int(self.starts[lo]), int(self.starts[hi])
        starts = self.starts[lo : hi + 1] - first
        return Rows(starts, self.indptr[first : last + 1], self.indices, self.values, self.dense[first:last])

    def take(self, which: Ints | Sequence[int]) -> Rows:
        """The rows of some of the sequences."""
        starts, tokens = taken(self.starts, which)
        indptr, picked = taken(self.indptr, tokens)
        return Rows(
            starts,
            indptr,
            self.indices[picked],
            self.values[picked] if len(self.values) else self.values,
            self.dense[tokens],
        )

    def tokens_of(self, which: Ints | Sequence[int]) -> Ints:
        """The token numbers of some of the sequences, in order."""
        return taken(self.starts, which)[1]


def offsets_of(lengths: Sequence[int] | Ints) -> Ints:
    """Offsets of pieces of the given lengths.

    >>> offsets_of([2, 3]).tolist()
    [0, 2, 5]
    """
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.asarray(lengths, dtype=np.int64), out=out[1:])
    return out


def taken(offsets: Ints, which: Ints | Sequence[int]) -> tuple[Ints, Ints]:
    """Selects pieces between offsets: returns their new offsets, and the old positions of their entries.

    >>> [found.tolist() for found in taken(np.array([0, 2, 5, 6]), [2, 0])]
    [[0, 1, 3], [5, 0, 1]]
    """
    positions = np.asarray(which, dtype=np.int64)
    lengths = np.diff(offsets)[positions]
    own = offsets_of(lengths)
    return own, np.repeat(offsets[positions] - own[:-1], lengths) + np.arange(int(own[-1]), dtype=np.int64)


def usable(values: Floats | Floats32) -> bool:
    """Whether no feature value is NaN, infinite, or above `LARGEST`."""
    return values.size == 0 or -LARGEST <= float(values.min()) <= float(values.max()) <= LARGEST


def check_values(name: str, values: Floats | Floats32) -> None:
    """Refuse feature values that are not `usable`."""
    if not usable(values):
        where = int(np.flatnonzero(~(np.abs(values.ravel().astype(np.float64)) <= LARGEST))[0])
        raise DataError(f"{name}: entry {where} is {values.ravel()[where]}", remedy=UNUSABLE)


def check_dense(rows: Rows, expected: int) -> Rows:
    """Refuse dense rows of another width than the model's."""
    if rows.dense.shape[1] != expected:
        raise DataError(
            f"dense rows with {rows.dense.shape[1]} dimensions where the model has {expected}",
            remedy="give the same kind of dense rows as in training",
        )
    return rows


@dataclass(frozen=True, slots=True)
class LinearScores:
    """Token scores F w of a batch, computed block by block."""

    rows: Rows
    layout: Layout
    weights: Floats
    transition: Floats
    start: Floats
    end: Floats
    second: Floats  # [L, L, L], or empty in a layout of order 1

    def block(self, first: int, last: int) -> Floats:
        rows, layout = self.rows, self.layout
        out = np.zeros((last - first, layout.n_labels))
        scored = out[:, layout.n_labels - layout.columns :]
        sparse_scores(rows.indptr, rows.indices, rows.values, layout.attribute_weights(self.weights), first, scored)
        if layout.n_dense:
            _dense_scores(rows.dense[first:last], layout.dense_weights(self.weights), scored)
        return out


def scores(rows: Rows, layout: Layout, weights: Floats) -> LinearScores:
    """The scores of all parts of a batch under the weights."""
    parts = layout.transition(weights), layout.start(weights), layout.end(weights), layout.second(weights)
    return LinearScores(rows, layout, weights, *parts)


@kernel
def sparse_scores(indptr: Ints, indices: Ids, values: Floats, weights: Floats, first: int, out: Floats) -> None:
    """out += sparse features of the tokens from `first` on, times their weights [A, columns]. # [tokens, columns]"""
    valued = values.shape[0] > 0
    for t in range(out.shape[0]):
        row = out[t]
        for k in range(indptr[first + t], indptr[first + t + 1]):
            weight = weights[indices[k]]
            if valued:
                value = values[k]
                for label in range(weight.shape[0]):
                    row[label] += value * weight[label]
            else:
                for label in range(weight.shape[0]):
                    row[label] += weight[label]


@kernel
def _dense_scores(dense: Floats32, weights: Floats, out: Floats) -> None:
    for t in range(out.shape[0]):
        row = out[t]
        for k in range(dense.shape[1]):
            value = np.float64(dense[t, k])
            weight = weights[k]
            for label in range(weight.shape[0]):
                row[label] += value * weight[label]


@kernel
def add_sparse(indptr: Ints, indices: Ids, values: Floats, first: int, amounts: Floats, out: Floats) -> None:
    """out[attribute] += value · amounts[row], of every entry of the rows from `first` on: the adjoint of scores."""
    valued = values.shape[0] > 0
    for r in range(amounts.shape[0]):
        amount = amounts[r]
        for k in range(indptr[first + r], indptr[first + r + 1]):
            target = out[indices[k]]
            value = values[k] if valued else 1.0
            for label in range(amount.shape[0]):
                target[label] += value * amount[label]


def stack_rows(parts: Sequence[Rows], *, n_dense: int) -> Rows:
    """All sequences of all batches, in order."""
    if not parts:
        none = np.zeros(1, dtype=np.int64)
        return Rows(none, none, np.empty(0, dtype=np.int32), NO_VALUES, np.zeros((0, n_dense), dtype=np.float32))
    valued = any(len(part.values) for part in parts)
    values = [part.values if len(part.values) else np.ones(len(part.indices)) for part in parts] if valued else []
    return Rows(
        offsets_of(np.concatenate([part.lengths for part in parts])),
        offsets_of(np.concatenate([np.diff(part.indptr) for part in parts])),
        np.concatenate([part.indices for part in parts]),
        np.concatenate(values) if valued else NO_VALUES,
        np.concatenate([part.dense for part in parts]),
    )

"""Which weights exist: only attributes with the labels they were seen with, in one short vector.

On CoNLL-2000 chunking 336,000 attributes and 22 labels would make 7.4 million weights; 453,000 of these pairs are
seen. Weights of unseen pairs can only be negative (there is nothing to set against their share of the sum), and
leaving them out, as CRFsuite does, hardly changes a model and makes batch solvers an order faster.

The short vector begins as the full layout does (threshold, start, end, transition, dense); then come the pairs, by
attribute and label. Transitions that were not seen keep their places, with weights that stay zero if so wished.

`supported` computes scores and gradients with such a vector.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints, Keys
from sidelight.core.kernels import kernel
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows


@dataclass(frozen=True, slots=True)
class Shown:
    """The possible labels of the tokens of some inputs: the label itself, or all admitted ones."""

    rows: Rows
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, L]


@dataclass(frozen=True, slots=True)
class Support:
    """The numbering of the weights that exist."""

    layout: Layout
    ptr: Ints  # [A + 1]
    columns: Ids  # [P] label less the labels that have no weights, ascending for each attribute
    kept: Bytes | None = None  # [L, L] transitions that have a weight; None for all

    @classmethod
    def seen(cls, layout: Layout, shown: Iterable[Shown], *, transitions: str = "all") -> Support:
        """The pairs, and with transitions="seen" the transitions, that some labeling of the inputs has."""
        if transitions not in ("all", "seen"):
            raise ValueError(f"transitions is {transitions!r}; give 'all' or 'seen'")
        shift = layout.n_labels - layout.columns
        masks = np.zeros((layout.n_attributes, (layout.columns + 63) // 64), dtype=np.uint64)
        between = np.zeros((layout.n_labels, layout.n_labels), dtype=np.uint8)
        for part in shown:
            rows = part.rows
            inner = np.ones(rows.n_tokens, dtype=bool)
            inner[rows.starts[:-1]] = False
            here = np.flatnonzero(inner)
            if part.targets is not None:
                _see_targets(rows.indptr, rows.indices, part.targets, shift, masks)
                between[part.targets[here - 1], part.targets[here]] = 1
            if part.admitted is not None:
                _see_admitted(rows.indptr, rows.indices, part.admitted, shift, masks)
                if transitions == "seen":
                    between |= part.admitted[here - 1].T.astype(np.float32) @ part.admitted[here].astype(np.float32) > 0
        ptr = np.zeros(layout.n_attributes + 1, dtype=np.int64)
        _count(masks, ptr)
        np.cumsum(ptr, out=ptr)
        columns = np.empty(int(ptr[-1]), dtype=np.int32)
        _list(masks, layout.columns, ptr, columns)
        return cls(layout, ptr, columns, between if transitions == "seen" else None)

    @classmethod
    def all(cls, layout: Layout) -> Support:
        """Every attribute with every label: the short vector is the full one."""
        ptr = np.arange(layout.n_attributes + 1, dtype=np.int64) * layout.columns
        return cls(layout, ptr, np.tile(np.arange(layout.columns, dtype=np.int32), layout.n_attributes))

    @property
    def size(self) -> int:
        return self.layout.emission_at + len(self.columns)

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout, zero for pairs that have none."""
        head = self.layout.emission_at
        full = np.zeros(self.layout.size)
        full[:head] = weights[:head]
        every = np.arange(self.layout.n_attributes, dtype=np.int32)
        spread_rows(self.ptr, self.columns, weights[head:], every, self.layout.attribute_weights(full))
        return full

    def shorten(self, full: Floats) -> Floats:
        """The weights that exist, out of the full layout."""
        head = self.layout.emission_at
        weights = np.empty(self.size)
        weights[:head] = full[:head]
        if self.kept is not None and self.layout.chain:
            weights[self.layout.transition_at : self.layout.second_at] *= self.kept.ravel()
        _gather(self.ptr, self.columns, self.layout.attribute_weights(full), weights[head:])
        return weights


@kernel
def _see_targets(indptr: Ints, indices: Ids, targets: Ids, shift: int, masks: Keys) -> None:
    for t in range(targets.shape[0]):
        column = np.int64(targets[t]) - shift
        if column < 0:
            continue
        word, bit = column // 64, np.uint64(1) << np.uint64(column % 64)
        for k in range(indptr[t], indptr[t + 1]):
            masks[indices[k], word] |= bit


@kernel
def _see_admitted(indptr: Ints, indices: Ids, admitted: Bytes, shift: int, masks: Keys) -> None:
    words = np.empty(masks.shape[1], np.uint64)
    for t in range(admitted.shape[0]):
        words[:] = 0
        for label in range(shift, admitted.shape[1]):
            if admitted[t, label] != 0:
                words[(label - shift) // 64] |= np.uint64(1) << np.uint64((label - shift) % 64)
        for k in range(indptr[t], indptr[t + 1]):
            for word in range(words.shape[0]):
                masks[indices[k], word] |= words[word]


@kernel
def _count(masks: Keys, counts: Ints) -> None:
    """counts[a + 1]: how many labels attribute a has."""
    for a in range(masks.shape[0]):
        for word in masks[a]:
            left = word
            while left != np.uint64(0):
                left &= left - np.uint64(1)
                counts[a + 1] += 1


@kernel
def _list(masks: Keys, columns: int, ptr: Ints, out: Ids) -> None:
    for a in range(masks.shape[0]):
        place = ptr[a]
        if ptr[a + 1] == place:
            continue
        for column in range(columns):
            if masks[a, column // 64] >> np.uint64(column % 64) & np.uint64(1):
                out[place] = column
                place += 1


@kernel
def spread_rows(ptr: Ints, columns: Ids, pairs: Floats, attributes: Ids, table: Floats) -> None:
    """The weights of some attributes as rows of a table; labels without a weight stay as they are."""
    for i in range(attributes.shape[0]):
        row = table[i]
        for k in range(ptr[attributes[i]], ptr[attributes[i] + 1]):
            row[columns[k]] = pairs[k]


@kernel
def _gather(ptr: Ints, columns: Ids, full: Floats, pairs: Floats) -> None:
    for a in range(full.shape[0]):
        for k in range(ptr[a], ptr[a + 1]):
            pairs[k] = full[a, columns[k]]

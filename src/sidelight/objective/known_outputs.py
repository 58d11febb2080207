"""The outputs found so far for the examples of a batch, with their dual variables, in growing flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import kernel
from sidelight.errors import ModelFileError
from sidelight.features.rows import offsets_of

FIRST_ROOM = 8  # outputs of an example to begin with


class KnownOutputs(NamedTuple):
    """Known outputs of every example; those of example i are first[i] .. first[i] + counts[i]."""

    first: Ints  # [N + 1] with room up to the first of the next
    counts: Ints  # [N]
    labels_at: Ints  # [N + 1] where the labels of an example's outputs begin
    gram_at: Ints  # [N + 1] where the inner products of their slopes begin
    labels: Ids  # for each example [room, length]
    gram: Floats  # for each example [room, room]
    offsets: Floats  # Δ(o, y)
    alphas: Floats


def no_outputs(starts: Ints) -> KnownOutputs:
    """No example knows any output."""
    count = len(starts) - 1
    return _with_room(np.full(count, FIRST_ROOM, dtype=np.int64), np.diff(starts))


def _with_room(room: Ints, lengths: Ints) -> KnownOutputs:
    first, labels_at, gram_at = offsets_of(room), offsets_of(room * lengths), offsets_of(room * room)
    size = int(first[-1])
    labels, gram = np.zeros(int(labels_at[-1]), dtype=np.int32), np.zeros(int(gram_at[-1]))
    count = np.zeros(len(room), dtype=np.int64)
    return KnownOutputs(first, count, labels_at, gram_at, labels, gram, np.zeros(size), np.zeros(size))


def stored_outputs(arrays: Mapping[str, NDArray[Any]], starts: Ints, n_labels: int) -> KnownOutputs:
    """The known outputs of a checkpoint, for examples that begin at `starts`."""
    count = len(starts) - 1
    first = array_of(arrays, "first", np.int64, [count + 1], low=0, high=len(arrays.get("alphas", ())))
    room = np.diff(first)
    out = _with_room(np.maximum(room, 0), np.diff(starts))
    known = KnownOutputs(
        *(
            array_of(arrays, name, own.dtype, own.shape, low=-np.inf if own.dtype == np.float64 else 0)
            for name, own in out._asdict().items()
        )
    )
    alike = all(np.array_equal(getattr(known, name), getattr(out, name)) for name in ("first", "labels_at", "gram_at"))
    if not alike or np.any(room < 1) or np.any(known.counts > room) or known.labels.max(initial=0) >= n_labels:
        raise ModelFileError("its known outputs are not those of such examples")
    return known


def grown(known: KnownOutputs, starts: Ints) -> KnownOutputs:
    """The same outputs, with doubled capacity for examples that have used most of theirs."""
    room, lengths = np.diff(known.first), np.diff(starts)
    out = _with_room(np.where(4 * known.counts >= 3 * room, 2 * room, room), lengths)
    out.counts[:] = known.counts
    _move(known, out, lengths)
    return out


@kernel
def _move(old: KnownOutputs, new: KnownOutputs, lengths: Ints) -> None:
    for i in range(lengths.shape[0]):
        rows, new_rows = old.first[i + 1] - old.first[i], new.first[i + 1] - new.first[i]
        for j in range(old.counts[i]):
            new.offsets[new.first[i] + j] = old.offsets[old.first[i] + j]
            new.alphas[new.first[i] + j] = old.alphas[old.first[i] + j]
            for k in range(old.counts[i]):
                new.gram[new.gram_at[i] + j * new_rows + k] = old.gram[old.gram_at[i] + j * rows + k]
        for k in range(old.counts[i] * lengths[i]):
            new.labels[new.labels_at[i] + k] = old.labels[old.labels_at[i] + k]

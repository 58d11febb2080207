"""Batches of rows, one after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.features.extractor import NO_VALUES
from sidelight.features.rows import Rows, offsets_of


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

"""Names for the arrays that pass between folders, so that signatures say what they carry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
AnyFloats = NDArray[np.floating[Any]]  # 32 or 64 bits
Ints = NDArray[np.int64]  # offsets and counts
Ids = NDArray[np.int32]  # attribute, label and parameter numbers
Bytes = NDArray[np.uint8]  # masks, and text
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]  # packed feature keys, random states

NO_BYTES: Bytes = np.zeros((0, 0), dtype=np.uint8)
NO_FLOATS: Floats = np.zeros(0, dtype=np.float64)


def is_table(given: Any) -> bool:
    """Whether it has named columns: a frame of pandas or polars, an Arrow table, a dataset of Hugging Face."""
    kind = type(given)  # a lazy frame of polars warns where it is asked itself
    return hasattr(kind, "column_names") or (hasattr(kind, "columns") and hasattr(kind, "__getitem__"))


def by_position(given: Any) -> Any:
    """A Series as a list: what it holds, in its order, whatever its index calls them; anything else as it is.

    An Arrow array, or an element of one, becomes what Python has for it.
    """
    if hasattr(given, "as_py"):
        return given.as_py()
    if hasattr(given, "to_pylist") and not is_table(given):
        return given.to_pylist()
    return list(given) if hasattr(given, "iloc") and len(getattr(given, "shape", (0,))) == 1 else given

"""Type names for arrays that are passed between packages."""

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

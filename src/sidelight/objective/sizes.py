"""κ(x): how large inputs are, by which the scores of companion decisions are divided (thesis chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sidelight.arrays import Floats
from sidelight.objective.batch import Batch


@runtime_checkable
class Sized(Protocol):
    """A structure that says how large inputs are."""

    def sizes(self, xs: Sequence[Any]) -> Floats:
        """κ(x) of every input. # [N]"""
        ...


def sizes_of(structure: object, xs: Sequence[Any], batch: Batch) -> Floats:
    """κ(x) as the structure says it, or else the number of slots, of a batch of these inputs. # [N]"""
    if isinstance(structure, Sized):
        return np.asarray(structure.sizes(xs), dtype=np.float64)
    return np.maximum(batch.lengths, 1).astype(np.float64)

"""Evidence of a structure as labels of slots, which can be counted and compared like labels of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.evidence import Candidates, Evidence, Gold, Partial


@dataclass(frozen=True, slots=True)
class CountedInput:
    """An input with as many slots as it is long."""

    x: Any
    slots: int

    def __len__(self) -> int:
        return self.slots


def as_slots(structure: Any, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence with choices, by their numbers, instead of outputs."""
    lengths = structure.batch([piece.x for piece in evidence]).lengths.tolist()
    return [_piece(structure, piece, CountedInput(piece.x, length)) for piece, length in zip(evidence, lengths)]


def _piece(structure: Any, piece: Evidence, x: CountedInput) -> Evidence:
    if isinstance(piece, Gold):
        choices = structure.encode(piece.x, piece.y).tolist()
        return Gold(x, [(choice,) for choice in choices], weight=piece.weight, origin=piece.origin)
    if isinstance(piece, Partial | Candidates):
        mask = structure.admitted(piece.x, piece.y)
        sets = [[(choice,) for choice in np.flatnonzero(row).tolist()] for row in mask]
        if isinstance(piece, Partial):
            known = [one[0] if len(one) == 1 else None for one in sets]
            return Partial(x, known, weight=piece.weight, origin=piece.origin)
        return Candidates(x, sets, weight=piece.weight, origin=piece.origin)
    return replace(piece, x=x)

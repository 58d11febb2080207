"""What guides a search: completions without counters, or such as know what counters want."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sidelight.inference.lattices.machines import Guide, Taken

if TYPE_CHECKING:  # lattices bring these searches
    from sidelight.inference.lattices.lattice import Lattice

STEPS = 60  # of the ascent that tightens


def plain_guide(chain: Lattice, taken: Taken) -> Guide:
    """Completions without counters."""
    return Guide(chain.future, taken.zero_bonus(), math.inf)


def tight_guide(chain: Lattice, taken: Taken, *, floor: float = -math.inf, steps: int = STEPS) -> Guide:
    """Completions that know what counters want; `floor` is the value of some output, if one is known."""
    guide = chain.tighten(taken, floor=floor + chain.constant, steps=steps)
    return replace(guide, bound=guide.bound - chain.constant)

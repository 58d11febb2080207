"""What guides a search: for every prefix, an upper bound of what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats
from sidelight.inference.lattice import Lattice, Taken
from sidelight.inference.tighten_kernels import tighten

STEPS = 60  # of the ascent that tightens


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """The best completions of the chain, and what counters can still bring."""

    future: Floats  # [T, P, L] after token t, by node
    bonus: Floats  # [M, T, N] after token t, by state; 0 where the chain alone bounds
    bound: float  # of every whole output


def plain_guide(chain: Lattice, taken: Taken) -> Guide:
    """Completions without counters."""
    machines, length, states, _ = taken.following.shape
    return Guide(chain.future, np.zeros((machines, length, states)), math.inf)


def tight_guide(chain: Lattice, taken: Taken, *, floor: float = -math.inf, steps: int = STEPS) -> Guide:
    """Completions that know what counters want; `floor` is the value of some output, if one is known."""
    machines, length, states, _ = taken.following.shape
    future, bonus = np.array(chain.future), np.zeros((machines, length, states))
    bound = tighten(
        chain.tokens,
        chain.edges,
        chain.triple,
        taken.places,
        taken.ids,
        taken.members,
        taken.following,
        taken.degrees,
        taken.sizes,
        taken.widths,
        taken.gains,
        taken.sums,
        taken.prices,
        floor + chain.constant,
        steps,
        future,
        bonus,
    )
    return Guide(future, bonus, bound - chain.constant)

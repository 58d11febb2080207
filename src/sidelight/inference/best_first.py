"""A* over a lattice: see `a_star_kernels`."""

from __future__ import annotations

import math

import numpy as np

from sidelight.inference.a_star_kernels import a_star
from sidelight.inference.frontier import Reached
from sidelight.inference.frontier_kernels import NONE, TOO_MANY
from sidelight.inference.guide import Guide, plain_guide
from sidelight.inference.lattice import Lattice, Taken

MOST_NODES = 1_000_000
FIRST_NODES = 4096  # room is made for more as they are needed


def best_first(
    chain: Lattice, taken: Taken, *, guide: Guide | None = None, most_nodes: int = MOST_NODES
) -> tuple[Reached, bool]:
    """The best output under some clauses and True, or what bounds every output and False when out of nodes."""
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0), True
    guide = plain_guide(chain, taken) if guide is None else guide
    labels = np.empty(chain.length, dtype=np.int32)
    room = min(FIRST_NODES, most_nodes)
    while True:
        came, value, bound, nodes = a_star(
            chain.tokens,
            chain.edges,
            chain.triple,
            guide.future,
            guide.bonus,
            taken.places,
            taken.ids,
            taken.members,
            taken.following,
            taken.degrees,
            taken.sizes,
            taken.prices,
            taken.most_codes,
            room,
            labels,
        )
        if came != TOO_MANY or room >= most_nodes:
            break
        room = min(8 * room, most_nodes)
    found = labels if came not in (NONE, TOO_MANY) else None
    return Reached(found, value - chain.constant, bound - chain.constant, nodes), came != TOO_MANY

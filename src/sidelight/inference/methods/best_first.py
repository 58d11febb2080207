"""A* over a lattice: see `a_star_kernels`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sidelight.inference.folded_problem import Reached
from sidelight.inference.lattices.frontier_kernels import NONE, TOO_MANY
from sidelight.inference.lattices.machines import Guide, Taken
from sidelight.inference.methods.guide import plain_guide

if TYPE_CHECKING:  # lattices bring these searches
    from sidelight.inference.lattices.lattice import Lattice

MOST_NODES = 1_000_000
FIRST_NODES = 4096  # room is made for more as they are needed


def best_first(
    chain: Lattice, taken: Taken, *, guide: Guide | None = None, most_nodes: int = MOST_NODES
) -> tuple[Reached, bool]:
    """The best output under some clauses and True, or what bounds every output and False when out of nodes."""
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0), True
    guide = plain_guide(chain, taken) if guide is None else guide
    room = min(FIRST_NODES, most_nodes)
    while True:
        search = chain.a_star(taken, guide, most_nodes=room)
        if search.came != TOO_MANY or room >= most_nodes:
            break
        room = min(8 * room, most_nodes)
    labels = search.labels if search.came not in (NONE, TOO_MANY) else None
    reached = Reached(labels, search.value - chain.constant, search.bound - chain.constant, search.nodes)
    return reached, search.came != TOO_MANY

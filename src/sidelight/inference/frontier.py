"""The search over layers of a lattice, exact or as a beam."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Ids
from sidelight.errors import Intractable
from sidelight.inference.frontier_kernels import NONE, TOO_MANY, frontier
from sidelight.inference.lattice import Lattice, Taken

MOST_NODES = 2_000_000  # of all tokens together
FIRST_WIDTH = 256  # nodes per token of the narrow pass
WIDTH = 32  # of a beam, unless said otherwise
EVERYTHING = 1 << 60


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """What a search over layers came to."""

    labels: Ids | None  # None where no output is left
    value: float
    lost: float  # no output that was given up is worth more
    nodes: int


def slack(value: float) -> float:
    """What rounding may do to a value."""
    return 1e-9 * (1.0 + abs(value))


def search(
    chain: Lattice, taken: Taken, *, width: int = EVERYTHING, floor: float = -math.inf, most_nodes: int = MOST_NODES
) -> Reached:
    """The best output under some clauses, or one of the best where a layer is limited to `width` nodes.

    What is worth less than `floor` may be left out; raises `Intractable` where there are more than `most_nodes` nodes.
    """
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0)
    labels = np.empty(chain.length, dtype=np.int32)
    least = floor - slack(floor) + chain.constant if floor > -math.inf else -math.inf
    came, value, lost, nodes = frontier(
        chain.tokens,
        chain.edges,
        chain.triple,
        chain.future,
        taken.places,
        taken.ids,
        taken.members,
        taken.following,
        taken.degrees,
        taken.sizes,
        taken.prices,
        least,
        width,
        most_nodes,
        labels,
    )
    if came == TOO_MANY:
        names = ", ".join(dict.fromkeys(chain.name(k) for k in taken.clauses))
        raise Intractable(f"dynamic programming needs more than {most_nodes} states (rules: {names})")
    return Reached(None if came == NONE else labels, value - chain.constant, lost - chain.constant, nodes)


def best_under(
    chain: Lattice, taken: Taken, *, floor: float = -math.inf, most_nodes: int = MOST_NODES, width: int = FIRST_WIDTH
) -> Reached:
    """The best output under some clauses: a narrow pass, and an exact one where that is no proof; `labels` is None
    where no output obeys them."""
    narrow = search(chain, taken, width=width, floor=floor, most_nodes=most_nodes)
    if narrow.lost == -math.inf or (narrow.labels is not None and narrow.value >= narrow.lost):
        return narrow
    reached = search(chain, taken, floor=max(floor, narrow.value), most_nodes=most_nodes)
    return Reached(reached.labels, reached.value, reached.lost, narrow.nodes + reached.nodes)


def beam_over(chain: Lattice, taken: Taken, *, width: int = WIDTH, look_ahead: bool = True) -> tuple[Reached, float]:
    """Beam search over a lattice with some counters, and a bound on the value of every output."""
    bound = chain.plain()[1]
    future = chain.future
    if not look_ahead:
        chain.future = np.zeros_like(future)
    try:
        reached = search(chain, taken, width=width)
    finally:
        chain.future = future
    if reached.lost == -math.inf:
        bound = reached.value
    elif look_ahead:
        bound = min(bound, max(reached.value, reached.lost))
    return reached, max(bound, reached.value)

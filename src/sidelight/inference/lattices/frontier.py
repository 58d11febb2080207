"""The search over layers of a lattice, exact or as a beam."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import WIDTH, Reached, slack
from sidelight.inference.lattices.frontier_kernels import NONE, TOO_MANY
from sidelight.inference.lattices.machines import Guide, Taken
from sidelight.inference.methods.guide import plain_guide, tight_guide

if TYPE_CHECKING:  # lattices bring these searches
    from sidelight.inference.lattices.lattice import Lattice

MOST_NODES = 2_000_000  # of all tokens together
FIRST_WIDTH = 16  # nodes per token of the narrow passes: wider ones prove little more, and cost as much more
EVERYTHING = 1 << 60


def search(
    chain: Lattice,
    taken: Taken,
    *,
    guide: Guide | None = None,
    width: int = EVERYTHING,
    floor: float = -math.inf,
    most_nodes: int = MOST_NODES,
) -> Reached:
    """The best output under some clauses, or one of the best where a layer is limited to `width` nodes.

    What is worth less than `floor` may be left out; raises `Intractable` where there are more than `most_nodes` nodes.
    """
    if chain.constant == math.inf:
        return Reached(None, -math.inf, -math.inf, 0)
    least = floor - slack(floor) + chain.constant if floor > -math.inf else -math.inf
    guide = plain_guide(chain, taken) if guide is None else guide
    result = chain.frontier(taken, guide, floor=least, width=width, most_nodes=most_nodes)
    if result.came == TOO_MANY:
        names = ", ".join(dict.fromkeys(chain.name(k) for k in taken.clauses))
        raise Intractable(f"dynamic programming needs more than {most_nodes} states (rules: {names})")
    labels = None if result.came == NONE else result.labels
    return Reached(labels, result.value - chain.constant, result.bound - chain.constant, result.nodes)


def best_under(
    chain: Lattice, taken: Taken, *, floor: float = -math.inf, most_nodes: int = MOST_NODES, width: int = FIRST_WIDTH
) -> Reached:
    """The best output under some clauses; `labels` is None where no output obeys them.

    A narrow pass is often a proof. Else completions are tightened, a second narrow pass tries again with them, and a
    pass without limit drops only what cannot reach what was found.
    """
    narrow = search(chain, taken, width=width, floor=floor, most_nodes=most_nodes)
    if _proved(narrow):
        return narrow
    floor = max(floor, narrow.value)
    guide = tight_guide(chain, taken, floor=floor)
    if guide.bound == -math.inf:
        return Reached(None, -math.inf, -math.inf, narrow.nodes)
    again = search(chain, taken, guide=guide, width=width, floor=floor, most_nodes=most_nodes)
    if _proved(again):
        return replace(again, nodes=narrow.nodes + again.nodes)
    floor = max(floor, again.value)
    reached = search(chain, taken, guide=guide, floor=floor, most_nodes=most_nodes)
    return replace(reached, nodes=narrow.nodes + again.nodes + reached.nodes)


def _proved(found: Reached) -> bool:
    return found.lost == -math.inf or (found.labels is not None and found.value >= found.lost)


def beam_over(chain: Lattice, taken: Taken, *, width: int = WIDTH, look_ahead: bool = True) -> Reached:
    """Beam search over a lattice with some counters."""
    guide = plain_guide(chain, taken)
    if not look_ahead:
        guide = replace(guide, future=np.zeros_like(guide.future))
    return search(chain, taken, guide=guide, width=width)


def beam_bound(chain: Lattice, reached: Reached, *, look_ahead: bool = True) -> float:
    """No output is worth more, by what a beam gave up; without look-ahead its ranks bound nothing."""
    if reached.lost == -math.inf:
        return reached.value
    bound = chain.plain()[1]
    if look_ahead:
        bound = min(bound, max(reached.value, reached.lost))
    return max(bound, reached.value)

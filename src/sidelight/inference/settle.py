"""The best output of a lattice with as few counters as possible.

Penalties are not negative, so the best output under some clauses bounds the best under all, and is it where it breaks
no other clause. What it breaks is taken in, and so on until nothing more is broken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sidelight.errors import Intractable
from sidelight.inference.best_first import best_first
from sidelight.inference.frontier import Reached, best_under
from sidelight.inference.guide import STEPS, tight_guide
from sidelight.inference.lattice import Lattice
from sidelight.inference.problem import Solution

MOST_STATES = 2_000_000  # states of dynamic programming, all tokens together, before A* is tried …
STATES_A_TOKEN = 16  # … or so many a token, of long inputs


def settle(chain: Lattice, *, most_states: int | None = None, needed: list[int] | None = None) -> Solution | None:
    """The best output of a lattice, taking in only counters that would be broken; None where no output is legal.

    The clauses that were taken in are added to `needed`. Raises `Intractable` where neither dynamic programming nor A*
    can do it.
    """
    if most_states is None:
        most_states = max(MOST_STATES, STATES_A_TOKEN * chain.length)
    folded = len(chain.pieces) - len(chain.counters)
    labels, value = chain.plain()
    if value == -math.inf:
        return None
    method = "viterbi"
    taken: list[int] = [] if needed is None else needed
    left = list(chain.counters)
    floor = -math.inf
    steps = 0
    while True:
        broken = chain.broken(labels, left)
        if not broken:
            found = tuple(labels.tolist())
            return Solution(found, value, value, True, method, folded + len(taken), steps)
        floor = max(floor, value - sum(chain.prices[k] * much for k, much in broken.items()))
        taken += broken
        left = [k for k in left if k not in broken]
        reached, method = _exactly(chain, taken, floor=floor, most_states=most_states)
        steps += reached.nodes
        if reached.labels is None:
            return None
        labels, value = reached.labels, reached.value


def _exactly(chain: Lattice, clauses: Sequence[int], *, floor: float, most_states: int) -> tuple[Reached, str]:
    taken = chain.take(clauses)
    try:
        return best_under(chain, taken, floor=floor, most_nodes=most_states), "dynamic programming"
    except Intractable:
        guide = tight_guide(chain, taken, floor=floor, steps=4 * STEPS)
        reached, complete = best_first(chain, taken, guide=guide)
        if not complete:
            raise
        return reached, "A*"

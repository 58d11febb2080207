"""The best output of a problem with as few clauses as possible.

Penalties are not negative, so the best output under some clauses bounds the best under all, and equals it if it breaks
no other clause. Broken clauses are added until nothing more is broken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sidelight.errors import Intractable
from sidelight.inference.folded_problem import Folded, Reached
from sidelight.inference.lattices.searches import STEPS
from sidelight.inference.problem import Solution

MOST_STATES = 2_000_000  # states of dynamic programming, all tokens together, before A* is tried …
STATES_A_TOKEN = 16  # … or this many per token, for long inputs


def solve_lazily(
    problem: Folded, *, most_states: int | None = None, needed: list[int] | None = None
) -> Solution | None:
    """The best output, using only clauses that would be broken; None if no output is legal.

    The clauses that were used are added to `needed`. Raises `Intractable` if neither dynamic programming nor A*
    succeeds.
    """
    if most_states is None:
        most_states = max(MOST_STATES, STATES_A_TOKEN * problem.length)
    counters: list[int] = [] if needed is None else needed
    left = list(problem.counters)
    floor, steps = -math.inf, 0
    if left and not problem.lazy:
        broken = dict.fromkeys(left, 0)
    else:
        (labels, value), method = problem.plain(), problem.plain_method
        if value == -math.inf:
            return None
        broken = problem.broken(labels, left)
        floor = value - sum(problem.prices[k] * much for k, much in broken.items())
    while broken:
        counters += broken
        left = [k for k in left if k not in broken]
        reached, method = _exactly(problem, counters, floor=floor, most_states=most_states)
        steps += reached.nodes
        if reached.labels is None:
            return None
        labels, value = reached.labels, reached.value
        broken = problem.broken(labels, left)
        floor = max(floor, value - sum(problem.prices[k] * much for k, much in broken.items()))
    count = len(problem.says) - len(problem.counters) + len(counters)
    return Solution(tuple(labels.tolist()), value, value, True, method, count, steps)


def _exactly(problem: Folded, clauses: Sequence[int], *, floor: float, most_states: int) -> tuple[Reached, str]:
    try:
        return problem.under(clauses, floor=floor, most_nodes=most_states), problem.method
    except Intractable:
        if not problem.tries_a_star:
            raise
        reached, complete = problem.best_first(clauses, floor=floor, tighten=4 * STEPS)
        if not complete:
            raise
        return reached, "A*"

"""Searches that label variables one after another: a beam, which is quick, and A*, which is exact (see `prefixes`)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from sidelight.errors import Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.frontier import WIDTH, slack
from sidelight.inference.prefixes import Prefix, Prefixes
from sidelight.inference.problem import Solution
from sidelight.inference.variable_program import feasible
from sidelight.inference.variables import VariableProblem

MOST_NODES = 100_000  # prefixes that A* looks at


def solve_variable_beam(problem: VariableProblem, *, names: Sequence[str] = (), width: int = WIDTH) -> Solution:
    """A good output: the best `width` prefixes of each length; exact where what was given up is proved to be no better.

    Raises `Infeasible`, naming the rules in conflict, where there is no output; `Intractable` where none was found.
    """
    prefixes = Prefixes.of(problem)
    kept, lost, nodes = [prefixes.first] if prefixes.constant < math.inf else [], -math.inf, 0
    for _ in prefixes.order:
        longer = [more for prefix in kept for more in prefixes.longer(prefix)]
        nodes += len(longer)
        longer.sort(key=lambda prefix: (-prefix.value, prefix.labels))  # all of one length: the rest adds the same
        lost = max([lost, *(prefixes.bound(prefix) for prefix in longer[width : width + 1])])
        kept = longer[:width]
    if not kept:
        if lost == -math.inf or not feasible(problem, problem.clauses):
            raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)
        raise Intractable(f"a beam of {width} found no legal output; use another method of inference")
    best = kept[0]
    bound = max(best.value, lost)
    exact = best.value >= bound - slack(bound)
    return Solution(prefixes.output(best), best.value, bound, exact, "beam search", len(problem.clauses), nodes)


def solve_variable_a_star(
    problem: VariableProblem, *, names: Sequence[str] = (), most_nodes: int | None = None
) -> Solution:
    """The best output.

    Raises `Infeasible`, naming the rules in conflict, where there is none; `Intractable` where it needs more nodes.
    """
    most_nodes = MOST_NODES if most_nodes is None else most_nodes
    prefixes = Prefixes.of(problem)
    first = prefixes.first
    # the best bound first, of equal ones the longest prefix
    waiting: list[tuple[float, int, Prefix]] = [(-prefixes.bound(first), 0, first)] if first.value > -math.inf else []
    nodes = 0
    while waiting:
        _, _, prefix = heapq.heappop(waiting)
        if len(prefix.labels) == len(prefixes.order):
            labels = prefixes.output(prefix)
            return Solution(labels, prefix.value, prefix.value, True, "A*", len(problem.clauses), nodes)
        for longer in prefixes.longer(prefix):
            nodes += 1
            heapq.heappush(waiting, (-prefixes.bound(longer), -len(longer.labels), longer))
        if nodes > most_nodes:
            raise Intractable(f"A* needs more than {most_nodes:,} prefixes; use another method of inference")
    raise infeasible(problem.clauses, lambda chosen: feasible(problem, chosen), names)

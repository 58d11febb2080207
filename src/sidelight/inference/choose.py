"""Inference with rules by what is exact and cheapest.

"auto" folds all local clauses into the scores and decodes; penalties are not negative, so an output that breaks nothing
else is the best. What it breaks is taken in as counters, and so on until nothing more is broken. Where counters need
too many states, A* and then an integer program take over. The solution says which method gave it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from sidelight.errors import DataError, Intractable
from sidelight.inference.a_star import a_star
from sidelight.inference.beam import beam
from sidelight.inference.best_first import best_first
from sidelight.inference.dynamic import dynamic
from sidelight.inference.frontier import Reached, best_under
from sidelight.inference.guide import STEPS, tight_guide
from sidelight.inference.lattice import Lattice, lattice
from sidelight.inference.legal import no_output
from sidelight.inference.problem import ChainProblem, Solution

Method = Literal["auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian"]

MOST_STATES = 2_000_000  # states of dynamic programming, all tokens together, before A* is tried


def solve(
    problem: ChainProblem, *, method: Method = "auto", names: Sequence[str] = (), most_states: int = MOST_STATES
) -> Solution:
    """The best output of a problem, or a good one where the method is not exact (`Solution.exact`).

    Raises `Infeasible`, naming the rules in conflict, where no output is legal; a method that is asked for by name
    raises `Intractable` rather than leave the problem to another. `names` are those of the rules.
    """
    if method == "auto":
        return _auto(problem, names, most_states)
    return _solver(method)(problem, names=names)


def check_method(method: str) -> Method:
    """The name of a method; raises `DataError` where there is none of this name."""
    for known in get_args(Method):
        if method == known:
            return known  # type: ignore[no-any-return]
    raise DataError(f"there is no inference method {method!r}", remedy=f"choose one of {', '.join(get_args(Method))}")


def _solver(method: str) -> Callable[..., Solution]:
    match check_method(method):
        case "dynamic":
            return dynamic
        case "a_star":
            return a_star
        case "beam":
            return beam
        case "ilp":  # loaded where they are needed: they bring HiGHS
            from sidelight.inference.program import solve_program

            return solve_program
        case "lp":
            from sidelight.inference.relaxation import solve_relaxation

            return solve_relaxation
        case _:
            from sidelight.inference.lagrangian import solve_lagrangian

            return solve_lagrangian


def _auto(problem: ChainProblem, names: Sequence[str], most_states: int) -> Solution:
    chain = lattice(problem, names=names)
    try:
        found = settle(chain, most_states=most_states)
    except Intractable:
        return _solver("ilp")(problem, names=names)
    if found is None:
        raise no_output(problem, names)
    return found


def settle(chain: Lattice, *, most_states: int = MOST_STATES, needed: list[int] | None = None) -> Solution | None:
    """The best output of a lattice, taking in only counters that would be broken; None where no output is legal.

    The clauses that were taken in are added to `needed`. Raises `Intractable` where neither dynamic programming nor A*
    can do it.
    """
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

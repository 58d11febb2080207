"""Inference with rules by what is exact and cheapest.

"auto" folds all local clauses into the scores and decodes; penalties are not negative, so an output that breaks nothing
else is the best. What it breaks is taken in as counters, and so on until nothing more is broken. Where counters need
too many states, A* and then an integer program take over. The solution says which method gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from sidelight.errors import DataError, Intractable
from sidelight.inference.a_star import a_star
from sidelight.inference.beam import beam
from sidelight.inference.dynamic import dynamic
from sidelight.inference.frontier import WIDTH
from sidelight.inference.lattice import Lattice
from sidelight.inference.lattices import lattice
from sidelight.inference.legal import no_output
from sidelight.inference.problem import Problem, Solution
from sidelight.inference.settle import MOST_STATES, settle

Method = Literal["auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian"]

ON_LATTICES = ("dynamic", "a_star", "beam")  # methods that can share what has been lowered


def solve(
    problem: Problem,
    *,
    method: Method = "auto",
    names: Sequence[str] = (),
    chain: Lattice | None = None,
    most_states: int = MOST_STATES,
    beam_width: int = WIDTH,
) -> Solution:
    """The best output of a problem, or a good one where the method is not exact (`Solution.exact`).

    Raises `Infeasible`, naming the rules in conflict, where no output is legal; a method that is asked for by name
    raises `Intractable` rather than leave the problem to another. `names` are those of the rules, `chain` is the
    lattice of the problem where it is known.
    """
    if method == "auto":
        return _auto(problem, names, chain, most_states)
    if method == "beam":
        return beam(problem, names=names, chain=chain, width=beam_width)
    if chain is not None and method in ON_LATTICES:
        return _solver(method)(problem, names=names, chain=chain)
    return _solver(method)(problem, names=names)


def check_method(method: str) -> Method:
    """The name of a method; raises `DataError` where there is none of this name."""
    for known in get_args(Method):
        if isinstance(method, str) and method == known:
            return known  # type: ignore[no-any-return]
    raise DataError(f"there is no inference method {method!r}", remedy=f"choose one of {', '.join(get_args(Method))}")


def _solver(method: str) -> Callable[..., Solution]:
    match check_method(method):
        case "dynamic":
            return dynamic
        case "a_star":
            return a_star
        case "ilp":  # loaded where they are needed: they bring HiGHS
            from sidelight.inference.program import solve_program

            return solve_program
        case "lp":
            from sidelight.inference.relaxation import solve_relaxation

            return solve_relaxation
        case _:
            from sidelight.inference.lagrangian import solve_lagrangian

            return solve_lagrangian


def _auto(problem: Problem, names: Sequence[str], chain: Lattice | None, most_states: int) -> Solution:
    chain = lattice(problem, names=names) if chain is None else chain
    try:
        found = settle(chain, most_states=most_states)
    except Intractable:
        return _solver("ilp")(problem, names=names)
    if found is None:
        raise no_output(problem, names)
    return found

"""Inference with rules by the cheapest exact method.

"auto" folds all local clauses into the scores and decodes; penalties are not negative, so an output that breaks no
other clause is the best. Broken clauses are added as counters (for variables: as tables), until nothing more is broken.
If counters need too many states, A* and then an integer program are used. The solution records the method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from sidelight.errors import DataError, Intractable
from sidelight.inference.folded_problem import WIDTH, Folded
from sidelight.inference.folding import folded
from sidelight.inference.legal import no_output
from sidelight.inference.methods.by_search import a_star, beam, dynamic
from sidelight.inference.methods.lazy_clauses import MOST_STATES, solve_lazily
from sidelight.inference.problem import RuledProblem, Solution

Method = Literal["auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian"]

OTHER_NAMES = {"elimination": "dynamic", "program": "ilp", "relaxation": "lp"}
ON_FOLDED = ("dynamic", "a_star", "beam")  # methods that can share a folded problem


def solve(
    problem: RuledProblem,
    *,
    method: Method = "auto",
    names: Sequence[str] = (),
    folding: Folded | None = None,
    most_states: int = MOST_STATES,
    beam_width: int = WIDTH,
) -> Solution:
    """The best output of a problem, or a good one if the method is not exact (`Solution.exact`).

    Raises `Infeasible`, with the conflicting rules, if no output is legal; a method that is asked for by name
    raises `Intractable` rather than leave the problem to another. `names` are those of the rules, `folding` is the
    folded problem where it is known.
    """
    method = check_method(method)
    if method == "auto":
        return _auto(problem, names, folding, most_states)
    if not problem.length:  # without variables there is nothing to search
        return dynamic(problem, names=names, folding=folding)
    if method == "beam":
        return beam(problem, names=names, folding=folding, width=beam_width)
    if folding is not None and method in ON_FOLDED:
        return _solver(method)(problem, names=names, folding=folding)
    return _solver(method)(problem, names=names)


def check_method(method: str) -> Method:
    """The method of a name; raises `DataError` if there is none of this name.

    >>> check_method("ilp"), check_method("program")
    ('ilp', 'ilp')
    """
    for known in get_args(Method):
        if isinstance(method, str) and OTHER_NAMES.get(method, method) == known:
            return known  # type: ignore[no-any-return]
    names = ", ".join([*get_args(Method), *OTHER_NAMES])
    raise DataError(f"there is no inference method {method!r}", remedy=f"choose one of {names}")


def _solver(method: str) -> Callable[..., Solution]:
    match method:
        case "dynamic":
            return dynamic
        case "a_star":
            return a_star
        case "ilp":  # loaded where they are needed: they bring HiGHS
            from sidelight.inference.methods.program import solve_program

            return solve_program
        case "lp":
            from sidelight.inference.methods.program import solve_relaxation

            return solve_relaxation
        case _:
            from sidelight.inference.methods.lagrangian import solve_lagrangian

            return solve_lagrangian


def _auto(problem: RuledProblem, names: Sequence[str], folding: Folded | None, most_states: int) -> Solution:
    folding = folded(problem, names=names) if folding is None else folding
    try:
        solution = solve_lazily(folding, most_states=most_states)
    except Intractable:
        return _solver("ilp")(problem, names=names)
    if solution is None:
        raise no_output(problem, names)
    return solution

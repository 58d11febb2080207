"""Whether any output is legal, and if not, which rules are in conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.lattice import lattice
from sidelight.inference.problem import ChainProblem, Clause
from sidelight.inference.settle import settle


def legal(problem: ChainProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys these hard clauses."""
    chain = lattice(replace(problem, clauses=tuple(clauses)))
    if chain.constant:
        return False
    try:
        return settle(chain) is not None
    except Intractable:
        from sidelight.inference.program import feasible  # integer programming is loaded where it is needed

        return feasible(problem, clauses)


def no_output(problem: ChainProblem, names: Sequence[str] = ()) -> Infeasible:
    """The error that names a smallest set of rules in conflict, for a problem that has no legal output."""
    return infeasible(problem.clauses, lambda chosen: legal(problem, chosen), names)

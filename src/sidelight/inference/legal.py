"""Whether any output is legal, and if not, which rules are in conflict."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.conflict import infeasible
from sidelight.inference.folding import folded
from sidelight.inference.methods.settle import settle
from sidelight.inference.problem import Clause, RuledProblem


def legal(problem: RuledProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys these hard clauses."""
    folded_problem = folded(problem.with_clauses(clauses))
    if folded_problem.constant:
        return False
    try:
        return settle(folded_problem) is not None
    except Intractable:
        from sidelight.inference.methods.program import feasible  # integer programming is loaded where it is needed

        return feasible(problem, clauses)


def no_output(problem: RuledProblem, names: Sequence[str] = ()) -> Infeasible:
    """The error that names a smallest set of rules in conflict, for a problem that has no legal output."""
    return infeasible(problem.clauses, lambda chosen: legal(problem, chosen), names)

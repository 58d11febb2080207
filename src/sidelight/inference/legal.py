"""Whether any output is legal, and if not, which rules are in conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.best_first import best_first
from sidelight.inference.conflict import infeasible
from sidelight.inference.lattice import lattice
from sidelight.inference.problem import ChainProblem, Clause


def legal(problem: ChainProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys these hard clauses."""
    chain = lattice(_flat(problem, clauses))
    if chain.constant:
        return False
    try:
        found, complete = best_first(chain, chain.take(chain.counters))
    except Intractable:
        complete = False
    if complete:
        return found.labels is not None
    from sidelight.inference.program import feasible  # integer programming is loaded where it is needed

    return feasible(problem, clauses)


def no_output(problem: ChainProblem, names: Sequence[str] = ()) -> Infeasible:
    """The error that names a smallest set of rules in conflict, for a problem that has no legal output."""
    return infeasible(problem.clauses, lambda chosen: legal(problem, chosen), names)


def _flat(problem: ChainProblem, clauses: Sequence[Clause]) -> ChainProblem:
    """The same outputs, none better than another."""

    def level(scores: np.ndarray) -> np.ndarray:
        return np.where(scores > -np.inf, 0.0, -np.inf)

    return replace(
        problem,
        tokens=level(problem.tokens),
        transition=level(problem.transition),
        start=level(problem.start),
        end=level(problem.end),
        triple=None if problem.triple is None else level(problem.triple),
        clauses=tuple(clauses),
    )

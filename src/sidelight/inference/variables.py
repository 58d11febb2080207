"""Outputs that are not chains: variables with labels of their own, scored one by one and in pairs, under rules.

    max_y  Σ_v s_v[y_v] + Σ_(v,w) s_vw[y_v, y_w] − Σ_k ρ_k d_k(y)      over y with d_k(y) = 0 where ρ_k is infinite

Entities and relations are such outputs (Roth and Yih 2004). Exact elimination first, where tables stay small; then the
linear relaxation, which is exact where it is whole; then the integer program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sidelight.arrays import Floats
from sidelight.errors import DataError, Intractable
from sidelight.inference.problem import Clause, Solution
from sidelight.rules.truth import degree

Method = Literal["auto", "elimination", "a_star", "beam", "ilp", "lp", "lagrangian"]
OTHER_NAMES = {"dynamic": "elimination", "program": "ilp", "relaxation": "lp"}


@dataclass(frozen=True, slots=True, eq=False)
class VariableProblem:
    """Scores of variables and pairs of variables, and clauses; −inf where a label is not allowed."""

    scores: tuple[Floats, ...]  # [labels of v] for each variable v
    pairs: tuple[tuple[int, int], ...] = ()  # v < w, each at most once
    pair_scores: tuple[Floats, ...] = ()  # [labels of v, labels of w] for each pair
    clauses: tuple[Clause, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.pairs)) < len(self.pairs) or not all(0 <= v < w < len(self.scores) for v, w in self.pairs):
            raise DataError("pairs of variables are v < w, each once", remedy="order and merge them")
        if [table.shape for table in self.pair_scores] != [(self.sizes[v], self.sizes[w]) for v, w in self.pairs]:
            raise DataError("the scores of a pair are [labels of v, labels of w]", remedy="give one table per pair")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of labels of each variable."""
        return tuple(len(scores) for scores in self.scores)

    def score(self, labels: Sequence[int]) -> float:
        """The score of an output without penalties."""
        found = sum(float(scores[label]) for scores, label in zip(self.scores, labels))
        return found + sum(float(table[labels[v], labels[w]]) for (v, w), table in zip(self.pairs, self.pair_scores))

    def value(self, labels: Sequence[int]) -> float:
        """The score less penalties; −inf where a hard clause is broken."""
        found = self.score(labels)
        for clause in self.clauses:
            broken = degree(clause.says, labels)
            if broken:
                found -= clause.penalty * broken
        return found


def check_method(method: str) -> Method:
    """The method of a name; raises `DataError` where there is none.

    >>> check_method("ilp"), check_method("program")
    ('ilp', 'ilp')
    """
    for known in get_args(Method) if isinstance(method, str) else ():
        if OTHER_NAMES.get(method, method) == known:
            return known  # type: ignore[no-any-return]
    names = ", ".join([*get_args(Method), *OTHER_NAMES])
    raise DataError(f"inference is {method!r}", remedy=f"there are {names}")


def solve_variables(problem: VariableProblem, *, method: Method = "auto", names: Sequence[str] = ()) -> Solution:
    """The best output; `Solution.method` says how it was found.

    Raises `Infeasible`, naming the rules in conflict, where there is none, and `Intractable` where the method that was
    asked for cannot do it.

    >>> from sidelight.rules.expr import Not, OneOf, Some
    >>> is_b, is_d = OneOf(0, (1,)), OneOf(1, (1,))
    >>> one_of_them = Clause(0, Some((is_b, is_d)))
    >>> problem = VariableProblem((np.array([2.0, 0.0]), np.array([1.0, 0.5])), clauses=(one_of_them,))
    >>> solve_variables(problem).labels
    (0, 1)
    """
    from sidelight.inference.elimination import solve_elimination
    from sidelight.inference.variable_lagrangian import solve_variable_lagrangian
    from sidelight.inference.variable_program import solve_variable_program, solve_variable_relaxation
    from sidelight.inference.variable_search import solve_variable_a_star, solve_variable_beam

    method = check_method(method)
    if method == "elimination" or not problem.scores:  # without variables there is nothing to search
        return solve_elimination(problem, names=names)
    if method == "a_star":
        return solve_variable_a_star(problem, names=names)
    if method == "beam":
        return solve_variable_beam(problem, names=names)
    if method == "lp":
        return solve_variable_relaxation(problem, names=names)
    if method == "lagrangian":
        return solve_variable_lagrangian(problem, names=names)
    if method == "ilp":
        return solve_variable_program(problem, names=names)
    try:
        return solve_elimination(problem, names=names)
    except Intractable:
        pass
    try:
        relaxed = solve_variable_relaxation(problem, names=names)
        if relaxed.exact:
            return relaxed
    except Intractable:
        pass
    return solve_variable_program(problem, names=names)


def enumerated_variables(problem: VariableProblem) -> tuple[tuple[int, ...], float]:
    """The best output by trying all: for tests and tiny problems."""
    best: tuple[int, ...] = ()
    value = -math.inf
    for place in np.ndindex(*problem.sizes):
        worth = problem.value(place)
        if worth > value:
            best, value = place, worth
    return best, value

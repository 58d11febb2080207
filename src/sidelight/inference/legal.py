"""Checks whether any output is legal, and finds conflicting rules otherwise.

Conflicts are found by a deletion filter: remove one rule after another, and keep it removed if the rest is still
infeasible. The remaining set is minimal: infeasible, but feasible without any one of its rules (Chinneck and Dravnieks
1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.folding import folded
from sidelight.inference.methods.lazy_clauses import solve_lazily
from sidelight.inference.problem import Clause, RuledProblem

Feasible = Callable[[tuple[Clause, ...]], bool]


def conflicting_rules(clauses: Sequence[Clause], feasible: Feasible) -> tuple[int, ...]:
    """The numbers of a minimal set of hard rules that no output obeys together; `clauses` must be infeasible.

    Empty if there is no output even without rules.
    """
    hard = [clause for clause in clauses if clause.hard]
    rest = list(dict.fromkeys(clause.rule for clause in hard))

    def possible(rules: Sequence[int]) -> bool:
        subset = set(rules)
        return feasible(tuple(clause for clause in hard if clause.rule in subset))

    if not possible(()):
        return ()
    for rule in tuple(rest):
        without = [other for other in rest if other != rule]
        if not possible(without):
            rest = without
    return tuple(rest)


def infeasible(clauses: Sequence[Clause], feasible: Feasible, names: Sequence[str] = ()) -> Infeasible:
    """The error with the conflicting rules, by name or number."""
    rules = conflicting_rules(clauses, feasible)
    if not rules:
        return Infeasible("the scores allow no output: every labeling has a label or a transition that is ruled out")
    called = [names[rule] if rule < len(names) else f"rule {rule}" for rule in rules]
    if len(called) == 1:
        return Infeasible(f"no output obeys the rule {called[0]}; fix it or make it soft", rules=rules)
    together = ", ".join(called[:-1]) + " and " + called[-1]
    return Infeasible(
        f"no output obeys the rules {together} together; leave one of them out or make it soft", rules=rules
    )


def legal(problem: RuledProblem, clauses: Sequence[Clause]) -> bool:
    """Whether some output with a finite score obeys these hard clauses."""
    folded_problem = folded(problem.with_clauses(clauses))
    if folded_problem.constant:
        return False
    try:
        return solve_lazily(folded_problem) is not None
    except Intractable:
        from sidelight.inference.methods.program import feasible  # loaded only when needed

        return feasible(problem, clauses)


def no_output(problem: RuledProblem, names: Sequence[str] = ()) -> Infeasible:
    """The error with a minimal set of conflicting rules, for a problem without a legal output."""
    return infeasible(problem.clauses, lambda subset: legal(problem, subset), names)

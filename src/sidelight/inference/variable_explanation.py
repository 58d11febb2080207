"""What rules did on one output that is no chain: see `explanation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidelight.inference.explanation import Change, RuleEffect, many, told, told_as_html
from sidelight.inference.problem import Clause, Solution
from sidelight.inference.variables import Method, VariableProblem, solve_variables
from sidelight.rules.expr import Expr, variables
from sidelight.rules.truth import degree

Variables = Sequence[tuple[str, Any]]  # kind and key of each
HOW = {
    "elimination": "{clauses} in tables over up to {variables}",
    "linear relaxation": "linear rows of {clauses}",
    "integer program": "linear rows of {clauses}",
    "Lagrangian relaxation": "linear rows with multipliers of {clauses}",
}


@dataclass(frozen=True, slots=True)
class VariableChange(Change):
    """A variable whose label a rule changed; `token` is its number."""

    kind: str
    key: Any

    def __str__(self) -> str:
        return f"{self.word}: {self.without} → {self.label}"


@dataclass(frozen=True, slots=True)
class VariableExplanation:
    """What all rules did on one input; `str` makes a table of it."""

    variables: tuple[tuple[str, Any], ...]  # kind and key
    plain: tuple[Any, ...]  # labels without rules
    labels: tuple[Any, ...]  # labels with rules
    rules: tuple[RuleEffect, ...]
    solution: Solution

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the rules changed together."""
        return _changes(self.variables, self.plain, self.labels)

    def __str__(self) -> str:
        return told(self.rules, self.solution, self.changes, "labels changed")

    def _repr_html_(self) -> str:
        return told_as_html(self.rules, self.solution, self.changes, "labels changed")


def explain_variables(
    problem: VariableProblem,
    called: Variables,
    *,
    labels: Sequence[Sequence[Any]],  # of each variable
    names: Sequence[str],  # of rules
    says: Sequence[Expr],  # what each rule says
    penalties: Sequence[float],
    method: Method = "auto",
) -> VariableExplanation:
    """What the rules do on one input; raises what `solve_variables` raises."""
    plain = solve_variables(replace(problem, clauses=()))
    found = solve_variables(problem, method=method, names=names)

    def named(solution: Solution) -> tuple[Any, ...]:
        return tuple(own[label] for own, label in zip(labels, solution.labels))

    effects = []
    for k, (name, price) in enumerate(zip(names, penalties)):
        own = [clause for clause in problem.clauses if clause.rule == k]
        changes: tuple[Change, ...] = ()
        if own and found.labels != plain.labels:
            others = tuple(clause for clause in problem.clauses if clause.rule != k)
            without = solve_variables(replace(problem, clauses=others), method=method, names=names)
            if without.value > found.value + 1e-9 * (1 + abs(found.value)):  # else another output that is as good
                changes = _changes(called, named(without), named(found))
        before, after = (degree(says[k], each.labels) for each in (plain, found))
        lowered = _lowered(own, price, found.method)
        effects.append(RuleEffect(name, price, len(own), lowered, before, after, changes))
    return VariableExplanation(tuple(called), named(plain), named(found), tuple(effects), found)


def _lowered(clauses: Sequence[Clause], price: float, method: str) -> str:
    if not price:
        return "nothing: its penalty is 0"
    if not clauses:
        return "nothing: it says nothing of this input"
    widest = max(len(set(variables(clause.says))) for clause in clauses)
    how = HOW.get(method, "{clauses}, read as variables get their labels")
    return how.format(clauses=many(len(clauses), "clause"), variables=many(widest, "variable"))


def _changes(called: Variables, before: Sequence[Any], after: Sequence[Any]) -> tuple[Change, ...]:
    return tuple(
        VariableChange(v, f"{kind}[{_key(key)}]", old, new, kind, key)
        for v, ((kind, key), old, new) in enumerate(zip(called, before, after))
        if old != new
    )


def _key(key: Any) -> str:
    """A key as it stands between brackets."""
    return ", ".join(map(repr, key)) if isinstance(key, tuple) and key else repr(key)

"""Entities and relations: types of relations, and which rules are in conflict."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.inference.methods.choose import Method, solve
from sidelight.inference.problem import VariableProblem, clauses_of
from sidelight.rules import count, every, implies, rule
from sidelight.rules.output import ChosenVariable, Domain, Groups, VariableGroup
from sidelight.rules.rule import Rule

ENTITIES = Domain(["person", "location", "organization", "other"])
RELATIONS = Domain(["none", "live_in", "work_for", "kill"])
PAIRS = [(a, b) for a in range(3) for b in range(3) if a != b]


def typed(name: str, first: str, second: str) -> Rule:
    def says(x, y):  # type: ignore[no-untyped-def]
        right = (every(y.entity[a] == first, y.entity[b] == second) for a, b in PAIRS)
        return every(implies(y.relation[pair] == name, types) for pair, types in zip(PAIRS, right))

    return rule(name=name)(says)


RULES = [
    typed("live_in", "person", "location"),
    typed("work_for", "person", "organization"),
    typed("kill", "person", "person"),
]


def program(*rules: Rule, seed: int = 0) -> VariableProblem:
    entity = {a: ChosenVariable(a, ENTITIES) for a in range(3)}
    relation = {pair: ChosenVariable(3 + k, RELATIONS) for k, pair in enumerate(PAIRS)}
    y = Groups({"entity": VariableGroup("entity", entity), "relation": VariableGroup("relation", relation)})
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=4) for _ in range(3)] + [rng.normal(size=4) for _ in PAIRS]
    clauses = clauses_of([one.on(None, y) for one in rules], [one.penalty or 0.0 for one in rules])
    return VariableProblem(tuple(scores), clauses=clauses)


@pytest.mark.parametrize("seed", range(5))
def test_methods_agree(seed: int) -> None:
    problem = program(*RULES[:2], RULES[2].soft(0.7), seed=seed)
    exact = solve(problem)
    assert exact.method == "elimination" and exact.exact
    assert solve(problem, method="ilp").value == pytest.approx(exact.value)
    relaxed = solve(problem, method="lp")
    assert relaxed.bound >= exact.value - 1e-6
    for (a, b), label in zip(PAIRS, exact.labels[3:]):
        if RELATIONS.labels[label] == "live_in":
            assert (exact.labels[a], exact.labels[b]) == (0, 1)


METHODS: list[Method] = [*get_args(Method)]


@pytest.mark.parametrize("method", METHODS)
def test_conflict(method: Method) -> None:
    two_deaths = rule(name="a_kill")(lambda x, y: y.relation[0, 1] == "kill")
    no_person = rule(name="no_person")(lambda x, y: count(y.entity[a] == "person" for a in range(3)) == 0)
    problem = program(*RULES, no_person, two_deaths)
    names = [*(one.name for one in RULES), "no_person", "a_kill"]
    with pytest.raises(Infeasible, match="kill, no_person and a_kill together"):
        solve(problem, method=method, names=names)


def test_wide_clauses_are_not_for_elimination() -> None:
    few = rule(name="few")(lambda x, y: count(y.relation[pair] != "none" for pair in PAIRS) <= 0)

    def wide(x, y):  # type: ignore[no-untyped-def]
        other = count(y.entity[a] == "other" for a in range(3))
        return other + count(y.relation[pair] == "none" for pair in PAIRS) <= 0

    with pytest.raises(Intractable, match="too many variables"):
        solve(program(rule(name="wide")(wide)), method="elimination")
    assert solve(program(rule(name="wide")(wide))).exact
    assert set(solve(program(few)).labels[3:]) == {0}


def test_bad_pairs() -> None:
    scores = np.zeros(2), np.zeros(3)
    with pytest.raises(DataError, match="v < w"):
        VariableProblem(scores, ((1, 0),), (np.zeros((3, 2)),))
    with pytest.raises(DataError, match="labels of v"):
        VariableProblem(scores, ((0, 1),), (np.zeros((3, 2)),))
    assert solve(VariableProblem(scores)).value == 0.0
    assert math.isfinite(solve(VariableProblem(scores, ((0, 1),), (np.ones((2, 3)),))).value)

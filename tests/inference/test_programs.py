"""What the programs say where there is no output, and how little they take in."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.errors import Infeasible
from sidelight.inference.folded_problem import rounded
from sidelight.inference.methods.program import solve_program, solve_relaxation
from sidelight.inference.problem import ChainProblem, clauses_of
from sidelight.rules import Sentence, count, every, gallery, rule
from sidelight.rules.output import Domain


def chain(length: int, *rules: object, labels: str = "AB") -> tuple[ChainProblem, list[str]]:
    rng = np.random.default_rng(0)
    size, x = len(labels), Sentence(["w"] * length)
    says = [one.on_labels(x, Domain(labels)) for one in rules]  # type: ignore[attr-defined]
    clauses = clauses_of(says, [one.penalty for one in rules])  # type: ignore[attr-defined]
    scores = rng.normal(size=(length, size)), rng.normal(size=(size, size)), np.zeros(size), np.zeros(size)
    return ChainProblem(*scores, clauses=clauses), [one.name for one in rules]  # type: ignore[attr-defined]


@rule
def all_the_same(x, y):  # type: ignore[no-untyped-def]
    return every(y[t] == y[t - 1] for t in x.positions[1:])


@rule
def two_of_a(x, y):  # type: ignore[no-untyped-def]
    return count(y[t] == "A" for t in x.positions) == 2


@pytest.mark.parametrize("solver", [solve_program, solve_relaxation])
def test_conflict_names_the_rules(solver) -> None:  # type: ignore[no-untyped-def]
    problem, names = chain(4, gallery.at_most(3, "A"), all_the_same, gallery.starts_with("A", name="first_is_A"))
    with pytest.raises(Infeasible, match="at_most_3_A, all_the_same and first_is_A together"):
        solver(problem, names=names)
    problem, names = chain(4, gallery.at_most(3, "B"), all_the_same, two_of_a)
    with pytest.raises(Infeasible, match="all_the_same and two_of_a together"):
        solver(problem, names=names)


def test_one_rule_may_be_impossible() -> None:
    problem, names = chain(3, gallery.starts_with("A"), gallery.at_least(4, "A"))
    with pytest.raises(Infeasible, match="no output obeys the rule at_least_4_A"):
        solve_program(problem, names=names)
    with pytest.raises(Infeasible, match="rule 1"):
        solve_program(problem)


def test_scores_may_be_impossible() -> None:
    problem, names = chain(3, gallery.starts_with("A"))
    problem.tokens[1] = -np.inf
    with pytest.raises(Infeasible, match="the scores allow no output"):
        solve_program(problem, names=names)


def test_only_what_is_broken_is_taken_in() -> None:
    problem, _ = chain(8, gallery.at_most(8, "A").soft(1.0), all_the_same)
    found = solve_program(problem)
    assert found.exact and found.method == "integer program"
    assert found.taken_in < len(problem.clauses)
    assert len(set(found.labels)) == 1
    assert solve_program(problem, lazy=False).taken_in == len(problem.clauses)


def test_relaxation_of_counts_of_neighbours_is_whole() -> None:
    problem, _ = chain(10, gallery.few_changes(2), gallery.starts_with("C"), labels="ABC")
    relaxed, whole = solve_relaxation(problem), solve_program(problem)
    assert relaxed.bound >= whole.value - 1e-6
    assert relaxed.exact == (relaxed.labels == whole.labels)


def test_rounding_goes_back_where_rules_forbid() -> None:
    problem, _ = chain(6, all_the_same, gallery.starts_with("C"), labels="ABC")
    says = [clause.says for clause in problem.clauses]
    weights = [np.array([0.5, 0.4, 0.1])] * 6
    pairs = {(t - 1, t): problem.transition for t in range(1, 6)}
    assert rounded(weights, says, pairs) == (2,) * 6
    impossible = np.where(np.arange(3) == 2, -np.inf, problem.transition)
    assert rounded(weights, says, dict.fromkeys(pairs, impossible)) is None

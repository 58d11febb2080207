"""What Python would go along with on known labels and cannot mean on symbolic ones is refused at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expressions import expressions, outputs

from sidelight import Constrained, HandedScores
from sidelight.errors import DataError
from sidelight.inference.problem import ChainProblem, clauses_of
from sidelight.rules import Domain, Labels, Sentence, begins, count, every, rule, some, weighted
from sidelight.rules.lowering.truth import degree, truth
from sidelight.rules.output import symbolic_labels

LABELS = ["A", "B", "C"]
Y = symbolic_labels(3, Domain(LABELS))
FLAT = HandedScores(LABELS, lambda x: np.tile([2.0, 1.0, 0.0], (len(x), 1)))  # all tokens are A where no rule forbids


MISUSES = {
    "in a set": lambda x, y: y[0] in {"A", "C"},
    "in a string": lambda x, y: y[0] in "AC",
    "key of a dictionary": lambda x, y: {"A": True, "B": False, "C": True}[y[0]],
    "set of conditions": lambda x, y: count({y[t] == "B" for t in x.positions}) <= 1,
    "sum": lambda x, y: sum(y[t] == "B" for t in x.positions) <= 1,
    "plus": lambda x, y: (y[0] == "B") + (y[0] == "C") <= 1,
    "count plus condition": lambda x, y: count(y[0] == "B") + (y[0] == "C") <= 1,
    "and by &": lambda x, y: (y[0] == "A") & (y[0] != "B"),
    "or by |": lambda x, y: (y[0] == "A") | (y[0] == "B"),
    "not by ~": lambda x, y: ~(y[0] == "B"),
    "tight &": lambda x, y: y[0] == "A" & y[0] != "B",
    "order of labels": lambda x, y: y[0] < "B",
    "order of conditions": lambda x, y: (y[0] == "B") <= (y[0] == "A"),
    "method of a label": lambda x, y: not y[0].startswith("B"),
    "letter of a label": lambda x, y: y[0][0] == "A",
    "label and text": lambda x, y: y[0] + "s" == "As",
    "label in a list": lambda x, y: y[0] == ["A", "B"] or y[0] == "A",
    "whole output": lambda x, y: y == ["B"] or y[0] == "A",
    "method of an output": lambda x, y: y.count("B") == 0,
    "place that is not a number": lambda x, y: y["first"] == "A",
    "label against condition": lambda x, y: y[0] != (y[0] == "B"),
    "condition against label": lambda x, y: (y[0] == "B") != "B",
    "halves": lambda x, y: weighted([(0.5, y[0] == "B")]) < 1,
    "half of a count": lambda x, y: count(y[0] == "B") * 0.5 <= 1,
    "count against a share": lambda x, y: count(y[0] == "B") <= 0.5,
    "count against text": lambda x, y: count(y[0] == "B") != "1",
    "count alone": lambda x, y: count(y[0] == "A"),
    "label alone": lambda x, y: y[0],
    "list": lambda x, y: [y[0] == "A"],
    "generator": lambda x, y: (y[t] == "A" for t in x.positions),
    "list in a connective": lambda x, y: every(y[0] == "A", [y[0] != "B"]),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_found_when_a_rule_is_given(misuse: str) -> None:
    with pytest.raises(DataError, match="the rule <lambda>") as raised:
        Constrained(FLAT, [rule(MISUSES[misuse])])
    said = str(raised.value)
    assert any(word in said for word in ("one_of(", "every(", "compare", "whole number", "no .")), said
    assert "test_misuse.py:" in said


@pytest.mark.parametrize("method", ["auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian"])
def test_conditions_are_compared_by_all_methods(method: str) -> None:
    either = rule(lambda x, y: (y[0] == "A") != (y[2] == "A"), name="either")
    both = rule(lambda x, y: (count(y[t] == "A" for t in x.positions) >= 2) == begins(y, 1, "B"), name="both")
    xs = [["x", "y", "z", "z"]]
    solved = [LABELS[k] for k in Constrained(FLAT, [either, both], method=method).solutions(xs)[0].labels]
    assert either.violations(Sentence(xs[0]), solved) == both.violations(Sentence(xs[0]), solved) == 0
    legal = [
        sum("CBA".index(label) for label in labels)
        for labels in itertools.product(LABELS, repeat=4)
        if not any(one.violations(Sentence(xs[0]), list(labels)) for one in (either, both))
    ]
    assert sum("CBA".index(label) for label in solved) == max(legal)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_both_or_neither_and_one_of_two(data: st.DataObject) -> None:
    one, other = data.draw(expressions(3, 2)), data.draw(expressions(3, 2))
    for labels in outputs([2, 2, 2]):
        alike = truth(one, labels) == truth(other, labels)
        assert truth(one == other, labels) == (alike, alike) and degree(one == other, labels) == (not alike)
        assert truth(one != other, labels) == (not alike, not alike) and degree(one != other, labels) == alike


def test_outputs_are_not_compared_as_a_whole() -> None:
    for y in (Y, Labels(["A", "B", "C"])):
        for compared in (lambda y: y == ["A"], lambda y: y != ["A"]):
            with pytest.raises(TypeError, match="compare its labels one by one"):
                compared(y)


def test_clauses_are_themselves_and_not_alike() -> None:
    clauses = clauses_of([every(some(y == "A", y == "B") for y in Y)], [1.0])
    assert [clauses.index(clause) for clause in clauses] == [0, 1, 2]
    problem = ChainProblem(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3), clauses)
    assert problem.degrees([2, 2, 0]) == [1, 1, 0]

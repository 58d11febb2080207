"""The rows of an expression admit the outputs of which it is true, and cost what it is violated by."""

from __future__ import annotations

import math

import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from expressions import expressions, least_cost, outputs, structural
from sidelight.errors import Intractable
from sidelight.rules.columns import InputColumns, chain_columns, columns_of, degree_form, truth_form
from sidelight.rules.expr import Between, Every, Expr, Not, OneOf, Same, Some
from sidelight.rules.lowering.rows import LinearRows, Lowering
from sidelight.rules.lowering.truth import degree, truth

SHAPES = [
    chain_columns(3, 3),
    columns_of([2] * 4),
    columns_of([3, 3, 3], [(0, 2)]),
    chain_columns(4, 2),
]


def check(columns: InputColumns, says: list[tuple[Expr, float]], lowering: Lowering) -> None:
    for expression, penalty in says:
        lowering.add(expression, penalty)
    rows = lowering.rows()
    sizes = [columns.size(v) for v in range(len(columns.offsets) - 1)]
    for labels in outputs(sizes):
        expected = 0.0
        for expression, penalty in says:
            broken = degree(expression, labels)
            expected += penalty * broken if broken else 0.0
        assert least_cost(rows, structural(columns, labels)) == pytest.approx(expected), labels


@pytest.mark.parametrize("columns", SHAPES)
@pytest.mark.parametrize("tight", [False, True])
def test_hard(columns: InputColumns, tight: bool) -> None:
    @law(80)
    @given(expressions(len(columns.offsets) - 1, columns.size(0)))
    def run(expression: Expr) -> None:
        check(columns, [(expression, math.inf)], Lowering(columns, tight=tight))

    run()


@pytest.mark.parametrize("columns", SHAPES)
def test_soft_and_hard_together(columns: InputColumns) -> None:
    says = expressions(len(columns.offsets) - 1, columns.size(0), depth=2)
    penalties = st.sampled_from([0.5, 1.0, 2.25, math.inf])

    @law(80)
    @given(st.lists(st.tuples(says, penalties), min_size=1, max_size=2), st.booleans())
    def run(clauses: list[tuple[Expr, float]], tight: bool) -> None:
        check(columns, clauses, Lowering(columns, tight=tight))

    run()


@pytest.mark.parametrize("columns", SHAPES)
def test_without_auxiliary_columns_rows_are_as_true(columns: InputColumns) -> None:
    seen = {"rows": 0, "none": 0}

    @law(100)
    @given(expressions(len(columns.offsets) - 1, columns.size(0)))
    def run(expression: Expr) -> None:
        lowering = Lowering(columns, auxiliary=False)
        try:
            lowering.add(expression)
        except Intractable:
            seen["none"] += 1
            return
        seen["rows"] += 1
        rows = lowering.rows()
        assert len(rows.upper) == 0
        for labels in outputs([columns.size(0)] * (len(columns.offsets) - 1)):
            legal = least_cost(rows, structural(columns, labels)) == 0.0
            legal &= all(truth(part, labels)[0] == holds for part, holds in lowering.local)
            assert legal == truth(expression, labels)[0]

    run()
    assert seen["rows"] > seen["none"] > 0


@law(150)
@given(expressions(2, 3))
def test_two_neighbours_are_forms(expression: Expr) -> None:
    columns = chain_columns(2, 3)
    true, broken = truth_form(expression, columns), degree_form(expression, columns)
    assert true is not None and broken is not None
    least, most = columns.bounds(true)
    for labels in outputs([3, 3]):
        point = structural(columns, labels)
        value = true.constant + sum(weight * point[column] for column, weight in true.terms.items())
        assert least <= value <= most
        assert value == truth(expression, labels)[0]
        value = broken.constant + sum(weight * point[column] for column, weight in broken.terms.items())
        assert value == degree(expression, labels)


def test_rows_are_few() -> None:
    a, b = OneOf(0, (0,)), [OneOf(v, (1,)) for v in (1, 2, 3)]
    columns = columns_of([3] * 4)

    def rows_of(expression: Expr, tight: bool = False) -> LinearRows:
        lowering = Lowering(columns, tight=tight)
        lowering.add(expression)
        return lowering.rows()

    implied = Some((Not(a), Every(tuple(b))))
    assert len(rows_of(implied).low) == 1 and len(rows_of(implied).upper) == 0
    assert len(rows_of(implied, tight=True).low) == 3
    assert len(rows_of(Some((a, *b))).low) == 1
    counted = Some((Not(a), Between(tuple((1, part) for part in b), 2, None)))  # a count inside an implication
    rows = rows_of(counted)
    assert len(rows.low) == 1 and len(rows.upper) == 0
    chain = chain_columns(4, 3)
    lowering = Lowering(chain)
    lowering.add(Between(tuple((1, Not(Same(t - 1, t))) for t in (1, 2, 3)), None, 1))
    rows = lowering.rows()
    assert len(rows.low) == 1 and (rows.columns >= 12).all()


def test_a_run_begins_in_two_terms() -> None:
    columns = chain_columns(3, 5)
    form = truth_form(Every((OneOf(1, (2,)), Not(OneOf(0, (2,))))), columns)
    assert form is not None
    assert form.terms == {5 + 2: 1, columns.edges[0, 1] + 2 * 5 + 2: -1}

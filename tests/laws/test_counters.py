"""What rules say, as labels and edges that are dropped and as counters, against its truth."""

from __future__ import annotations

import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from expressions import expressions, outputs
from sidelight.errors import Intractable
from sidelight.rules import Domain, Sentence, count, gallery, implies, some
from sidelight.rules.expr import Between, OneOf, Same, pieces
from sidelight.rules.lowering.counters import Piece, counter
from sidelight.rules.lowering.truth import OPEN, degree
from sidelight.rules.output import symbolic_labels


@st.composite
def clauses(draw):
    length, n_labels = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    return length, n_labels, list(pieces(draw(expressions(length, n_labels))))


@law(120)
@given(clauses())
def test_counters_charge_the_degree_and_never_too_early(drawn):
    length, n_labels, says = drawn
    for clause in says:
        automaton = counter(clause, length, n_labels)
        assert automaton.sizes[0] == automaton.sizes[-1] == 1
        least: dict[tuple[int, ...], int] = {}
        for labels in outputs([n_labels] * length):
            charged = automaton.read(labels)
            assert charged == sorted(charged)
            assert charged[-1] == degree(clause, labels)
            for t in range(length):
                prefix = labels[: t + 1]
                assert charged[t] == least.setdefault(prefix, charged[t])  # depends on the prefix alone
                assert charged[t] <= charged[-1]


@law(60)
@given(clauses())
def test_tables_of_local_clauses_are_the_degree(drawn):
    length, n_labels, says = drawn
    for clause in says:
        piece = Piece(clause, length, n_labels)
        for labels in outputs([n_labels] * length):
            before = labels[piece.at - 1] if piece.at else 0
            expected = degree(clause, labels)
            if piece.kind == "counter":
                assert piece.counter().read(labels)[-1] == expected
            elif piece.kind == "constant":
                assert piece.degrees is not None and piece.degrees[0, 0] == expected
            else:
                assert piece.degrees is not None
                assert piece.degrees[before if piece.kind == "edge" else 0, labels[piece.at]] == expected


@law(60)
@given(clauses())
def test_degree_of_a_prefix_never_falls_and_bounds_all_completions(drawn):
    length, n_labels, says = drawn
    for clause in says:
        for labels in outputs([n_labels] * length):
            growing = [degree(clause, [*labels[:t], *[OPEN] * (length - t)]) for t in range(length + 1)]
            assert growing == sorted(growing)


def numbers_of_states(rule, length: int = 12, labels: str = "ABCDE") -> list[int]:
    says = rule.on_labels(Sentence(["w"] * length), Domain(labels))
    return [Piece(clause, length, len(labels)).counter().states for clause in pieces(says)]


def test_counters_are_small():
    assert numbers_of_states(gallery.appears_once("ABCDE")) == [2] * 5
    assert numbers_of_states(gallery.at_most(3, "A")) == [4]
    assert numbers_of_states(gallery.at_least(3, "A")) == [4]
    assert numbers_of_states(gallery.requires("A", "B")) == [3]
    assert numbers_of_states(gallery.excludes("A", "B")) == [4]
    assert set(numbers_of_states(gallery.minimum_length(3, "AB"))) <= {1, 2}
    assert numbers_of_states(gallery.starts_with("A")) == [1]


def test_a_bound_that_cannot_be_met_is_charged_in_full():
    crossed = Between(((1, OneOf(0, (0,))), (1, OneOf(2, (0,)))), 2, 0)
    automaton = counter(crossed, 3, 2)
    for labels in outputs([2, 2, 2]):
        assert automaton.read(labels)[-1] == degree(crossed, labels)


def test_too_many_states_name_the_rule():
    y = symbolic_labels(12, Domain("ABCDE"))
    same = implies(some(y[t] == y[t + 6] for t in range(6)), count(y[t] == "A" for t in range(12)) == 4)
    with pytest.raises(Intractable, match="far_pairs"):
        counter(same, 12, 5, name="far_pairs", most_states=50)
    assert counter(Same(0, 11), 12, 5, most_states=50).states == 5

"""A rule costs the same however it is read: on a known output, as an expression, and in every lowering of it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from expressions import least_cost, outputs, structural
from sidelight.inference.rule_set import RuleSet, TransitionScores
from sidelight.rules import (
    Domain,
    Rule,
    Sentence,
    begins,
    changes,
    count,
    ends,
    every,
    implies,
    not_,
    one_of,
    some,
    weighted,
)
from sidelight.rules.columns import chain_columns
from sidelight.rules.expr import pieces
from sidelight.rules.lowering.counters import Piece, counter
from sidelight.rules.lowering.expectations import expectations
from sidelight.rules.lowering.rows import Lowering
from sidelight.rules.lowering.truth import degree

LABELS = "AB"
LENGTH = 4


def said(script, y):
    """What a script says of an output, in the words of rules."""
    word, *rest = script
    if word in ("begins", "ends"):
        return (begins if word == "begins" else ends)(y, *rest)
    if word == "changes":
        return changes(y, *rest)
    if word == "is":
        return y[rest[0]] == rest[1]
    if word == "one of":
        return one_of(y[rest[0]], rest[1])
    if word == "same":
        return y[rest[0]] == y[rest[1]]
    if word == "at most":
        return count(said(part, y) for part in rest[1]) <= rest[0]
    if word == "weighted":
        return weighted((weight, said(part, y)) for weight, part in rest[1]) >= rest[0]
    connective = {"every": every, "some": some, "not": not_, "implies": implies}[word]
    return connective(*(said(part, y) for part in rest))


places, letters = st.integers(0, LENGTH - 1), st.sampled_from(LABELS)
leaves = st.one_of(
    st.tuples(st.sampled_from(["begins", "ends", "is"]), places, letters),
    st.tuples(st.just("changes"), places),
    st.tuples(st.just("one of"), places, st.sampled_from([("A",), ("A", "B"), ("B",)])),
    st.tuples(st.just("same"), places, places),
)


def nested(inner):
    lists = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        lists.map(lambda parts: ("every", *parts)),
        lists.map(lambda parts: ("some", *parts)),
        inner.map(lambda part: ("not", part)),
        st.tuples(st.just("implies"), inner, inner),
        st.tuples(st.just("at most"), st.integers(0, 2), lists),
        st.tuples(
            st.just("weighted"), st.integers(-1, 2), st.lists(st.tuples(st.sampled_from([1, 2, -1]), inner), max_size=3)
        ),
    )


scripts = st.recursive(leaves, nested, max_leaves=6)
X = Sentence(["w"] * LENGTH)


def known_degrees(rule):
    """What every output costs when the rule is read on it as it stands."""
    sizes = [len(LABELS)] * LENGTH
    return {labels: rule.violations(X, [LABELS[label] for label in labels]) for labels in outputs(sizes)}


@law(200)
@given(scripts)
def test_every_reading_charges_what_a_known_output_is_charged(script):
    rule = Rule(lambda x, y: said(script, y), "drawn", 1.0)
    says = rule.on_labels(X, Domain(LABELS))
    parts = list(pieces(says))
    local = [Piece(part, LENGTH, len(LABELS)) for part in parts]
    automata = [counter(part, LENGTH, len(LABELS)) for part in parts]
    columns = chain_columns(LENGTH, len(LABELS))
    lowering = Lowering(columns)
    lowering.add(says, 1.0)
    rows = lowering.rows()
    believed = expectations(parts, [1.0] * len(parts), columns)
    for labels, expected in known_degrees(rule).items():
        numbers = np.array(labels, dtype=np.int32)
        point = structural(columns, labels)
        assert degree(says, labels) == expected
        assert sum(piece.degree(numbers) for piece in local) == expected
        assert sum(automaton.degree(numbers) for automaton in automata) == expected
        assert least_cost(rows, point) == pytest.approx(expected)
        if believed.counted.all():
            means = np.array(
                [
                    believed.weights[a:b] @ point[believed.columns[a:b]]
                    for a, b in zip(believed.starts[:-1], believed.starts[1:])
                ]
            )
            cost = believed.constant + believed.cost @ point + believed.price @ believed.slack(means)
            cost += sum(one.price * one.counter.degree(numbers) for one in believed.counters)
            assert cost == pytest.approx(expected)


@law(60)
@given(scripts, st.integers(0, 99), st.sampled_from(["auto", "dynamic", "a_star", "ilp"]))
def test_inference_pays_what_known_outputs_are_charged(script, seed, method):
    rule = Rule(lambda x, y: said(script, y), "drawn", 0.7)
    rng = np.random.default_rng(seed)
    tokens, transition = rng.normal(size=(LENGTH, len(LABELS))), rng.normal(size=(len(LABELS), len(LABELS)))
    scores = TransitionScores(transition, np.zeros(len(LABELS)), np.zeros(len(LABELS)))
    best = -math.inf
    for labels, broken in known_degrees(rule).items():
        score = sum(tokens[t, label] for t, label in enumerate(labels)) - 0.7 * broken
        best = max(best, score + sum(transition[a, b] for a, b in pairwise(labels)))
    found = RuleSet([rule], LABELS).solve(X, tokens, scores, method=method)
    assert found.value == pytest.approx(best)


@pytest.mark.parametrize("word", [begins, ends])
def test_a_run_that_does_not_begin_or_end_is_one_violation(word):
    rule = Rule(lambda x, y: word(y, 1, "A"), "edge", 1.0)
    says = rule.on_labels(X, Domain(LABELS))
    assert {degree(says, labels) for labels in outputs([2] * LENGTH)} == {0, 1}

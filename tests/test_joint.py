"""Decisions taken together: the best of all outputs by every exact method, and what is wrong is said."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight import DataError, Infeasible, Joint
from sidelight.rules import count, every, implies, not_, rule

ENTITIES, RELATIONS = ["person", "place", "firm"], ["none", "lives_in", "works_for"]
KINDS = {"entity": ENTITIES, "relation": RELATIONS}
KEYS = [(a, b) for a, b in itertools.permutations(range(3), 2) if a < b]


@rule
def typed(x, y):
    """Relations go from people to places and firms."""
    return every(
        every(
            implies(r == "lives_in", every(y.entity[a] == "person", y.entity[b] == "place")),
            implies(r == "works_for", every(y.entity[a] == "person", y.entity[b] == "firm")),
        )
        for (a, b), r in y.relation.items()
    )


@rule
def few(x, y):
    """There are at most as many relations as the input says."""
    return count(r != "none" for _, r in y.relation.items()) <= x["most"]


@rule
def alike(x, y):
    """The first two entities are of one sort."""
    return y.entity[0] == y.entity[1]


def scores_of(rng: np.random.Generator) -> dict[str, dict[object, object]]:
    return {
        "entity": {a: rng.normal(size=3) for a in range(3)},
        "relation": {key: rng.normal(size=3).tolist() for key in KEYS},
    }


def enumerated(joint, x, scores, pairs):
    """The best worth of all outputs, one by one."""
    variables = [(kind, key) for kind, members in scores.items() for key in members]
    best = -math.inf
    for labels in itertools.product(range(3), repeat=len(variables)):
        chosen = dict(zip(variables, labels))
        worth = sum(scores[kind][key][label] for (kind, key), label in chosen.items())
        worth += sum(table[chosen[one]][chosen[other]] for (one, other), table in pairs.items())
        y = {kind: {key: KINDS[kind][chosen[kind, key]] for key in members} for kind, members in scores.items()}
        broken = joint.violations([x], [y])[0]
        prices = {one.name: price for one, price in zip(joint.rules, joint.penalties)}
        best = max(best, worth - sum(prices[name] * often for name, often in broken.items()))
    return best


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 2), st.sampled_from([math.inf, 0.7]))
def test_every_method_finds_the_best_output(seed, most, price):
    rng = np.random.default_rng(seed)
    scores, x = scores_of(rng), {"most": most}
    pairs = {
        (("entity", 0), ("entity", 2)): rng.normal(size=(3, 3)),
        (("relation", (0, 1)), ("entity", 1)): rng.normal(size=(3, 3)).tolist(),
    }
    rules = [typed, few.soft(0.4), alike.soft(price)]
    worth = enumerated(Joint(KINDS, rules), x, scores, pairs)
    for inference in ("auto", "elimination", "program", "relaxation"):
        found = Joint(KINDS, rules, inference=inference).solutions([x], [scores], pairs=[pairs])[0]
        if inference != "relaxation":
            assert found.exact
        if found.exact:
            assert found.value == pytest.approx(worth, abs=1e-6)
        assert found.value <= worth + 1e-6


def test_without_rules_every_variable_is_on_its_own():
    scores = scores_of(np.random.default_rng(1))
    found = Joint(KINDS).predict([None], [scores])[0]
    for kind, members in scores.items():
        assert found[kind] == {key: KINDS[kind][int(np.argmax(own))] for key, own in members.items()}


def test_penalties_are_counted():
    joint = Joint(KINDS, [alike.soft(), typed])
    right = {"entity": {0: "person", 1: "firm"}, "relation": {(0, 1): "works_for"}}
    with pytest.raises(DataError, match="alike has no penalty yet; call learn_penalties"):
        joint.predict([None], [{"entity": {0: [0, 0, 0], 1: [0, 0, 0]}}])
    joint.learn_penalties([None, None], [right, right])
    share = (2 + 1) / (6 + 2)
    assert joint.penalties == [pytest.approx(math.log((1 - share) / share)), math.inf]
    assert joint.violations([None], [right]) == [{"alike": 1}]


def test_what_is_wrong_is_said():
    scores = {"entity": {0: [0.0, 1.0, 0.0], 1: [0.0, 1.0, 0.0]}, "relation": {(0, 1): [0.0, 0.0, 0.0]}}

    @rule
    def different(x, y):
        return not_(y.entity[0] == y.entity[1])

    with pytest.raises(Infeasible, match=r"example 0: no output obeys the rules alike and different together"):
        Joint(KINDS, [few, alike, different]).predict([{"most": 1}] * 2, [{"relation": {}, **scores}] * 2)

    @rule
    def misspelt(x, y):
        return y.entity[0] == "persn"

    @rule
    def elsewhere(x, y):
        return y.entity[7] == "person"

    for broken, problem in (
        (misspelt, "the rule misspelt on example 0: there is no label 'persn'; did you mean 'person'"),
        (elsewhere, r"the rule elsewhere on example 0: there is no variable entity\[7\]"),
    ):
        with pytest.raises(DataError, match=problem):
            Joint(KINDS, [broken]).predict([None], [scores])
    joint = Joint(KINDS)
    for given_scores, problem in (
        ({"entity": {0: [1.0, 2.0]}}, r"example 0: entity\[0\] has scores of shape \(2,\) for 3 labels"),
        ({"entity": {0: [1.0, math.nan, 2.0]}}, "has no finite score"),
        ({"mood": {0: [1.0]}}, "there is no kind of variable 'mood'; there are entity, relation"),
    ):
        with pytest.raises(DataError, match=problem):
            joint.predict([None], [given_scores])
    for pair, table, problem in (
        ((("entity", 0), ("entity", 9)), np.zeros((3, 3)), "not of two variables with scores"),
        ((("entity", 0), ("entity", 1)), np.zeros((3, 2)), r"make it \(3, 3\)"),
    ):
        with pytest.raises(DataError, match=problem):
            joint.predict([None], [scores], pairs=[{pair: table}])
    with pytest.raises(ValueError, match="inference is 'guess'; there are auto"):
        Joint(KINDS, inference="guess")

"""Decisions taken together: the best of all outputs by every exact method, and what is wrong is said."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight import DataError, Infeasible, Intractable, Joint
from sidelight.errors import NotProved
from sidelight.rules import count, every, implies, not_, one_of, rule, weighted

ENTITIES, RELATIONS = ["person", "place", "firm"], ["none", "lives_in", "works_for"]
KINDS = {"entity": ENTITIES, "relation": RELATIONS}
EXACT = ("auto", "elimination", "dynamic", "a_star", "program", "ilp")
METHODS = (*EXACT, "relaxation", "lp", "lagrangian", "beam")
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
    for inference in METHODS:
        found = Joint(KINDS, rules, inference=inference).solutions([x], [scores], pairs=[pairs])[0]
        if inference in EXACT:
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
    def elsewhere(x, y):
        return y.entity[7] == "person"

    with pytest.raises(DataError, match=r"the rule elsewhere on example 0: there is no variable entity\[7\]"):
        Joint(KINDS, [elsewhere]).predict([None], [scores])
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
        ((("entity", 0), ("entity", 1)), np.full((3, 3), np.nan), "have nan or inf among them; give finite numbers"),
        ((("entity", 0), ("entity", 1)), np.full((3, 3), np.inf), "have nan or inf among them"),
    ):
        with pytest.raises(DataError, match=problem):
            joint.predict([None], [scores], pairs=[{pair: table}])
    with pytest.raises(ValueError, match="there is no inference method 'guess'; choose one of auto"):
        Joint(KINDS, inference="guess")


def made(says, name="mine"):
    return rule(name=name)(says)


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        (lambda x, y: y.entity[0] == "persn", "the rule mine: there is no label 'persn'; did you mean 'person'"),
        (
            lambda x, y: every(e != "lives_in" for e in y.entity.values()),
            "there is no label 'lives_in'; the labels are",
        ),
        (lambda x, y: y.entitty[0] == "person", "there is no kind of variable y.entitty; there are entity, relation"),
        (lambda x, y: (y.entity[0] == "firm") and (y.entity[1] == "firm"), "Python's `and`"),
        (lambda x, y: count(r == "livs_in" for _, r in y.relation.items()) <= x["most"], "did you mean 'lives_in'"),
        (lambda x, y: y.entity[x.first + 1] == y.relation[0, 1], "two variables with different labels are compared"),
        (lambda x, y: every(y.entity[a] == "X" for (a, _, _), r in y.relation.items()), "there is no label 'X'"),
        (lambda x, y: every(y.entity[k] == "X" for k in x["keys"] if len(x) < 9), "there is no label 'X'"),
    ],
)
def test_rules_are_read_when_they_are_given(says, problem):
    with pytest.raises(DataError, match=problem):
        Joint(KINDS, [made(says)])


@pytest.mark.parametrize(
    "says",
    [
        lambda x, y: y.entity[0] == x["label"],
        lambda x, y: one_of(y.entity[x.head], x.allowed),
        lambda x, y: (y.entity[0] == "firm") == x["is_firm"],
        lambda x, y: y.entity[0] == ("person" if x else "place"),
        lambda x, y: every(y.entity[a] == x[a] for a in sorted(y.entity)),
        lambda x, y: x["flag"],
        lambda x, y: not_(y.entity[0] == f"{x.kind}_of"),
        lambda x, y: [1 for _ in iter(lambda: x.done.at.last, None)] == [],  # endless on an input that is made up
        lambda x, y: weighted([(x["weight"], y.entity[0] == "firm")]) <= 3 * x["most"],
    ],
)
def test_what_hangs_on_the_input_is_not_refused(says):
    Joint(KINDS, [made(says)])


def test_labels_may_be_numbers_up_to_the_length_of_an_input():
    """An input that is made up is as long as it likes; real ones are what counts."""
    rising = made(lambda x, y: every(implies(y.place[1] == k, y.place[0] != k + 1) for k in range(len(x) - 1)))
    joint = Joint({"place": [0, 1]}, [rising])
    scores = {"place": {0: [0.0, 1.0], 1: [0.5, 0.0]}}
    assert joint.predict(["ab"], [scores]) == [{"place": {0: 1, 1: 1}}]
    with pytest.raises(DataError, match="there is no label 2; the labels are 0, 1"):
        joint.predict(["abc"], [scores])
    with pytest.raises(DataError, match="there is no label 2; the labels are 0, 1"):
        Joint({"place": [0, 1]}, [made(lambda x, y: y.place[0] != 2)])


def test_what_is_no_list_of_rules_is_said():
    for rules, problem in (
        ([lambda x, y: True], "make a rule of a function"),
        (alike, r"rules is the rule alike; give a list of rules: \[alike\]"),
        ([alike.soft(), made(lambda x, y: True, "alike").soft()], "are called alike; rename one of them"),
    ):
        with pytest.raises(DataError, match=problem):
            Joint(KINDS, rules)
    assert Joint(KINDS, None).rules == ()
    for labels in ({"entity": ["a", "b", "a"]}, {"entity": []}):
        with pytest.raises(DataError, match="entity has no labels, or one of them twice"):
            Joint(labels)


def test_outputs_that_are_known_are_checked():
    joint, right = Joint(KINDS, [alike.soft()]), {"entity": {0: "person", 1: "firm"}}
    for ys, problem in (
        ([{"entity": {0: "persn", 1: "firm"}}], r"example 0: entity\[0\]: there is no label 'persn'; did you mean"),
        ([{"mood": {0: "good"}}], "example 0: there is no kind of variable 'mood'; there are entity, relation"),
        ([right, right], "there are 1 inputs, 2 outputs; give equal numbers of each"),
    ):
        for counting in (joint.learn_penalties, joint.violations):
            with pytest.raises(DataError, match=problem):
                counting([None], ys)
    with pytest.raises(DataError, match="there are 2 inputs, 1 scores; give equal numbers"):
        joint.predict([None, None], [{"entity": {}}])
    twice = Joint(KINDS, [alike, made(lambda x, y: y.entity[0] == "firm", "alike")])
    assert twice.violations([None], [right]) == [{"alike": 2}]


def test_what_rules_did_is_told():
    scores = {"entity": {"a": [0, 2.0, 0], "b": [0, 0, 1.0]}, "relation": {("a", "b"): [0, 1.5, 0]}}
    vain = made(lambda x, y: y.entity["b"] == "place", "vain").soft(0.0)
    joint = Joint(KINDS, [typed, few, vain])
    found = joint.explain_rules({"most": 2}, scores)
    assert found.variables == (("entity", "a"), ("entity", "b"), ("relation", ("a", "b")))
    assert found.plain == ("place", "firm", "lives_in") and found.labels == ("place", "firm", "none")
    assert [str(change) for change in found.changes] == ["relation['a', 'b']: lives_in → none"]
    effects = [(effect.before, effect.after, len(effect.changes)) for effect in found.rules]
    assert effects == [(1, 0, 1), (0, 0, 0), (1, 1, 0)]
    assert found.rules[0].lowered == "2 clauses in tables over up to 3 variables"
    assert found.rules[2].lowered == "nothing: its penalty is 0"
    assert (found.changes[0].kind, found.changes[0].key) == ("relation", ("a", "b"))
    rows = Joint(KINDS, [typed, few, vain], inference="ilp").explain_rules({"most": 2}, scores)
    assert rows.labels == found.labels and rows.rules[0].lowered == "linear rows of 2 clauses"
    pairs = {(("entity", "a"), ("entity", "b")): np.diag([0.0, 9.0, 0.0])}
    assert joint.explain_rules({"most": 0}, scores, pairs=pairs).plain == ("place", "place", "lives_in")
    assert "no label was changed" in str(Joint(KINDS, []).explain_rules(None, scores))
    with pytest.raises(DataError, match="vain has no penalty yet"):
        Joint(KINDS, [vain.soft()]).explain_rules(None, scores)


def test_many_variables_are_too_many_for_a_star_and_a_beam_says_what_it_cannot_prove(monkeypatch):
    rng = np.random.default_rng(2)
    scores = {"entity": {a: rng.normal(size=3) for a in range(30)}}
    pairs = {(("entity", a - 1), ("entity", a)): 2 * rng.normal(size=(3, 3)) for a in range(1, 30)}
    third = made(lambda x, y: count(e == "firm" for e in y.entity.values()) <= 3)
    monkeypatch.setattr("sidelight.inference.lattices.prefixes.MOST_NODES", 50)
    with pytest.raises(Intractable, match=r"A\* needs more than 5. nodes; give it more"):
        Joint(KINDS, [third], inference="a_star").predict([None], [scores], pairs=[pairs])
    best = Joint(KINDS, [third], inference="ilp").solutions([None], [scores], pairs=[pairs])[0]
    under = Joint(KINDS, [third], inference="beam")
    found = under.solutions([None], [scores], pairs=[pairs])[0]
    assert not found.exact and found.value <= best.value + 1e-6
    with pytest.warns(NotProved, match="1 of 1 outputs is not proved best .beam search."):
        under.predict([None], [scores], pairs=[pairs])
    told = under.explain_rules(None, scores, pairs=pairs)
    assert told.rules[0].lowered == "1 clause, read as variables get their labels"


@pytest.mark.parametrize("inference", METHODS)
def test_inputs_without_variables_have_an_empty_output(inference):
    assert Joint(KINDS, [few], inference=inference).predict([{"most": 1}], [{"entity": {}}]) == [{"entity": {}}]
    with pytest.raises(Infeasible, match="example 0: no output obeys the rule some_relation"):
        some_relation = made(lambda x, y: count(r != "none" for r in y.relation.values()) >= 1, "some_relation")
        Joint(KINDS, [some_relation], inference=inference).predict([None], [{"relation": {}}])

"""Rules that say very much, or very deeply, or end in an odd way: done within bounds, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.errors import DataError, Intractable
from sidelight.inference.methods import program
from sidelight.inference.rule_set import RuleSet, TransitionScores
from sidelight.rules import Domain, Rule, Sentence, count, every, implies, not_, rule, some
from sidelight.rules.expr import MOST_DEPTH
from sidelight.rules.lowering import counters
from sidelight.rules.lowering.counters import counter
from sidelight.rules.lowering.truth import degree

X = Sentence(["w"] * 4)
SCORES = TransitionScores(np.zeros((2, 2)), np.zeros(2), np.zeros(2))


def nested(depth: int) -> Rule:
    def says(x, y):
        found = y[0] == "A"
        for level in range(depth):
            found = every(y[1] == "A", some(found, y[2] == "A")) if level % 2 else not_(every(found, y[3] == "B"))
        return found

    return Rule(says, "nested")


def test_what_is_nested_deeply_is_refused_with_the_line():
    with pytest.raises(DataError, match=rf"test_large.py:\d+: the rule nested: .* nested more than {MOST_DEPTH} deep"):
        nested(5000).on_labels(X, Domain("AB"))
    assert nested(5000).violations(X, list("AAAA")) in (0, 1)  # a known output folds


@pytest.mark.parametrize("method", ["auto", "dynamic", "a_star", "ilp", "beam", "lagrangian"])
def test_what_is_as_deep_as_may_be_can_be_read_by_all(method):
    deep = nested(MOST_DEPTH * 2 // 3 - 2)
    says = deep.on_labels(X, Domain("AB"))
    assert MOST_DEPTH * 0.9 < says.depth <= MOST_DEPTH
    assert repr(says)
    tokens = np.random.default_rng(0).normal(size=(4, 2))
    found = RuleSet([deep], "AB").solve(X, tokens, SCORES, method=method)
    assert degree(says, found.labels) == 0


def test_long_conjunctions_are_not_deep():
    @rule
    def one_after_the_other(x, y):
        found = y[0] == "A"
        for t in x.positions[1:]:
            found = every(found, implies(y[t - 1] == "A", y[t] == "A"))
        return found

    assert one_after_the_other.on_labels(Sentence(["w"] * 2000), Domain("AB")).depth <= 3


def test_parts_that_are_shared_again_and_again_are_refused():
    @rule
    def doubled(x, y):
        found = y[0] == "A"
        for t in range(60):
            found = some(every(found, y[t % 3] == "A"), every(not_(found), y[t % 4] == "B"))
        return found

    with pytest.raises(DataError, match=r"the rule doubled: .* says more than .* things"):
        doubled.on_labels(X, Domain("AB"))


@pytest.mark.parametrize("error", [GeneratorExit, SystemExit, StopIteration, RecursionError, MemoryError])
def test_a_rule_that_ends_oddly_is_named(error):
    @rule
    def odd(x, y):
        raise error("so")

    with pytest.raises(DataError, match=rf"test_large.py:\d+: the rule odd: {error.__name__}: so; fix the rule"):
        odd.on_labels(X, Domain("AB"))
    with pytest.raises(DataError, match="the rule odd"):
        RuleSet([odd], "AB").decode([X], [np.zeros((4, 2))], SCORES)


def test_a_rule_that_yields_is_told_what_to_return():
    @rule
    def yielding(x, y):
        for t in x.positions:
            yield y[t] == "A"

    with pytest.raises(DataError, match=r"the rule yielding: .* not a generator; use every\(…\) or some\(…\)"):
        yielding.on_labels(X, Domain("AB"))


def at_most(k: int) -> Rule:
    return Rule(lambda x, y: count(y[t] == "A" for t in x.positions) <= k, "few")


def test_a_count_with_many_states_is_the_count():
    length = 700
    says = at_most(300).on_labels(Sentence(["w"] * length), Domain("AB"))
    automaton = counter(says, length, 2)
    assert automaton.states == 301
    rng = np.random.default_rng(3)
    for share in (0.2, 0.42, 0.45, 0.9):
        labels = (rng.random(length) > share).astype(np.int32)
        assert automaton.degree(labels) == max(0, int((labels == 0).sum()) - 300) == degree(says, labels.tolist())


def test_a_counter_that_would_take_gigabytes_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(counters, "MOST_CELLS", 1000)
    says = at_most(30).on_labels(Sentence(["w"] * 100), Domain("AB"))
    with pytest.raises(Intractable, match="the rule few needs more than 5 states at one token, with 100 tokens"):
        counter(says, 100, 2, name="few")
    far = Rule(lambda x, y: some(y[0] == y[99], count(y[t] == y[t + 2] for t in range(90)) <= 40), "far")
    with pytest.raises(Intractable, match="the rule far needs more than 10 states"):
        counter(far.on_labels(Sentence(["w"] * 100), Domain("AB")), 100, 2, name="far")


def test_a_program_that_would_take_gigabytes_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(program, "MOST_COLUMNS", 500)
    tokens = np.zeros((100, 2))
    tokens[:, 0] = 1.0
    with pytest.raises(Intractable, match=r"100 tokens with 2 labels has 596 columns.*cut the input into shorter ones"):
        RuleSet([at_most(30)], "AB").solve(Sentence(["w"] * 100), tokens, SCORES, method="ilp")

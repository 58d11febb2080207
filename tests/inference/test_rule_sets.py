"""Batches under rules: the same outputs as one problem at a time, and what is said where that fails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing import law
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import DataError, Infeasible
from sidelight.inference.methods.choose import solve
from sidelight.inference.rule_set import OFTEN, RuleSet, TransitionScores
from sidelight.rules import Domain, Sentence, count, every, gallery, implies, rule, some
from sidelight.rules.lowering import counters
from sidelight.rules.trials import said_of_length

LABELS = ("A", "B", "C")


@rule
def commas_need_a_b(x, y):
    """Where there is a comma there is a B after it."""
    return every(some(y[s] == "B" for s in x.positions[t + 1 :]) for t in x.positions[:-1] if x.words[t] == ",")


@rule
def far_ends_agree(x, y):
    """The first and the last label are the same where there are many C."""
    return implies(count(y[t] == "C" for t in x.positions) >= 2, y[0] == y[len(x) - 1])


RULES = (
    gallery.starts_with("A", "B"),
    gallery.appears_once(LABELS),
    gallery.changes_after_punctuation(),
    gallery.words_are(["b"], "B", name="b"),
    gallery.minimum_length(2, "AB"),
    gallery.requires("A", "C"),
    commas_need_a_b,
    far_ends_agree,
)


def scores(rng: np.random.Generator, *, second: bool = False) -> TransitionScores:
    size = len(LABELS)
    triple = rng.normal(size=(size, size, size)) if second else None
    return TransitionScores(rng.normal(size=(size, size)), rng.normal(size=size), rng.normal(size=size), triple)


@law(40)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_batch_has_the_outputs_of_its_problems(seed: int, second: bool):
    rng = np.random.default_rng(seed)
    own = scores(rng, second=second)
    prices = rng.choice([0.0, 0.7, 2.0, math.inf], size=len(RULES), p=[0.1, 0.4, 0.4, 0.1])
    rules = RuleSet(RULES, LABELS, penalties=prices)
    xs = [Sentence(list(rng.choice(list("abc,."), size=rng.integers(1, 9)))) for _ in range(6)]
    tokens = [rng.normal(size=(len(x), len(LABELS))) for x in xs]
    for x, scored in zip(xs, tokens):
        problem = rules.problem(x, scored, own)
        try:
            expected = solve(problem, method="dynamic")
        except Infeasible:
            with pytest.raises(Infeasible, match="example 0"):
                rules.decode([x], [scored], own)
            continue
        for _ in range(OFTEN + 1):  # the store of lowered rules fills, and changes nothing
            found = rules.decode([x], [scored], own)[0]
            assert found.exact
            assert found.value == pytest.approx(expected.value, abs=1e-9)
            assert problem.value(found.labels) == pytest.approx(found.value, abs=1e-9)
        for method in ("dynamic", "a_star"):
            assert rules.decode([x], [scored], own, method=method)[0].value == pytest.approx(found.value, abs=1e-9)
        broken = rules.violations(x, found.labels)
        names = [LABELS[label] for label in found.labels]
        assert broken == [one.violations(x, names) for one in RULES]
        assert rules.obeyed(x, found.labels) == (not any(b for b, price in zip(broken, prices) if price))


def test_an_output_that_breaks_nothing_takes_nothing_in():
    rules = RuleSet(RULES[:2], LABELS)
    own = TransitionScores(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    tokens = np.array([[2.0, 0, 0], [0, 2.0, 0], [0, 2.0, 0], [0, 0, 2.0]])
    kept, changed = rules.decode([Sentence("abbc")] * 2, [tokens, tokens[[0, 1, 3, 0]]], own)
    assert (kept.labels, kept.method, kept.taken_in) == ((0, 1, 1, 2), "viterbi", 0)
    assert changed.method == "dynamic programming" and changed.taken_in == 2  # the start, and one run of A
    assert changed.value < 8.0


def test_rules_that_look_at_the_input_are_not_stored():
    domain = Domain(LABELS)

    @rule
    def careful(x, y):
        try:
            return y[0] == ("A" if x.words[0] == "a" else "B")
        except Exception:
            return y[0] == "C"

    looking = [careful, RULES[2], RULES[3], commas_need_a_b]
    assert all(said_of_length(one, 4, domain) is None for one in looking)
    assert all(said_of_length(one, 4, domain) is not None for one in (RULES[0], RULES[1], RULES[4], RULES[5]))
    rules = RuleSet([careful], LABELS)
    own = TransitionScores(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    found = rules.decode([Sentence("ab"), Sentence("ba")], [np.zeros((2, 3))] * 2, own)
    assert [one.labels[0] for one in found] == [0, 1]


def test_sets_of_rules_over_one_domain_share_what_is_lowered():
    domain, x = Domain(LABELS), Sentence("a,b")
    first, second = RuleSet(RULES, domain), RuleSet([one.soft(1.0) for one in RULES], domain)
    assert all(first.reading(k, x) is second.reading(k, x) for k in range(len(RULES)))
    other = RuleSet(RULES, LABELS)
    assert not any(first.reading(k, x) is other.reading(k, x) for k in range(len(RULES)))
    assert first.reading(3, x) is not first.reading(3, Sentence("a,b"))  # it looks at the words


def test_a_rule_with_too_many_states_is_left_to_the_integer_program(monkeypatch):
    @rule
    def halves_agree(x, y):
        return implies(count(y[t] == y[t + 4] for t in range(4)) >= 2, count(y[t] == "A" for t in x.positions) == 3)

    rng = np.random.default_rng(0)
    own, x, tokens = scores(rng), Sentence("abcdefgh"), 0.1 * rng.normal(size=(8, 3))
    own.transition[0, 0] += 2.0  # all A, which breaks the rule
    expected = RuleSet([halves_agree], LABELS).decode([x], [tokens], own)[0]
    assert expected.method == "dynamic programming"
    monkeypatch.setattr(counters.Piece.counter, "__kwdefaults__", {"name": "a rule", "most_states": 20})
    rules = RuleSet([halves_agree], LABELS)
    for _ in range(OFTEN + 1):
        found = rules.decode([x], [tokens], own)[0]
        assert found.method == "integer program" and found.exact
        assert found.value == pytest.approx(expected.value)


def test_hard_rules_in_conflict_can_be_relaxed():
    rules = RuleSet([gallery.starts_with("A"), gallery.words_are(["x"], "B", name="x_is_B"), RULES[2]], LABELS)
    own = TransitionScores(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    xs, tokens = [Sentence("ab"), Sentence("xx")], [np.zeros((2, 3))] * 2
    with pytest.raises(Infeasible, match="example 1: no output obeys the rules start and x_is_B together"):
        rules.decode(xs, tokens, own)
    legal, relaxed = rules.decode(xs, tokens, own, relax=10.0)
    assert "hard rules" not in legal.method
    assert relaxed.method.endswith("hard rules at 10")
    assert relaxed.value == -10.0 and relaxed.labels == (1, 1)


def test_bad_sets_of_rules():
    with pytest.raises(DataError, match=r"the rule at_most_1_D: there is no label 'D'"):
        RuleSet([gallery.at_most(1, "D")], LABELS)
    with pytest.raises(DataError, match="at_most_1_A has no penalty yet"):
        RuleSet([gallery.at_most(1, "A").soft()], LABELS)
    with pytest.raises(DataError, match="2 penalties for 1 rules"):
        RuleSet([gallery.at_most(1, "A")], LABELS, penalties=[1.0, 1.0])
    with pytest.raises(DataError, match="the penalty of at_most_1_A is -1"):
        RuleSet([gallery.at_most(1, "A")], LABELS, penalties=[-1.0])


def test_a_rule_that_fails_names_itself_and_the_example():
    @rule
    def fails(x, y):
        return y[0] == {"a": "A"}[x.words[0]]

    own = TransitionScores(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    with pytest.raises(DataError, match=r"test_rule_sets.py:\d+: the rule fails on example 1: KeyError"):
        RuleSet([fails], LABELS).decode([Sentence("ab"), Sentence("ba")], [np.zeros((2, 3))] * 2, own)

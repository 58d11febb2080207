"""Which method is used, and that it is always said."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.inference.lattices import lattice as lattices
from sidelight.inference.methods.by_search import a_star, beam, dynamic
from sidelight.inference.methods.choose import check_method, solve
from sidelight.inference.problem import ChainProblem, clauses_of
from sidelight.rules import Domain, Sentence, count, every, gallery, implies, rule


def problem(length: int, *rules, labels: str = "ABCD", seed: int = 0) -> ChainProblem:
    rng = np.random.default_rng(seed)
    x, size = Sentence(["w"] * length), len(labels)
    clauses = clauses_of([one.on_labels(x, Domain(labels)) for one in rules], [one.penalty for one in rules])
    tokens = rng.normal(size=(length, size))
    return ChainProblem(tokens, rng.normal(size=(size, size)), np.zeros(size), np.zeros(size), clauses)


@rule
def palindrome(x, y):
    """The labels read the same from both ends."""
    return every(y[t] == y[len(x) - 1 - t] for t in range(len(x) // 2 - 1))


def test_methods_in_their_order():
    easy = problem(12, gallery.at_most(12, "A"))
    assert solve(easy).method == "viterbi"
    once = problem(20, gallery.appears_once("ABCD"))
    found = solve(once)
    assert found.method == "dynamic programming"
    few = solve(once, most_states=30)
    assert few.method == "A*" and few.value == pytest.approx(found.value)


def test_tight_completions_need_fewer_nodes():
    once = problem(25, gallery.appears_once("ABCDEFGH"), labels="ABCDEFGH")
    loose, tight = solve(once, method="a_star"), a_star(once, tighten=60)
    assert loose.value == pytest.approx(tight.value)
    assert 2 * tight.steps < loose.steps


def test_what_needs_too_many_states_goes_to_the_integer_program(monkeypatch):
    hard = problem(12, palindrome)
    expected = solve(hard)
    assert expected.method == "dynamic programming"
    monkeypatch.setattr(lattices, "MOST_CODES", 1 << 10)
    with pytest.raises(Intractable, match="rules: palindrome"):
        dynamic(hard, names=["palindrome"])
    guess = solve(hard, method="beam")
    assert guess.method == "beam search over prefixes" and guess.value <= expected.value + 1e-9 <= guess.bound + 2e-9
    found = solve(hard)
    assert found.method == "integer program" and found.exact
    assert found.value == pytest.approx(expected.value)


@pytest.mark.parametrize("method", ["auto", "dynamic", "a_star", "beam"])
def test_conflicts_are_named(method):
    @rule
    def six_of_a(x, y):
        return count(y[t] == "A" for t in x.positions) >= 6

    asked = problem(8, gallery.at_most(3, "B"), gallery.at_most(4, "A"), six_of_a, palindrome)
    names = ["b", "at_most_4_A", "six_of_a", "palindrome"]
    with pytest.raises(Infeasible, match="at_most_4_A and six_of_a together"):
        solve(asked, method=method, names=names)
    nothing = problem(4, palindrome)
    nothing.tokens[2] = -np.inf
    with pytest.raises(Infeasible, match="the scores allow no output"):
        solve(nothing, method=method)


def test_a_beam_in_a_dead_end_says_so():
    @rule
    def ends_as_it_begins(x, y):
        return implies(y[0] == "A", count(y[t] == "A" for t in x.positions) >= 9)

    asked = problem(9, ends_as_it_begins, gallery.ends_with("B"))
    asked.tokens[0, 0] = 50.0
    with pytest.raises(Intractable, match="a beam of 1 found no legal output"):
        beam(asked, width=1, look_ahead=False)
    assert solve(asked).exact
    with pytest.raises(ValueError, match="at least 1 wide"):
        beam(asked, width=0)


def test_names_of_methods():
    assert check_method("beam") == "beam"
    with pytest.raises(DataError, match="no inference method 'magic'; choose one of auto, dynamic"):
        check_method("magic")
    with pytest.raises(DataError, match="magic"):
        solve(problem(3), method="magic")


@pytest.mark.parametrize("method", ["auto", "dynamic", "a_star", "ilp"])
def test_exact_methods_agree_on_longer_chains(method):
    rules = [gallery.appears_once("ABCD").soft(1.5), gallery.minimum_length(2, "ABC"), gallery.few_changes(6)]
    values = []
    for seed in range(3):
        asked = problem(14, *rules, gallery.requires("A", "C"), seed=seed)
        found = solve(asked, method=method)
        assert found.exact
        values.append((found.value, solve(asked).value, asked.value(found.labels)))
    for value, auto, read in values:
        assert value == pytest.approx(auto) and value == pytest.approx(read)

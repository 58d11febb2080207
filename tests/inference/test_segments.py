"""Segmentations under rules: which method is used, what is said where none is legal."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.errors import Infeasible, Intractable
from sidelight.inference.lattices import lattice as lattices
from sidelight.inference.methods.by_search import dynamic
from sidelight.inference.methods.choose import Method, solve
from sidelight.inference.problem import SegmentProblem, TokenReading, clauses_of
from sidelight.rules import Domain, Rule, Sentence, count, every, gallery, one_of, rule
from sidelight.structures.segments import segment_scheme

FIRST = ("B-A", "B-B", "B-C")
METHODS = ("auto", "dynamic", "a_star", "beam", "ilp", "lp", "lagrangian")


def problem(length: int, *rules: Rule, bio: bool = False, max_length: int = 4, seed: int = 0) -> SegmentProblem:
    """Random scores, with the labels A, B and C or their BIO."""
    rng = np.random.default_rng(seed)
    scheme = segment_scheme(FIRST if bio else "ABC", "BIO" if bio else None)
    reading = TokenReading(scheme.first, scheme.inside, scheme.segment_of, scheme.longest(max_length))
    says = [one.on_labels(Sentence(["w"] * length), Domain(scheme.tokens.names)) for one in rules]
    scores = rng.normal(size=(length, max_length, 3)), rng.normal(size=(3, 3)), np.zeros(3), np.zeros(3)
    return SegmentProblem(*scores, reading, clauses_of(says, [one.penalty for one in rules]))


@rule
def palindrome(x, y):
    """The labels read the same from both ends."""
    return every(y[t] == y[len(x) - 1 - t] for t in range(len(x) // 2 - 1))


@rule
def few_segments(x, y):
    """There are three segments, the ends of the sequence alike."""
    return every(count(one_of(y[t], FIRST) for t in x.positions) == 3, y[1] == y[len(x) - 1], y[2] == y[len(x) - 2])


def test_methods_in_their_order() -> None:
    assert solve(problem(12, gallery.at_most(12, "A"))).method == "viterbi"
    once = problem(14, gallery.appears_once("ABC"))
    found = solve(once)
    assert found.method == "dynamic programming" and found.exact
    few = solve(once, most_states=20)
    assert few.method == "A*" and few.value == pytest.approx(found.value)


@pytest.mark.parametrize("bio", [False, True])
def test_what_needs_too_many_states_goes_to_the_integer_program(monkeypatch: pytest.MonkeyPatch, bio: bool) -> None:
    hard = problem(10, few_segments if bio else palindrome, gallery.few_changes(7), bio=bio)
    expected = solve(hard)
    assert expected.method == "dynamic programming"
    monkeypatch.setattr(lattices, "MOST_CODES", 1 << 6)
    with pytest.raises(Intractable, match="rules: "):
        dynamic(hard, names=["one", "other"])
    guess = solve(hard, method="beam")
    assert guess.method == "beam search over prefixes" and guess.value <= expected.value + 1e-9 <= guess.bound + 2e-9
    found = solve(hard)
    assert found.method == "integer program" and found.exact
    assert found.value == pytest.approx(expected.value)


@pytest.mark.parametrize("method", METHODS)
def test_conflicts_are_named(method: Method) -> None:
    @rule
    def six_of_a(x, y):
        return count(y[t] == "A" for t in x.positions) >= 6

    asked = problem(8, gallery.at_most(3, "B"), gallery.at_most(4, "A"), six_of_a, palindrome)
    names = ["b", "at_most_4_A", "six_of_a", "palindrome"]
    with pytest.raises(Infeasible, match="at_most_4_A and six_of_a together"):
        solve(asked, method=method, names=names)
    nothing = problem(4, palindrome)
    nothing.totals[2:] = -np.inf
    with pytest.raises(Infeasible, match="the scores allow no output"):
        solve(nothing, method=method)


def test_long_runs_are_made_of_pieces() -> None:
    """A run of nine tokens in pieces of four, four and one; BIO has no word for it."""
    only_a = gallery.at_least(9, "A")
    found = solve(problem(9, only_a))
    assert found.labels == (0,) * 9
    cut = problem(9, only_a)
    a = cut.totals[[3, 7, 8], [3, 3, 0], 0].sum() + 2 * cut.transition[0, 0]
    assert found.value == pytest.approx(a)
    with pytest.raises(Infeasible, match="at_least"):
        solve(problem(9, gallery.at_least(8, "I-A"), bio=True), names=["at_least"])

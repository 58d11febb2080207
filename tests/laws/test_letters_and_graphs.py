"""One-to-one alignments of letters, and alignments of graphs, against lists of all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sidelight.errors import Intractable
from sidelight.estimators.joint import Joint
from sidelight.features.rows import offsets_of
from sidelight.rules import every, implies, not_, rule
from sidelight.spaces.alignments import graph_program
from sidelight.spaces.alignments.local_matching import best_matching, local_matching
from sidelight.spaces.alignments.matching_space import MatchingSpace
from sidelight.spaces.highs import Optimum, solve
from sidelight.spaces.slots import SlotScores
from sidelight.structures.graphs import NULLS, Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.testing import check_structure

STRINGS = [("abc", "xyz"), ("ab", "x"), ("b", "yz"), ("abab", "yx")]


@pytest.mark.parametrize("crossing", [False, True])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_letters_keep_the_laws(crossing, seed):
    structure = CharacterAlignment(crossing=crossing, bits=6)

    def admits(i, choices):
        used = [choice for choice in choices.tolist() if choice]
        return (
            len(set(used)) == len(used)
            and max(used, default=0) <= len(STRINGS[i][1])
            and (crossing or used == sorted(used))
        )

    checked = check_structure(structure.batch(STRINGS), seed=seed, admits=admits)
    assert checked.k_best and checked.gradients
    assert checked.sums == checked.likelihood == (not crossing)  # sums over matchings are named as missing


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), closed=st.sampled_from([0.0, 0.4, 0.8]))
def test_matchings_of_any_size(seed, closed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 5)
    scores = rng.normal(size=(int(sizes.sum()), 9)) * 10.0 ** rng.integers(-1, 3)
    space = MatchingSpace(offsets_of(sizes), 9, (rng.random(scores.shape) >= closed).astype(np.uint8))
    block = space.block(SlotScores(scores))
    choices, values = space.best_each(block)
    for i, (first, last) in enumerate(zip(space.starts[:-1], space.starts[1:])):
        own = block[first:last]
        nothing = np.full((len(own), len(own)), -np.inf)
        nothing[np.diag_indices(len(own))] = own[:, 0]
        table = np.hstack([own[:, 1:], nothing])
        try:
            rows, columns = linear_sum_assignment(table, maximize=True)
        except ValueError:
            assert values[i] == -np.inf
            continue
        assert values[i] == pytest.approx(table[rows, columns].sum(), abs=1e-9, rel=1e-9)
        assert own[np.arange(len(own)), choices[first:last]].sum() == pytest.approx(values[i], abs=1e-9, rel=1e-9)


def graph(words: str, *edges: tuple[int, int, str]) -> Graph:
    return Graph(tuple((word, word[0].upper()) for word in words.split()), edges)


GRAPHS = [
    (graph("the light falls", (1, 0, "d"), (2, 1, "s")), graph("a light fell", (1, 0, "d"), (2, 1, "s"))),
    (graph("old light", (1, 0, "a")), graph("light of old", (0, 1, "p"), (1, 2, "o"), (0, 2, "o"))),
    (graph("sun"), graph("sun rises", (1, 0, "s"))),
    (graph("sun sets here", (1, 0, "s"), (1, 2, "r")), graph("sun set")),
]


def aligns(nulls: str, i: int, choices: list[int]) -> bool:
    """Eq. 5.6 to 5.8, one by one."""
    one, two = GRAPHS[i]
    words, edges = choices[: len(one.words)], choices[len(one.words) :]
    used = [word for word in words if word]
    if len(set(used)) < len(used) or any(word > len(two.words) for word in words):
        return False
    if nulls == "none" and len(used) < min(len(one.words), len(two.words)):
        return False
    if any(edge > len(two.edges) for edge in edges):
        return False
    for (a, b, _), edge in zip(one.edges, edges):
        for number, (c, d, _) in enumerate(two.edges, 1):
            if (edge == number) != (words[a] == c + 1 and words[b] == d + 1):
                return False
    return True


@pytest.mark.parametrize("nulls", NULLS)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_graphs_keep_the_laws(nulls, seed):
    structure = GraphAlignment(nulls=nulls, bits=7)
    checked = check_structure(structure.batch(GRAPHS), seed=seed, admits=lambda i, y: aligns(nulls, i, y.tolist()))
    assert checked.k_best and not checked.sums and not checked.likelihood


def drawn_graph(rng: np.random.Generator, size: int) -> Graph:
    words = tuple((f"w{rng.integers(9)}", f"T{rng.integers(3)}") for _ in range(size))
    return Graph(words, tuple((int(rng.integers(0, k)), k, f"L{rng.integers(3)}") for k in range(1, size)))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rounding_never_beats_its_bound_and_no_bound_is_below_the_best(seed):
    rng = np.random.default_rng(seed)
    structure = GraphAlignment(bits=8)
    batch = structure.batch([(drawn_graph(rng, 6), drawn_graph(rng, 7)) for _ in range(3)])
    scores = batch.scores(rng.normal(size=batch.scorer.size))
    exact, rounded = batch.space.solved(scores), replace(batch.space, exact=False).solved(scores)
    assert np.all(exact.gaps == 0.0)
    assert np.all(rounded.values <= exact.values + 1e-7) and np.all(exact.values <= rounded.bounds + 1e-6)
    assert batch.space.admits(rounded.choices).all()
    np.testing.assert_allclose(batch.space.score(scores, rounded.choices), rounded.values, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    nulls=st.sampled_from(NULLS),
    sizes=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    closed=st.sampled_from([0.0, 0.0, 0.3]),
    ties=st.booleans(),
)
def test_bounds_and_branching_find_what_the_program_finds(seed, nulls, sizes, closed, ties):
    rng = np.random.default_rng(seed)
    structure = GraphAlignment(bits=8, nulls=nulls)
    batch = structure.batch([(drawn_graph(rng, sizes[0]), drawn_graph(rng, sizes[1]))])
    program, all_words = batch.space.programs[0], nulls == "none"
    for _ in range(3):
        scores = batch.scores(rng.normal(size=batch.scorer.size)).slots
        scores = np.round(scores) if ties else scores
        mask = (rng.random(scores.shape) >= closed) if closed else True
        block = batch.space.inside(np.broadcast_to(mask, scores.shape).astype(np.uint8)).block(SlotScores(scores))
        expected = program._programmed(block, all_words, True, math.inf)
        found, _ = program._bounded(block, all_words, 10_000)
        assert found.value == pytest.approx(expected.value, abs=1e-6) and found.bound == found.value
        rough, left = program._bounded(block, all_words, 0)
        assert rough.value <= expected.value + 1e-6 and rough.bound >= expected.value - 1e-6
        if expected.choices is not None and rough.value < expected.value - 1e-6:  # the better one is still open
            words = expected.choices[: sizes[0]]
            assert left[np.arange(sizes[0]), words].all()


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([(3, 3), (2, 4), (4, 2)]))
@settings(max_examples=30, deadline=None)
def test_local_matchings_are_alignments_and_no_better_than_the_best(seed, all_words, sizes):
    """Without edges they are the best matching."""
    rng = np.random.default_rng(seed)
    one, two = (drawn_graph(rng, size) for size in sizes)
    batch = GraphAlignment(nulls="none" if all_words else "words", bits=8).batch([(one, two)])
    program, scores = batch.space.programs[0], batch.scores(rng.normal(size=batch.scorer.size))
    block = batch.space.block(scores)
    words = local_matching(block, program.edges[0], program.mapped, all_words=all_words)
    assert words is not None and program.admits(program.choices_of(words), all_words=all_words)
    best = batch.space.solved(scores).values[0]
    assert program._worth(words, block) <= best + 1e-9
    again = local_matching(block[: sizes[0]], np.zeros((0, 2), np.int64), program.mapped, all_words=all_words)
    assert again.tolist() == best_matching(block[: sizes[0], : sizes[1] + 1], all_words=all_words).tolist()


def test_graphs_with_circles_go_to_the_program():
    rng = np.random.default_rng(3)
    circle = graph("a b c", (0, 1, "x"), (1, 2, "x"), (2, 0, "x"))
    batch = GraphAlignment(bits=8).batch([(circle, circle), (graph("a b", (0, 1, "x")), circle)])
    assert [program.pair is None for program in batch.space.programs] == [True, False]
    solved = batch.space.solved(batch.scores(rng.normal(size=batch.scorer.size)))
    assert batch.space.admits(solved.choices).all() and np.all(solved.gaps == 0.0)


def test_out_of_time_what_was_found_is_given_with_its_bound():
    rng = np.random.default_rng(5)
    structure = GraphAlignment(bits=8, seconds=1e-6)
    batch = structure.batch([(drawn_graph(rng, 16), drawn_graph(rng, 16)) for _ in range(6)])
    scores = batch.scores(0.1 * rng.normal(size=batch.scorer.size))
    found = batch.space.solved(scores)
    assert batch.space.admits(found.choices).all()
    assert found.gaps.max() > 0.0  # of some pair it is not proved that nothing is better
    best = replace(batch.space, seconds=np.inf).solved(scores)
    assert np.all(best.values <= found.bounds + 1e-6) and np.all(best.gaps == 0.0)


def test_out_of_time_graphs_with_circles_are_no_worse_than_rounding(monkeypatch):
    """Branching that was stopped early: nothing is mapped, and its bound says nothing."""

    def stopped(program, *, integer, seconds=math.inf):
        nothing = np.zeros(len(program.gain))
        early = Optimum(nothing, program.constant, program.constant + float(np.abs(program.gain).sum()), 0)
        return early if integer else solve(program, integer=False)

    monkeypatch.setattr(graph_program, "solve", stopped)
    rng = np.random.default_rng(0)
    ends = [sorted({(a, b) for a, b in rng.integers(0, 10, (20, 2)).tolist() if a != b}) for _ in range(8)]
    graphs = [graph("a b c d e f g h i j", *((a, b, "x") for a, b in own)) for own in ends]
    structure = GraphAlignment(bits=8, seconds=1.0)
    batch = structure.batch(list(zip(graphs[::2], graphs[1::2])))
    scores = batch.scores(structure.weights(edges=1.0))
    found = batch.space.solved(scores)
    rounded = replace(batch.space, exact=False).solved(scores)
    assert batch.space.admits(found.choices).all() and found.gaps.min() > 0.0
    assert np.all(found.values >= rounded.values - 1e-6) and np.all(found.bounds <= rounded.bounds + 1e-6)


@pytest.mark.parametrize("nulls", NULLS)
def test_out_of_time_before_the_relaxation_words_are_matched(nulls, monkeypatch):
    """The limit holds for the relaxation too; what edges say still counts, and the bound is one."""
    asked = []

    def gives_up(program, *, integer, seconds=math.inf):
        asked.append(seconds)
        raise Intractable("HiGHS found no solution: out of time")

    rng = np.random.default_rng(1)
    ends = [sorted({(a, b) for a, b in rng.integers(0, 5, (9, 2)).tolist() if a != b}) for _ in range(8)]
    graphs = [graph("a b c d e", *((a, b, "x") for a, b in own)) for own in ends]
    batch = GraphAlignment(nulls=nulls, bits=8, seconds=1.5).batch(list(zip(graphs[::2], graphs[1::2])))
    assert all(program.pair is None for program in batch.space.programs)
    scores = batch.scores(rng.normal(size=batch.scorer.size))
    best = batch.space.solved(scores)
    monkeypatch.setattr(graph_program, "solve", gives_up)
    found = batch.space.solved(scores)
    assert asked == [1.5] * 4 and batch.space.admits(found.choices).all()
    assert np.all(found.values <= best.values + 1e-9) and np.all(best.values <= found.bounds + 1e-9)
    assert found.gaps.max() > 0.0  # nothing is proved


@rule
def each_word_once(x: tuple[Graph, Graph], y: Any) -> Any:
    """Eq. 5.6: two words are not mapped to one."""
    firsts, seconds = range(len(x[0].words)), range(len(x[1].words))
    pairs = [(a, b, c) for a, b in combinations(firsts, 2) for c in seconds]
    return every(not_(every(y.word[a] == c, y.word[b] == c)) for a, b, c in pairs)


@rule
def edges_follow(x: tuple[Graph, Graph], y: Any) -> Any:
    """Eq. 5.8: an edge is mapped if, and only if, both of its words are mapped to those of an edge."""
    ends = [(e, f, a, b, c, d) for e, (a, b, _) in enumerate(x[0].edges) for f, (c, d, _) in enumerate(x[1].edges)]
    there = [(y.edge[e] == f, every(y.word[a] == c, y.word[b] == d)) for e, f, a, b, c, d in ends]
    return every(every(implies(edge, words), implies(words, edge)) for edge, words in there)


@pytest.mark.parametrize("number", range(len(GRAPHS)))
def test_graphs_are_what_variables_and_rules_declare(number):
    """The same structure as families of variables with rules, solved by an integer program that knows no graphs."""
    rng = np.random.default_rng(number)
    one, _ = x = GRAPHS[number]
    batch = GraphAlignment(bits=8).batch([x])
    declared = Joint(
        {"word": [None, 0, 1, 2], "edge": [None, 0, 1, 2]}, [each_word_once, edges_follow], inference="ilp"
    )
    for _ in range(5):
        scores = batch.scores(rng.normal(size=batch.scorer.size))
        closed = np.full((len(one.words) + len(one.edges), 4), -1000.0)  # words and edges that are not there
        own = np.where(np.isfinite(block := batch.space.block(scores)), block, -1000.0)
        closed[:, : own.shape[1]] = own
        kinds = {"word": dict(enumerate(closed[: len(one.words)])), "edge": dict(enumerate(closed[len(one.words) :]))}
        found = declared.solutions([x], [{kind: rows for kind, rows in kinds.items() if rows}])[0]
        assert found.value == pytest.approx(batch.space.solved(scores).values[0], abs=1e-7)

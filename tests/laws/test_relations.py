"""Entities and relations against lists of all outputs: the best, sums, soft rules, clamps."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data.relations import EntitySentence
from sidelight.rules import every, implies, rule
from sidelight.rules.gallery import argument_types
from sidelight.spaces.slots import SlotScores
from sidelight.spaces.sub_problems.relation_space import RelationSpace
from sidelight.structures.relations import EntityRelation
from sidelight.testing import check_structure

TYPES, RELATIONS = ("Peop", "Loc"), ("Live_In",)
LIVES = argument_types({"Live_In": ("Peop", "Loc")})
XS = [
    EntitySentence(("Ann", "left", "Oslo", "for", "Rome"), ((0, 1), (2, 3), (4, 5))),
    EntitySentence(("Ann", "left", "Oslo"), ((0, 1), (2, 3))),
    EntitySentence(("Ann",), ((0, 1),)),
]


def named(x, kind, key):
    return [f"{kind} {key}", f"{kind} {len(x.tokens)}"]


def legal(i: int, choices: np.ndarray) -> bool:
    """Choices 0 and 1 are types, 2 is no relation, 3 and 4 are Live_In forth and back."""
    n = len(XS[i].spans)
    types, related = choices[:n].tolist(), choices[n:].tolist()
    if any(choice > 1 for choice in types) or any(choice < 2 for choice in related):
        return False
    for (a, b), choice in zip(combinations(range(n), 2), related):
        head, tail = (a, b) if choice == 3 else (b, a)
        if choice > 2 and (types[head], types[tail]) != (0, 1):
            return False
    return True


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_entities_and_relations_keep_the_laws(seed):
    structure = EntityRelation(TYPES, RELATIONS, [LIVES], features=named)
    checked = check_structure(structure.batch(XS), seed=seed, admits=legal)
    assert checked.k_best and checked.sums and checked.likelihood and checked.gradients


def listed(space: RelationSpace, scores: np.ndarray, i: int) -> list[tuple[float, tuple[int, ...]]]:
    """All outputs of an input with their worth, written down from the definition."""
    n, types, relations = int(space.counts[i]), space.n_types, space.tables.shape[3]
    first, at = int(space.starts[i]), int(space.pair_starts[i])
    pairs = list(combinations(range(n), 2))
    found = []
    for chosen in product(range(types), repeat=n):
        for related in product(range(relations), repeat=len(pairs)):
            worth = sum(scores[first + a, t] for a, t in enumerate(chosen))
            for p, ((a, b), r) in enumerate(zip(pairs, related)):
                worth += scores[first + n + p, types + r]
                worth += space.tables[space.table_of[at + p], chosen[a], chosen[b], r]
            found.append((worth, (*chosen, *(types + r for r in related))))
    return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hard=st.sampled_from([0.0, 0.3, 0.7]), whole=st.booleans())
def test_any_tables(seed, hard, whole):
    rng = np.random.default_rng(seed)
    types, relations = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    counts = np.array([1, 2, 3, int(rng.integers(1, 4))])
    pairs = counts * (counts - 1) // 2
    starts = np.concatenate([[0], np.cumsum(counts + pairs)])
    tables = -rng.integers(0, 3, (3, types, types, relations)).astype(float)
    tables[rng.random(tables.shape) < hard] = -np.inf
    space = RelationSpace(starts, types + relations, None, counts, rng.integers(0, 3, int(pairs.sum())), tables)
    scores = rng.normal(size=(int(starts[-1]), types + relations))
    if whole:
        scores = np.round(scores)  # ties
    choices, values = space.best_each(scores)
    totals, shares = space.sums_each(scores, shares=True)
    for i in range(len(counts)):
        every_ = listed(space, scores, i)
        worth = np.array([one for one, _ in every_])
        assert values[i] == pytest.approx(worth.max())
        if worth.max() == -np.inf:
            assert totals[i] == -np.inf
            continue
        own = tuple(choices[starts[i] : starts[i + 1]].tolist())
        assert {y: w for w, y in every_}[own] == pytest.approx(values[i])
        top = worth.max()
        assert totals[i] == pytest.approx(top + np.log(np.exp(worth - top).sum()))
        expected = np.zeros((starts[i + 1] - starts[i], types + relations))
        for one, y in every_:
            expected[np.arange(len(y)), y] += np.exp(one - totals[i])
        np.testing.assert_allclose(shares[starts[i] : starts[i + 1]], expected, atol=1e-9)
        one = space.take(np.array([i]))
        assert one.score(SlotScores(scores[starts[i] : starts[i + 1]]), np.array(own, np.int32))[0] == pytest.approx(
            values[i]
        )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hard=st.sampled_from([0.0, 0.4]), scale=st.sampled_from([0.0, 1.0, 5.0]))
def test_more_entities_than_are_tried_without_a_bound(seed, hard, scale):
    """Types of all, one after another, each with the best relations: what the search finds with far fewer."""
    rng = np.random.default_rng(seed)
    count, types, relations = 6, 3, 3
    pairs = list(combinations(range(count), 2))
    tables = np.where(rng.random((2, types, types, relations)) < hard, -np.inf, 0.0)
    table_of = rng.integers(0, 2, len(pairs))
    space = RelationSpace(np.array([0, count + len(pairs)]), 6, None, np.array([count]), table_of, tables)
    scores = rng.normal(size=(count + len(pairs), 6))
    scores[:count] *= scale
    best = -np.inf
    for chosen in product(range(types), repeat=count):
        worth = sum(scores[a, t] for a, t in enumerate(chosen))
        for p, (a, b) in enumerate(pairs):
            worth += (scores[count + p, types:] + tables[table_of[p], chosen[a], chosen[b]]).max()
        best = max(best, worth)
    labels, values = space.best_each(scores)
    assert values[0] == pytest.approx(best)
    if best > -np.inf:
        assert space.score(SlotScores(scores), labels)[0] == pytest.approx(best) and space.admits(labels)[0]


def test_many_entities_are_searched_and_not_listed():
    rng = np.random.default_rng(0)
    count = 24  # 3^24 assignments of types
    pairs = count * (count - 1) // 2
    tables = np.zeros((1, 3, 3, 4))
    tables[0, 0, :, 1:] = -np.inf
    space = RelationSpace(np.array([0, count + pairs]), 7, None, np.array([count]), np.zeros(pairs, np.int64), tables)
    scores = rng.normal(size=(count + pairs, 7)) * np.where(np.arange(count + pairs) < count, 5.0, 0.5)[:, None]
    labels, values = space.best_each(scores)
    for slot in range(count):  # no other type of any one entity is better, whatever the others are
        closed = scores.copy()
        closed[slot, labels[slot]] = -np.inf
        assert space.best_each(closed)[1][0] <= values[0] + 1e-9


@rule(penalty=1.5)
def strangers_live_nowhere(x, y):
    """A soft rule that looks at the input, about one entity and about two."""
    lonely = y.entity[0] != "Loc" if len(x.tokens) > 3 else True
    return every(lonely, *(implies(r == "Live_In", y.entity[a] == y.entity[b]) for (a, b), r in y.relation.items()))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_soft_rules_are_charged_as_often_as_they_are_broken(seed):
    rng = np.random.default_rng(seed)
    structure = EntityRelation(TYPES, RELATIONS, [LIVES, strangers_live_nowhere], features=named)
    free = EntityRelation(TYPES, RELATIONS, features=named)
    batch, open_ = structure.batch(XS), free.batch(XS)
    weights = rng.normal(size=batch.scorer.size)
    for i, x in enumerate(XS):
        one, other = batch.part(i, i + 1), open_.part(i, i + 1)
        values = {}
        n = len(x.spans)
        for y in product(*[range(2)] * n, *[range(2, 5)] * (n * (n - 1) // 2)):
            choices = np.array(y, np.int32)
            known = structure._known(x, choices)
            if LIVES.violations(x, known):
                assert not one.space.admits(choices)[0]
                continue
            charge = 1.5 * strangers_live_nowhere.violations(x, known)
            values[y] = other.score(weights, choices)[0] - charge
            assert one.score(weights, choices)[0] == pytest.approx(values[y])
        best = one.best(weights)
        assert best.values[0] == pytest.approx(max(values.values()))
        assert values[tuple(best.labels.tolist())] == pytest.approx(best.values[0])

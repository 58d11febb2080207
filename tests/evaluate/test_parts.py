"""Scores of parts, against counts by hand and against those of tokens; rankings of any length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.commands.registry.relations import ENTRY
from sidelight.commands.registry.tree import ENTRY as TREES
from sidelight.data.relations import Extraction
from sidelight.errors import DataError
from sidelight.evaluate import compare, evaluate
from sidelight.evaluate.parts import Measure, compare_parts, score_parts
from sidelight.evaluate.ranking import score_rankings
from sidelight.evaluate.relations import score_relations
from sidelight.structures.trees import attachment

LINKS = Measure("links", set)
HEADS = Measure("UAS", lambda y: list(enumerate(y)), share=True)
links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(st.lists(st.tuples(links, links), max_size=6))
def test_counts_of_links(pairs):
    gold, found = [one for one, _ in pairs], [other for _, other in pairs]
    scores = score_parts([LINKS], gold, found)
    right = sum(len(one & other) for one, other in pairs)
    assert (scores.counts[0].correct, scores.whole) == (right, sum(one == other for one, other in pairs))
    assert scores.counts[0].gold == sum(map(len, gold)) and scores.counts[0].predicted == sum(map(len, found))
    assert scores.as_dict()["links"]["f1"] == scores.main
    assert 0.0 <= scores.main <= 100.0


extractions = st.builds(
    lambda types, found: Extraction(types, tuple((a, b, name) for (a, b), name in found.items())),
    st.tuples(*[st.sampled_from(["Loc", "Peop"])] * 3),
    st.dictionaries(st.sampled_from([(0, 1), (1, 0), (1, 2)]), st.sampled_from(["Kill", "Live_In"])),
)


@given(st.lists(st.tuples(extractions, extractions), max_size=5))
def test_relations_and_types_by_name_are_those_of_roth_and_yih(pairs):
    gold, found = [one for one, _ in pairs], [other for _, other in pairs]
    scores, right = score_parts(ENTRY.measures(None), gold, found), score_relations(gold, found)
    for labels, table in zip(scores.by_label, (right.by_relation, right.by_type), strict=True):
        own = {name: (one.gold, one.predicted, one.correct) for name, one in labels.items()}
        assert own == {name: (one.gold, one.found, one.right) for name, one in table.items()}
    told = str(scores)
    assert all(f"\n  {name}: precision" in told for labels in scores.by_label for name in labels)
    assert scores.as_dict().get("relations by label", {}) == {n: c.as_dict() for n, c in scores.by_label[0].items()}


def test_a_relation_of_a_tree_is_right_with_its_head():
    labelled = TREES.measures(None)[1]
    scores = score_parts([labelled], [[(0, "root"), (1, "obj")]], [[(0, "root"), (0, "obj")]])
    assert {name: one.f1 for name, one in scores.by_label[0].items()} == {"obj": 0.0, "root": 100.0}


heads = st.lists(st.integers(0, 4), min_size=1, max_size=5)


@given(st.lists(heads.flatmap(lambda y: st.tuples(st.just(y), st.permutations(y))), min_size=1, max_size=5))
def test_the_share_of_heads_is_the_attachment_score(pairs):
    gold, found = [one for one, _ in pairs], [other for _, other in pairs]
    scores = score_parts([HEADS], gold, found)
    assert scores.main == pytest.approx(100 * attachment(found, gold))
    labels = [[[str(head) for head in y] for y in side] for side in (gold, found)]
    assert scores.main == pytest.approx(evaluate(*labels).accuracy)


def test_comparisons_are_those_of_tokens():
    rng = np.random.default_rng(0)
    gold, one, other = (rng.integers(0, 3, (40, 5)).tolist() for _ in range(3))
    found = compare_parts(HEADS, gold, one, other)
    same = compare(*([[str(head) for head in y] for y in side] for side in (gold, one, other)))
    assert (found.a, found.b) == pytest.approx((same.a, same.b)) and found.p_value == pytest.approx(
        same.p_value, abs=0.02
    )
    assert compare_parts(LINKS, [{1}], [{1}], [{1}]).p_value == 1.0


def test_there_must_be_as_many():
    with pytest.raises(DataError, match="1 outputs but 2 right ones"):
        score_parts([LINKS], [{1}, {2}], [{1}])


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5), st.data())
def test_rankings_of_any_length(rows, data):
    right = [data.draw(st.integers(0, len(row) - 1)) for row in rows]
    found = score_rankings([np.array(row, dtype=float) for row in rows], right)
    ranks = [1 + sum(v > row[r] for v in row) + (row.count(row[r]) - 1) / 2 for row, r in zip(rows, right)]
    assert found.mean_reciprocal_rank == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert found.top_1 == pytest.approx(np.mean([rank == 1 for rank in ranks]))

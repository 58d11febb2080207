"""Scores of entities and relations, by hand."""

from __future__ import annotations

import json

import pytest

from sidelight.data.relations import Extraction
from sidelight.errors import DataError
from sidelight.evaluate.relations import score_relations

GOLD = [
    Extraction(("Peop", "Loc", "Org"), ((0, 1, "Live_In"), (0, 2, "Work_For"))),
    Extraction(("Peop", "Other")),
]
FOUND = [
    Extraction(("Peop", "Org", "Org"), ((0, 1, "Live_In"), (2, 0, "Work_For"))),  # one the wrong way round
    Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),)),
]


def test_a_relation_counts_where_name_and_both_arguments_are_right():
    scores = score_relations(GOLD, FOUND)
    assert (scores.relations.gold, scores.relations.found, scores.relations.right) == (2, 3, 1)
    assert (scores.relations.precision, scores.relations.recall) == (1 / 3, 1 / 2)
    assert scores.relations.f1 == pytest.approx(0.4)
    assert (scores.by_relation["Live_In"].right, scores.by_relation["Work_For"].right) == (1, 0)
    assert scores.accuracy == pytest.approx(3 / 5)
    assert scores.entities.f1 == pytest.approx(3 / 5)  # as many found as there are


def test_types_of_no_entity_do_not_count():
    scores = score_relations(GOLD, FOUND, other=["Other"])
    assert (scores.entities.gold, scores.entities.found, scores.entities.right) == (4, 5, 3)
    assert json.dumps(scores.as_dict())


def test_nothing_found_and_nothing_there():
    scores = score_relations([Extraction(("a",))], [Extraction(("a",))])
    assert (scores.relations.precision, scores.relations.recall, scores.relations.f1) == (0.0, 0.0, 0.0)


def test_sizes_must_agree():
    with pytest.raises(DataError, match="1 extractions and 2 right ones"):
        score_relations(GOLD, FOUND[:1])
    with pytest.raises(DataError, match="sentence 0 has 1 entities, and 2 were found"):
        score_relations([Extraction(("a",))], [Extraction(("a", "b"))])

"""Structures of the library in files, with their settings; links as pairs of spans and back; words for slots."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import DataError, ModelFileError
from sidelight.models.model_file import load_model
from sidelight.structures.alignments import SegmentAlignment, links_of, pairs_of
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment, targets_of
from sidelight.structures.own_structure import library_structure, settings_of
from sidelight.structures.relations import EntityRelation
from sidelight.structures.trees import DependencyTree

GRAPH = Graph((("light", "N"), ("falls", "V")), ((1, 0, "subj"),))
CASES = [
    (DependencyTree(projective=False, relations=("det", "root"), bits=9), ["a", "light"], [(2, "det"), (0, "root")]),
    (SegmentAlignment(longest=(2, 1), right_nulls=False, bits=9), ("shi", "SI"), [((0, 2), (0, 1)), ((2, 3), (1, 2))]),
    (CharacterAlignment(crossing=True, bits=9), ("ab", "yx"), [1, 0]),
    (GraphAlignment(nulls="words", exact=False, seconds=2.5, bits=9), (GRAPH, GRAPH), {0: 0, 1: 1}),
]


@pytest.mark.parametrize(("structure", "x", "y"), CASES, ids=lambda case: type(case).__name__)
def test_a_file_has_all_that_is_needed(structure, x, y, tmp_path: Path) -> None:
    fitted = sl.Predictor(structure, n_jobs=1).fit([x], [y])
    fitted.save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert model.structure.plain == structure
    assert model.predict([x]) == fitted.predict([x]) == [y]
    assert library_structure(type(structure).__name__, settings_of(structure)) == structure
    with pytest.raises(ModelFileError, match="not the model of a Tagger"):
        sl.Tagger.load(tmp_path / "m")


def test_lists_are_as_good_as_tuples() -> None:
    """A structure that was given lists is the same, so that files have its settings."""
    assert DependencyTree(relations=["det", "root"]) == DependencyTree(relations=("det", "root"))
    assert settings_of(SegmentAlignment(longest=[2, 1])) == {"longest": [2, 1]}


def test_entities_and_relations_in_a_file(tmp_path: Path) -> None:
    from sidelight.data.relations import EntitySentence, Extraction

    x, y = EntitySentence(("Ann", "left", "Oslo"), ((0, 1), (2, 3))), Extraction(("P", "L"), ((0, 1, "in"),))
    fitted = sl.Predictor(EntityRelation(["L", "P"], ["in"], features="rich")).fit([x], [y])
    fitted.save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert model.structure.plain.features == "rich" and model.predict([x]) == [y]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"depth": 1}, "has no setting 'depth'"),
        ({"bits": "9"}, "the setting 'bits' of DependencyTree is '9'"),
        ({"bits": True}, "the setting 'bits'"),
        ({"projective": 1}, "the setting 'projective'"),
        ({"relations": [1.5]}, "the setting 'relations'"),
        ({"relations": "det"}, "the setting 'relations'"),
        ({"bits": 99}, "cannot be made"),
    ],
)
def test_settings_that_make_no_sense(settings, problem) -> None:
    with pytest.raises(ModelFileError, match=problem):
        library_structure("DependencyTree", settings)


@st.composite
def alignments(draw):
    """Pairs of spans from left to right."""
    found, i, j = [], 0, 0
    for _ in range(draw(st.integers(0, 4))):
        i, j = i + draw(st.integers(0, 2)), j + draw(st.integers(0, 2))
        n, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        found.append(((i, i + n), (j, j + m)))
        i, j = i + n, j + m
    return found


@given(alignments())
def test_links_stand_for_pairs(pairs) -> None:
    assert pairs_of(links_of(pairs)) == pairs


@given(st.sets(st.sampled_from(list(product(range(4), repeat=2)))))
def test_links_are_pairs_or_refused(links) -> None:
    try:
        pairs = pairs_of(links)
    except DataError as error:
        assert error.remedy
    else:
        assert links_of(pairs) == links


@given(st.sets(st.sampled_from(list(product(range(3), repeat=2)))))
def test_links_one_to_one(links) -> None:
    twice = any(len({link[side] for link in links}) < len(links) for side in (0, 1))
    if twice:
        with pytest.raises(DataError, match="is linked twice"):
            targets_of(links, 3)
    else:
        assert {(i, j) for i, j in enumerate(targets_of(links, 3)) if j is not None} == links


@pytest.mark.parametrize(("structure", "x", "y"), CASES, ids=lambda case: type(case).__name__)
def test_every_slot_and_choice_has_words(structure, x, y) -> None:
    choices = structure.encode(x, y)
    slots, words = structure.slot_words(x), structure.choice_words(x, choices)
    assert len(slots) == len(words) == len(choices) and all(slots) and all(words)
    why = sl.explain(sl.Predictor(structure, n_jobs=1).fit([x], [y]), x)
    assert why.tokens == slots and why.predicted == words
    assert sum(item.amount for item in why.contributions) == pytest.approx(why.margin)


def test_words_of_what_is_left_out() -> None:
    assert SegmentAlignment().choice_words(("sh", "x"), np.zeros(2, np.int32)) == ["nothing"] * 2
    assert CharacterAlignment().choice_words(("a", "x"), np.zeros(1, np.int32)) == ["nothing"]
    assert GraphAlignment().choice_words((GRAPH, GRAPH), np.zeros(3, np.int32)) == ["deleted"] * 3
    assert GraphAlignment().slot_words((GRAPH, GRAPH)) == ["0 light", "1 falls", "1 falls → 0 light subj"]
    assert DependencyTree().choice_words(["a", ("light", "N")], np.array([2, 0])) == ["2 light", "root"]

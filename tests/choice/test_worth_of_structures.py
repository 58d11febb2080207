"""What evidence is worth to models of structures: the score is that of the structure, on Gold that was held out."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.choice.held_out import blocks
from sidelight.commands.registry import NAMES, entry_named
from sidelight.corpus.facts import ARGUMENTS, facts
from sidelight.corpus.spellings import transliterations
from sidelight.evaluate.parts import Measure, score_parts
from sidelight.rules.gallery import argument_types
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.relations import EntityRelation

LETTERS = CharacterAlignment(bits=10)
LINKS = Measure("links", lambda y: [(i, j) for i, j in enumerate(y) if j is not None])


def names(count: int, seed: int) -> list[sl.Gold]:
    entry = entry_named("letters")
    return [sl.Gold(item.x, entry.output(LETTERS, item, "gold")) for item in transliterations(count, seed)]


GOLD = names(6, 0)
ANSWERS = [
    *sl.companion([piece.x for piece in names(15, 1)], +1),
    *sl.companion([(a.x[0], b.x[1]) for a, b in zip(names(15, 1), names(15, 2))], -1),
]


def predictor(**options):
    return sl.Predictor(LETTERS, **{"n_jobs": 1, **options})


def test_the_score_is_that_of_what_was_held_out():
    found = sl.worth([*GOLD, *ANSWERS], estimator=predictor(), measure=LINKS)
    assert [row.trained_on for row in found.rows] == ["gold alone", "gold + companion answers"]
    assert found.metric == "links F1" and "links F1" in str(found)
    right: dict[int, list] = {i: [] for i in range(len(GOLD))}
    for block in blocks(len(GOLD), 0):
        known = [piece for i, piece in enumerate(GOLD) if i not in block.held_out]
        fitted = predictor().fit([*known, *ANSWERS])
        for i in block.held_out:
            right[i] += fitted.predict([GOLD[i].x])
    repeats = len(right[0])
    scores = score_parts(
        [LINKS], [GOLD[i].y for i in right for _ in range(repeats)], [y for i in right for y in right[i]]
    )
    assert found.rows[1].score == pytest.approx(scores.main)
    assert found.rows[1].gain == pytest.approx(found.rows[1].score - found.rows[0].score)


def test_without_a_measure_slots_count():
    found = sl.worth([*GOLD, *ANSWERS[:4], *ANSWERS[-4:]], estimator=predictor())
    assert found.metric == "accuracy"
    wrong = predictor(max_rounds=1, max_completions=1)
    same = Measure("symbols", enumerate, share=True)
    again = sl.worth([*GOLD, *ANSWERS[:4], *ANSWERS[-4:]], estimator=predictor(), measure=same)
    assert [row.score for row in again.rows] == pytest.approx([row.score for row in found.rows])
    assert sl.worth([*GOLD, *ANSWERS], estimator=wrong).rows[0].score <= 100.0


def test_rules_of_a_structure_are_a_kind_of_evidence():
    items = facts(8, 0)
    types = sorted({kind for item in items for kind in item.output.types})
    ruled = EntityRelation(types, sorted(ARGUMENTS), [argument_types(ARGUMENTS)])
    pieces = sl.gold([item.x for item in items], [item.output for item in items])
    found = sl.worth(
        pieces, estimator=sl.Predictor(ruled, n_jobs=1), measure=entry_named("relations").measures(ruled)[0]
    )
    assert [row.trained_on for row in found.rows] == ["gold alone", "gold + rules"]
    bare = EntityRelation(types, sorted(ARGUMENTS))
    with pytest.raises(sl.DataError, match="no evidence besides Gold to measure"):
        sl.worth(pieces, estimator=sl.Predictor(bare, n_jobs=1))


def test_segments_too():
    xs = [["ed", "holt", "1994"], ["al", "1995"], ["bo", "lee", "1996"], ["cy", "ray", "1997"], ["di", "1998"]]
    ys = [["name"] * (len(x) - 1) + ["year"] for x in xs]
    pieces = [*sl.gold(xs, ys), sl.Partial(["flo", "1999"], [None, "year"])]
    found = sl.worth(pieces, estimator=sl.SegmentTagger(max_rounds=5, n_jobs=1))
    assert [row.trained_on for row in found.rows] == ["gold alone", "gold + partial labels"]
    assert found.metric == "accuracy" and all(0.0 <= row.score <= 100.0 for row in found.rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_structure_of_the_command_line_has_a_score(name):
    entry = entry_named(name)
    items = entry.generate(3, 0)
    structure = entry.structure(**entry.from_data(items))
    outputs = [entry.output(structure, item, "gold") for item in items]
    assert score_parts(entry.measures(structure), outputs, outputs).main == 100.0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"estimator": sl.Aligner()}, "give a Tagger, Classifier, SegmentTagger or Predictor"),
        ({"estimator": sl.Tagger(), "measure": LINKS}, "measure is about the outputs of a Predictor"),
    ],
)
def test_others_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        sl.worth([*GOLD, *ANSWERS], **options)


def test_the_same_with_any_number_of_threads():
    one, two = (sl.worth([*GOLD, *ANSWERS], estimator=predictor(n_jobs=n), measure=LINKS) for n in (1, 2))
    assert [(row.score, row.error) for row in one.rows] == [(row.score, row.error) for row in two.rows]
    assert np.isfinite([row.spread for row in one.rows]).all()

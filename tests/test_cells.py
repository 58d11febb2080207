"""Every cell of learners, structures and kinds of evidence works, or is refused in one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from cells import STRUCTURES, Cell, Outcome, cells, outcome, page
from option_cells import QUESTIONS, OptionCell, option_cells, option_outcome, option_page

PAGE = Path(__file__).parent.parent / "docs" / "cells.md"


@pytest.fixture(scope="module")
def found() -> dict[Cell, Outcome]:
    return {cell: outcome(cell) for cell in cells()}


@pytest.fixture(scope="module")
def options() -> dict[OptionCell, Outcome]:
    return {cell: option_outcome(cell) for cell in option_cells()}


def test_the_page_tells_what_works(found, options):
    told = page(found) + "\n" + option_page(options)
    assert told == PAGE.read_text(encoding="utf-8"), "regenerate it: python tests/cells.py > docs/cells.md"


def test_a_refusal_is_one_line_with_a_way_out(found, options):
    for cell, result in {**found, **options}.items():
        if not result.works:
            said = any(word in result.why for word in ("use ", "give ", "leave ", "there are ", "add ", "fit "))
            assert said and len(result.why) < 250, (cell, result.why)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_has_a_learner_for_every_kind_that_it_takes(found, structure):
    works = {cell.kind for cell, result in found.items() if cell.structure == structure and result.works}
    assert {"gold", "partial", "candidates", "companion", "unlabeled"} <= works
    assert ("rules" in works) == (structure != "own")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_has_every_option_and_question_that_it_can_have(options, structure):
    works = {cell.option for cell, result in options.items() if cell.structure == structure and result.works}
    assert {"cost", "class_weight", "validation", "checkpoint", "partial_fit", "warm_start"} <= works
    missing = {"marginals", "samples"} if structure == "own" else set()
    assert works & set(QUESTIONS) == set(QUESTIONS) - missing
    assert ("rules_in_training" in works) == (structure != "own")

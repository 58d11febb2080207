"""Every cell of learners, structures and kinds of evidence works, or is refused in one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from cells import STRUCTURES, Cell, Outcome, cells, outcome, page

PAGE = Path(__file__).parent.parent / "docs" / "cells.md"


@pytest.fixture(scope="module")
def found() -> dict[Cell, Outcome]:
    return {cell: outcome(cell) for cell in cells()}


def test_the_page_tells_what_works(found):
    assert page(found) == PAGE.read_text(encoding="utf-8"), "write it anew: python tests/cells.py > docs/cells.md"


def test_a_refusal_is_one_line_with_a_way_out(found):
    for cell, result in found.items():
        if not result.works:
            said = any(word in result.why for word in ("use ", "give ", "leave ", "there are ", "add "))
            assert said and len(result.why) < 250, (cell, result.why)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_has_a_learner_for_every_kind_that_it_takes(found, structure):
    works = {cell.kind for cell, result in found.items() if cell.structure == structure and result.works}
    assert {"gold", "partial", "candidates", "rules"} <= works

"""Pages that are made from the code, or list what is in it, have all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sidelight as sl
from algorithms_page import FAMILIES, page, reference
from sidelight.recipes import LEARNERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAPERS = re.findall(r"^- \*\*(.*?)\*\*", (DOCS / "references.md").read_text(encoding="utf-8"), re.MULTILINE)
SOLVERS = sorted(path.stem for path in (ROOT / "src/sidelight/solvers").glob("*.py") if "kernels" not in path.stem)


def shown(folder: Path) -> set[str]:
    """The objects whose docstrings the pages of a folder show, by their last names."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md")))
    return {name.rpartition(".")[2] for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)}


def test_every_public_name_is_in_the_reference() -> None:
    assert set(sl.__all__) - shown(DOCS / "api") == set()


@pytest.mark.parametrize("name", LEARNERS)
def test_every_recipe_is_in_the_reference(name: str) -> None:
    learner = LEARNERS[name]
    text = (DOCS / "api" / "recipes.md").read_text(encoding="utf-8")
    assert f"::: {learner.__module__}.{learner.__qualname__}\n    options: {{heading: recipes.{name}," in text


def test_the_page_of_algorithms_is_that_of_the_code() -> None:
    told = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    assert told == page(), "regenerate it: python tests/algorithms_page.py > docs/algorithms.md"


def test_every_learner_has_a_family() -> None:
    assert sorted(" ".join(FAMILIES.values()).split()) == sorted(LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_paper_of_a_learner_is_in_the_references(name: str) -> None:
    said = reference(name, LEARNERS[name])
    assert "thesis" in said or any(paper in said for paper in PAPERS), said


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "__init__"])
def test_every_solver_is_on_its_page(name: str) -> None:
    assert f"::: sidelight.solvers.{name}\n" in (DOCS / "solvers.md").read_text(encoding="utf-8")

"""The learners' names: one list for the library, the command line and the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.recipe_kinds import Recipe
from sidelight.recipes import LEARNERS, recipe_of, table

PAGE = Path(__file__).parent.parent / "docs" / "learners.md"


def test_every_name_is_a_function_that_makes_its_recipe():
    for name, entry in LEARNERS.items():
        assert getattr(recipes, name) is entry.make
        assert isinstance(recipe_of(name), Recipe) and recipe_of(name).name == name
        assert entry.line and not entry.line.endswith(".")
        assert all(entry[1:])


@pytest.mark.parametrize("name", ["structural_svm", "jlis", "cllp", "mms", "naive", "cl_svm", "latent_svm", "crf"])
def test_the_names_of_the_papers_are_there(name):
    assert name in LEARNERS


def test_the_page_has_the_table_of_the_code():
    text = PAGE.read_text()
    inside = text.split("<!-- table -->\n")[1].split("<!-- end of table -->")[0].strip().split("\n")
    assert inside == table(), "write the lines of sidelight.recipes.table() into docs/learners.md"


def test_orders_on_the_page_are_those_of_the_settings():
    from sidelight.settings import SECOND_ORDER

    line = next(line for line in PAGE.read_text().split("\n") if line.startswith("Order 2"))
    page = {part.strip(" `.,") for part in line.split(":")[1].split(",")}
    able = {name for name in LEARNERS if isinstance(recipe_of(name), SECOND_ORDER)}
    assert page == able


def test_a_recipe_is_a_parameter_like_any_other():
    from sklearn.base import clone

    tagger = sl.Tagger(learner=recipes.cllp(discount=3.0))
    again = clone(tagger)
    assert again.get_params()["learner"] == recipes.cllp(discount=3.0)
    assert again.set_params(learner="crf").learner == "crf"


def test_public_names_are_loaded_when_used():
    import subprocess
    import sys

    code = (
        "import sys, sidelight; assert 'numba' not in sys.modules; [getattr(sidelight, n) for n in sidelight.__all__]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Taggre'"):
        sl.Taggre  # noqa: B018
    assert "SegmentTagger" in dir(sl)

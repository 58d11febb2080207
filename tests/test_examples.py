"""The examples run as they stand, in a few seconds, and print what the gallery says."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

from gallery_page import FOLDER, ORDER, idea, run, section

PAGE = FOLDER.parent / "docs" / "gallery.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MOST_SECONDS = 10.0  # of CPU, once kernels are compiled
NEAR = 5.0  # numbers on the page may be off by as much: processors differ in the last digits, and so do roundings


def used() -> float:
    """Seconds of CPU that ended children have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def on_the_page(name: str) -> str:
    """What the page says that an example prints; also raises where its section is not there."""
    before, after = section(name, "\0").split("\0")
    found = re.search(
        re.escape(before) + r"(.*?)" + re.escape(after.rstrip()), PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None, "regenerate it: python tests/gallery_page.py > docs/gallery.md"
    return found[1]


@pytest.mark.parametrize("name", ORDER)
def test_example(name: str, tmp_path: Path) -> None:
    began = used()
    done = run(name, tmp_path)
    assert done.code == 0, done.errors
    if used() - began > MOST_SECONDS:  # with what had to be compiled
        began = used()
        run(name, tmp_path)
        assert used() - began < MOST_SECONDS
    said = on_the_page(name)
    assert NUMBER.sub("0", done.printed).split() == NUMBER.sub("0", said).split()
    for printed, told in zip(NUMBER.findall(done.printed), NUMBER.findall(said)):
        assert abs(float(printed) - float(told)) <= NEAR


def test_every_example_is_in_the_gallery() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FOLDER.glob("*.py"))
    assert len(ORDER) >= 10


@pytest.mark.parametrize("name", ORDER)
def test_an_example_says_its_idea(name: str) -> None:
    assert idea(name).endswith((".", "?"))
    assert len(idea(name)) < 140

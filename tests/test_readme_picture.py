"""The picture of the README is what the models of `make quickstart` make of a reference."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from readme_picture import COLOUR, Reading, drawn, readings
from sidelight.corpus import Reference

PICTURE = Path(__file__).parents[1] / "docs" / "quickstart.svg"
NEAR = 5.0  # points: processors differ in the last digits, and so do roundings


def shown(picture: str, kind: str) -> list[str]:
    """What texts of a kind say."""
    root = ElementTree.fromstring(picture)
    return [
        "".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text") if one.get("class") == kind
    ]


def test_it_shows_every_word_once_and_every_wrong_one() -> None:
    words = tuple(f"word-{k}" for k in range(60))
    truth = tuple("author" if k < 30 else "title" for k in range(60))
    labels = ["author" if k < 40 else "date" for k in range(60)]
    picture = drawn(Reference(words, truth), [Reading("a <few>", "x", labels, 50.0)])
    assert shown(picture, "word") == list(words) and shown(picture, "name") == ["author", "date"]
    assert picture.count("<line") == 30
    assert shown(picture, "head")[0].startswith("a <few>")
    ends = [float(x) + float(w) for x, w in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)]
    assert max(ends) <= 900


def test_it_is_that_of_the_quickstart() -> None:
    reference, each = readings()
    picture = PICTURE.read_text(encoding="utf-8")
    assert shown(picture, "word") == [*reference.tokens] * len(each)
    shares = [float(text.removesuffix(" %")) for text in shown(picture, "head") if text.endswith(" %")]
    assert shares == pytest.approx([one.accuracy for one in each], abs=NEAR)
    wrong = sum(label != truth for one in each for label, truth in zip(one.labels, reference.labels))
    assert abs(picture.count("<line") - wrong) <= len(each)
    assert {label for one in each for label in one.labels} <= set(COLOUR)

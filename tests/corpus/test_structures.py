"""What the package makes itself of every structure is an output of it, and the same for the same seed."""

from __future__ import annotations

import pytest

from sidelight.commands.registry import NAMES, entry_named
from sidelight.corpus.facts import ARGUMENTS
from sidelight.rules.gallery import argument_types


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_structure(name: str) -> None:
    entry = entry_named(name)
    items = entry.generate(60, 5)
    assert items == entry.generate(60, 5) != entry.generate(60, 6)
    assert entry.generate(20, 5) == items[:20]
    more = {"rules": [argument_types(ARGUMENTS)]} if entry.ruled else {}
    structure = entry.structure(**entry.from_data(items), **more)
    batch = structure.batch([item.x for item in items])
    for i, item in enumerate(items):
        choices = structure.encode(item.x, entry.output(structure, item, "gold"))
        assert batch.space.part(i, i + 1).admits(choices)[0]
        assert entry.item_output(structure.decode(item.x, choices)) == item.output


@pytest.mark.parametrize("name", NAMES)
def test_bad_inputs_are_others(name: str) -> None:
    entry = entry_named(name)
    xs = [item.x for item in entry.generate(30, 1)]
    bad = entry.spoil(xs, 0)
    assert len(bad) == 30 and bad == entry.spoil(xs, 0) != entry.spoil(xs, 1)
    assert sum(x in xs for x in bad) <= 3  # what is shuffled may stay as it was
    entry.structure(**entry.from_data(entry.generate(30, 1))).batch(bad)


@pytest.mark.parametrize("name", ["alignment", "letters"])
def test_words_are_different(name: str) -> None:
    lefts = [item.x[0] for item in entry_named(name).generate(300, 2)]
    assert len(set(lefts)) == 300

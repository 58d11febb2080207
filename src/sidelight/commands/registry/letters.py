"""One-to-one alignments of letters on the command line."""

from __future__ import annotations

import json
from typing import Any

from sidelight.commands.registry.entry import StructureEntry, at_line
from sidelight.commands.registry.pairing import PAIR_FORMATS, Links, drawn, linked, paired_anew
from sidelight.corpus.spellings import transliterations
from sidelight.data.items import Item
from sidelight.evaluate.parts import Measure
from sidelight.structures.letters import CharacterAlignment, Target, targets_of


def _output(structure: CharacterAlignment, item: Item, kind: str) -> Any:
    if kind == "candidates":
        return [_candidates(item, i, value) for i, value in enumerate(item.output)]
    links, nothing = linked(item)
    targets: list[Target] = at_line(item, lambda: targets_of(links, len(item.x[0])))
    if kind == "gold":
        return targets
    return [[target] if target is not None or i in nothing else None for i, target in enumerate(targets)]


def _candidates(item: Item, i: int, value: Any) -> list[Target] | None:
    if value is None:
        return None
    size = len(item.x[1])
    for one in value if isinstance(value, list) else [value]:
        if one is not None and (isinstance(one, bool) or not isinstance(one, int) or not 0 <= one < size):
            problem = f"symbol {i} has the candidate {json.dumps(one)[:60]}"
            item.place.fail(problem, f"give a list of right symbols from 0 to {size - 1}, and null for nothing")
    if value == [] or not isinstance(value, list):
        item.place.fail(f"symbol {i} has no list of candidates", "give some, or null for any")
    return list(value)


def _links(y: list[Target]) -> Links:
    return [(i, target) for i, target in enumerate(y) if target is not None]


ENTRY = StructureEntry(
    name="letters",
    line="Which letters of two strings belong together, one to one: names and their transliterations.",
    example="dina<TAB>דינה<TAB>0-0 1-1 2-2 3-3",
    structure=CharacterAlignment,
    formats=PAIR_FORMATS,
    output=_output,
    item_output=lambda y: tuple(_links(y)),
    measures=lambda structure: (Measure("links", _links),),
    spoil=paired_anew,
    query=lambda x: "".join(x[0]),
    generate=transliterations,
    picture=drawn,
)

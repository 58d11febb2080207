"""Alignments of segments of two strings on the command line."""

from __future__ import annotations

import json
from typing import Any

from sidelight.commands.registry.entry import StructureEntry, at_line
from sidelight.commands.registry.pairing import PAIR_FORMATS, drawn, linked, paired_anew
from sidelight.core.checks import is_whole
from sidelight.corpus.spellings import spellings
from sidelight.data.items import Item
from sidelight.evaluate.parts import Measure
from sidelight.structures.alignments import Pair, SegmentAlignment, links_of, pairs_of


def _output(structure: SegmentAlignment, item: Item, kind: str) -> Any:
    if kind == "candidates":
        return [_candidates(item, i, value) for i, value in enumerate(item.output)]
    links, nothing = linked(item)
    pairs: list[Pair] = at_line(item, lambda: pairs_of(links))
    if kind == "gold":
        return pairs
    covered: list[Any] = [() if i in nothing else None for i in range(len(item.x[0]))]
    for pair in pairs:
        covered[slice(*pair[0])] = [pair] * (pair[0][1] - pair[0][0])
    return covered


def _candidates(item: Item, i: int, value: Any) -> list[Any] | None:
    """Pairs of spans [[0, 2], [0, 1]] that may cover a left symbol, null for nothing."""
    if value is None:
        return None
    choices: list[Any] = []
    for one in value if isinstance(value, list) else [value]:
        spans = [span for span in one if isinstance(span, list) and len(span) == 2] if isinstance(one, list) else []
        whole = all(is_whole(end) for span in spans for end in span)
        if one is not None and (len(spans) != 2 or not whole):
            problem = f"symbol {i} has the candidate {json.dumps(one)[:60]}"
            item.place.fail(problem, "write [[first, last], [first, last]], ends not included, or null for nothing")
        choices.append(() if one is None else (tuple(spans[0]), tuple(spans[1])))
    if not choices:
        item.place.fail(f"symbol {i} has no candidates", "give some, or null for any")
    return choices


ENTRY = StructureEntry(
    name="alignment",
    line="Which segments of two strings belong together, from left to right: spelling and sound, transliteration.",
    example="ship<TAB>SIp<TAB>0-0 1-0 2-1 3-2",
    structure=SegmentAlignment,
    formats=PAIR_FORMATS,
    output=_output,
    item_output=lambda y: tuple(sorted(links_of(y))),
    measures=lambda structure: (Measure("links", links_of),),
    spoil=paired_anew,
    query=lambda x: "".join(x[0]),
    generate=spellings,
    picture=drawn,
)

"""Inputs of structures in files: the input, what the file says about its output, and other values of the line.

Each format has a function that reads items and one that writes them (`pairs`, `graphs`, `conllu`); written items can be
read back. The source of an item is stored with it, so that parts ignored by the format (other columns, comments, other
keys) are written again with a prediction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidelight.data.files import shown_name
from sidelight.data.json_lines.lines import FileLine, check_keys, good_at, objects_in, weight_at
from sidelight.errors import DataError
from sidelight.evidence import Origin

DIRECT = ("gold", "partial", "candidates")  # kinds of evidence about outputs
SHARED = ("good", "weight", "group")  # keys of JSON lines
INPUTS = "inputs"  # instead of a kind of evidence: outputs in the file are ignored


@dataclass(frozen=True, slots=True)
class Item:
    """An input of a structure, with the information about it in a file."""

    x: Any
    output: Any = None  # about the output, in the format's form; None if nothing is said or it is ignored
    good: bool | None = None  # whether it has a good structure
    group: str | None = None  # the query for which it is a candidate
    weight: float = 1.0
    score: float | None = None  # of its best structure; written, not read
    proven: bool | None = None  # whether the prediction is proved optimal; written if it is not
    origin: Origin = field(default=Origin("", [1]), compare=False)
    source: Any = field(default=None, compare=False, repr=False)  # what it was read from

    @property
    def place(self) -> FileLine:
        """The line on which it begins."""
        return FileLine(self.origin.file, self.origin.line(0))


Read = Callable[[str | Path, str], list[Item]]  # arguments: a file, and a kind of evidence or INPUTS
Write = Callable[[Sequence[Item]], str]


def read_objects(
    path: str | Path,
    kind: str,
    *,
    keys: Sequence[str],
    parse: Callable[[Mapping[str, Any], str, FileLine], tuple[Any, Any]],
    example: str,
) -> list[Item]:
    """Items from JSON lines; `parse` returns the input of an object, and its output read as a kind of evidence."""
    items = []
    for entry, place in objects_in(path):
        check_keys(entry, (*keys, *SHARED), place)
        x, output = parse(entry, kind, place)
        good, group = good_at(entry, place), entry.get("group")
        if good is None and kind == "companion":
            place.fail('no "good"', 'add "good": true or "good": false')
        if group is not None and not isinstance(group, str):
            place.fail(f'"group" is {json.dumps(group)}', "write a text that all candidates of a query share")
        weight = weight_at(entry, place)
        items.append(Item(x, output, good, group, weight, origin=Origin(place.file, (place.line,)), source=entry))
    if not items:
        raise DataError("no inputs", file=shown_name(path), remedy=f"write one JSON object a line, e.g. {example}")
    return items


def write_objects(items: Sequence[Item], unparse: Callable[[Item], Mapping[str, Any]]) -> str:
    """Items as JSON lines; `unparse` returns input and output, and other keys of the source are kept."""
    return "".join(json.dumps(_entry(item, unparse), ensure_ascii=False) + "\n" for item in items)


def _entry(item: Item, unparse: Callable[[Item], Mapping[str, Any]]) -> dict[str, Any]:
    entry = {**(item.source or {}), **unparse(item)}
    more = {"good": item.good, "group": item.group, "score": item.score, "proven": item.proven}
    entry |= {key: value for key, value in more.items() if value is not None and not (key == "proven" and value)}
    if item.weight != 1.0 or "weight" in entry:
        entry["weight"] = item.weight
    return entry


def links_at(
    entry: Mapping[str, Any], kind: str, place: FileLine, sizes: tuple[int, int]
) -> tuple[tuple[int, int | None], ...] | None:
    """The "links" of an object, read as a kind of evidence: pairs of positions from 0, null for nothing."""
    if kind not in ("gold", "partial"):
        return None
    if "links" not in entry:
        place.fail('no "links"', f'add "links": [[0, 0], …], or read the file as something else than {kind}')
    links = entry["links"]
    if not isinstance(links, list) or not all(isinstance(link, list) and len(link) == 2 for link in links):
        place.fail(f'"links" is {json.dumps(links)[:60]}', 'write e.g. "links": [[0, 0], [1, null]]')
    return checked_links([(one, other) for one, other in links], sizes, place)


def checked_links(links: Sequence[Any], sizes: tuple[int, int], place: FileLine) -> tuple[tuple[int, int | None], ...]:
    """Sorted links without duplicates; raises `DataError` for a position that does not exist."""
    for link in links:
        for position, size, side in zip(link, sizes, ("left", "right")):
            if position is None and side == "right":
                continue
            if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < size:
                problem = f"a link to {side} position {json.dumps(position)}, where there are {size}"
                place.fail(problem, f"give positions from 0 to {size - 1}")
    both = {one for one, other in links if other is None} & {one for one, other in links if other is not None}
    if both:
        place.fail(f"left position {min(both)} is linked, and linked with nothing", "leave one of them out")
    return tuple(sorted(set(links), key=lambda link: (link[0], -1 if link[1] is None else link[1])))


def listed_links(links: Sequence[tuple[int, int | None]]) -> list[list[int | None]]:
    """Links as JSON values."""
    return [[one, other] for one, other in links]

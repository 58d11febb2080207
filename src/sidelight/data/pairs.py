"""Pairs of strings with links between their symbols: one per line, or JSON lines.

    ship<TAB>SIp<TAB>0-0 1-0 2-1 3-2          two strings, and links from 0 on, as Pharaoh writes them
    dina<TAB>דינה<TAB>yes                      two strings, and whether they belong together
    hour<TAB>aUr<TAB>0- 1-0 2-1                as partial evidence: h is linked with nothing; nothing is known about r
    {"left": "ship", "right": ["S", "I", "p"], "links": [[0, 0], [1, 0], [2, 1], [3, 2]], "good": true}

A line has links (or `_` if none are given), then yes or no, then a score (written by `sidelight judge`); each may be
left out. Symbols are the characters of a string; in JSON lines they may be a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.data.files import read_lines, shown_name
from sidelight.data.items import INPUTS, Item, checked_links, links_at, listed_links, read_objects, write_objects
from sidelight.data.json_lines.lines import FileLine, one_each
from sidelight.errors import DataError
from sidelight.evidence import Origin

EXAMPLE = "ship<TAB>SIp<TAB>0-0 1-0 2-1 3-2"
NOT_TOLD = "_"
ANSWERS = {"yes": True, "no": False}
_LINK = re.compile(r"([0-9]+)-([0-9]*)")
_UNWRITABLE = re.compile(r"[\t\n\r]")
KEYS = ("left", "right", "links", "candidates")


def read_pairs(path: str | Path, kind: str = INPUTS) -> list[Item]:
    """Pairs of a file, one per line; raises `DataError` with the line of an invalid pair.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.tsv").write_text("shi\\tSI\\t0-0 1-0 2-1\\n")
    ...     [(item.x, item.output) for item in read_pairs(Path(folder, "a.tsv"), "gold")]
    [(('shi', 'SI'), ((0, 0), (1, 0), (2, 1)))]
    """
    file = shown_name(path)
    lines = enumerate(read_lines(path), start=1)
    items = [_read(line, kind, FileLine(file, number)) for number, line in lines if line.strip()]
    if not items:
        raise DataError("no pairs", file=file, remedy=f"write a pair a line, e.g. {EXAMPLE}")
    return items


def write_pairs(items: Sequence[Item]) -> str:
    """The text of such a file; raises `DataError` for pairs that could not be read back.

    >>> write_pairs([Item(("shi", "SI"), ((0, 0), (1, None)), good=True)])
    'shi\\tSI\\t0-0 1-\\tyes\\n'
    """
    return "".join(_line(number, item) for number, item in enumerate(items))


def read_pair_objects(path: str | Path, kind: str = INPUTS) -> list[Item]:
    """Pairs from JSON lines; candidates are a list for every left symbol, or null for any."""
    example = '{"left": "ship", "right": "SIp", "links": [[0, 0], [1, 0], [2, 1], [3, 2]]}'
    return read_objects(path, kind, keys=KEYS, parse=_parse, example=example)


def write_pair_objects(items: Sequence[Item]) -> str:
    """Pairs as JSON lines."""

    def unparse(item: Item) -> dict[str, Any]:
        left, right = (side if isinstance(side, str) else list(side) for side in item.x)
        strings = {"left": left, "right": right}
        return strings if item.output is None else {**strings, "links": listed_links(item.output)}

    return write_objects(items, unparse)


def _read(line: str, kind: str, place: FileLine) -> Item:
    left, *rest = line.split("\t")
    if not rest:
        place.fail("one string where two were expected", f"put a tab between them, e.g. {EXAMPLE}")
    right, *more = rest
    x = left, right
    for string, side in zip(x, ("left", "right")):
        if not string:
            place.fail(f"the {side} string is empty", "leave the pair out")
    links = more.pop(0) if more and more[0] not in ANSWERS else NOT_TOLD
    answer = ANSWERS[more.pop(0)] if more and more[0] in ANSWERS else None
    if more and not (len(more) == 1 and _is_number(more[0])):
        place.fail(f"{more[0]!r} after the pair", "write links, then yes or no, then a score, with tabs between")
    if answer is None and kind == "companion":
        place.fail("neither yes nor no", "add yes or no after a tab")
    alignment = _links(links, kind, x, place)
    return Item(x, alignment, answer, None, origin=Origin(place.file, (place.line,)))


def _links(cell: str, kind: str, x: tuple[str, str], place: FileLine) -> tuple[tuple[int, int | None], ...] | None:
    if kind == "candidates":
        place.fail("candidates need JSON lines", 'write "candidates" with a list for every left symbol')
    if kind not in ("gold", "partial"):
        return None
    if cell == NOT_TOLD:
        place.fail("no links", f"add them after a tab, or read the file as something else than {kind}; {EXAMPLE}")
    links: list[tuple[int, int | None]] = []
    for text in cell.split():
        match = _LINK.fullmatch(text)
        if match is None:
            place.fail(f"not a link: {text!r}", "write links as 0-0 1-2, from 0 on; 3- is linked with nothing")
        links.append((int(match[1]), int(match[2]) if match[2] else None))
    return checked_links(links, (len(x[0]), len(x[1])), place)


def _line(number: int, item: Item) -> str:
    cells = list(item.x)
    problem = None
    if not all(isinstance(side, str) for side in cells):
        problem = "its symbols are listed"
    elif any(_UNWRITABLE.search(side) for side in cells):
        problem = "a string has a tab or the end of a line"
    elif not all(cells):
        problem = "a string is empty"
    elif (number == 0 and cells[0].startswith("\ufeff")) or not "".join(cells).strip():
        problem = "its strings would not be read again"
    if problem:
        raise DataError(f"pair {number}: {problem}", remedy="change it, or write JSON lines")
    if item.output is not None:
        cells.append(" ".join(f"{one}-{'' if other is None else other}" for one, other in item.output))
    elif item.good is not None:
        cells.append(NOT_TOLD)
    if item.good is not None:
        cells.append("yes" if item.good else "no")
    if item.score is not None:
        cells.append(f"{item.score:.6g}")
    return "\t".join(cells) + "\n"


def _parse(entry: Mapping[str, Any], kind: str, place: FileLine) -> tuple[Any, Any]:
    x = _string(entry, "left", place), _string(entry, "right", place)
    sizes = len(x[0]), len(x[1])
    if kind == "candidates":
        if "candidates" not in entry:
            place.fail("no candidates", "add candidates, or read the file as something else than candidates")
        return x, one_each("candidates", entry["candidates"], sizes[0], place=place)
    return x, links_at(entry, kind, place, sizes)


def _string(entry: Mapping[str, Any], side: str, place: FileLine) -> str | tuple[str, ...]:
    value = entry.get(side)
    if side not in entry:
        place.fail(f'no "{side}"', 'give "left" and "right", each a string or a list of symbols')
    if isinstance(value, str):
        symbols: Any = value
    elif isinstance(value, list) and all(isinstance(symbol, str) and symbol for symbol in value):
        symbols = tuple(value)
    else:
        place.fail(f'"{side}" is {json.dumps(value)[:60]}', "write a string, or a list of symbols that are not empty")
    if not symbols:
        place.fail(f"the {side} string is empty", "leave the pair out")
    return symbols  # type: ignore[no-any-return]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

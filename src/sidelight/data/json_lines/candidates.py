"""Further keys of lines with candidates: known labels, initial labels, chunks of tokens.

    {"tokens": ["a", "b", "c"], "candidates": [null, null, ["B", "O"]], "known": [null, null, "O"],
     "chunks": [{"first": 0, "labelings": [["B", "I"], ["O", "O"]]}], "initial": ["B", "I", null]}

Only candidates use these keys; in other files they may mean something else.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from sidelight.data.json_lines.lines import FileLine, Record, label_at, one_each
from sidelight.evidence import Chunk

CHUNK = 'write e.g. {"first": 0, "labelings": [["B", "I"], ["O", "O"]]}'


class Details(NamedTuple):
    """The values of the three keys, in the form for `Candidates`."""

    known: list[str | None] | None
    initial: list[str | None] | None
    chunks: tuple[Chunk, ...]


def details_of(record: Record) -> Details:
    """The checked values of a line; raises `DataError` with the file and the line.

    The labels of the line are the known labels, unless it has the key "known".
    """
    place = FileLine(record.origin.file, record.origin.line(0))
    known = _labels(record, "known", place)
    if known is not None and record.labels is not None:
        key = "label" if isinstance(record.x, dict) else "labels"
        place.fail(f'"known" beside "{key}"', "write one of them: labels beside candidates are known labels too")
    return Details(record.labels if known is None else known, _labels(record, "initial", place), _chunks(record, place))


def _labels(record: Record, key: str, place: FileLine) -> list[str | None] | None:
    if key not in record.more:
        return None
    value = record.more[key]
    values = [value] if isinstance(record.x, dict) else one_each(key, value, len(record.x), place=place)
    return [label_at(label, t, place) for t, label in enumerate(values)]


def _chunks(record: Record, place: FileLine) -> tuple[Chunk, ...]:
    value = record.more.get("chunks", [])
    if isinstance(record.x, dict) and "chunks" in record.more:
        place.fail('"chunks" beside "features"', "give candidates: an input by its features has one label")
    if not isinstance(value, list):
        place.fail('"chunks" is not a list', f"give a list of chunks; {CHUNK}")
    return tuple(_chunk(entry, place) for entry in value)


def _chunk(entry: Any, place: FileLine) -> Chunk:
    if not isinstance(entry, dict) or set(entry) != {"first", "labelings"}:
        place.fail(f"the chunk {json.dumps(entry)}", CHUNK)
    first, labelings = entry["first"], entry["labelings"]
    if isinstance(first, bool) or not isinstance(first, int):
        place.fail(f"a chunk from token {json.dumps(first)} on", "count tokens from 0")
    if not isinstance(labelings, list) or not all(isinstance(row, list) for row in labelings):
        place.fail("the labelings of a chunk are not a list of lists", CHUNK)
    for row in labelings:
        for label in row:
            if not isinstance(label, str) or not label:
                problem = f"a labeling of a chunk has the label {json.dumps(label)}"
                place.fail(problem, "write a label as a string that is not empty")
    return Chunk(first, [tuple(row) for row in labelings])

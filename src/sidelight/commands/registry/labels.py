"""Inputs of label models as items, for commands for any structure: `judge` and `rank`.

JSON lines are written with "predicted" labels, "good" and "score". For other files, one line is written per input:

    yes<TAB>0.53<TAB>Ann/PER sleeps/O
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.commands.shared.inputs import check_fits, is_jsonl, read_inputs, read_twice
from sidelight.data import read_lines
from sidelight.data.items import Item
from sidelight.data.json_lines.lines import FileLine, good_at
from sidelight.models.explain import shown_tokens
from sidelight.models.model import Model


def read_label_items(model: Model, path: Path, format: str | None) -> list[Item]:
    """Inputs without labels; raises `DataError` if they do not fit the model."""
    with read_twice(path):
        corpus = read_inputs(path, format=format, label_column=None)
        lines = read_lines(path) if is_jsonl(path, format) else []
    check_fits(model, list(zip(corpus.xs, corpus.origins)))
    entries: list[Any] = [json.loads(line) for line in lines if line.strip()] or [None] * len(corpus)
    items = []
    for x, origin, entry in zip(corpus.xs, corpus.origins, entries):
        good = None if entry is None else good_at(entry, FileLine(origin.file, origin.line(0)))
        group = None if entry is None else entry.get("group")
        items.append(Item(x, good=good, group=None if group is None else str(group), origin=origin, source=entry))
    return items


def write_label_items(items: Sequence[Item]) -> str:
    """The items with their decisions, as text."""
    return "".join(_line(item) + "\n" for item in items)


def _line(item: Item) -> str:
    if isinstance(item.source, dict):
        more = {"predicted": item.output, "good": item.good, "score": item.score}
        return json.dumps({**item.source, **{k: v for k, v in more.items() if v is not None}}, ensure_ascii=False)
    cells = [] if item.good is None else ["yes" if item.good else "no"]
    cells += [] if item.score is None else [f"{item.score:.6g}"]
    if isinstance(item.x, Mapping):
        return "\t".join([*cells, str(item.output)])
    return "\t".join([*cells, " ".join(f"{a}/{b}" for a, b in zip(shown_tokens(item.x, len(item.x)), item.output))])

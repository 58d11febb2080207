"""doccano: reads exports of sequence labelling (JSON lines), and writes predictions in the same format.

    {"id": 1, "text": "Ann left Oslo", "label": [[0, 3, "PER"], [9, 13, "LOC"]]}
    {"id": 1, "text": "Ann left Oslo", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}],
     "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "left"}]}

"labels" is read like "label". doccano counts Unicode characters; use `offsets="utf16"` for files that count characters
as JavaScript does, such as those of the first versions.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal

from sidelight.annotation_tools.annotated_file import AnnotatedFile, annotated
from sidelight.annotation_tools.documents import (
    Annotation,
    AnnotatorAnswer,
    Document,
    Misfit,
    Relation,
    from_utf16,
    lines_of,
    marked,
    utf16_places,
)
from sidelight.core.checks import arguments_checked, is_whole
from sidelight.data.files import shown_name, write_text_atomically
from sidelight.data.json_lines.lines import FileLine, objects_in
from sidelight.errors import DataError
from sidelight.evaluate.spans import Scheme

TRIPLES = ("label", "labels")
EXAMPLE = 'write e.g. {"text": "Ann left", "label": [[0, 3, "PER"]]}'


@arguments_checked
def read(
    path: str | Path,
    *,
    scheme: Literal["BIO", "IOB1", "BIOES", "BILOU"] = "BIO",
    labels: Collection[str] | None = None,
    offsets: Literal["characters", "utf16"] = "characters",
    empty: Literal["unlabeled", "gold"] = "unlabeled",
) -> AnnotatedFile:
    """The evidence of an export, and what did not fit.

    doccano does not say whether a text without labels was annotated. So it is Unlabeled, or with `empty="gold"` Gold
    without spans. Raises `DataError` if the file is not an export.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.jsonl").write_text('{"text": "Ann left Oslo", "label": [[0, 3, "PER"]]}')
    ...     read(Path(folder, "a.jsonl")).evidence
    (Gold(x=['Ann', 'left', 'Oslo'], weight=1.0, y=['B-PER', 'O', 'O']),)
    """
    docs = [_document(entry, place, offsets) for entry, place in objects_in(path)]
    if not docs:
        raise DataError("no texts", file=shown_name(path), remedy=EXAMPLE)
    return annotated(docs, scheme=scheme, labels=labels, empty=empty)


def _document(entry: dict[str, Any], place: FileLine, offsets: str) -> Document:
    text = entry.get("text")
    if not isinstance(text, str):
        place.fail('no "text"', "export from doccano as JSONL")
    name = f"line {place.line}"
    bare = Document(name, text, lines_of(text), (), place.file, (place.line,), entry)
    keys = [key for key in (*TRIPLES, "entities") if key in entry]
    if len(keys) > 1:
        place.fail(f'"{keys[0]}" beside "{keys[1]}"', "keep one of them")
    if not keys:
        if "annotations" in entry:
            place.fail(
                '"annotations" with numbers for labels', 'export from doccano as "JSONL", with the labels as text'
            )
        return bare
    answers = (_triples if keys[0] in TRIPLES else _entities)(entry, keys[0], place)
    if offsets == "utf16":
        units = utf16_places(text)
        answers = AnnotatorAnswer(
            tuple(_in_characters(one, units) for one in answers.annotations), answers.relations, answers.misfits
        )
    return Document(name, text, bare.lines, (answers,), place.file, bare.numbers, entry)


def _triples(entry: dict[str, Any], key: str, place: FileLine) -> AnnotatorAnswer:
    triples = entry[key] or []
    if not isinstance(triples, list) or not all(isinstance(one, list) and len(one) == 3 for one in triples):
        place.fail(f'"{key}" is not a list of [start, end, label]', "export a sequence labelling project")
    return AnnotatorAnswer(tuple(_annotation(a, b, label, "", place) for a, b, label in triples))


def _entities(entry: dict[str, Any], key: str, place: FileLine) -> AnnotatorAnswer:
    entities, related = entry[key] or [], entry.get("relations") or []
    for what, values in ((key, entities), ("relations", related)):
        if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
            place.fail(f'"{what}" is not a list of objects', "export a sequence labelling project")
    annotations = tuple(
        _annotation(one.get("start_offset"), one.get("end_offset"), one.get("label"), str(one.get("id", "")), place)
        for one in entities
    )
    relations, misfits = list[Relation](), list[Misfit]()
    for one in related:
        ends = str(one.get("from_id")), str(one.get("to_id"))
        relations.append(Relation(str(one.get("type")), *ends))
    return AnnotatorAnswer(annotations, tuple(relations), tuple(misfits))


def _annotation(start: Any, end: Any, label: Any, key: str, place: FileLine) -> Annotation:
    for value in (start, end):
        if not is_whole(value):
            place.fail(f"an annotation from {json.dumps(start)} to {json.dumps(end)}", "give whole numbers")
    if not isinstance(label, str):
        place.fail(f"the label {json.dumps(label)}", 'export from doccano as "JSONL", with the labels as text')
    return Annotation(start, end, label, key)


def _in_characters(one: Annotation, units: Sequence[int]) -> Annotation:
    start, end = from_utf16(units, one.start), from_utf16(units, one.end)
    if start is None or end is None:
        return one._replace(problem="begins or ends inside a character, or outside of the text")
    return one._replace(start=start, end=end)


def text_of(docs: Sequence[Document], outputs: Sequence[Sequence[str]], *, scheme: Scheme = "auto") -> str:
    """JSON lines with a model's predictions as labels, for import into doccano.

    `outputs` has the labels of every line of every document (`AnnotatedFile.inputs`). Other keys of a line are kept. If
    a line had "entities", it gets predicted entities, without relations.
    """
    lines = []
    for doc, spans in zip(docs, marked(docs, outputs, scheme=scheme)):
        source = doc.source if isinstance(doc.source, dict) and "text" in doc.source else {}
        other_keys = {key: value for key, value in source.items() if key not in (*TRIPLES, "entities", "relations")}
        values: dict[str, Any] = {"label": [[one.start, one.end, one.label] for one in spans]}
        if "labels" in source:
            values = {"labels": values["label"]}
        elif "entities" in source:
            values = {"entities": [_entity(i, one) for i, one in enumerate(spans, start=1)], "relations": []}
        lines.append(json.dumps({**other_keys, "text": doc.text, **values}, ensure_ascii=False) + "\n")
    return "".join(lines)


def _entity(number: int, one: Annotation) -> dict[str, Any]:
    return {"id": number, "label": one.label, "start_offset": one.start, "end_offset": one.end}


def write(path: str | Path, docs: Sequence[Document], outputs: Sequence[Sequence[str]], **how: Any) -> None:
    """Write the result of `text_of` to a file."""
    write_text_atomically(path, text_of(docs, outputs, **how))

"""Sentences with entities and relations, as JSON lines (the format of CoNLL-2004 and SpERT).

    {"tokens": ["Ann", "lives", "in", "Oslo"],
     "entities": [{"type": "Peop", "start": 0, "end": 1}, {"type": "Loc", "start": 3, "end": 4}],
     "relations": [{"type": "Live_In", "head": 0, "tail": 1}]}

Boundaries of entities are given. Types and relations may be missing from all lines; then they are to be predicted.
Other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.core.checks import file_name, is_whole, shown
from sidelight.data.files import shown_name, write_text_atomically
from sidelight.data.json_lines.lines import FileLine, objects_in
from sidelight.errors import DataError


class EntitySentence(NamedTuple):
    """A sentence and where its entities are."""

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]  # first token, and one past the last


class Extraction(NamedTuple):
    """The type of every entity, and the relations between them."""

    types: tuple[str, ...]
    relations: tuple[tuple[int, int, str], ...] = ()  # head, tail, name; sorted


class RelationCorpus(NamedTuple):
    """Sentences, and their known types and relations, if any."""

    xs: list[EntitySentence]
    ys: list[Extraction] | None


def read_relations(path: str | Path) -> RelationCorpus:
    """The sentences of a file; `ys` is None if no entity has a type.

    Raises `DataError`, with the line, for invalid spans, for a relation of an entity with itself or with one that does
    not exist, and if only some entities have types.

    >>> import tempfile
    >>> line = '{"tokens": ["Ann", "left", "Oslo"], "entities": [{"type": "Peop", "start": 0, "end": 1}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.jsonl").write_text(line)
    ...     read_relations(Path(folder, "a.jsonl")).ys
    [Extraction(types=('Peop',), relations=())]
    """
    sentences = [sentence_at(entry, place) for entry, place in objects_in(path)]
    if not sentences:
        raise DataError(
            "no sentences", file=shown_name(path), remedy='write one JSON object a line, with "tokens" and "entities"'
        )
    xs = [x for x, _, _ in sentences]
    typed = [place for _, y, place in sentences if y is not None]
    if not typed:
        return RelationCorpus(xs, None)
    for _, y, place in sentences:
        if y is None:
            place.fail("an entity without a type, though other lines have them", "give every entity a type, or none")
    return RelationCorpus(xs, [y for _, y, _ in sentences if y is not None])


def write_relations(path: str | Path, xs: Sequence[EntitySentence], ys: Sequence[Extraction]) -> None:
    """Write sentences with their types and relations, in the format that `read_relations` reads."""
    file_name(path)
    for what, values, kind in (("xs", xs, EntitySentence), ("ys", ys, Extraction)):
        if not isinstance(values, list | tuple) or not all(isinstance(one, kind) for one in values):
            raise DataError(f"{what} is {shown(values)}", remedy=f"give a list of {kind.__name__}")
    if len(xs) != len(ys):
        raise DataError(f"{len(xs)} sentences and {len(ys)} extractions", remedy="give equal numbers of both")
    write_text_atomically(path, "".join(relation_line(x, y) + "\n" for x, y in zip(xs, ys)))


def relation_line(x: EntitySentence, y: Extraction) -> str:
    """One sentence as a line of JSON.

    >>> relation_line(EntitySentence(("Ann",), ((0, 1),)), Extraction(("Peop",)))
    '{"tokens": ["Ann"], "entities": [{"type": "Peop", "start": 0, "end": 1}], "relations": []}'
    """
    return json.dumps(extraction_entry(x, y), ensure_ascii=False)


def extraction_entry(x: EntitySentence, y: Extraction | None) -> dict[str, Any]:
    """One sentence as a JSON object; without types and relations if they are unknown."""
    places = [{"start": first, "end": last} for first, last in x.spans]
    if y is None:
        return {"tokens": list(x.tokens), "entities": places}
    entities = [{"type": type_, **span} for type_, span in zip(y.types, places)]
    relations = [{"type": name, "head": head, "tail": tail} for head, tail, name in y.relations]
    return {"tokens": list(x.tokens), "entities": entities, "relations": relations}


def without_types(x: EntitySentence, y: Extraction, types: Collection[str]) -> tuple[EntitySentence, Extraction]:
    """A sentence without the entities of some types, and without their relations.

    >>> x, y = EntitySentence(("Ann", "8"), ((0, 1), (1, 2))), Extraction(("Peop", "Other"))
    >>> without_types(x, y, ["Other"])[1].types
    ('Peop',)
    """
    positions = [i for i, type_ in enumerate(y.types) if type_ not in types]
    place = {i: k for k, i in enumerate(positions)}
    relations = [(place[a], place[b], name) for a, b, name in y.relations if a in place and b in place]
    return (
        EntitySentence(x.tokens, tuple(x.spans[i] for i in positions)),
        Extraction(tuple(y.types[i] for i in positions), tuple(sorted(relations))),
    )


def sentence_at(entry: dict[str, Any], place: FileLine) -> tuple[EntitySentence, Extraction | None, FileLine]:
    """The sentence of an object, and its types and relations, if known."""
    tokens, entities = entry.get("tokens"), entry.get("entities")
    if not isinstance(tokens, list) or not tokens or not all(isinstance(token, str) for token in tokens):
        place.fail('"tokens" is not a list of words', 'write e.g. "tokens": ["Ann", "left"]')
    if not isinstance(entities, list) or not all(isinstance(one, dict) for one in entities):
        place.fail('"entities" is not a list of objects', 'write e.g. "entities": [{"start": 0, "end": 1}]')
    spans = []
    for i, one in enumerate(entities):
        first, last = one.get("start"), one.get("end")
        if not is_whole(first) or not is_whole(last) or not 0 <= first < last <= len(tokens):
            problem = f"entity {i} is from {json.dumps(first)} to {json.dumps(last)} of {len(tokens)} tokens"
            place.fail(problem, "give start and end, the end not included")
        spans.append((first, last))
    x = EntitySentence(tuple(tokens), tuple(spans))
    types = [one.get("type") for one in entities]
    if entities and all(type_ is None for type_ in types):
        return x, None, place
    for i, type_ in enumerate(types):
        if not isinstance(type_, str) or not type_:
            place.fail(f"entity {i} has the type {json.dumps(type_)}", "give every entity a type, or none")
    return x, Extraction(tuple(types), _relations(entry.get("relations", []), len(spans), place)), place


def _relations(triples: Any, count: int, place: FileLine) -> tuple[tuple[int, int, str], ...]:
    if not isinstance(triples, list) or not all(isinstance(one, dict) for one in triples):
        place.fail('"relations" is not a list of objects', 'write e.g. [{"type": "Live_In", "head": 0, "tail": 1}]')
    relations = []
    for one in triples:
        head, tail, name = one.get("head"), one.get("tail"), one.get("type")
        if not isinstance(name, str) or not name:
            place.fail(f"a relation has the type {json.dumps(name)}", "give its name")
        for end in (head, tail):
            if not is_whole(end) or not 0 <= end < count:
                problem = f"the relation {name} is with entity {json.dumps(end)}, and there are {count}"
                place.fail(problem, "count entities from 0")
        if head == tail:
            place.fail(f"the relation {name} is between entity {head} and itself", "give two entities, or leave it out")
        relations.append((head, tail, name))
    return tuple(sorted(relations))

"""Entities and relations on the command line.

As partial evidence and candidates, types of entities and of relations may be missing, null, or lists of names; "none"
is the type of no relation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from sidelight.commands.registry.entry import FileFormat, StructureEntry
from sidelight.core.checks import is_whole
from sidelight.corpus.facts import ARGUMENTS, facts
from sidelight.data.items import INPUTS, Item, read_objects, write_objects
from sidelight.data.json_lines.lines import FileLine
from sidelight.data.relations import EntitySentence, Extraction, extraction_entry, sentence_at
from sidelight.evaluate.parts import Measure
from sidelight.evidence import shuffled
from sidelight.report.pictures import relations_picture
from sidelight.structures.relations import ENTITY, NONE, RELATION, EntityRelation

RULES = f'''"""Which types the arguments of relations have."""

from sidelight.rules import gallery

RULES = [gallery.argument_types({json.dumps(ARGUMENTS)})]
'''
KEYS = ("tokens", "entities", "relations")
EXAMPLE = (
    '{"tokens": ["Ann", "left", "Oslo"], "entities": [{"type": "Peop", "start": 0, "end": 1}, '
    '{"type": "Loc", "start": 2, "end": 3}], "relations": [{"type": "Live_In", "head": 0, "tail": 1}]}'
)


def read_facts(path: str | Path, kind: str = INPUTS) -> list[Item]:
    """Sentences with entities; raises `DataError` with the line of an invalid sentence."""
    return read_objects(path, kind, keys=KEYS, parse=_parse, example=EXAMPLE)


def write_facts(items: Sequence[Item]) -> str:
    """Sentences as JSON lines, with the known types and relations."""
    return write_objects(items, lambda item: extraction_entry(item.x, item.output))


def _parse(entry: Mapping[str, Any], kind: str, place: FileLine) -> tuple[EntitySentence, Any]:
    if kind == "gold":
        x, y, _ = sentence_at(dict(entry), place)
        if y is None:
            place.fail(
                "entities without types", "give every entity a type, or read the file as something else than gold"
            )
        return _with_entities(x, place), y
    entities = entry.get("entities")
    listed = isinstance(entities, list) and all(isinstance(one, dict) for one in entities)
    bare = [{key: value for key, value in one.items() if key != "type"} for one in entities] if listed else entities  # type: ignore[union-attr]
    x, _, _ = sentence_at({**entry, "entities": bare, "relations": []}, place)
    _with_entities(x, place)
    if kind not in ("partial", "candidates"):
        return x, None
    types = {i: _labels(one["type"], place) for i, one in enumerate(entities or ()) if one.get("type") is not None}
    return x, {ENTITY: types, RELATION: _related(entry.get("relations", []), place)}


def _with_entities(x: EntitySentence, place: FileLine) -> EntitySentence:
    if not x.spans:
        place.fail("a sentence without entities", "leave it out")
    return x


def _labels(names: Any, place: FileLine) -> list[str]:
    labels = names if isinstance(names, list) else [names]
    if not labels or not all(isinstance(label, str) and label for label in labels):
        place.fail(f"the type {json.dumps(names)}", "give a name, a list of names, or null")
    return labels


def _related(relations: Any, place: FileLine) -> dict[tuple[int, int], list[str]]:
    if not isinstance(relations, list) or not all(isinstance(one, dict) for one in relations):
        place.fail('"relations" is not a list of objects', 'write e.g. [{"type": "Live_In", "head": 0, "tail": 1}]')
    labels_of = {}
    for one in relations:
        ends = one.get("head"), one.get("tail")
        if not all(map(is_whole, ends)):
            place.fail(f"a relation is {json.dumps(one)[:60]}", 'write e.g. {"type": "Live_In", "head": 0, "tail": 1}')
        labels_of[ends] = _labels(one.get("type"), place)
    return labels_of


def _output(structure: EntityRelation, item: Item, kind: str) -> Any:
    return item.output


def _names(items: Sequence[Item]) -> dict[str, Any]:
    """The types and relations that are known."""
    types: set[str] = set()
    relations: set[str] = set()
    for item in items:
        if isinstance(item.output, Extraction):
            types.update(item.output.types)
            relations.update(name for *_, name in item.output.relations)
        elif item.output is not None:
            types.update(name for names in item.output[ENTITY].values() for name in names)
            relations.update(name for names in item.output[RELATION].values() for name in names)
    return {"types": tuple(sorted(types)), "relations": tuple(sorted(relations - {NONE}))}


def _spoiled(xs: Sequence[EntitySentence], seed: int) -> list[EntitySentence]:
    """The words in random order; entities keep their positions."""
    return [EntitySentence(tuple(words), x.spans) for words, x in zip(shuffled([x.tokens for x in xs], seed=seed), xs)]


def _named(y: Extraction) -> dict[tuple[int, int], str]:
    return {(head, tail): name for head, tail, name in y.relations}


ENTRY = StructureEntry(
    name="relations",
    line="Which types the entities of a sentence have, and which relations there are between them, decided together.",
    example=EXAMPLE,
    structure=EntityRelation,
    formats={"jsonl": FileFormat(read_facts, write_facts, (".jsonl", ".json"))},
    output=_output,
    item_output=lambda y: y,
    measures=lambda structure: (
        Measure("relations", lambda y: y.relations, labels=_named, label=itemgetter(2)),
        Measure("types", lambda y: list(enumerate(y.types)), True, lambda y: dict(enumerate(y.types)), itemgetter(1)),
    ),
    spoil=_spoiled,
    generate=facts,
    picture=lambda right, found: relations_picture(right.x, found.output, right.output),
    rules_text=RULES,
    hidden=("rules", "lists", "names"),
    from_data=_names,
    ruled=True,
    lenient=True,  # some corpora have two relations of one pair, and outputs that break rules
)

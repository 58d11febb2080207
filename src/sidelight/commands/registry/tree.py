"""Dependency trees on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from sidelight.commands.registry.entry import FileFormat, StructureEntry
from sidelight.corpus.sentences import sentences
from sidelight.data.conllu import UNKNOWN, read_sentences, write_sentences
from sidelight.data.items import Item
from sidelight.evaluate.parts import Measure
from sidelight.evidence import shuffled
from sidelight.report.pictures import tree_picture
from sidelight.structures.trees import DependencyTree


def _output(structure: DependencyTree, item: Item, kind: str) -> Any:
    if kind == "gold":
        return [arc if structure.relations else arc[0] for arc in item.output]
    return [_arcs(structure, t, len(item.x), *arc) for t, arc in enumerate(item.output, start=1)]


def _arcs(structure: DependencyTree, t: int, length: int, head: Any, relation: Any) -> list[Any] | None:
    """The arcs of a token that are possible with these heads and relations."""
    heads = (
        [one for one in range(length + 1) if one != t] if head is None else [head] if isinstance(head, int) else head
    )
    if not structure.relations:
        return None if head is None else list(heads)
    if head is None and relation is None:
        return None
    relations = structure.relations if relation is None else [relation] if isinstance(relation, str) else relation
    return list(product(heads, relations))


def _relations(items: Sequence[Item]) -> dict[str, Any]:
    """The relations in trees; none if trees have no relations."""
    relations = (relation for item in items for _, relation in item.output or ())
    names = {name for one in relations if one is not None for name in ([one] if isinstance(one, str) else one)}
    return {"relations": tuple(sorted(names - {UNKNOWN}))}


def _heads(y: Sequence[Any]) -> list[tuple[int, int]]:
    return [(t, arc if isinstance(arc, int) else arc[0]) for t, arc in enumerate(y)]


def _named(y: Sequence[Any]) -> dict[int, str]:
    return {t: str(relation) for t, (_, relation) in enumerate(y)}


def _form(token: Any) -> str:
    return token if isinstance(token, str) else str(token[0])


def _measures(structure: DependencyTree | None) -> tuple[Measure, ...]:
    unlabelled = Measure("UAS", _heads, share=True)
    labelled = Measure("LAS", enumerate, True, _named, lambda part: str(part[1][1]))  # type: ignore[arg-type]
    return (unlabelled, labelled) if structure is None or structure.relations else (unlabelled,)


def _spoiled(xs: Sequence[Any], seed: int) -> list[Any]:
    return [tuple(x) for x in shuffled(xs, seed=seed)]


ENTRY = StructureEntry(
    name="tree",
    line="Which token each token of a sentence depends on, and how: dependency trees.",
    example="the ten columns of CoNLL-U: number, form, _, tag, _, _, head, relation, _, _",
    structure=DependencyTree,
    formats={"conllu": FileFormat(read_sentences, write_sentences, (".conllu", ".conll"))},
    output=_output,
    item_output=lambda y: tuple((arc, None) if isinstance(arc, int) else tuple(arc) for arc in y),
    measures=_measures,
    spoil=_spoiled,
    generate=sentences,
    picture=lambda right, found: tree_picture([_form(token) for token in right.x], found.output, right.output),
    from_data=_relations,
    left_out="not projective, or with several roots: --set projective=false and --set single_root=false take them",
)

"""Alignments of graphs of words on the command line."""

from __future__ import annotations

from typing import Any

from sidelight.commands.registry.entry import FileFormat, StructureEntry
from sidelight.commands.registry.pairing import linked, paired_anew
from sidelight.corpus.paraphrases import paraphrases
from sidelight.data.graphs import read_graphs, write_graphs
from sidelight.data.items import Item
from sidelight.evaluate.parts import Measure
from sidelight.report.pictures import grid_picture
from sidelight.structures.graphs import GraphAlignment


def _output(structure: GraphAlignment, item: Item, kind: str) -> Any:
    if kind == "candidates":
        return item.output
    links, nothing = linked(item)
    if kind == "gold":
        return dict(links)
    return {**{i: (j,) for i, j in links}, **dict.fromkeys(nothing, (None,))}


def _picture(right: Item, predicted: Item) -> dict[str, Any]:
    source, target = ([word for word, _ in graph.words] for graph in right.x)
    return grid_picture(source, target, linked(predicted)[0], linked(right)[0])


ENTRY = StructureEntry(
    name="graph",
    line="Which words of two graphs belong together, and their edges with them: paraphrase, entailment.",
    example='{"first": {"words": [["light", "N"], ["falls", "V"]], "edges": [[1, 0, "subj"]]}, "second": …, '
    '"links": [[0, 0]]}',
    structure=GraphAlignment,
    formats={"jsonl": FileFormat(read_graphs, write_graphs, (".jsonl", ".json"))},
    output=_output,
    item_output=lambda y: tuple(sorted(y.items())),
    measures=lambda structure: (Measure("words", dict.items),),
    spoil=paired_anew,
    query=lambda x: " ".join(word for word, _ in x[0].words),
    generate=paraphrases,
    picture=_picture,
    hidden=("n_jobs", "similarity"),
)

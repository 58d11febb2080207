"""Pairs of graphs of words, from JSON lines.

    {"first": {"words": [["the", "D"], ["light", "N"]], "edges": [[1, 0, "det"]]},
     "second": {"words": ["light"], "edges": []}, "links": [[1, 0]], "good": true}

A word is a string, or a string and a tag. An edge connects two words, by their numbers from 0, and may have a label. In
gold, words without a link are deleted. In partial evidence nothing is known about them, and [0, null] means that a word
is deleted. "candidates" are {"0": [1, null], …}: the possible targets of some words of the first graph.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.core.checks import is_whole, shown
from sidelight.data.items import INPUTS, Item, links_at, listed_links, read_objects, write_objects
from sidelight.data.json_lines.lines import FileLine

KEYS = ("first", "second", "links", "candidates")
EXAMPLE = '{"words": [["light", "N"], ["falls", "V"]], "edges": [[1, 0, "subj"]]}'


class Graph(NamedTuple):
    """Words with tags, and labelled edges between them, by their numbers."""

    words: tuple[tuple[str, str], ...]
    edges: tuple[tuple[int, int, str], ...] = ()

    def trouble(self) -> tuple[str, str] | None:
        """The problem with this graph, and a remedy; None if it is valid.

        >>> Graph((("light", "N"),), ((0, 1, "subj"),)).trouble()
        ('has an edge (0, 1), and no word 1', 'give words from 0 to 0')
        """
        if not self.words:
            return "has no words", "leave the pair out"
        for tagged in self.words:
            if not isinstance(tagged, list | tuple) or len(tagged) != 2 or not all(isinstance(s, str) for s in tagged):
                return f"has the word {shown(tagged)}", "give (word, tag)"
        for edge in self.edges:
            whole = isinstance(edge, list | tuple) and len(edge) == 3 and is_whole(edge[0]) and is_whole(edge[1])
            if not whole or not isinstance(edge[2], str):
                return f"has the edge {shown(edge)}", "give (number of the head, number of the word, label)"
        for head, word, _ in self.edges:
            for end in (head, word):
                if not 0 <= end < len(self.words):
                    problem = f"has an edge ({head}, {word}), and no word {end}"
                    return problem, f"give words from 0 to {len(self.words) - 1}"
        if len({(head, word) for head, word, _ in self.edges}) < len(self.edges):
            return "has two edges between the same words", "give one of them"
        return None


def read_graphs(path: str | Path, kind: str = INPUTS) -> list[Item]:
    """Pairs of graphs; raises `DataError` with the line of an invalid pair."""
    example = f'{{"first": {EXAMPLE}, "second": …, "links": [[0, 0]]}}'
    return read_objects(path, kind, keys=KEYS, parse=_parse, example=example)


def write_graphs(items: Sequence[Item]) -> str:
    """Pairs of graphs as JSON lines."""

    def unparse(item: Item) -> dict[str, Any]:
        source = item.source or {}
        sides = {name: source.get(name, _plain(graph)) for name, graph in zip(("first", "second"), item.x)}
        return sides if item.output is None else {**sides, "links": listed_links(item.output)}

    return write_objects(items, unparse)


def _parse(entry: Mapping[str, Any], kind: str, place: FileLine) -> tuple[tuple[Graph, Graph], Any]:
    x = _graph(entry, "first", place), _graph(entry, "second", place)
    sizes = len(x[0].words), len(x[1].words)
    if kind == "candidates":
        return x, _candidates(entry, sizes, place)
    links = links_at(entry, kind, place, sizes)
    linked = [other for _, other in links or () if other is not None]
    words = [one for one, other in links or () if other is not None]
    if len(set(linked)) < len(linked) or len(set(words)) < len(words):
        place.fail("a word is mapped twice", "map every word once at most")
    return x, links


def _graph(entry: Mapping[str, Any], which: str, place: FileLine) -> Graph:
    value = entry.get(which)
    if not isinstance(value, dict) or "words" not in value:
        place.fail(f'"{which}" is not a graph', f"write e.g. {EXAMPLE}")
    words, edges = value["words"], value.get("edges", [])
    if not isinstance(words, list) or not isinstance(edges, list):
        place.fail(f'the words or edges of "{which}" are not a list', f"write e.g. {EXAMPLE}")
    graph = Graph(
        tuple(_word(word, which, place) for word in words), tuple(_edge(edge, which, place) for edge in edges)
    )
    if (trouble := graph.trouble()) is not None:
        place.fail(f"the {which} graph {trouble[0]}", trouble[1])
    return graph


def _word(word: Any, which: str, place: FileLine) -> tuple[str, str]:
    cells = [word] if isinstance(word, str) else word
    if not isinstance(cells, list) or len(cells) not in (1, 2) or not all(isinstance(cell, str) for cell in cells):
        place.fail(f'"{which}" has the word {json.dumps(word)[:60]}', 'write "light" or ["light", "N"]')
    return cells[0], cells[1] if len(cells) == 2 else ""


def _edge(edge: Any, which: str, place: FileLine) -> tuple[int, int, str]:
    ends = edge[:2] if isinstance(edge, list) else []
    label = edge[2] if isinstance(edge, list) and len(edge) == 3 else ""
    numbers = len(ends) == 2 and all(map(is_whole, ends))
    if not numbers or len(edge) > 3 or not isinstance(label, str):
        place.fail(f'"{which}" has the edge {json.dumps(edge)[:60]}', 'write [1, 0] or [1, 0, "subj"]')
    return ends[0], ends[1], label


def _candidates(entry: Mapping[str, Any], sizes: tuple[int, int], place: FileLine) -> dict[int, tuple[int | None, ...]]:
    value = entry.get("candidates")
    if not isinstance(value, dict):
        place.fail('no "candidates"', 'write e.g. "candidates": {"0": [1, null]}, by words of the first graph')
    choices: dict[int, tuple[int | None, ...]] = {}
    for name, others in value.items():
        known = name.isascii() and name.isdigit() and int(name) < sizes[0]
        if not known or not isinstance(others, list) or not others:
            place.fail(f"the candidates {json.dumps({name: others})[:60]}", "give some, for words of the first graph")
        for other in others:
            if other is not None and (isinstance(other, bool) or other not in range(sizes[1])):
                place.fail(f"word {name} has the candidate {json.dumps(other)}", "give words of the second, or null")
        choices[int(name)] = tuple(others)
    return choices


def _plain(graph: Graph) -> dict[str, Any]:
    return {
        "words": [[word, tag] if tag else word for word, tag in graph.words],
        "edges": [[head, word, label] if label else [head, word] for head, word, label in graph.edges],
    }

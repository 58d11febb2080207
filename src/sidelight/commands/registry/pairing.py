"""Shared code of structures over pairs: bad pairs made from good ones, and links from outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.commands.registry.entry import FileFormat
from sidelight.data.items import Item
from sidelight.data.pairs import read_pair_objects, read_pairs, write_pair_objects, write_pairs
from sidelight.report.pictures import links_picture

PAIR_FORMATS = {
    "pairs": FileFormat(read_pairs, write_pairs, (".tsv", ".txt")),
    "jsonl": FileFormat(read_pair_objects, write_pair_objects, (".jsonl", ".json")),
}
Links = list[tuple[int, int]]


def paired_anew(xs: Sequence[tuple[Any, Any]], seed: int) -> list[tuple[Any, Any]]:
    """The left sides with the right side of another pair; a pair is left out if all pairs have its right side.

    >>> paired_anew([("a", "x"), ("b", "y")], 0)
    [('a', 'y'), ('b', 'x')]
    """
    order = np.random.default_rng(seed).permutation(len(xs))
    place = {int(i): k for k, i in enumerate(order)}
    pairs = []
    for i, (left, right) in enumerate(xs):
        others = (xs[order[(place[i] + k) % len(xs)]][1] for k in range(1, len(xs)))
        other = next((one for one in others if one != right), None)
        if other is not None:
            pairs.append((left, other))
    return pairs


def drawn(right: Item, predicted: Item) -> dict[str, Any]:
    """The two strings of a pair with their links."""
    source, target = right.x
    return links_picture(source, target, linked(predicted)[0], linked(right)[0])


def linked(item: Item) -> tuple[Links, set[int]]:
    """The links of an item, and the left positions that are linked with nothing."""
    links = [(i, j) for i, j in item.output if j is not None]
    return links, {i for i, j in item.output if j is None}

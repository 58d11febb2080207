"""Features of words and edges of one graph with those of another, and of what is deleted, hashed.

All pairs of two graphs are made at once, as entries (row, feature, value) that are then put in order: row s · K + k is
slot s, a word or an edge of the first graph, with choice k. What is deleted of the second graph is known once all is
mapped: the row of a mapping has that deletion with −1, and the first slot has all of them, whatever its choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.kernels import A, B, C
from sidelight.features.counts import SparseRows
from sidelight.features.words.lexicon import string_hashes

ONE: Keys = np.ones(1, dtype=np.uint64)  # the key of a template that sees nothing else
SHORT = 4  # letters of a prefix

Word = tuple[str, str]
Edge = tuple[int, int, str]


BY_NAME = {"mapped": 1, "same": 2, "lower": 3, "beginning": 4, "letters": 5, "edges": 30}  # templates by name
MORE, MOST_MORE = 20, 10  # the template of the first further similarity, and how many there may be


def places_of(salts: Sequence[int], bits: int) -> Ints:
    """The positions of the weights of templates whose only value is a number."""
    entries = _Entries(bits)
    for salt in salts:
        entries.add(np.zeros(1, dtype=np.int64), salt, ONE)
    return np.concatenate([np.zeros(0, np.int64), *entries.places])


class _Entries:
    """Entries of rows, gathered block by block."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.rows: list[Ints] = []
        self.places: list[Ints] = []
        self.values: list[Floats] = []

    def add(self, rows: Ints, salt: int, keys: Keys, values: Floats | float = 1.0) -> None:
        """A feature of every row, of one template; all are broadcast."""
        rows, keys, worth = np.broadcast_arrays(rows, keys, np.asarray(values, dtype=np.float64))
        nonzero = worth.ravel() != 0.0
        self.rows.append(rows.ravel()[nonzero])
        self.places.append(_places(salt, keys, self.bits).ravel()[nonzero])
        self.values.append(worth.ravel()[nonzero])

    def sorted(self, count: int) -> SparseRows:
        rows, places, values = np.concatenate(self.rows), np.concatenate(self.places), np.concatenate(self.values)
        distinct, which = np.unique(rows * (2 << self.bits) + places, return_inverse=True)
        totals = np.bincount(which, values, minlength=len(distinct)).astype(np.float64)
        at = np.bincount(distinct // (2 << self.bits), minlength=count)
        indptr = np.concatenate([[0], np.cumsum(at)]).astype(np.int64)
        return SparseRows(indptr, (distinct % (2 << self.bits)).astype(np.int32), totals)


def _places(salt: int, keys: Keys, bits: int) -> Ints:
    """The weights of a template's features; the first is the threshold."""
    mixed = (keys ^ (keys >> np.uint64(32))) * A + np.uint64(salt * int(B) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * C
    return 1 + (mixed >> np.uint64(64 - bits)).astype(np.int64)


def graph_rows(
    words: Sequence[Word],
    edges: Sequence[Edge],
    others: Sequence[Word],
    other_edges: Sequence[Edge],
    more: Floats,  # [words, others, D]
    deletions: tuple[bool, bool],  # whether deleted words and deleted edges have features
    choices: int,
    bits: int,
) -> SparseRows:
    """The features of every slot and choice of two graphs. # [slots · choices]"""
    entries = _Entries(bits)
    slots = np.arange(len(words) + len(edges)) * choices
    here, there = slots[: len(words), None], 1 + np.arange(len(others))
    alike = similar(words, others)
    tags, other_tags = _hashes([tag for _, tag in words]), _hashes([tag for _, tag in others])
    together = tags[:, None] * A + other_tags * B
    entries.add(here + there, 1, ONE)
    for number in range(alike.shape[2]):
        entries.add(here + there, 2 + number, ONE, alike[:, :, number])
    entries.add(here + there, 10, together)
    entries.add(here + there, 11, together, alike[:, :, 0])
    for number in range(more.shape[2]):
        entries.add(here + there, MORE + number, ONE, more[:, :, number])
    if edges and other_edges:
        _add_edges(entries, edges, other_edges, slots[len(words) :, None] + 1 + np.arange(len(other_edges)), alike)
    sides = ((tags, other_tags, slots[: len(words)], 3), (_labels(edges), _labels(other_edges), slots[len(words) :], 5))
    for (own, other, rows, salt), deletion in zip(sides, deletions):
        if deletion:
            _add_deletions(entries, own, other, rows, 100 * salt, np.arange(choices))
    return entries.sorted(len(slots) * choices)


def _add_edges(entries: _Entries, edges: Sequence[Edge], others: Sequence[Edge], rows: Ints, alike: Floats) -> None:
    """Labels of two edges, and how similar their words are."""
    labels, other_labels = _labels(edges), _labels(others)
    ends = np.array([edge[:2] for edge in edges]), np.array([edge[:2] for edge in others])
    entries.add(rows, 30, ONE)
    entries.add(rows, 31, labels[:, None] * A + other_labels * B)
    entries.add(rows, 32, ONE, (labels[:, None] == other_labels).astype(np.float64))
    for end in (0, 1):
        for number in range(alike.shape[2]):
            between = alike[ends[0][:, end][:, None], ends[1][:, end], number]
            entries.add(rows, 40 + 8 * end + number, ONE, between)


def _add_deletions(entries: _Entries, own: Keys, other: Keys, rows: Ints, salt: int, choices: Ints) -> None:
    """Add deletions: those of the first graph are choice 0; those of the second are all unmapped words."""
    for number, (keys, other_keys) in enumerate(((own * np.uint64(0), other * np.uint64(0)), (own, other))):
        if len(rows):
            entries.add(rows, salt + number, keys)
            entries.add(rows[:, None] + 1 + np.arange(len(other)), salt + 2 + number, other_keys, -1.0)
        if len(other):
            entries.add(choices[:, None], salt + 2 + number, other_keys)


def similar(words: Sequence[Word], others: Sequence[Word]) -> Floats:
    """How similar two words are: the same, the same in lower case, the same beginning, letters shared. # [A, B, 4]

    >>> similar([("Light", "N")], [("lights", "N")]).round(2).tolist()
    [[[0.0, 0.0, 1.0, 0.91]]]
    """
    forms, other = np.array([form for form, _ in words]), np.array([form for form, _ in others])
    lower, other_lower = np.char.lower(forms), np.char.lower(other)
    short, other_short = lower.astype(f"U{SHORT}"), other_lower.astype(f"U{SHORT}")
    grams = [[_grams(str(word)) for word in side] for side in (lower, other_lower)]
    every = sorted({gram for side in grams for own in side for gram in own})
    numbers = {gram: number for number, gram in enumerate(every)}
    tables = []
    for side in grams:
        table = np.zeros((len(side), len(every)))
        for row, own in enumerate(side):
            table[row, [numbers[gram] for gram in own]] = 1.0
        tables.append(table)
    sizes = tables[0].sum(axis=1)[:, None] + tables[1].sum(axis=1)
    shared = 2.0 * (tables[0] @ tables[1].T) / np.maximum(sizes, 1.0)
    return np.stack(
        [
            forms[:, None] == other,
            lower[:, None] == other_lower,
            short[:, None] == other_short,
            shared,
        ],
        axis=2,
    ).astype(np.float64)


@lru_cache(maxsize=50_000)
def _grams(word: str) -> frozenset[str]:
    """Pairs of letters, with the first one by itself."""
    return frozenset([word[:1], *(word[k : k + 2] for k in range(len(word) - 1))])


def _labels(edges: Sequence[Edge]) -> Keys:
    return _hashes([label for _, _, label in edges])


def _hashes(strings: Sequence[str]) -> Keys:
    return np.array([_hash(text) for text in strings], dtype=np.uint64)


@lru_cache(maxsize=50_000)
def _hash(text: str) -> int:
    return int(string_hashes("x", [text])[0])

"""A dictionary from elsewhere: which labels a word had in other sentences.

Rare words are not listed, and may have any label. A dictionary of labels lists the labels seen; one of types, for names
and fields, has B- and I- of every type seen, like a list of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.strangers.corpora import StrangersCorpus
from sidelight.experiments.strangers.reading import words_of

FLOOR = 2  # how often a word must have been seen to be listed
SHARE = 0.01  # of a word's uses that a label must have

Dictionary = Mapping[str, frozenset[str]]


def dictionary_of(corpus: StrangersCorpus) -> Dictionary:
    """The dictionary that a corpus has from elsewhere, in lower case, with labels of the corpus alone."""
    known = set(corpus.labels)
    types = corpus.listing == "types"
    results = listed_labels(corpus.elsewhere, types=types)
    entries = {word: labels & known for word, labels in results.items()}
    return {word: labels for word, labels in entries.items() if labels}


def listed_labels(examples: LabelledExamples, *, types: bool, floor: int = FLOOR) -> dict[str, frozenset[str]]:
    """The labels of every word that was seen often enough.

    >>> sorted(listed_labels(LabelledExamples([["Rome", "rome"]], [["B-LOC", "O"]]), types=True)["rome"])
    ['B-LOC', 'I-LOC', 'O']
    """
    uses: dict[str, Counter[str]] = {}
    for x, y in zip(examples.xs, examples.ys):
        for word, label in zip(words_of(x), y):
            uses.setdefault(word.lower(), Counter())[label] += 1
    out = {}
    for word, counts in uses.items():
        total = counts.total()
        seen = {label for label, times in counts.items() if times >= SHARE * total}
        if total >= floor:
            out[word] = frozenset(_closed(seen) if types else seen)
    return out


def candidate_sets(xs: Sequence[Any], dictionary: Dictionary) -> list[list[frozenset[str] | None]]:
    """For every token the labels that its word may have; None if it is not listed."""
    return [[dictionary.get(word.lower()) for word in words_of(x)] for x in xs]


def _closed(labels: set[str]) -> set[str]:
    return {mark + label[1:] for label in labels for mark in ("BI" if label[:2] in ("B-", "I-") else label[:1])}

"""Sentence pairs as flat arrays, and the vocabularies that number their words.

A pair of I source and J target words has I × J *cells*, row by row of the source: one for every link there could be.
Every cell knows its *entry*, the place of its word pair in the translation table; so kernels look nothing up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Ids, Ints
from sidelight.errors import DataError

Sentences = Sequence[Sequence[str]]


class Bitext(NamedTuple):
    """N sentence pairs; kernels take it as it is."""

    sources: Ids  # [S] word numbers
    targets: Ids  # [T]
    source_starts: Ints  # [N + 1]
    target_starts: Ints  # [N + 1]
    cell_starts: Ints  # [N + 1]
    entries: Ids  # [C] of the translation table

    @property
    def size(self) -> int:
        """N."""
        return len(self.source_starts) - 1


def vocabulary(sentences: Sentences) -> dict[str, int]:
    """Words numbered in the order in which they first occur.

    >>> vocabulary([["b", "a"], ["b"]])
    {'b': 0, 'a': 1}
    """
    return {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(sentences)))}


def numbers(sentences: Sentences, words: Mapping[str, int]) -> tuple[Ids, Ints]:
    """Word numbers [S] and starts [N + 1]; a word that is not in the vocabulary has the number after the last."""
    unknown = len(words)
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    number_of_word = (words.get(word, unknown) for word in chain.from_iterable(sentences))
    return np.fromiter(number_of_word, dtype=np.int32, count=int(starts[-1])), starts


def cells(source_starts: Ints, target_starts: Ints) -> Ints:
    """The first cell of every pair. # [N + 1]"""
    return np.concatenate([[0], np.cumsum(np.diff(source_starts) * np.diff(target_starts))])


def check_sentences(sources: Sentences, targets: Sentences) -> None:
    """Raise `DataError` for pairs that cannot be aligned."""
    if len(sources) != len(targets):
        raise DataError(
            f"{len(sources):,} source sentences but {len(targets):,} target sentences", remedy="give them in pairs"
        )
    if not len(sources):
        raise DataError("no sentence pairs", remedy="give at least one")
    for side, sentences in (("source", sources), ("target", targets)):
        for number, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                raise DataError(
                    f"the {side} sentence of pair {number} is one string", remedy="give a list of words, e.g. s.split()"
                )
            listed = isinstance(sentence, Sequence | np.ndarray) and getattr(sentence, "shape", None) != ()
            if not listed or not all(isinstance(word, str) for word in sentence):
                raise DataError(
                    f"the {side} sentence of pair {number} is not a list of words", remedy="give a list of strings"
                )
            if not len(sentence):
                raise DataError(f"the {side} sentence of pair {number} is empty", remedy="leave the pair out")


def folded(sentences: Sentences, *, lowercase: bool) -> Sentences:
    """Words as the model sees them."""
    if not lowercase:
        return sentences
    memory: dict[str, str] = {}
    return [[memory.get(word) or memory.setdefault(word, word.lower()) for word in words] for words in sentences]

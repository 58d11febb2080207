"""The emissions of an HMM: one symbol per token, derived from its attributes.

A token has a constant attribute, optionally the class of its word, and its word, in this order (`features.emissions`).
The symbols are the words, followed by one unknown word for every class. A word seen at most `rare` times counts as the
unknown word of its class, and so does any unknown word. So with V words and C classes, an HMM that emits

    P(w | l)  for a word,    P(unknown of class c | l)  for any other

has the linear weights

    constant    log Σ_c P(unknown of class c | l)
    class c     log P(unknown of class c | l) − constant
    word        log P(w | l) − class of w − constant,    0 for a rare word
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.features.rows import Rows

NEVER = -1000.0  # the weight of what has probability 0; finite, so that a model can still choose the lesser evil
REMEDY = "use features.emissions(), or tokens with a constant attribute and their word"


@dataclass(frozen=True, slots=True)
class Emissions:
    """The symbols, and their attributes."""

    constant: int  # attribute
    words: Ints  # [W] attribute of every word
    symbols: Ints  # [W] its symbol, that of its class if it is rare
    unknown: Ints  # [W] the symbol of its class
    classes: Ints  # [C] attribute of every class; one -1 if there are none
    n_words: int  # V, how many words have a symbol of their own

    @property
    def size(self) -> int:
        """The number of symbols, V + C."""
        return self.n_words + len(self.classes)

    @classmethod
    def of(cls, rows: Rows, *, rare: int = 0) -> tuple[Emissions, Ids]:
        """The symbols of a batch, and the one that each token emits [T]; raises `DataError` for other features."""
        emissions = cls.seen([rows], rare=rare)
        return emissions, emissions.emitted(rows)

    @classmethod
    def seen(cls, blocks: Sequence[Rows], *, rare: int = 0) -> Emissions:
        """The symbols of some batches; raises `DataError` for other features."""
        width = max(_width(rows) for rows in blocks)
        constants, kinds, pairs, counts = set[int](), [], [], []
        for rows in blocks:
            constant, own_kinds, words = _columns(rows, width)
            constants.add(constant)
            kinds.append(np.unique(own_kinds))
            distinct, times = np.unique(((words << 32) | (own_kinds + 1))[words >= 0], return_counts=True)
            pairs.append(distinct)
            counts.append(times)
        if len(constants) > 1:
            raise DataError("an HMM needs a constant attribute before the word", remedy=REMEDY)
        classes = np.unique(np.concatenate(kinds))
        if len(classes) > 1 and rare < 1:
            raise DataError("classes of unknown words are learned from rare words", remedy="give rare=1 or more")
        both, place = np.unique(np.concatenate(pairs), return_inverse=True)
        words, of_words = both >> 32, (both & 0xFFFFFFFF) - 1
        if np.any(words[1:] == words[:-1]):
            raise DataError("a word has more than one class", remedy="use classes that the word alone decides")
        of_word = np.searchsorted(classes, of_words)
        own = np.bincount(place, np.concatenate(counts), minlength=len(words)) > rare
        n_words = int(np.count_nonzero(own))
        symbols = np.where(own, np.cumsum(own) - 1, n_words + of_word)
        return cls(constants.pop(), words, symbols, n_words + of_word, classes, n_words)

    def emitted(self, rows: Rows) -> Ids:
        """The symbol of every token of a batch, all of whose words were seen. # [T]"""
        width = 3 if len(self.classes) > 1 or self.classes[0] >= 0 else 2
        _, kinds, words = _columns(rows, width)
        seen = words >= 0
        tokens = self.n_words + np.searchsorted(self.classes, kinds)
        tokens[seen] = self.symbols[np.searchsorted(self.words, words[seen])]
        return tokens.astype(np.int32)

    def weights(self, emission: Floats) -> tuple[Floats, Floats, Floats]:
        """Linear weights of the constant [L], of classes [C, L] and of words [W, L] from P(symbol | l) [V + C, L]."""
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(emission), NEVER)
            constant = np.maximum(np.log(emission[self.n_words :].sum(axis=0)), NEVER)
        return constant, logs[self.n_words :] - constant, logs[self.symbols] - logs[self.unknown]

    def probabilities(self, constant: Floats, classes: Floats, words: Floats) -> Floats:
        """P(symbol | l) [V + C, L] from such weights, or from any others after normalisation."""
        scores = np.empty((self.size, len(constant)))
        scores[self.n_words :] = constant + classes
        own = self.symbols < self.n_words
        scores[self.symbols[own]] = scores[self.unknown[own]] + words[own]
        scores -= scores.max(axis=0)
        emission = np.where(scores > NEVER / 2, np.exp(scores), 0.0)
        return np.asarray(emission / emission.sum(axis=0))


def _width(rows: Rows) -> int:
    """The maximum number of entries of a token."""
    return int(np.diff(rows.indptr).max(initial=0))


def _columns(rows: Rows, width: int) -> tuple[int, Ints, Ints]:
    """The constant attribute, the class of every token (-1 if there are none) and its word (-1 if it is not known)."""
    entries = np.diff(rows.indptr)
    ones = len(rows.values) == 0 or bool(np.all(rows.values == 1.0))
    if rows.dense.shape[1] or not ones or width not in (2, 3) or int(entries.min()) < width - 1:
        raise DataError("an HMM emits one word for a token, and these features are others", remedy=REMEDY)
    firsts = rows.indptr[:-1]
    constants = rows.indices[firsts]
    if np.any(constants != constants[0]):
        raise DataError("an HMM needs a constant attribute before the word", remedy=REMEDY)
    whole = entries == width
    words = np.full(len(entries), -1, dtype=np.int64)
    words[whole] = rows.indices[firsts[whole] + width - 1]
    kinds = np.full(len(entries), -1, dtype=np.int64)
    if width == 3:
        kinds[:] = rows.indices[firsts + 1]
    return int(constants[0]), kinds, words


def grouped(tokens: Ids, size: int) -> tuple[Ints, Ints]:
    """The tokens in the order of their symbols [T], and where each symbol's begin [S + 1].

    >>> order, bounds = grouped(np.array([1, 0, 1], dtype=np.int32), 2)
    >>> order.tolist(), bounds.tolist()
    ([1, 0, 2], [0, 1, 3])
    """
    order = np.argsort(tokens, kind="stable").astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(tokens, minlength=size))]).astype(np.int64)
    return order, bounds

"""Random draws and fixed splits of a corpus, and the readers that the experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.columns import read_columns
from sidelight.errors import DataError
from sidelight.evidence import Evidence, Gold, companion, gold, shuffled
from sidelight.experiments.grid import LabelledExamples, Setting

READ: dict[str, Path] = {}  # the corpora used by this process


def folder_of(data: Path, name: str) -> Path:
    """The folder of a corpus; raises `DataError` if it is missing."""
    folder = Path(data) / name
    if not folder.is_dir():
        raise DataError("there is no such folder", file=folder, remedy=f"give the folder that holds {name}/")
    READ[name] = folder
    return folder


def read_words(path: Path, *, labelled: bool = True) -> LabelledExamples:
    """Sentences as lists of words (the first column), with the last column as their labels."""
    corpus = read_columns(path)
    ys: Sequence[Any] = corpus.ys if labelled and corpus.ys is not None else []
    return LabelledExamples([[token[0] for token in x] for x in corpus.xs], ys)


def labels_of(examples: LabelledExamples) -> list[str]:
    """All labels in their order."""
    return sorted({label for y in examples.ys for label in y})


def tokens_of(xs: Sequence[Sequence[Any]]) -> int:
    """The total number of tokens."""
    return sum(len(x) for x in xs)


def drawn(examples: LabelledExamples, *, tokens: int, draw: int) -> list[Gold]:
    """Examples at random until they have at least `tokens` tokens; the last one is kept whole.

    Draws of the same number are nested: more tokens mean the same examples and some more.

    >>> len(drawn(LabelledExamples([["a", "b"], ["c", "d"]], [["X", "X"], ["X", "X"]]), tokens=3, draw=0))
    2
    """
    order = np.random.default_rng([draw, 1]).permutation(len(examples.xs))
    lengths = np.array([len(examples.xs[i]) for i in order])
    count = 1 + int(np.searchsorted(np.cumsum(lengths), tokens))
    return part(examples, order[:count])


@dataclass(frozen=True)
class ShuffledCorpus:
    """A corpus whose good examples, with their tokens shuffled, are the bad ones; and how draws are made from it."""

    train: LabelledExamples
    dev: LabelledExamples
    test: LabelledExamples
    good: list[list[str]]
    labels: list[str]

    def gold(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        """Labelled examples with about as many tokens as the setting has."""
        return drawn(self.train, tokens=setting.size, draw=draw)

    def companion(self, setting: Setting, draw: int) -> Sequence[Evidence]:
        """Every good example, and one shuffle of each."""
        return [*companion(self.good, +1), *companion(shuffled(self.good, seed=draw), -1)]


def part(examples: LabelledExamples, which: Any) -> list[Gold]:
    """Some examples as evidence."""
    return gold([examples.xs[i] for i in which], [examples.ys[i] for i in which])


def split(examples: LabelledExamples, *, tokens: Sequence[int], seed: int) -> list[LabelledExamples]:
    """The examples in a random order, cut into pieces of about so many tokens, and the rest as the last piece."""
    order = np.random.default_rng(seed).permutation(len(examples.xs))
    ends = np.cumsum([len(examples.xs[i]) for i in order])
    cuts = [0, *(int(np.searchsorted(ends, total)) + 1 for total in np.cumsum(tokens)), len(order)]
    return [
        LabelledExamples([examples.xs[i] for i in order[a:b]], [examples.ys[i] for i in order[a:b]])
        for a, b in pairwise(cuts)
    ]

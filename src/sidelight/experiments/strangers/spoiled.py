"""Evidence that is spoiled on purpose, to see that it does no harm: what a stranger may have without knowing.

Half of a dictionary's entries are wrong, half of the functions vote at random, good and shuffled inputs are swapped, a
rule is false.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.experiments.strangers.dictionaries import Dictionary
from sidelight.experiments.strangers.reading import Function, Votes, words_of
from sidelight.rules import Rule, gallery


def half_wrong(dictionary: Dictionary, *, seed: int) -> dict[str, frozenset[str]]:
    """Every other entry, at random, gets the labels of another word, none of which is its own where there is one.

    >>> wrong = half_wrong({"a": frozenset("X"), "b": frozenset("Y")}, seed=0)
    >>> [wrong[word] == {label} for word, label in ("aX", "bY")].count(True)
    1
    """
    rng = np.random.default_rng([seed, 41])
    words = sorted(dictionary)
    half = rng.permutation(len(words))[: len(words) // 2]
    sets = sorted({tuple(sorted(labels)) for labels in dictionary.values()})
    out = dict(dictionary)
    for number in half:
        own = dictionary[words[number]]
        others = [labels for labels in sets if not own & set(labels)] or sets
        out[words[number]] = frozenset(others[rng.integers(len(others))])
    return out


class RandomVotes:
    """A function that votes as often as another one, for a label drawn at random, the same for a word always."""

    def __init__(self, function: Function, labels: Sequence[str], seed: int) -> None:
        self.function, self.labels, self.seed = function, list(labels), seed
        self.__name__ = f"{function.__name__}_at_random"

    def __call__(self, x: Sequence[Any]) -> Votes:
        votes = self.function(x)
        return [None if vote is None else self._drawn(word) for word, vote in zip(words_of(x), votes)]

    def _drawn(self, word: str) -> str:
        return self.labels[zlib.crc32(f"{self.seed} {self.__name__} {word}".encode()) % len(self.labels)]


def half_random(functions: Sequence[Function], labels: Sequence[str], *, seed: int) -> tuple[Function, ...]:
    """Every other function, at random, votes at random."""
    half = set(np.random.default_rng([seed, 43]).permutation(len(functions))[: len(functions) // 2].tolist())
    return tuple(RandomVotes(f, labels, seed) if k in half else f for k, f in enumerate(functions))


def false_rule(labels: Sequence[str], common: str) -> Rule:
    """A rule that forbids the commonest label: a hard one, and false."""
    others = [label for label in labels if label != common]
    return gallery.pattern_is(r"\w+", *others, name="False")

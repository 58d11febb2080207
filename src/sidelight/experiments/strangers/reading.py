"""How a labelling function reads a sentence: words of tokens, and labels for the tokens that something is true of."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

Votes = list[Any]  # a label, a set of labels, or None for every token
Function = Callable[[Sequence[Any]], Votes]


def words_of(x: Sequence[Any]) -> list[str]:
    """The words of a sentence whose tokens are words or columns that begin with one.

    >>> words_of([("He", "PRP"), ("ran", "VBD")])
    ['He', 'ran']
    """
    return [token if isinstance(token, str) else token[0] for token in x]


def labelled(x: Sequence[Any], true_of: Callable[[str], Any], label: Any) -> Votes:
    """The label for every word that something is true of.

    >>> labelled(["Ann", "ran"], str.istitle, "NAME")
    ['NAME', None]
    """
    return [label if true_of(word) else None for word in words_of(x)]


def listed(x: Sequence[Any], words: Collection[str], label: Any) -> Votes:
    """The label for every word of a list in lower case."""
    return labelled(x, lambda word: word.lower() in words, label)


def matched(x: Sequence[Any], pattern: str, label: Any) -> Votes:
    """The label for every word that matches in full."""
    read = re.compile(pattern)
    return labelled(x, lambda word: read.fullmatch(word) is not None, label)


def runs(x: Sequence[Any], true_of: Callable[[str], Any]) -> list[tuple[int, int]]:
    """The longest runs of words that something is true of: (first, one past the last).

    >>> runs(["in", "New", "York", "today"], str.istitle)
    [(1, 3)]
    """
    results: list[tuple[int, int]] = []
    for t, word in enumerate(words_of(x)):
        if not true_of(word):
            continue
        if results and results[-1][1] == t:
            results[-1] = (results[-1][0], t + 1)
        else:
            results.append((t, t + 1))
    return results


def span_votes(x: Sequence[Any], spans: Sequence[tuple[int, int, str]]) -> Votes:
    """Spans (first, one past the last, type) as BIO labels.

    >>> span_votes(["in", "New", "York"], [(1, 3, "LOC")])
    [None, 'B-LOC', 'I-LOC']
    """
    votes: Votes = [None] * len(x)
    for first, end, kind in spans:
        votes[first:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - first - 1)]
    return votes

"""Attributes of entities and of pairs of entities, by name.

`paper` are those of Roth, Small and Titov (2009): of an entity its words, their number, two words before and after,
and whether a word is in a list; of a pair the words of the sentence, the words of both entities, their distance.
`rich` adds spelling and the words around and between.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from sidelight.data.relations import EntitySentence

Lists = Mapping[str, Collection[str]]
NEAR = 2  # words before and after an entity
FAR = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)  # distances that are distinguished
_RUNS = re.compile(r"(.)\1+")


def entity_attributes(x: EntitySentence, i: int, *, rich: bool, lists: Lists) -> list[str]:
    """The attributes of one entity."""
    first, last = x.spans[i]
    words = x.tokens[first:last]
    attributes = [f"word={word}" for word in words] + [f"words={min(len(words), 6)}"]
    attributes += [f"at{k:+d}={word}" for k, word in _around(x, first, last)]
    attributes += [f"list={name}" for name, members in lists.items() if any(word in members for word in words)]
    if rich:
        attributes += [f"shape={shape(word)}" for word in words] + [
            f"last={words[-1].lower()}",
            f"first={words[0].lower()}",
        ]
        attributes += [f"suffix={word[-3:].lower()}" for word in words] + [
            f"prefix={word[:3].lower()}" for word in words
        ]
        attributes += [f"shapes={' '.join(map(shape, words))}", f"whole={' '.join(words).lower()}"]
        attributes += [f"near{k:+d}={word.lower()}" for k, word in _around(x, first, last)]
        attributes += [f"near shape{k:+d}={shape(word)}" for k, word in _around(x, first, last)]
    return list(dict.fromkeys(attributes))


def pair_attributes(x: EntitySentence, a: int, b: int, *, rich: bool) -> list[str]:
    """The attributes of two entities, of which a comes first."""
    (start, end), (other_start, other_end) = x.spans[a], x.spans[b]
    between = x.tokens[end:other_start]
    attributes = [f"word={word}" for word in x.tokens]
    attributes += [f"first={word}" for word in x.tokens[start:end]]
    attributes += [f"second={word}" for word in x.tokens[other_start:other_end]]
    attributes += [f"distance={_bucket(len(between))}"]
    if rich:
        words = [word.lower() for word in between]
        attributes += [f"between={word}" for word in words]
        attributes += [f"between={one} {two}" for one, two in pairwise(words)]
        attributes += [f"path={' '.join(words)}"] if len(words) <= 6 else []
        attributes += [f"entities between={b - a - 1}"]
        attributes += [f"before first{k}={word.lower()}" for k, word in _around(x, start, end)]
        attributes += [f"by second{k}={word.lower()}" for k, word in _around(x, other_start, other_end)]
        attributes += [f"first shape={shape(x.tokens[end - 1])}", f"second shape={shape(x.tokens[other_end - 1])}"]
    return list(dict.fromkeys(attributes))


def shape(word: str) -> str:
    """A word with its letters and digits folded, runs as one.

    >>> shape("McDonald's"), shape("1994")
    ('XxXx.x', '0')
    """
    kinds = ("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else "." for c in word)
    return _RUNS.sub(r"\1", "".join(kinds))


def _around(x: EntitySentence, first: int, last: int) -> Sequence[tuple[int, str]]:
    before = [(t - first, x.tokens[t]) for t in range(max(first - NEAR, 0), first)]
    return before + [(t - last + 1, x.tokens[t]) for t in range(last, min(last + NEAR, len(x.tokens)))]


def _bucket(distance: int) -> str:
    return str(next((most for most in FAR if distance <= most), "more")) if distance > 0 else "0"

"""Titles: a pattern, its slots filled with words of one topic and words of all."""

from __future__ import annotations

import re
from collections.abc import Callable

from sidelight.corpus.dice import Dice
from sidelight.corpus.names import CITIES
from sidelight.corpus.words import (
    ADJECTIVES,
    ASPECTS,
    BOOK_PATTERNS,
    FORMS,
    HEADS,
    MASS,
    PATTERNS,
    SYSTEM_PARTS,
    TAILS,
    THINGS,
    TOPICS,
    VERBS,
    gerund,
    plural,
)

_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa])n? (?=(\w+))")
_VOWEL = re.compile(r"(?!uni|use|one|eu)[aeiou]", re.IGNORECASE)


def title(topic: int, dice: Dice, *, book: bool = False) -> str:
    """A title in sentence case about a topic, given as its place in `TOPICS`.

    >>> title(0, Dice(5)) == title(0, Dice(5))
    True
    """
    pattern = dice.zipf(BOOK_PATTERNS if book else PATTERNS, flat=5.0)
    if not book and ":" not in pattern and dice.chance(0.3):
        tail = dice.pick(TAILS)
        pattern += "" if tail.startswith((" for", " in")) and tail[:4] in pattern else tail
    text = _SLOT.sub(lambda slot: _FILL[slot[1]](topic, dice), pattern)
    text = _ARTICLE.sub(lambda match: match[1] + ("n " if _VOWEL.match(match[2]) else " "), text)
    head, colon, tail = text.partition(": ")
    return head[:1].upper() + head[1:] + colon + (tail[:1].upper() + tail[1:] if dice.chance(0.5) else tail)


def _term(topic: int, dice: Dice) -> str:
    if dice.chance(0.65):
        return dice.zipf(TOPICS[topic].terms)
    if dice.chance(0.3):
        return dice.zipf(TOPICS[dice.between(0, len(TOPICS) - 1)].terms)
    thing = dice.zipf(THINGS, flat=4.0)
    return f"{thing} {dice.zipf(FORMS[:12])}" if dice.chance(0.4) else thing


def _system(topic: int, dice: Dice) -> str:
    name = dice.pick(SYSTEM_PARTS[0]) + dice.pick(SYSTEM_PARTS[1])
    return name.upper() if dice.chance(0.4) else name


_FILL: dict[str, Callable[[int, Dice], str]] = {
    "form": lambda _, dice: dice.zipf(FORMS, flat=5.0),
    "forms": lambda _, dice: plural(dice.zipf(FORMS, flat=5.0)),
    "aspect": lambda _, dice: dice.zipf(ASPECTS, flat=5.0),
    "thing": lambda _, dice: dice.zipf(THINGS, flat=4.0),
    "things": lambda _, dice: plural(dice.zipf(THINGS, flat=4.0)),
    "mass": lambda _, dice: dice.zipf(MASS, flat=5.0),
    "adj": lambda _, dice: dice.zipf(ADJECTIVES, flat=4.0),
    "verb": lambda _, dice: dice.zipf(VERBS, flat=3.0),
    "verbing": lambda _, dice: gerund(dice.zipf(VERBS, flat=3.0)),
    "head": lambda _, dice: dice.pick(HEADS),
    "term": _term,
    "terms": lambda topic, dice: plural(_term(topic, dice)),
    "topic": lambda topic, dice: dice.zipf(TOPICS[topic].names),
    "name": _system,
    "year": lambda _, dice: dice.pick(("1984", "1990", "2000", "2010", "2020")),
    "city": lambda _, dice: dice.zipf(CITIES)[0],
}

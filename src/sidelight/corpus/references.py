"""Bibliographic references from a grammar: a corpus that needs no download and has no licence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from sidelight.corpus.dice import Dice
from sidelight.corpus.noise import roughen
from sidelight.corpus.tokens import parse, write
from sidelight.corpus.works import cite
from sidelight.errors import DataError

FIELDS: tuple[str, ...] = (
    "author", "title", "journal", "booktitle", "editor", "volume", "pages", "date", "publisher", "location",
    "institution", "tech", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: tokens, and for each the field it belongs to; a mark belongs to the field it ends.

    >>> reference = Reference(("D", ".", "Holt", ",", "1994", "."), ("author",) * 4 + ("date",) * 2)
    >>> reference.text
    'D. Holt, 1994.'
    >>> reference.fields
    (('author', 'D. Holt,'), ('date', '1994.'))
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        """The reference as a line of text."""
        return write(self.tokens)

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The runs of equal labels: field and text, in order."""
        runs = groupby(zip(self.labels, self.tokens), key=lambda pair: pair[0])
        return tuple((label, write(token for _, token in run)) for label, run in runs)


def references(count: int, *, seed: int = 0) -> list[Reference]:
    """Generate `count` references, equal for equal seeds; a longer list begins with the shorter ones.

    Raises `DataError` if the count is negative.

    >>> len(references(3)), references(3) == references(5)[:3]
    (3, True)
    """
    if count < 0:
        raise DataError(f"count is {count}", remedy="give 0 or more")
    dice = Dice(seed)
    return [_reference(dice) for _ in range(count)]


def _reference(dice: Dice) -> Reference:
    tokens: list[str] = []
    labels: list[str] = []
    for piece in roughen(*cite(dice), dice=dice):
        words = parse(piece.text)
        tokens += words
        labels += [piece.label] * len(words)
    return Reference(tuple(tokens), tuple(labels))

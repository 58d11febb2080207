"""The input that a rule sees: ordinary data, so Python's `for` and `if` select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any


class Sentence:
    """A sequence of tokens: `x.words`, `x.positions`, `x[t]` (the token as it was given), `len(x)`.

    >>> x = Sentence([("Light", "NN"), ("shines", "VB")])
    >>> x.words, list(x.positions), x[1][1], x.columns[1]
    (['Light', 'shines'], [0, 1], 'VB', ['NN', 'VB'])
    """

    def __init__(self, tokens: Sequence[Any]) -> None:
        self.tokens = tokens

    @property
    def positions(self) -> range:
        """0, 1, … of the tokens."""
        return range(len(self.tokens))

    @cached_property
    def words(self) -> list[str]:
        """Every token as a string: itself, its first column, or its attribute "word" (or "w")."""
        return [_word(token) for token in self.tokens]

    @cached_property
    def lower(self) -> list[str]:
        """The words in lower case."""
        return [word.lower() for word in self.words]

    @cached_property
    def columns(self) -> list[list[Any]]:
        """The columns of tokens that have several."""
        return [list(column) for column in zip(*self.tokens)]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, t: int) -> Any:
        return self.tokens[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tokens)


def _word(token: Any) -> str:
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        for name in ("word", "w"):
            if name in token:
                return str(token[name])
        raise KeyError("the tokens are attributes without 'word': read x[t] instead of x.words")
    if isinstance(token, Sequence) and len(token):
        return str(token[0])
    return str(token)

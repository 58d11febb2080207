"""Text to tokens and back: words and punctuation marks are tokens of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A hyphen or an apostrophe between letters stays inside its word; every other mark is a separate token.
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)+(?!\w)|\w+|[^\w\s]")

_NO_SPACE_BEFORE = frozenset(".,;:)]”!?")
_NO_SPACE_AFTER = frozenset("([“")
_DASHES = frozenset("-–/")
_TIES = _DASHES | {"."}


def parse(text: str) -> list[str]:
    """The tokens of a reference typed as plain text.

    >>> parse("O'Neil, A. (1994). Real-time search, 12(3):45-67.")[:8]
    ["O'Neil", ',', 'A', '.', '(', '1994', ')', '.']
    >>> parse("12(3):45-67.")
    ['12', '(', '3', ')', ':', '45', '-', '67', '.']
    """
    return _TOKEN.findall(text)


def write(tokens: Iterable[str]) -> str:
    """Readable text for tokens; `parse` gives the same tokens back when they came from `parse`.

    >>> write(parse('D. Holt. "Deep trees," Logic, 12(3):45-67, 1994.'))
    'D. Holt. "Deep trees," Logic, 12(3):45-67, 1994.'
    """
    words = list(tokens)
    text: list[str] = []
    open_quote = False
    glued = True  # the next token follows without a space
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        closes = word == '"' and open_quote
        tight = word in _NO_SPACE_BEFORE or closes or _joins(word, before, after)
        if not (glued or tight):
            text.append(" ")
        text.append(word)
        if word == '"':
            open_quote = not open_quote
        glued = word in _NO_SPACE_AFTER or (word == '"' and open_quote) or _glues(word, before, after)
    return "".join(text)


def _joins(word: str, before: str, after: str) -> bool:
    """Whether a dash or an issue number such as the (3) in 12(3) follows without a space."""
    if word in _DASHES:
        return _binds(before, after)
    return word == "(" and before.isdigit() and after.isdigit() and len(after) < 4


def _glues(word: str, before: str, after: str) -> bool:
    """Whether the next token follows a dash, or the colon of 12(3):45, without a space."""
    if word in _DASHES:
        return _binds(before, after)
    return word == ":" and (before == ")" or before.isdigit()) and after.isdigit()


def _binds(before: str, after: str) -> bool:
    """Whether a dash ties its neighbours together; between letters it must not, lest they read as one word."""
    if before[-1:].isalpha() and after[:1].isalpha():
        return False
    return (before[-1:].isalnum() or before in _TIES) and (after[:1].isalnum() or after in _DASHES)

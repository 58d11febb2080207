"""Tokenisation of plain text: words are separated by spaces, and punctuation is split off at their edges."""

from __future__ import annotations

import re
import unicodedata
from itertools import takewhile

# Marks at either end of a word; a word begins and ends with a letter or a digit.
_EDGES = re.compile(r"([^\w\s]*)(.*?)([^\w\s]*)", re.DOTALL)
_SAME = re.compile(r"(.)\1*")  # a mark, or the same one again and again: ... -- ``
_SHORTENED = re.compile(r"\w|.*\w\.\w+", re.DOTALL)  # J. and U.S.: the stop is part of the word


def tokens_in(line: str) -> list[str]:
    """The tokens of a line of text; a line that is already tokenised keeps its tokens.

    Marks inside a word are not split off; neither is the full stop of an initial, U.S. or e.g.

    >>> tokens_in('"Ann (J. Lee\\'s aunt) lives in the U.S.," he said...')
    ['"', 'Ann', '(', 'J.', "Lee's", 'aunt', ')', 'lives', 'in', 'the', 'U.S.', ',', '"', 'he', 'said', '...']
    >>> tokens_in("It 's 3.5 % , in New-York .")
    ['It', "'s", '3.5', '%', ',', 'in', 'New-York', '.']
    """
    return [line[start:end] for start, end in token_places(line)]


def token_places(text: str, *, spaces: bool = False) -> list[tuple[int, int]]:
    """The positions of the tokens of a text: the first character, and one past the last.

    With `spaces`, tokens are separated by white space only, and keep their marks.

    >>> token_places("Ann  left, she said.")
    [(0, 3), (5, 9), (9, 10), (11, 14), (15, 19), (19, 20)]
    """
    places = []
    for word in re.finditer(r"\S+", text):
        at = word.start()
        for part in [word.group()] if spaces else _parts(word.group()):
            places.append((at, at + len(part)))
            at += len(part)
    return places


def _parts(word: str) -> list[str]:
    match = _EDGES.fullmatch(word)
    assert match is not None
    before, middle, after = match.groups()
    if not middle:
        return _marks(word)
    accents = "".join(takewhile(_is_combining, after))
    middle, after = middle + accents, after[len(accents) :]
    if before in ("'", "’") and not after:  # 's and 'll, as written by tokenisers
        return [word]
    if after.startswith(".") and not after.startswith("..") and _SHORTENED.fullmatch(middle):
        middle, after = f"{middle}.", after[1:]
    return [*_marks(before), middle, *_marks(after)]


def _marks(edge: str) -> list[str]:
    """The marks of an edge, each with the combining characters after it."""
    marks: list[str] = []
    for mark in _SAME.finditer(edge):
        if marks and _is_combining(mark[1]):
            marks[-1] += mark.group()
        else:
            marks.append(mark.group())
    return marks


def _is_combining(char: str) -> bool:
    """Whether it is an accent, or a vowel sign, of the character before it."""
    return unicodedata.category(char).startswith("M")

"""Plain text to tokens: words by the spaces between them, punctuation at their edges apart."""

from __future__ import annotations

import re

# Marks at either end of a word; a word is what has a letter or a digit at both of its ends.
_EDGES = re.compile(r"([^\w\s]*)(.*?)([^\w\s]*)", re.DOTALL)
_SAME = re.compile(r"(.)\1*")  # a mark, or the same one again and again: ... -- ``
_SHORTENED = re.compile(r"\w|.*\w\.\w+", re.DOTALL)  # J. and U.S.: the stop is part of the word


def tokens_in(line: str) -> list[str]:
    """The tokens of a line of text; a line that is tokenised already comes back as its tokens.

    Marks inside a word stay there, as does the full stop of an initial and of U.S. or e.g.

    >>> tokens_in('"Ann (J. Lee\\'s aunt) lives in the U.S.," he said...')
    ['"', 'Ann', '(', 'J.', "Lee's", 'aunt', ')', 'lives', 'in', 'the', 'U.S.', ',', '"', 'he', 'said', '...']
    >>> tokens_in("It 's 3.5 % , in New-York .")
    ['It', "'s", '3.5', '%', ',', 'in', 'New-York', '.']
    """
    return [token for word in line.split() for token in _parts(word)]


def _parts(word: str) -> list[str]:
    found = _EDGES.fullmatch(word)
    assert found is not None
    before, middle, after = found.groups()
    if not middle:
        return [mark.group() for mark in _SAME.finditer(word)]
    if before in ("'", "’") and not after:  # 's and 'll, as tokenisers write them
        return [word]
    if after.startswith(".") and not after.startswith("..") and _SHORTENED.fullmatch(middle):
        middle, after = f"{middle}.", after[1:]
    marks = [[mark.group() for mark in _SAME.finditer(edge)] for edge in (before, after)]
    return [*marks[0], middle, *marks[1]]

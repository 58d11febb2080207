r"""The simple regular expressions of Wapiti, which its macros %t and %m search in a token.

`.` is any character, and `\a \d \l \p \s \u \w` a letter, digit, small letter, mark, white space, capital, or letter or
digit; their capitals are everything else. `x*` matches as few as possible (also none), `x?` one if possible. `^` at the
beginning and `$` at the end match the beginning and the end of the token. All other characters match themselves,
including `+`, `(` and `[`, and characters after a backslash. Patterns match characters, whereas Wapiti matches bytes.

Lavergne, Cappé and Yvon (2010), Practical very large scale CRFs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from sidelight.errors import DataError

Test = Callable[[str], bool]
_CLASSES: dict[str, Test] = {
    "a": str.isalpha,
    "d": str.isdigit,
    "l": str.islower,
    "p": lambda char: char.isprintable() and not char.isalnum() and not char.isspace(),
    "s": str.isspace,
    "u": str.isupper,
    "w": str.isalnum,
}


class PatternStep(NamedTuple):
    """A test of one character, and how often it is wanted."""

    test: Test
    often: Literal["once", "any", "perhaps"]


@lru_cache(maxsize=1024)
def compiled(expression: str) -> Callable[[str], str | None]:
    r"""A function that gives the first stretch of a text which an expression matches; None if there is none.

    Raises `DataError` for a `*` or `?` that has nothing before it.

    >>> compiled(r"\d*-\d")("on 12-14"), compiled(r"^\u")("oslo"), compiled(r"s?$")("lights")
    ('12-1', None, 's')
    """
    first = expression.startswith("^")
    rest, last, steps = expression[first:], False, list[PatternStep]()
    at = 0
    while at < len(rest):
        char = rest[at]
        if char in "*?":
            remedy = f"write \\{char} for the character itself"
            raise DataError(f"{char} with nothing before it in {expression!r}", remedy=remedy)
        if char == "$" and at == len(rest) - 1:
            last = True
            break
        size = 2 if char == "\\" and at + 1 < len(rest) else 1
        test = _escaped(rest[at + 1]) if size == 2 else _literal(char) if char != "." else _any
        at += size
        often: Literal["once", "any", "perhaps"] = "once"
        if at < len(rest) and rest[at] in "*?":
            often = "any" if rest[at] == "*" else "perhaps"
            at += 1
        steps.append(PatternStep(test, often))
    return lambda text: _found(steps, text, first, last)


def _any(char: str) -> bool:
    return True


def _literal(literal: str) -> Test:
    return lambda char: char == literal


def _escaped(name: str) -> Test:
    if name in _CLASSES:
        return _CLASSES[name]
    if name.lower() in _CLASSES:
        inside = _CLASSES[name.lower()]
        return lambda char: not inside(char)
    return _literal(name)


def _found(steps: list[PatternStep], text: str, first: bool, last: bool) -> str | None:
    @cache
    def end(step: int, at: int) -> int | None:
        """The end of a match of the steps from `step` on."""
        if step == len(steps):
            return at if not last or at == len(text) else None
        test, often = steps[step]
        fits = at < len(text) and test(text[at])
        if often == "once":
            return end(step + 1, at + 1) if fits else None
        goes_on = (step, at + 1) if often == "any" else (step + 1, at + 1)
        ways = [(step + 1, at), *([goes_on] if fits else [])]
        if often == "perhaps":
            ways.reverse()
        return next((position for way in ways if (position := end(*way)) is not None), None)

    starts = range(1) if first else range(len(text) + 1)
    return next((text[start:stop] for start in starts if (stop := end(0, start)) is not None), None)

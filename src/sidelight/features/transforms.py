"""Named functions of one string, for templates; `None` means that the feature is absent."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from sidelight.errors import DataError
from sidelight.features.wapiti_patterns import compiled

Transform = Callable[[str], str | None]


class Classes(Protocol):
    """Classes of words, at levels from 1 on: `distributional.WordClasses`."""

    @property
    def levels(self) -> int: ...

    def of(self, word: str, level: int) -> str | None: ...


def _class(level: int, classes: Classes | None) -> Transform:
    if classes is None or level > classes.levels:
        there = "no classes of words" if classes is None else f"classes of {classes.levels} levels"
        raise DataError(
            f"the macro %class{level}, and there are {there}", remedy="give classes=word_classes(sentences)"
        )
    return lambda text: classes.of(text, level)


def _flag(test: Callable[[str], bool]) -> Transform:
    return lambda text: "yes" if test(text) else None


def _shape(text: str) -> str:
    """Letters to X and x, digits to 0, runs shortened: "McGraw-12" is "XxXx-0"."""
    if text.isascii() and text.isalpha():  # what most words are, without a look at every letter
        if text.islower():
            return "x"
        if text[1:].islower():
            return "Xx"
    kinds = "".join("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in text)
    return re.sub(r"(.)\1+", r"\1", kinds)


def _signature(text: str) -> str:
    """The spelling of an unknown word: its beginning, a digit, a hyphen, and its last two letters."""
    begins = "X" if text[:1].isupper() else "x" if text[:1].isalpha() else "0" if text[:1].isdigit() else "."
    marks = ("0" if any(c.isdigit() for c in text) else "") + ("-" if "-" in text else "")
    ending = text[-2:].lower() if len(text) > 3 and text[-2:].isalpha() else ""
    return f"{begins}{marks}/{ending}"


def _folded(text: str) -> str:
    """Lower case, and every digit the same: "B-1992" is "b-0000"."""
    lower = text.lower()
    return lower if lower.isalpha() else "".join("0" if c.isdigit() else c for c in lower)


def _is_mixed(text: str) -> bool:
    """Capitals beyond the first letter, and small letters too: "McGraw", "iPod"."""
    return text != text.lower() and text != text.upper() and text[1:] != text[1:].lower()


def _case(text: str) -> str:
    """One of a few classes: "a", "A", "AA", "Aa", "AaA" and "aA" (capitals within), "0", "0." (with marks), "."."""
    if text.islower():
        return "a"
    if text.isupper():
        return "AA" if len(text) > 1 else "A"
    if text.istitle():
        return "Aa"
    if text != text.lower():
        return "AaA" if text[0].isupper() else "aA"
    if text.isdigit():
        return "0"
    return "0." if any(map(str.isdigit, text)) else "."


_NAMED: dict[str, Transform] = {
    "x": lambda text: text,
    "lower": str.lower,
    "folded": _folded,
    "shape": _shape,
    "case": _case,
    "signature": _signature,
    "capitalized": _flag(lambda text: text[:1].isupper()),
    "capitals": _flag(lambda text: len(text) > 1 and text.isupper()),
    "mixed": _flag(_is_mixed),
    "initial": _flag(lambda text: len(text) == 2 and text[0].isupper() and text[1] == "."),
    "hyphen": _flag(lambda text: "-" in text),
    "digit": _flag(lambda text: not text.isalpha() and any(map(str.isdigit, text))),
    "number": _flag(str.isdigit),
    "punctuation": _flag(lambda text: bool(text) and not text.isalnum() and not any(map(str.isalnum, text))),
}
_SIZED = re.compile(r"(prefix|suffix|foldedprefix|foldedsuffix|ending|class)([1-9])")


def transform(name: str, classes: Classes | None = None) -> Transform:
    """The transform of this name: x, lower, folded (lower case, all digits alike), shape, case (a few classes of it),
    signature, prefixN, suffixN, foldedprefixN, foldedsuffixN, endingN, classN, or a flag: capitalized, capitals
    (nothing else), mixed, initial ("J."), hyphen, digit, number, punctuation.

    Those of Wapiti are "test:expression" ("true" or "false"), "match:expression" (what it finds, which may be nothing)
    and "lowermatch:expression"; see `wapiti_patterns`.

    classN is the class of the word at a level of `classes` (see `word_classes`), 1 the coarsest.

    A prefix or suffix is absent from words that are shorter than it; an ending is lower-cased, and the whole of a
    shorter word.

    >>> transform("suffix3")("lighting"), transform("suffix3")("on"), transform("shape")("McGraw-12")
    ('ing', None, 'XxXx-0')
    """
    if name in _NAMED:
        return _NAMED[name]
    kind, colon, expression = name.partition(":")
    if colon and kind in ("test", "match", "lowermatch"):
        pattern = compiled(expression)
        if kind == "test":
            return lambda text: "false" if pattern(text) is None else "true"
        return (lambda text: pattern(text) or "") if kind == "match" else (lambda text: (pattern(text) or "").lower())
    sized = _SIZED.fullmatch(name)
    if sized is not None and sized[1] == "class":
        return _class(int(sized[2]), classes)
    if sized is None:
        sizes = [f"{name}1…9" for name in ("prefix", "suffix", "foldedprefix", "foldedsuffix", "ending", "class")]
        known = ", ".join([*_NAMED, *sizes])
        raise DataError(f"unknown macro %{name}", remedy=f"use one of {known}")
    count = int(sized[2])
    if sized[1] == "ending":
        return lambda text: text[-count:].lower()
    if sized[1].endswith("prefix"):
        affix = slice(count)
    else:
        affix = slice(-count, None)
    if sized[1].startswith("folded"):
        return lambda text: _folded(text[affix]) if len(text) >= count else None
    return lambda text: text[affix] if len(text) >= count else None

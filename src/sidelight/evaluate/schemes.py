"""Schemes of chunk labels: their prefixes, and which label may follow which.

| scheme | a chunk of one token, of three | further rule |
|---|---|---|
| BIO (IOB2) | B; B I I | |
| IOB1 | I; I I I | B only where a chunk of the same type has just ended |
| BIOES (IOBES) | S; B I E | |
| BILOU | U; B I L | |

Between two labels, either a chunk continues (both have the same type), or one ends and another begins; `O` is a chunk
of one token. So a scheme is defined by four properties of each prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sidelight.core.checks import arguments_checked
from sidelight.errors import DataError

SchemeName = Literal["BIO", "IOB1", "BIOES", "BILOU"]


class ChunkPrefix(NamedTuple):
    """The properties of a prefix."""

    begins: bool  # its token may be the first of a chunk
    continues: bool  # its token may be a later one
    ends: bool  # it may be the last
    goes_on: bool  # its token may be followed by another one of the chunk


_OUTSIDE = ChunkPrefix(begins=True, continues=False, ends=True, goes_on=False)
_FIRST = ChunkPrefix(begins=True, continues=False, ends=False, goes_on=True)
_MIDDLE = ChunkPrefix(begins=False, continues=True, ends=False, goes_on=True)
_LAST = ChunkPrefix(begins=False, continues=True, ends=True, goes_on=False)

PREFIXES: Mapping[SchemeName, Mapping[str, ChunkPrefix]] = {
    "BIO": {"B": ChunkPrefix(True, False, True, True), "I": ChunkPrefix(False, True, True, True)},
    "IOB1": {"B": ChunkPrefix(True, False, True, True), "I": ChunkPrefix(True, True, True, True)},
    "BIOES": {"B": _FIRST, "I": _MIDDLE, "E": _LAST, "S": _OUTSIDE},
    "BILOU": {"B": _FIRST, "I": _MIDDLE, "L": _LAST, "U": _OUTSIDE},
}
SCHEMES: tuple[SchemeName, ...] = tuple(PREFIXES)


def prefix_and_type(label: object, scheme: SchemeName) -> tuple[str, str]:
    """A label's prefix and type, ("O", "") outside; raises DataError for a label that the scheme does not have.

    >>> prefix_and_type("B-NP", "BIO"), prefix_and_type("O", "BILOU"), prefix_and_type("I", "BIO")
    (('B', 'NP'), ('O', ''), ('I', ''))
    """
    text = str(label)
    if text == "O":
        return "O", ""
    prefix, dash, kind = text[:1], text[1:2], text[2:]
    if prefix not in PREFIXES[scheme] or dash not in ("", "-") or (dash and not kind):
        own = ", ".join(f"{one}-type" for one in PREFIXES[scheme])
        raise DataError(f"label {text!r} is not a {scheme} label", remedy=f"use O, {own}, or another scheme or none")
    return prefix, kind


def may_follow(before: object, after: object, scheme: SchemeName) -> bool:
    """Whether a label may directly follow another; None for one of them means the edge of the sentence.

    >>> may_follow("B-NP", "I-NP", "BIO"), may_follow("B-NP", "I-VP", "BIO"), may_follow("B-NP", None, "BIOES")
    (True, False, False)
    """
    kinds = PREFIXES[scheme]
    left, type_left = ("O", "") if before is None else prefix_and_type(before, scheme)
    right, type_right = ("O", "") if after is None else prefix_and_type(after, scheme)
    one, other = kinds.get(left, _OUTSIDE), kinds.get(right, _OUTSIDE)
    if scheme == "IOB1" and right == "B":
        return left != "O" and type_left == type_right
    alike = left != "O" and right != "O" and type_left == type_right
    return (one.ends and other.begins) or (alike and one.goes_on and other.continues)


@arguments_checked
def scheme_of(labels: Iterable[Any]) -> SchemeName | None:
    """The scheme of a set of labels, or None if it is none of these.

    All labels must be `O` or a prefix with a type, and at least one must have a type; without types, all of `B`, `I`,
    `O` must occur. Labels with only B and I count as BIO, although IOB1 has the same labels; labels with only I count
    as IOB1.

    >>> scheme_of(["B-NP", "I-NP", "O"]), scheme_of(["S-NP", "O"]), scheme_of(["L-NP", "B-NP"]), scheme_of(["NN", "O"])
    ('BIO', 'BIOES', 'BILOU', None)
    """
    texts = {str(label) for label in labels}
    named = texts - {"O"}
    typed = all(len(text) > 2 and text[1] == "-" for text in named)
    if not named or not (typed or {"B", "I", "O"} <= texts <= set("BIOESLU")):
        return None
    prefixes = {text[0] for text in named}
    if prefixes == {"I"}:
        return "IOB1"
    if prefixes & set("EL") and "B" not in prefixes:  # an end without a beginning: IOE
        return None
    return next((name for name in SCHEMES if name != "IOB1" and prefixes <= set(PREFIXES[name])), None)


def written(chunks: Iterable[tuple[int, int, str]], length: int, scheme: SchemeName) -> list[str]:
    """The labels of a sentence of `length` tokens with these chunks (first token, one past the last, type), in order.

    >>> written([(0, 1, "NP"), (1, 4, "NP")], 5, "BIOES")
    ['S-NP', 'B-NP', 'I-NP', 'E-NP', 'O']
    """
    labels, last, type_before = ["O"] * length, -1, None
    for start, stop, kind in chunks:
        tail = f"-{kind}" if kind else ""
        prefixes = _prefixes(stop - start, scheme, touches=start == last and kind == type_before)
        labels[start:stop] = [prefix + tail for prefix in prefixes]
        last, type_before = stop, kind
    return labels


def _prefixes(size: int, scheme: SchemeName, *, touches: bool) -> Sequence[str]:
    """The prefixes of a chunk's tokens; `touches` if a chunk of the same type has just ended."""
    if scheme == "IOB1":
        return ["B" if touches else "I", *"I" * (size - 1)]
    if scheme == "BIO":
        return ["B", *"I" * (size - 1)]
    single, end = ("S", "E") if scheme == "BIOES" else ("U", "L")
    return [single] if size == 1 else ["B", *"I" * (size - 2), end]

"""Strings to numbers, once per distinct string and not once per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from sidelight.arrays import Ids, Ints, Keys
from sidelight.errors import DataError
from sidelight.features.rows import offsets_of
from sidelight.features.templates import FARTHEST
from sidelight.features.transforms import Classes, transform

RESERVED = 2 * FARTHEST  # numbers 0..15 stand for _B-1.._B-8 and _B+1.._B+8
ABSENT = -1


class Columns:
    """The columns of a batch as flat lists; a column's strings are interned when first asked for."""

    def __init__(self, starts: Ints, columns: list[list[str]]) -> None:
        self.starts = starts  # [N + 1]
        self.columns = columns
        self._interned: dict[int, tuple[Ids, list[str]]] = {}

    def __len__(self) -> int:
        return len(self.columns)

    def interned(self, column: int) -> tuple[Ids, list[str]]:
        """The number of each token's string [T], and the distinct strings in order of appearance."""
        if column not in self._interned:
            strings = self.columns[column]
            distinct = _distinct(strings)
            number = {text: i for i, text in enumerate(distinct)}
            ids = np.fromiter(map(number.__getitem__, strings), dtype=np.int32, count=len(strings))
            self._interned[column] = ids, distinct
        return self._interned[column]


def columns_of(sequences: Sequence[Sequence[Any]]) -> Columns:
    """Columns of sequences whose tokens are strings, or tuples or lists of strings.

    >>> columns_of([["on", "off"], ["on"]]).interned(0)[0].tolist()
    [0, 1, 0]
    """
    starts = offsets_of([len(sequence) for sequence in sequences])
    tokens = list(chain.from_iterable(sequences))
    if not tokens:
        return Columns(starts, [])
    kinds = set(map(type, tokens))
    if all(issubclass(kind, str) for kind in kinds):
        return Columns(starts, [tokens if kinds == {str} else list(map(str, tokens))])
    for kind in kinds:
        if not issubclass(kind, (str, tuple, list)):
            where = next(i for i, token in enumerate(tokens) if type(token) is kind)
            example = int(np.searchsorted(starts, where, side="right")) - 1
            raise DataError(
                f"input {example}, token {where - int(starts[example])}: a {kind.__name__} where these features read "
                "strings",
                remedy="give strings or tuples of strings, or use features.attributes() for dicts",
            )
    width = 1 if isinstance(tokens[0], str) else len(tokens[0])
    if str in kinds or set(map(len, tokens)) != {width}:
        plain = isinstance(tokens[0], str)
        odd = (isinstance(t, str) is not plain or (not plain and len(t) != width) for t in tokens)
        where = next(i for i, is_odd in enumerate(odd) if is_odd)
        example = int(np.searchsorted(starts, where, side="right")) - 1
        found = "a string" if isinstance(tokens[where], str) else f"{len(tokens[where])} columns"
        raise DataError(
            f"input {example}, token {where - int(starts[example])}: {found} where the first token has "
            f"{'a string' if plain else f'{width} columns'}",
            remedy="give every token the same columns",
        )
    return Columns(starts, [list(map(itemgetter(k), tokens)) for k in range(width)])


def _distinct(column: list[Any]) -> list[str]:
    try:
        found = list(dict.fromkeys(column))
    except TypeError:
        found = column  # something that cannot be hashed: named below
    for text in found:
        if not isinstance(text, str):
            raise DataError(
                f"a token column holds {text!r}, which is not a string",
                remedy="give strings, tuples of strings, or use features.attributes() for dicts",
            )
    return found


@dataclass(slots=True)
class Lexicon:
    """The values that a view (a transform of a column) takes, numbered from RESERVED on."""

    transform: str
    column: int
    strings: list[str] = field(default_factory=list)
    classes: Classes | None = None
    _number: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number = {text: RESERVED + i for i, text in enumerate(self.strings)}

    def copy(self) -> Lexicon:
        """One that can grow without changing this one."""
        return Lexicon(self.transform, self.column, self.strings.copy(), self.classes)

    def __len__(self) -> int:
        """One more than the largest number in use."""
        return RESERVED + len(self.strings)

    def check(self, columns: Columns) -> None:
        """Refuse input without this view's column."""
        if len(columns) and self.column >= len(columns):
            raise DataError(
                f"a template looks at column {self.column} (from 0), but tokens have {len(columns)} column(s)",
                remedy="give the missing columns, or use other templates",
            )

    def numbers(self, columns: Columns, *, grow: bool) -> Ids:
        """The value of this view at every token, ABSENT where there is none or it is unknown. # [T]"""
        if len(columns) == 0:
            return np.empty(0, dtype=np.int32)
        number = self._number
        if self.transform == "x" and not grow:
            strings = columns.columns[self.column]
            return np.fromiter(map(number.get, strings, repeat(ABSENT)), dtype=np.int32, count=len(strings))
        function = transform(self.transform, self.classes)
        ids, types = columns.interned(self.column)
        table = np.empty(len(types), dtype=np.int32)
        for i, text in enumerate(types):
            value = function(text)
            found = ABSENT if value is None else number.get(value, ABSENT)
            if found == ABSENT and grow and value is not None:
                found = number[value] = RESERVED + len(self.strings)
                self.strings.append(value)
            table[i] = found
        return table[ids]

    def text(self, number: int) -> str:
        """The string of a number; boundary marks in the manner of CRF++."""
        if number >= RESERVED:
            return self.strings[number - RESERVED]
        return f"_B-{number + 1}" if number < FARTHEST else f"_B+{number - FARTHEST + 1}"


def string_hashes(view: tuple[str, int], columns: Columns, classes: Classes | None = None) -> Keys:
    """A 64-bit hash of the view's value at every token, 0 where absent; the same in every process. # [T]"""
    function = transform(view[0], classes)
    if len(columns) == 0:
        return np.empty(0, dtype=np.uint64)
    if view[1] >= len(columns):
        raise DataError(f"a template looks at column {view[1]} (from 0), but tokens have {len(columns)} column(s)")
    ids, types = columns.interned(view[1])
    table = np.zeros(len(types), dtype=np.uint64)
    for i, text in enumerate(types):
        value = function(text)
        if value is not None:
            digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            table[i] = int.from_bytes(digest, "little") | 1
    return table[ids]

"""Strings to numbers, once per distinct string and not once per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np

from sidelight.arrays import Ids, Ints, Keys
from sidelight.errors import DataError
from sidelight.features.rows import offsets_of
from sidelight.features.templates import FARTHEST
from sidelight.features.transforms import transform

RESERVED = 2 * FARTHEST  # numbers 0..15 stand for _B-1.._B-8 and _B+1.._B+8
ABSENT = -1


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a batch, each string interned."""

    starts: Ints  # [N + 1]
    ids: list[Ids]  # per column [T]
    types: list[list[str]]  # per column: the distinct strings, in order of appearance


def intern_columns(sequences: Sequence[Sequence[Any]]) -> Columns:
    """Columns of sequences whose tokens are strings, or tuples or lists of strings.

    >>> intern_columns([["on", "off"], ["on"]]).ids[0].tolist()
    [0, 1, 0]
    """
    starts = offsets_of([len(sequence) for sequence in sequences])
    tokens = list(chain.from_iterable(sequences))
    if not tokens:
        return Columns(starts, [], [])
    if isinstance(tokens[0], str):
        columns = [tokens]
    else:
        width = len(tokens[0])
        if set(map(len, tokens)) != {width} or str in set(map(type, tokens)):
            where = next(i for i, token in enumerate(tokens) if isinstance(token, str) or len(token) != width)
            example = int(np.searchsorted(starts, where, side="right")) - 1
            raise DataError(
                f"input {example}, token {where - int(starts[example])}: {len(tokens[where])} columns where the first "
                f"token has {width}",
                remedy="give every token the same columns",
            )
        columns = [[token[k] for token in tokens] for k in range(width)]
    ids, types = [], []
    for column in columns:
        distinct = _distinct(column)
        number = {text: i for i, text in enumerate(distinct)}
        ids.append(np.fromiter(map(number.__getitem__, column), dtype=np.int32, count=len(column)))
        types.append(distinct)
    return Columns(starts, ids, types)


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
    _number: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number = {text: RESERVED + i for i, text in enumerate(self.strings)}

    def copy(self) -> Lexicon:
        """One that can grow without changing this one."""
        return Lexicon(self.transform, self.column, self.strings.copy())

    def __len__(self) -> int:
        """One more than the largest number in use."""
        return RESERVED + len(self.strings)

    def check(self, columns: Columns) -> None:
        """Refuse input without this view's column."""
        if columns.types and self.column >= len(columns.types):
            raise DataError(
                f"a template looks at column {self.column} (from 0), but tokens have {len(columns.types)} column(s)",
                remedy="give the missing columns, or use other templates",
            )

    def numbers(self, columns: Columns, *, grow: bool) -> Ids:
        """The value of this view at every token, ABSENT where there is none or it is unknown. # [T]"""
        if not columns.types:
            return np.empty(0, dtype=np.int32)
        function = transform(self.transform)
        table = np.empty(len(columns.types[self.column]), dtype=np.int32)
        number = self._number
        for i, text in enumerate(columns.types[self.column]):
            value = function(text)
            found = ABSENT if value is None else number.get(value, ABSENT)
            if found == ABSENT and grow and value is not None:
                found = number[value] = RESERVED + len(self.strings)
                self.strings.append(value)
            table[i] = found
        return table[columns.ids[self.column]]

    def text(self, number: int) -> str:
        """The string of a number; boundary marks in the manner of CRF++."""
        if number >= RESERVED:
            return self.strings[number - RESERVED]
        return f"_B-{number + 1}" if number < FARTHEST else f"_B+{number - FARTHEST + 1}"


def string_hashes(view: tuple[str, int], columns: Columns) -> Keys:
    """A 64-bit hash of the view's value at every token, 0 where absent; the same in every process. # [T]"""
    function = transform(view[0])
    if not columns.types:
        return np.empty(0, dtype=np.uint64)
    if view[1] >= len(columns.types):
        raise DataError(f"a template looks at column {view[1]}, but the input has {len(columns.types)}")
    table = np.zeros(len(columns.types[view[1]]), dtype=np.uint64)
    for i, text in enumerate(columns.types[view[1]]):
        value = function(text)
        if value is not None:
            table[i] = (
                int.from_bytes(blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") | 1
            )
    return table[columns.ids[view[1]]]

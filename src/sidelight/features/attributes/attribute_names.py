"""The names of attributes, by columns: `word:the` and `word:cat` are the strings `the` and `cat` of the column `word`.

Files hold them this way too. So a model that was just loaded looks up a string in the strings of its column, and need
not join the two for each string that it sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import array_of, list_of, text_of
from sidelight.errors import ModelFileError
from sidelight.features.extractor import Tensors
from sidelight.features.strings import pack_strings, stored_strings

WHOLE = -1  # instead of a column: the string is the whole name


class AttributeNames:
    """Distinct names, numbered in the order in which they are added."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.column: list[int] = []  # of each name
        self.strings: list[str] = []  # of each name
        self._places: dict[str | None, int] = {None: WHOLE}  # of columns
        self._numbers: dict[str, int] | None = {}  # of whole names; None if they are not joined yet
        self._by_column: dict[int, dict[str, int]] | None = None  # the numbers of the strings of each column

    def __len__(self) -> int:
        return len(self.strings)

    def copy(self) -> AttributeNames:
        other = AttributeNames()
        other.columns, other.column, other.strings = self.columns.copy(), self.column.copy(), self.strings.copy()
        other._places, other._numbers = self._places.copy(), None
        return other

    def whole(self) -> list[str]:
        """All names, by number."""
        prefixes = [*(f"{column}:" for column in self.columns), ""]  # the last is that of WHOLE
        return [prefixes[c] + text for c, text in zip(self.column, self.strings)]

    def name(self, number: int) -> str:
        """One name."""
        column, text = self.column[number], self.strings[number]
        return text if column == WHOLE else f"{self.columns[column]}:{text}"

    def number(self, name: str) -> int:
        """The number of a whole name, -1 where it is unknown."""
        if self._numbers is not None:
            return self._numbers.get(name, -1)
        number = self._strings_of(WHOLE).get(name, -1)
        for c, column in enumerate(self.columns):
            if number < 0 and name.startswith(f"{column}:"):
                number = self._strings_of(c).get(name[len(column) + 1 :], -1)
        return number

    def add(self, column: str | None, text: str) -> int:
        """The number of a string of a column, or of a whole name, which is added where it is new."""
        name = text if column is None else f"{column}:{text}"
        numbers = self._numbers
        if numbers is None:
            numbers = self._numbers = {known: i for i, known in enumerate(self.whole())}
        if name not in numbers:
            numbers[name] = len(numbers)
            if column not in self._places and column is not None:
                self._places[column] = len(self.columns)
                self.columns.append(column)
            self.column.append(self._places[column])
            self.strings.append(text)
            self._by_column = None
        return numbers[name]

    def of_column(self, column: str) -> dict[str, int]:
        """The strings of a column with their numbers: what follows its name and a colon, also in names of others."""
        prefix = f"{column}:"
        strings = dict(self._strings_of(self._places.get(column, len(self.columns))))
        for c, own in [*enumerate(self.columns), (WHOLE, "")]:
            if own != column and (f"{own}:".startswith(prefix) or c == WHOLE or prefix.startswith(f"{own}:")):
                strings.update(self._after(prefix, c))
        return strings

    def _after(self, prefix: str, c: int) -> Iterator[tuple[str, int]]:
        """What follows a prefix in the names of one column, with their numbers."""
        own = "" if c == WHOLE else f"{self.columns[c]}:"
        for text, number in self._strings_of(c).items():
            name = own + text
            if name.startswith(prefix):
                yield name[len(prefix) :], number

    def _strings_of(self, c: int) -> dict[str, int]:
        """The numbers of the strings of one column."""
        if self._by_column is None:
            column = np.array(self.column, dtype=np.int32)
            order = np.argsort(column, kind="stable")
            ends = np.flatnonzero(np.diff(column[order], append=column.max(initial=WHOLE) + 1)) + 1
            self._by_column = {}
            for numbers in np.split(order, ends[:-1]) if len(order) else []:
                strings = [self.strings[i] for i in numbers.tolist()]
                self._by_column[int(column[numbers[0]])] = dict(zip(strings, numbers.tolist()))
        return self._by_column.get(c, {})

    def state(self) -> tuple[dict[str, Any], Tensors]:
        text, offsets = pack_strings(self.strings)
        tensors: Tensors = {"names.text": text, "names.offsets": offsets}
        return {"columns": self.columns}, {**tensors, "names.column": np.array(self.column, dtype=np.int32)}

    @classmethod
    def restored(cls, spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> AttributeNames:
        """The names that a file holds; raises `ModelFileError` if a column has a string twice."""
        self = cls()
        self.strings = stored_strings(tensors, "names", distinct=False)
        self.columns = [text_of({"columns": column}, "columns") for column in list_of(spec, "columns")]
        last = len(self.columns) - 1
        self.column = array_of(tensors, "names.column", np.int32, [len(self.strings)], low=WHOLE, high=last).tolist()
        self._places.update((column, c) for c, column in enumerate(self.columns))
        self._numbers = None
        self._strings_of(WHOLE)
        if sum(map(len, (self._by_column or {}).values())) < len(self.strings) or len(self._places) < last + 2:
            raise ModelFileError("the texts of 'names' have one twice")
        return self

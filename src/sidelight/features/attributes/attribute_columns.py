"""Dicts that have the same names, read as a table: a column of values for each name, worked on as a whole.

What other items of a token's dict, or names in its list, give is worked out once and kept, because items come again. An
item's entries (attribute number and value) are one `bytes`, so that those of a batch are joined in one go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.attributes.attribute_names import AttributeNames
from sidelight.features.rows import usable

ENTRY = np.dtype([("attribute", np.int32), ("value", np.float64)])
KEPT = 1 << 17  # so many items at least are kept between batches

Work = Callable[[Any], Iterable[tuple[int, float]]]  # an item -> its attributes, -1 if unknown, and their values


class KnownEntries(dict[Any, bytes]):
    """Entries by item; what is missing is worked out.

    Threads that predict at the same time write the same thing into it without a lock.
    """

    def __init__(self, work: Work) -> None:
        self.work = work

    def __missing__(self, item: Any) -> bytes:
        entries = self[item] = np.array(list(self.work(item)), dtype=ENTRY).tobytes()
        return entries

    def joined(self, items: Iterator[Any], counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The entries of a batch, and how many each token has, of items so many to a token. # [E], [T]

        Raises `TypeError` if an item cannot be kept, a list for one.
        """
        pieces = list(map(self.__getitem__, items))
        entries = np.frombuffer(b"".join(pieces), dtype=ENTRY)
        if len(entries) == len(pieces):
            return entries, counts
        sizes = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)) // ENTRY.itemsize
        ends = np.append(0, np.cumsum(sizes))[np.cumsum(counts)]  # items with several entries, or with none
        return entries, np.diff(ends, prepend=0)


@kernel
def place_table(begins: Ints, numbers: Ids, amounts: Floats, attributes: Ids, values: Floats) -> None:
    """Write a table [tokens, names] where its tokens begin."""
    for t in range(numbers.shape[0]):
        for k in range(numbers.shape[1]):
            attributes[begins[t] + k] = numbers[t, k]
            values[begins[t] + k] = amounts[t, k]


@kernel
def keep_known(attributes: Ids, values: Floats, indptr: Ints) -> bool:
    """Move the entries that have a number to the front, in order; whether all of their values are 1."""
    size, ones, last = 0, True, 0
    for t in range(indptr.shape[0] - 1):
        first, last = last, indptr[t + 1]
        for k in range(first, last):
            if attributes[k] >= 0:
                attributes[size] = attributes[k]
                values[size] = values[k]
                ones &= values[k] == 1.0
                size += 1
        indptr[t + 1] = size
    return ones


TALL = 16  # tokens for each set of names that make a table worth its while
NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass(frozen=True, slots=True)
class AttributeTable:
    """Tokens that have the same names in the same order."""

    names: tuple[Any, ...]
    where: Ints  # the numbers of these tokens
    values: list[Any]  # of one token after the other

    def columns(self) -> Iterator[tuple[Any, list[Any]]]:
        """Each name with its values."""
        for k, name in enumerate(self.names):
            yield name, self.values[k :: len(self.names)]


def tables_of(tokens: Sequence[Mapping[Any, Any]], counts: Ints) -> list[AttributeTable] | None:
    """Tokens by their names, of which each has so many; None if there are few for a set of names."""
    firsts = np.sort(np.unique(counts, return_index=True)[1])
    tables: list[AttributeTable] = []
    for size in counts[firsts].tolist():
        if TALL * (len(tables) + 1) > len(tokens):
            return None
        where = np.flatnonzero(counts == size)
        if size:
            tables.extend(_of_one_size([tokens[t] for t in where.tolist()], where))
    return tables if TALL * len(tables) <= len(tokens) else None


def _of_one_size(tokens: list[Mapping[Any, Any]], where: Ints) -> list[AttributeTable]:
    """Tokens with as many names; mostly these are the same ones, so that this is tried first."""
    names = tuple(tokens[0])
    if set(map(type, tokens)) == {dict}:  # a defaultdict would create missing values
        try:
            return [AttributeTable(names, where, list(chain.from_iterable(map(_getter(names), tokens))))]
        except KeyError:
            pass
    schemas: dict[tuple[Any, ...], list[int]] = {}
    for k, schema in enumerate(map(tuple, tokens)):
        schemas.setdefault(schema, []).append(k)
    values = methodcaller("values")
    return [
        AttributeTable(names, where[which], list(chain.from_iterable(map(values, [tokens[k] for k in which]))))
        for names, which in schemas.items()
    ]


def _getter(keys: Sequence[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """All of these keys of a mapping at once."""
    return itemgetter(*keys) if len(keys) > 1 else lambda mapping: (mapping[keys[0]],)


def numbers_of(name: Any, column: list[Any]) -> Floats:
    """The values of a column of numbers; raises `TypeError` if it has others, or some that cannot be used."""
    kinds = set(map(type, column))
    if kinds == {bool}:
        return np.frombuffer(bytes(column), dtype=np.uint8).astype(np.float64)
    if not all(issubclass(kind, NUMBERS) for kind in kinds):
        raise TypeError(f"values of {name!r} that are neither strings nor numbers alone")
    amounts = np.fromiter(column, dtype=np.float64, count=len(column))
    if not usable(amounts):
        raise TypeError(f"values of {name!r} that cannot be used")
    return amounts


class ColumnNumbers:
    """The attribute of every string of a column, -1 for strings that are unknown.

    Threads that predict at the same time write the same thing into a dict without a lock.
    """

    def __init__(self, known: AttributeNames, name_of: Callable[[Any], str]) -> None:
        self.known = known
        self.name_of = name_of  # the text of a name
        self._strings: dict[Any, _Strings] = {}

    def __len__(self) -> int:
        return sum(map(len, self._strings.values()))

    def read(self, tables: list[AttributeTable], counts: Ints) -> tuple[Ids, Floats]:
        """The attributes of tokens, so many to a token, and their values. # [E], [E]

        Raises `TypeError` if a column is neither of strings nor of finite numbers.
        """
        begins = np.cumsum(counts) - counts
        attributes = np.empty(int(counts.sum()), dtype=np.int32)
        values = np.ones(len(attributes))
        for table in tables:
            size = len(table.where), len(table.names)
            numbers, amounts = np.empty(size, dtype=np.int32), np.ones(size)
            for k, (name, column) in enumerate(table.columns()):
                if isinstance(column[0], str):
                    numbers[:, k] = self._of(name).of(column)
                else:
                    numbers[:, k] = self.known.number(self.name_of(name))
                    amounts[:, k] = numbers_of(name, column)
            place_table(begins[table.where], numbers, amounts, attributes, values)
        return attributes, values

    def _of(self, name: Any) -> _Strings:
        known = self._strings.get(name)
        if known is None:
            known = self._strings[name] = _Strings(self.known.of_column(self.name_of(name)))
        return known


class _Strings(dict[str, int]):
    """The attributes of the strings of one column; what is missing is unknown."""

    __slots__ = ()

    def of(self, column: list[str]) -> Ids:
        """The attributes of strings; raises `TypeError` if some are none. # [T]"""
        return np.fromiter(_getter(column)(self), dtype=np.int32, count=len(column))

    def __missing__(self, text: Any) -> int:
        if not isinstance(text, str):
            raise TypeError(f"{text!r} in a column of strings")
        self[text] = -1
        return -1


def column_counts(tables: list[AttributeTable]) -> dict[Any, int]:
    """How often each attribute, a (name, string) or a name, occurs; raises `TypeError` as `ColumnNumbers.read` does."""
    counts: dict[Any, int] = {}
    for table in tables:
        for name, column in table.columns():
            if not isinstance(column[0], str):
                counts[name] = counts.get(name, 0) + len(numbers_of(name, column))
                continue
            for text, count in Counter(column).items():
                if not isinstance(text, str):
                    raise TypeError(f"values of {name!r} that are neither strings nor numbers alone")
                counts[name, text] = counts.get((name, text), 0) + count
    return counts

"""Features that the user built: dicts or lists of attributes per token, as sklearn-crfsuite takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.checks import check_fields
from sidelight.core.file_contents import flag_of, list_of, text_of, whole_of
from sidelight.errors import DataError
from sidelight.features.attributes.attribute_columns import (
    ENTRY,
    KEPT,
    AttributeTable,
    ColumnNumbers,
    KnownEntries,
    column_counts,
    keep_known,
    tables_of,
)
from sidelight.features.attributes.attribute_names import AttributeNames
from sidelight.features.extractor import Tensors, warn_where_unknown
from sidelight.features.inputs import KINDS, NAMED_LISTS, check_kinds, dense_rows, kinds_trained_on
from sidelight.features.rows import LARGEST, NO_VALUES, UNUSABLE, Rows, check_dense, offsets_of

BLOCK = 1024  # tokens
NOTHING = np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.int64)  # attributes, values and sizes


@dataclass(frozen=True, slots=True)
class Attributes:
    """Every token is a dict (name to string, number, bool, list or dict) or a list of attribute names.

    `min_count`: attributes that occur less often are dropped; `transitions`: whether a tagger has transition weights.
    """

    min_count: int = 1
    transitions: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        if self.min_count < 1:
            raise ValueError(f"min_count is {self.min_count}; give 1 or more")


def attribute_values(token: Any) -> Iterator[tuple[Any, float]]:
    """The attributes of a token and their values; a string value becomes part of the name.

    >>> list(attribute_values({"word": "on", "len": 2.0, "title": False}))
    [(('word', 'on'), 1.0), ('len', 2.0), ('title', 0.0)]
    """
    if isinstance(token, Mapping):
        for name, value in token.items():
            if isinstance(value, str):
                yield (name, value), 1.0
            elif isinstance(value, (bool, int, float, np.number, np.bool_)):
                yield name, float(value)
            elif isinstance(value, Mapping):
                for inner, amount in attribute_values(value):
                    yield (name, inner), amount
            elif isinstance(value, (list, tuple, set, frozenset)):
                for inner in _in_order(value):
                    yield (name, inner), 1.0
            else:
                raise TypeError(f"attribute {name!r} has a value of type {type(value).__name__}")
    elif isinstance(token, str):
        yield token, 1.0
    elif isinstance(token, (list, tuple, set, frozenset)):
        for name in _in_order(token):
            yield name, 1.0
    else:
        raise TypeError(f"{type(token).__name__} is neither a dict nor a list of attributes")


def _in_order(names: Any) -> Any:
    """Names of attributes, sets in sorted order so that every process numbers them alike."""
    for name in names:
        if not isinstance(name, (str, int, float, bool, np.number)):
            raise TypeError(f"an attribute's name is a {type(name).__name__}")
    return sorted(names, key=str) if isinstance(names, (set, frozenset)) else names


def _column_and_string(key: Any) -> tuple[str | None, str]:
    """The column and the string of a key (name, string), whose joined form is `attribute_name`; else the name alone."""
    if isinstance(key, tuple) and isinstance(key[1], str):
        return attribute_name(key[0]), key[1]
    return None, attribute_name(key)


def attribute_name(key: Any) -> str:
    """The name of an attribute for people and files: parts joined by colons, as CRFsuite does."""
    return ":".join(map(attribute_name, key)) if isinstance(key, tuple) else str(key)


class AttributeExtractor:
    """Numbers attributes; names are hashed by Python, values are kept as given.

    Dicts are read by columns where many have the same names, otherwise item by item, and so are lists. Batches with
    items that cannot be looked up (values that are lists, tokens that are sets) are read token by token.
    """

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self.known = AttributeNames()
        self.n_dense = 0
        self.trained: set[str] = set()  # the kinds of tokens that it has seen
        self._forget()

    def _forget(self) -> None:
        """Look everything up again, because attributes are new or very much is kept."""
        self._keys: dict[Any, int] = {}  # (name, value) pairs seen before, so that names are joined once
        self._of_columns = ColumnNumbers(self.known, attribute_name)
        self._of_pairs = KnownEntries(self._of_pair)
        self._of_names = KnownEntries(self._of_name)

    @property
    def n_attributes(self) -> int:
        return len(self.known)

    @property
    def names(self) -> list[str]:
        """The names of all attributes, by number."""
        return self.known.whole()

    @property
    def transitions(self) -> bool:
        return self.attributes.transitions

    def copy(self) -> AttributeExtractor:
        other = AttributeExtractor(self.attributes)
        other.known, other.n_dense, other.trained = self.known.copy(), self.n_dense, self.trained
        other._forget()
        return other

    def grow(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        if not self.trained:
            self.n_dense = dense_rows(xs).shape[1]
            self.trained = kinds_trained_on(xs)
        check_kinds(xs, self.trained)
        counts = self._counts(xs)
        self._forget()
        for key, count in counts.items():
            if count >= self.attributes.min_count:
                self._keys[key] = self.known.add(*_column_and_string(key))
            else:
                self._keys[key] = self._number_of(key)
        return self._rows(xs)[0]

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        check_kinds(xs, self.trained)
        size = len(self._keys) + len(self._of_columns) + len(self._of_pairs) + len(self._of_names)
        if size > max(KEPT, 4 * self.n_attributes):
            self._forget()
        rows, unknown = self._rows(xs)
        if unknown > len(rows.indices):
            counts = np.bincount(rows.indices)
            known = int(counts[counts < rows.n_tokens].sum())  # without those of every token
            warn_where_unknown(known, unknown, tokens=rows.n_tokens)
        return rows

    def _counts(self, xs: Sequence[Any]) -> Mapping[Any, int]:
        """How often each attribute occurs, in the order of their first occurrence."""
        read = _Items.of(xs)
        if read is not None:
            try:
                return read.counted()
            except (TypeError, ValueError, OverflowError):  # token by token, which works or says where it fails
                pass
        counts: dict[Any, int] = {}
        for i, x in enumerate(xs):
            for t, token in enumerate(x):
                for key, _ in self._checked(token, i, t):
                    counts[key] = counts.get(key, 0) + 1
        return counts

    def _rows(self, xs: Sequence[Any]) -> tuple[Rows, int]:
        """The rows of a batch, and how many attributes were left out of them."""
        attributes, values, indptr = self._entries(xs)
        count = len(attributes)
        ones = keep_known(attributes, values, indptr)
        known = int(indptr[-1])
        rows = Rows(
            offsets_of([len(x) for x in xs]),
            indptr,
            attributes[:known],
            NO_VALUES if ones else values[:known],
            dense_rows(xs),
        )
        return check_dense(rows, self.n_dense), count - known

    def _entries(self, xs: Sequence[Any]) -> tuple[Ids, Floats, Ints]:
        """The attributes of a batch, -1 for those that are unknown, their values, and where each token begins."""
        attributes, values, sizes = (np.concatenate(arrays) for arrays in zip(NOTHING, *self._blocks(xs)))
        return attributes, values, offsets_of(sizes)

    def _blocks(self, xs: Sequence[Any]) -> list[tuple[Ids, Floats, Ints]]:
        """The attributes of tokens, their values, and how many each token has, for some thousand tokens at a time."""
        read = _Items.of(xs)
        if read is not None:
            try:
                return [self._block(block) for block in read.blocks()]
            except (TypeError, ValueError, OverflowError):  # token by token, which works or says where it fails
                pass
        numbered: list[tuple[int, float]] = []
        sizes: list[int] = []
        for i, x in enumerate(xs):
            for t, token in enumerate(x):
                before = len(numbered)
                numbered.extend(self._numbered(self._checked(token, i, t)))
                sizes.append(len(numbered) - before)
        entries = np.array(numbered, dtype=ENTRY)
        return [(entries["attribute"], entries["value"], np.array(sizes, dtype=np.int64))]

    def _block(self, read: _Items) -> tuple[Ids, Floats, Ints]:
        tables = read.tables()
        if tables is not None:
            counts = read.counts()
            return *self._of_columns.read(tables, counts), counts
        entries, sizes = (self._of_pairs if read.pairs else self._of_names).joined(read.items(), read.counts())
        return entries["attribute"], entries["value"], sizes

    def _number_of(self, key: Any) -> int:
        return self.known.number(attribute_name(key))

    def _of_pair(self, pair: Any) -> Iterator[tuple[int, float]]:
        return self._numbered(attribute_values(dict((pair,))))

    def _of_name(self, name: Any) -> Iterator[tuple[int, float]]:
        return self._numbered(attribute_values((name,)))

    def _numbered(self, attributes: Iterable[tuple[Any, float]]) -> Iterator[tuple[int, float]]:
        """Attributes by their numbers, -1 for those that are unknown."""
        keys = self._keys
        for key, value in attributes:
            number = keys.get(key)
            if number is None:
                number = keys[key] = self._number_of(key)
            if not abs(value) <= LARGEST:
                raise ValueError("a value that cannot be used")
            yield number, value

    def name(self, attribute: int) -> str:
        return self.known.name(attribute)

    def state(self) -> tuple[dict[str, Any], Tensors]:
        columns, tensors = self.known.state()
        spec = {
            "kind": "attributes",
            "min_count": self.attributes.min_count,
            "transitions": self.attributes.transitions,
            "n_dense": self.n_dense,
            "tokens": sorted(self.trained),
            **columns,
        }
        return spec, tensors

    @classmethod
    def restored(cls, spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> AttributeExtractor:
        self = cls(Attributes(whole_of(spec, "min_count", low=1), flag_of(spec, "transitions")))
        self.known = AttributeNames.restored(spec, tensors)
        self._forget()
        self.n_dense = whole_of(spec, "n_dense", high=2**31 - 1)
        kinds = list_of(spec, "tokens") if "tokens" in spec else KINDS  # missing in earlier files
        self.trained = {text_of({"tokens": kind}, "tokens", among=(*KINDS, NAMED_LISTS)) for kind in kinds}
        return self

    def _checked(self, token: Any, i: int, t: int) -> Iterator[tuple[Any, float]]:
        try:
            for key, value in attribute_values(token):
                if not abs(value) <= LARGEST:
                    raise DataError(
                        f"input {i}, token {t}: attribute {attribute_name(key)!r} has value {value}",
                        remedy=UNUSABLE,
                    )
                yield key, value
        except (TypeError, OverflowError) as error:
            raise DataError(
                f"input {i}, token {t}: {error}", remedy="give dicts of strings and numbers, or lists of strings"
            ) from None


@dataclass(frozen=True, slots=True)
class _Items:
    """The tokens of a batch that are all dicts, or all lists: their items, one after another."""

    tokens: list[Any]
    pairs: bool  # items of dicts, not names

    @classmethod
    def of(cls, xs: Sequence[Any]) -> _Items | None:
        """None if tokens are of several kinds, or sets, which have no order."""
        tokens = list(chain.from_iterable(xs))
        kinds = set(map(type, tokens))
        pairs = all(issubclass(kind, Mapping) for kind in kinds)
        return cls(tokens, pairs) if pairs or kinds <= {list, tuple} else None

    def blocks(self) -> Iterator[_Items]:
        """The same in parts that fit into a processor's cache."""
        for begin in range(0, len(self.tokens), BLOCK):
            yield _Items(self.tokens[begin : begin + BLOCK], self.pairs)

    def tables(self) -> list[AttributeTable] | None:
        """Dicts by their names, None if that does not pay."""
        return tables_of(self.tokens, self.counts()) if self.pairs else None

    def counted(self) -> dict[Any, int]:
        """How often each attribute occurs; raises `TypeError`, `ValueError` or `OverflowError` for odd ones."""
        tables = self.tables()
        if tables is not None:
            return column_counts(tables)
        counts: dict[Any, int] = {}
        for item, count in Counter(self.items()).items():
            for key, value in attribute_values(dict((item,)) if self.pairs else (item,)):
                if not abs(value) <= LARGEST:
                    raise ValueError(f"{key!r} has a value that cannot be used")
                counts[key] = counts.get(key, 0) + count
        return counts

    def items(self) -> Iterator[Any]:
        return chain.from_iterable(map(methodcaller("items"), self.tokens) if self.pairs else self.tokens)

    def counts(self) -> Ints:
        """The number of items of each token. # [T]"""
        return np.fromiter(map(len, self.tokens), dtype=np.int64, count=len(self.tokens))

"""Strings to numbers, once per distinct string and not once per token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.checks import is_whole, shown
from sidelight.errors import DataError
from sidelight.features.inputs import check_sequences, refuse_attributes, refuse_matrices
from sidelight.features.rows import offsets_of
from sidelight.features.transforms import Classes, transform
from sidelight.features.words.templates import FARTHEST, Templates

RESERVED = 2 * FARTHEST  # numbers 0..15 are _B-1.._B-8 and _B+1.._B+8
ABSENT = -1  # the view has no value
UNKNOWN = -2  # it has one that was never seen
KEPT = 1 << 17  # so many strings of a column are kept between batches

Work = Callable[[list[int], list[str]], NDArray[Any]]  # views of one column, distinct strings [W] -> numbers [V, W]


class Columns:
    """The columns of a batch as flat lists."""

    def __init__(self, starts: Ints, columns: list[list[str]]) -> None:
        self.starts = starts  # [N + 1]
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)


def columns_of(sequences: Sequence[Sequence[Any]]) -> Columns:
    """Columns of sequences whose tokens are strings, or tuples or lists of strings.

    >>> columns_of([[("on", "RP"), ("off", "RP")], [("on", "IN")]]).columns
    [['on', 'off', 'on'], ['RP', 'RP', 'IN']]
    """
    refuse_matrices(sequences)
    check_sequences(sequences)
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
                remedy="give strings or tuples of strings, as in training, or train with features.attributes() for "
                "dicts",
            )
    width = 1 if isinstance(tokens[0], str) else len(tokens[0])
    if str in kinds or set(map(len, tokens)) != {width}:
        plain = isinstance(tokens[0], str)
        odd = (isinstance(t, str) is not plain or (not plain and len(t) != width) for t in tokens)
        where = next(i for i, is_odd in enumerate(odd) if is_odd)
        example = int(np.searchsorted(starts, where, side="right")) - 1
        shape = "a string" if isinstance(tokens[where], str) else f"{len(tokens[where])} columns"
        raise DataError(
            f"input {example}, token {where - int(starts[example])}: {shape} where the first token has "
            f"{'a string' if plain else f'{width} columns'}",
            remedy="give every token the same columns, or use features.attributes() for lists of names",
        )
    return Columns(starts, [list(map(itemgetter(k), tokens)) for k in range(width)])


def distinct(column: list[Any]) -> list[str]:
    """The strings of a column in order of appearance; raises `DataError` if it holds something else."""
    try:
        words = list(dict.fromkeys(column))
    except TypeError:
        words = column  # something that cannot be hashed: named below
    for text in words:
        if not isinstance(text, str):
            raise DataError(
                f"a token column holds {text!r}, which is not a string",
                remedy="give strings, tuples of strings, or use features.attributes() for dicts",
            )
    return words


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

    def numbers(self, strings: list[str], *, grow: bool) -> Ids:
        """The value of this view for strings, ABSENT where there is none, UNKNOWN where it was not seen. # [W]"""
        number = self._number
        words = strings if self.transform == "x" else map(transform(self.transform, self.classes), strings)
        values: list[Any] = list(words)
        if grow:
            new = [value for value in dict.fromkeys(values) if value is not None and value not in number]
            number.update(zip(new, range(len(self), len(self) + len(new))))
            self.strings += new
        numbers = np.fromiter(map(number.get, values, repeat(UNKNOWN)), dtype=np.int32, count=len(values))
        if None in values:
            numbers[[value is None for value in values]] = ABSENT
        return numbers

    def text(self, number: int) -> str:
        """The string of a number; boundary marks in the manner of CRF++."""
        if number >= RESERVED:
            return self.strings[number - RESERVED]
        return f"_B-{number + 1}" if number < FARTHEST else f"_B+{number - FARTHEST + 1}"


def check_columns(templates: Templates, columns: Columns, *, trained: int = 0) -> None:
    """Refuse input without the column of a template, or with attributes instead of columns.

    There were `trained` columns in training; 0 where that is not known.
    """
    refuse_attributes(columns.columns, trained=trained)
    if not len(columns):
        return
    for template in templates.templates:
        for slot in template.slots:
            if slot.column >= len(columns):
                where = f" in {template.written}" if template.written else ""
                looks = f"looks at column {slot.column} (from 0), but tokens have {len(columns)} column(s)"
                remedy = "give the missing columns, as in training, or use other templates"
                raise DataError(f"a template{where} {looks}", remedy=remedy)


def string_hashes(name: str, strings: list[str], classes: Classes | None = None) -> Keys:
    """A 64-bit hash of what a transform makes of strings, 0 where absent; the same in every process. # [W]"""
    function = transform(name, classes)
    hashes = np.zeros(len(strings), dtype=np.uint64)
    for i, text in enumerate(strings):
        value = function(text)
        if value is not None:
            digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            hashes[i] = int.from_bytes(digest, "little") | 1
    return hashes


def each_hashed(strings: Sequence[str]) -> Keys:
    """The hash of every string, each distinct one looked up once. # [T]"""
    distinct, inverse = np.unique(np.array(strings, dtype=object), return_inverse=True)
    return np.asarray(string_hashes("x", distinct.tolist())[inverse], dtype=np.uint64)


def check_bits(bits: Any) -> None:
    """Raises ValueError if features could not be hashed into 2**bits weights."""
    if not is_whole(bits) or not 1 <= bits <= 30:
        raise ValueError(f"bits is {shown(bits)}; give a number from 1 to 30")


class Views:
    """The numbers of several views, (transform, column) pairs, at every token.

    A string's numbers are one `bytes`, so that those of a batch are joined in one go, and threads that predict at the
    same time write the same thing into a dict without a lock.
    """

    def __init__(self, views: Sequence[tuple[str, int]], dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.views = list(views)
        self.of_column: dict[int, list[int]] = {}
        for number, (_, column) in enumerate(views):
            self.of_column.setdefault(column, []).append(number)
        self._kept: dict[int, dict[str, bytes]] = {}

    def numbers(self, columns: Columns, work: Work, *, anew: bool = False) -> NDArray[Any]:
        """The number of every view at every token; `anew` clears the cache. # [V, T]"""
        out = np.empty((len(self.views), int(columns.starts[-1])), dtype=self.dtype)
        for column, views in self.of_column.items():
            if len(columns):
                out[views] = self._column(columns, column, views, work, anew)
        return out

    def _column(self, columns: Columns, column: int, views: list[int], work: Work, anew: bool) -> NDArray[Any]:
        cached = self._kept.get(column)
        if cached is None or anew or len(cached) > KEPT:
            cached = self._kept[column] = {}
        strings = columns.columns[column]
        try:
            joined = b"".join(map(cached.__getitem__, strings))
        except (KeyError, TypeError):  # strings that are new, or no strings
            new = [text for text in distinct(strings) if text not in cached]
            rows = np.ascontiguousarray(work(views, new).T).tobytes()  # [W, V]
            width = len(views) * self.dtype.itemsize
            cached.update(zip(new, [rows[k : k + width] for k in range(0, len(rows), width)]))
            joined = b"".join(map(cached.__getitem__, strings))
        return np.frombuffer(joined, dtype=self.dtype).reshape(len(strings), len(views)).T


class HashedViews:
    """The hash of every view at every token, 0 if it has none."""

    def __init__(self, views: Sequence[tuple[str, int]], classes: Classes | None = None) -> None:
        self._views = Views(views, np.uint64)
        self._classes = classes

    def hashes(self, columns: Columns) -> Keys:
        """The hash of every view at every token; equal in all processes. # [V, T]"""
        names = [name for name, _ in self._views.views]

        def work(which: list[int], strings: list[str]) -> Keys:
            return np.stack([string_hashes(names[view], strings, self._classes) for view in which])

        return self._views.numbers(columns, work)

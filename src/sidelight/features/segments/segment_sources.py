"""The features of a segment, and the keys of a batch's segments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import repeat
from typing import Any, Literal

import numpy as np

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.checks import check_fields, is_among, is_listed, shown
from sidelight.errors import DataError
from sidelight.features.inputs import MatrixSequence
from sidelight.features.rows import offsets_of
from sidelight.features.segments import segment_keys as kernels
from sidelight.features.transforms import transform
from sidelight.features.words import keys as tables
from sidelight.features.words.lexicon import Columns, HashedViews, columns_of
from sidelight.parallel import threads

SegmentFunction = Callable[[Any, int, int], Iterable[str]]
Phrase = str | Sequence[str]

FAMILIES: dict[str, tuple[int, str]] = {  # the kind of key, and the transform of the words it is made of
    "length": (kernels.LENGTH, ""),
    "first": (kernels.FIRST, "x"),
    "last": (kernels.LAST, "x"),
    "before": (kernels.BEFORE, "x"),
    "after": (kernels.AFTER, "x"),
    "shape": (kernels.SHAPE, "shape"),
    "text": (kernels.TEXT, "lower"),
}
BUCKETS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)  # the greatest lengths of each bucket; the last one is open


@dataclass(frozen=True, slots=True)
class SegmentFeatures:
    """Features of segments.

    - families: any of "length" (in buckets), "first" and "last" (the outer words), "before" and "after" (the adjacent
      words), "shape" (the shapes of the words, with equal neighbours merged), "text" (the whole text, in lower case).
    - lexicons: {name: phrases}; a segment has the feature of every lexicon that contains its text, in lower case. A
      phrase is a list of words, or a string that is split at blanks.
    - function: (input, first token, last token) to names of features; it is called for every segment of every input,
      which is slow, and must be passed again when a model that uses it is loaded.
    - column: the column of the tokens that holds the words.
    - counted: keep the features of "gold" segments, or of "all" segments that are not too long; min_count: keep those
      seen at least this often. A text that occurs in only one gold segment gives that segment away in training and is
      useless later, hence 2.
    - hash_bits: hash features into 2**hash_bits attributes instead of using a vocabulary; nothing is counted then.
    """

    families: Sequence[str] = tuple(FAMILIES)
    lexicons: Mapping[str, Collection[Phrase]] | None = None
    function: SegmentFunction | None = None
    column: int = 0
    min_count: int = 2
    counted: Literal["gold", "all"] = "gold"
    hash_bits: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for family in self.families:
            if not is_among(family, FAMILIES):
                raise ValueError(f"families has {shown(family)}; there are {', '.join(FAMILIES)}")
        if self.min_count < 1:
            raise ValueError(f"min_count is {self.min_count}; give 1 or more")
        if self.counted not in ("gold", "all"):
            raise ValueError(f"counted is {shown(self.counted)}; give 'gold' or 'all'")
        if self.hash_bits is not None and not 4 <= self.hash_bits <= 28:
            raise ValueError(f"hash_bits is {self.hash_bits}; give 4 to 28")


@dataclass(frozen=True, slots=True)
class KeyTable:
    """An open-addressing table of keys."""

    bits: int
    keys: Keys
    ids: Ids

    @classmethod
    def of(cls, known: Keys) -> KeyTable:
        bits = int(np.ceil(np.log2(2 * max(8, len(known)))))
        keys, ids = np.zeros(1 << bits, dtype=np.uint64), np.full(1 << bits, -1, dtype=np.int32)
        tables.insert(known, np.arange(len(known), dtype=np.int32), bits, keys, ids)
        return cls(bits, keys, ids)


class SegmentSource:
    """The keys of a batch's segments."""

    def __init__(
        self, features: SegmentFeatures, max_length: int, lexicons: Mapping[str, Keys], xs: Sequence[Any]
    ) -> None:
        self.features = features
        self.most = max_length
        self.lexicons = [(name, KeyTable.of(known)) for name, known in lexicons.items()]
        views = {FAMILIES[family][1] for family in features.families} - {""}
        if self.lexicons:
            views.add("lower")
        self.columns = _columns(xs, features.column) if views else Columns(offsets_of([len(x) for x in xs]), [])
        self.starts = self.columns.starts
        names = sorted(views)
        self.hashes = dict(zip(names, HashedViews([(name, features.column) for name in names]).hashes(self.columns)))
        self.hashes[""] = _lengths(self.most)
        self.function_keys, self.function_names = _called(features.function, xs, self.most)

    def keys(self, lo: int, hi: int) -> Keys:
        """The key of every family and lexicon for the segments of the sequences lo..hi. # [F, R]"""
        rows = int(self.starts[hi] - self.starts[lo]) * self.most
        out = np.empty((len(self.features.families) + len(self.lexicons), rows), dtype=np.uint64)
        for f in range(len(out)):
            self._fill(f, lo, hi, out[f])
        return out

    def more(self, lo: int, hi: int) -> tuple[Ints, Keys]:
        """The keys that the function gives, by row."""
        if self.features.function is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
        indptr, keys = self.function_keys
        return indptr[int(self.starts[lo]) * self.most : int(self.starts[hi]) * self.most + 1], keys

    def found(self, which: Ints | None, n_jobs: int | None) -> list[tuple[Keys, Ints, Callable[[int], str]]]:
        """For each family: the distinct frequent keys of some rows, the first row of each, and its name."""
        count = len(self.starts) - 1

        def run(f: int) -> tuple[Keys, Ints, Callable[[int], str]]:
            keys = np.empty(int(self.starts[-1]) * self.most, dtype=np.uint64)
            self._fill(f, 0, count, keys)
            rows = np.arange(len(keys)) if which is None else which
            first, frequent = self._frequent(keys[rows])
            return frequent, rows[first], lambda row: self.name(f, row)

        out = threads(run, range(len(self.features.families) + len(self.lexicons)), n_jobs=n_jobs)
        if self.features.function is not None:
            indptr, keys = self.function_keys
            rows = np.arange(len(indptr) - 1) if which is None else which
            entries = np.concatenate([np.arange(0), *(np.arange(indptr[r], indptr[r + 1]) for r in rows)])
            first, frequent = self._frequent(keys[entries])
            out.append((frequent, entries[first], lambda entry: self.function_names[entry]))
        return out

    def _frequent(self, keys: Keys) -> tuple[Ints, Keys]:
        """The first position of each frequent distinct key, and the keys."""
        present = np.flatnonzero(keys != tables.NO_KEY)
        known, first, counts = np.unique(keys[present], return_index=True, return_counts=True)
        frequent = np.flatnonzero(counts >= self.features.min_count)
        frequent = frequent[np.argsort(first[frequent])]
        return present[first[frequent]], known[frequent]

    def name(self, f: int, row: int) -> str:
        """The name of the feature that family f has at a row."""
        if f >= len(self.features.families):
            return f"lexicon={self.lexicons[f - len(self.features.families)][0]}"
        family = self.features.families[f]
        last, length = row // self.most, row % self.most + 1
        if family == "length":
            return f"length={_bucket(length)}"
        words = self.columns.columns[self.features.column]
        first = last - length + 1
        if family in ("shape", "text"):
            pieces = [transform(FAMILIES[family][1])(word) or "" for word in words[first : last + 1]]
            if family == "shape":
                pieces = [piece for k, piece in enumerate(pieces) if k == 0 or piece != pieces[k - 1]]
            return f"{family}={' '.join(pieces)}"
        where = {"first": first, "last": last, "before": first - 1, "after": last + 1}[family]
        sequence = int(np.searchsorted(self.starts, last, side="right")) - 1
        inside = self.starts[sequence] <= where < self.starts[sequence + 1]
        return f"{family}={words[where]}" if inside else f"{family} nothing"

    def _fill(self, f: int, lo: int, hi: int, out: Keys) -> None:
        if f < len(self.features.families):
            family = self.features.families[f]
            kind, view = FAMILIES[family]
            kernels.segment_keys(self.starts, lo, hi, self.most, kind, _hash(family), self.hashes[view], out)
            return
        name, table = self.lexicons[f - len(self.features.families)]
        texts = np.empty_like(out)
        kernels.segment_keys(self.starts, lo, hi, self.most, kernels.TEXT, _PHRASE, self.hashes["lower"], texts)
        kernels.keep_known(texts, table.bits, table.keys, table.ids, _hash(f"lexicon {name}"), out)


def phrase_keys(phrases: Collection[Phrase], max_length: int) -> Keys:
    """The keys of the phrases that are not too long to be a segment, sorted."""
    if not is_listed(phrases) or not all(isinstance(phrase, str) or is_listed(phrase) for phrase in phrases):
        raise DataError(f"a lexicon is {shown(phrases)}", remedy="give phrases, each a text or a list of words")
    words = [phrase.split() if isinstance(phrase, str) else list(phrase) for phrase in phrases]
    fitting = [phrase for phrase in words if 1 <= len(phrase) <= max_length]
    if not fitting:
        return np.empty(0, dtype=np.uint64)
    columns = columns_of(fitting)
    keys = np.empty(int(columns.starts[-1]) * max_length, dtype=np.uint64)
    hashes = HashedViews([("lower", 0)]).hashes(columns)[0]
    kernels.segment_keys(columns.starts, 0, len(fitting), max_length, kernels.TEXT, _PHRASE, hashes, keys)
    whole = (columns.starts[1:] - 1) * max_length + np.diff(columns.starts) - 1
    return np.unique(keys[whole])


def _hash(text: str) -> np.uint64:
    """An odd 64-bit hash, the same in every process."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little") | 1)


_PHRASE = _hash("phrase")


def _bucket(length: int) -> str:
    lower = 1
    for upper in BUCKETS:
        if length <= upper:
            return str(upper) if lower == upper else f"{lower}-{upper}"
        lower = upper + 1
    return f"{lower}+"


def _lengths(max_length: int) -> Keys:
    return np.array([_hash(_bucket(length)) for length in range(1, max_length + 1)], dtype=np.uint64)


def _columns(xs: Sequence[Any], column: int) -> Columns:
    for i, x in enumerate(xs):
        if isinstance(x, MatrixSequence) or (len(x) and isinstance(x[0], Mapping)):
            raise DataError(
                f"input {i}: segment features look at words, and its tokens have none",
                remedy='give SegmentFeatures(families=("length",)) or a function of your own',
            )
    columns = columns_of(xs)
    if len(columns) and column >= len(columns):
        raise DataError(
            f"segment features look at column {column} (from 0), but tokens have {len(columns)} column(s)",
            remedy="give the number of the column that holds the words",
        )
    return columns


def _names_of(function: SegmentFunction, x: Any, first: int, last: int, i: int) -> list[Any]:
    """The features of a segment from a user's function; raises `DataError` if it fails."""
    try:
        return list(function(x, first, last))
    except Exception as error:
        problem = f"input {i}: the segment function failed: {type(error).__name__}: {error}"
        raise DataError(problem, remedy="give a function of (input, first token, last token)") from error


def _called(function: SegmentFunction | None, xs: Sequence[Any], most: int) -> tuple[tuple[Ints, Keys], list[str]]:
    """The features that a function gives to every segment: keys by row, and their names."""
    names: list[str] = []
    lengths: list[int] = []
    if function is not None:
        for i, x in enumerate(xs):
            for last in range(len(x)):
                for length in range(1, min(most, last + 1) + 1):
                    own = _names_of(function, x, last - length + 1, last, i)
                    for name in own:
                        if not isinstance(name, str):
                            raise DataError(
                                f"input {i}: the segment function gave {name!r}", remedy="give names as strings"
                            )
                    names += own
                    lengths.append(len(own))
                lengths.extend(repeat(0, most - min(most, last + 1)))
    table = {name: _hash(f"function {name}") for name in dict.fromkeys(names)}
    keys = np.fromiter(map(table.__getitem__, names), dtype=np.uint64, count=len(names))
    return (offsets_of(lengths), keys), names

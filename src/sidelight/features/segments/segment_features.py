"""Features of whole segments, numbered: ready families, lexicons, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.file_contents import array_of, flag_of, list_of, text_of, whole_of
from sidelight.errors import DataError, ModelFileError
from sidelight.features.extractor import Tensors
from sidelight.features.rows import offsets_of
from sidelight.features.segments import segment_keys as kernels
from sidelight.features.segments.segment_rows import SegmentRows
from sidelight.features.segments.segment_sources import (
    KeyTable,
    SegmentFeatures,
    SegmentFunction,
    SegmentSource,
    phrase_keys,
)
from sidelight.features.strings import pack_strings, stored_strings
from sidelight.parallel import shards, threads

LONGEST = 1 << 16  # tokens of a segment


class SegmentExtractor:
    """Numbers the features of segments of at most `max_length` tokens. `grow` may add attributes, `rows` never does."""

    def __init__(self, features: SegmentFeatures, max_length: int) -> None:
        self.features = features
        self.max_length = max_length
        self.keys: Keys = np.empty(0, dtype=np.uint64)  # [S]
        self.names: list[str] = []  # [S]
        self.lexicons = {name: phrase_keys(phrases, max_length) for name, phrases in (features.lexicons or {}).items()}
        self._table: KeyTable | None = None

    @property
    def n_attributes(self) -> int:
        return len(self.keys) if self.features.hash_bits is None else 1 << self.features.hash_bits

    def copy(self) -> SegmentExtractor:
        """One that can grow without changing this one."""
        other = SegmentExtractor(self.features, self.max_length)
        other.keys, other.names, other.lexicons = self.keys, self.names.copy(), self.lexicons
        return other

    def grow(self, xs: Sequence[Any], *, gold: Ints | None = None, n_jobs: int | None = None) -> SegmentRows:
        """The rows of a batch; features that are met often enough for the first time get new numbers.

        `gold` are the rows (see `SegmentRows`) of gold segments; `counted="gold"` counts on these alone.
        """
        source = self._source(xs)
        if self.features.hash_bits is None:
            which = gold if self.features.counted == "gold" else None
            if self.features.counted == "gold" and gold is None:
                raise ValueError('give the gold segments, or counted="all"')
            for keys, firsts, name in source.found(which, n_jobs):
                self._add(keys, firsts, name)
        return self._resolved(source, n_jobs)

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> SegmentRows:
        """The rows of a batch; unknown features are left out."""
        return self._resolved(self._source(xs), n_jobs)

    def name(self, attribute: int) -> str:
        """The name of an attribute, for people."""
        return f"hash:{attribute}" if self.features.hash_bits is not None else self.names[attribute]

    def state(self) -> tuple[dict[str, Any], Tensors]:
        """The state for model files: JSON values and arrays."""
        spec = {
            "families": list(self.features.families),
            "column": self.features.column,
            "min_count": self.features.min_count,
            "counted": self.features.counted,
            "hash_bits": self.features.hash_bits,
            "max_length": self.max_length,
            "lexicons": list(self.lexicons),
            "function": self.features.function is not None,
        }
        text, offsets = pack_strings(self.names)
        tensors: Tensors = {"keys": self.keys, "names.text": text, "names.offsets": offsets}
        tensors |= {f"lexicon.{i}": known for i, known in enumerate(self.lexicons.values())}
        return spec, tensors

    @classmethod
    def restored(
        cls,
        spec: Mapping[str, Any],
        tensors: Mapping[str, NDArray[Any]],
        *,
        function: SegmentFunction | None = None,
    ) -> SegmentExtractor:
        """The extractor that `state` described; raises `DataError` if it needs a function that is not given."""
        if (uses := flag_of(spec, "function")) and function is None:
            raise DataError("the segment features use a function", remedy="give the same function again: function=…")
        features = SegmentFeatures(
            families=tuple(_names_in(spec, "families")),
            function=function if uses else None,
            column=whole_of(spec, "column", high=2**31),
            min_count=whole_of(spec, "min_count", low=1),
            counted=text_of(spec, "counted", among=("gold", "all")),  # type: ignore[arg-type]
            hash_bits=None if spec.get("hash_bits", 0) is None else whole_of(spec, "hash_bits", low=4, high=28),
        )
        self = cls(features, whole_of(spec, "max_length", low=1, high=LONGEST))
        self.keys = array_of(tensors, "keys", np.uint64, [None])
        self.names = stored_strings(tensors, "names", distinct=False)
        if len(self.names) != len(self.keys) or len(np.unique(self.keys)) != len(self.keys):
            raise ModelFileError("the segment features do not have a key and a name each")
        lexicons = _names_in(spec, "lexicons")
        self.lexicons = {name: array_of(tensors, f"lexicon.{i}", np.uint64, [None]) for i, name in enumerate(lexicons)}
        return self

    def _source(self, xs: Sequence[Any]) -> SegmentSource:
        return SegmentSource(self.features, self.max_length, self.lexicons, xs)

    def _add(self, keys: Keys, firsts: Ints, name: Callable[[int], str]) -> None:
        """Number keys that are new, in their order; firsts[k] is where the k-th was met first."""
        fresh = np.flatnonzero(~np.isin(keys, self.keys))
        self.keys = np.concatenate([self.keys, keys[fresh]])
        self.names += [name(int(row)) for row in firsts[fresh]]
        self._table = None

    def _resolved(self, source: SegmentSource, n_jobs: int | None) -> SegmentRows:
        table = self._table = self._table or KeyTable.of(self.keys)
        most = self.max_length
        starts = source.starts

        def run(shard: tuple[int, int]) -> tuple[Ints, Ids]:
            lo, hi = shard
            keys = source.keys(lo, hi)
            more_indptr, more = source.more(lo, hi)
            indptr = np.zeros(keys.shape[1] + 1, dtype=np.int64)
            indices = np.empty(keys.size + len(more), dtype=np.int32)
            places = self.features.hash_bits or 0, table.bits, table.keys, table.ids
            kernels.resolve(keys, more_indptr, more, *places, indptr, indices)
            return np.diff(indptr), indices[: indptr[-1]].copy()

        parts = threads(run, shards(starts, tokens=max(32, 16384 // most)), n_jobs=n_jobs)
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part[0] for part in parts)])
        indices = np.concatenate([np.zeros(0, dtype=np.int32), *(part[1] for part in parts)])
        return SegmentRows(starts, most, offsets_of(lengths), indices)


def _names_in(spec: Mapping[str, Any], name: str) -> list[str]:
    """A list of texts in a file."""
    return [text_of({name: one}, name) for one in list_of(spec, name)]


__all__ = ["SegmentExtractor", "SegmentFeatures", "SegmentFunction"]

"""Template features with a vocabulary: every distinct feature seen in training is an attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.core.file_contents import array_of, whole_of
from sidelight.errors import DataError, ModelFileError
from sidelight.features.extractor import Tensors, warn_where_unknown
from sidelight.features.inputs import dense_rows
from sidelight.features.rows import NO_VALUES, Rows, check_dense
from sidelight.features.strings import pack_strings, stored_strings
from sidelight.features.words import keys as kernels
from sidelight.features.words.lexicon import Columns, Lexicon, Views, check_columns, columns_of
from sidelight.features.words.stored_templates import class_tensors, from_json, to_json
from sidelight.features.words.templates import Templates, program
from sidelight.parallel import shards, threads

DIRECT = 1 << 20  # a table of at most so many places is addressed directly


@dataclass(slots=True)
class _Known:
    """The features of one template."""

    parts: Ids  # [n, slots] the numbers in the slots
    attributes: Ids  # [n]


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables for `look_up`, for all templates."""

    slot_size: Ints
    kinds: Ints
    table_at: Ints
    table_bits: Ints
    direct: Ids
    hash_keys: Keys
    hash_ids: Ids


class TemplateExtractor:
    """Numbers the features of templates; strings are looked at once, keys are built from integers."""

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        self.program = program(templates)
        self.lexicons = [Lexicon(name, column, classes=templates.classes) for name, column in templates.views]
        empty = np.empty(0, dtype=np.int32)
        self.known = [_Known(empty.reshape(0, len(t.slots)), empty) for t in templates.templates]
        self.n_attributes = 0
        self.n_dense = 0
        self.n_columns = 0  # of the first batch; 0 if it is not known
        self._seen = Views(templates.views, np.int32)
        self._tables: _Tables | None = None
        self._names: list[tuple[int, int]] | None = None

    @property
    def transitions(self) -> bool:
        return self.templates.transitions

    def copy(self) -> TemplateExtractor:
        other = TemplateExtractor(self.templates)
        other.lexicons = [lexicon.copy() for lexicon in self.lexicons]
        other.known = list(self.known)  # growth replaces these, it does not change them
        other.n_attributes, other.n_dense, other.n_columns = self.n_attributes, self.n_dense, self.n_columns
        return other

    def grow(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        columns = columns_of(xs)
        dense = dense_rows(xs)
        if self.n_attributes == 0:
            self.n_dense = dense.shape[1]
            self.n_columns = len(columns)
        self._tables = None
        views = self.views(columns, grow=True)
        tokens = int(columns.starts[-1])
        order = range(len(self.known))
        collected = threads(lambda m: self.collect(m, columns.starts, views, tokens), order, n_jobs=n_jobs)
        attributes = np.empty((len(self.known), tokens), dtype=np.int32)
        for m, (local, first, counts) in enumerate(collected):
            attributes[m] = self._number(m, local, first, counts, columns.starts, views)
        self._names = None
        return check_dense(compressed(columns.starts, np.ascontiguousarray(attributes.T), dense), self.n_dense)

    def learn(self, features: Sequence[Ids]) -> None:
        """Take these features, by the numbers in the slots of each template, as all there are, in this order."""
        self.n_attributes = 0
        for m, parts in enumerate(features):
            first, self.n_attributes = self.n_attributes, self.n_attributes + len(parts)
            self.known[m] = _Known(parts, np.arange(first, self.n_attributes, dtype=np.int32))
        self._tables = self._names = None

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        columns = columns_of(xs)
        attributes, counts = self._looked_up(columns.starts, self.views(columns, grow=False), n_jobs)
        known, unknown = (sum(count[k] for count in counts) for k in (0, 1))
        warn_where_unknown(known, unknown, tokens=len(attributes))
        return check_dense(compressed(columns.starts, attributes, dense_rows(xs)), self.n_dense)

    def rows_of(self, starts: Ints, views: Ids, *, n_jobs: int | None = None) -> Rows:
        """The rows of a batch whose views [V, T] are known; unknown features are left out."""
        attributes, _ = self._looked_up(starts, views, n_jobs)
        return compressed(starts, attributes, np.zeros((len(attributes), 0), dtype=np.float32))

    def _looked_up(self, starts: Ints, views: Ids, n_jobs: int | None) -> tuple[Ids, list[tuple[int, int]]]:
        """The attribute of each template at every token [T, M], and how many are known and are not, by shards."""
        tables = self._tables = self._tables or self._build_tables()
        attributes = np.empty((int(starts[-1]), len(self.known)), dtype=np.int32)

        def run(shard: tuple[int, int]) -> tuple[int, int]:
            lo, hi = shard
            return kernels.look_up(
                starts,
                lo,
                hi,
                views,
                self.program.slot_ptr,
                self.program.slot_view,
                self.program.slot_offset,
                tables.slot_size,
                tables.kinds,
                tables.table_at,
                tables.table_bits,
                tables.direct,
                tables.hash_keys,
                tables.hash_ids,
                self.templates.boundary == "skip",
                attributes[int(starts[lo]) : int(starts[hi])],
            )

        return attributes, threads(run, shards(starts), n_jobs=n_jobs)

    def name(self, attribute: int) -> str:
        if self._names is None:
            names = [(0, 0)] * self.n_attributes
            for m, known in enumerate(self.known):
                for row, number in enumerate(known.attributes.tolist()):
                    names[number] = (m, row)
            self._names = names
        m, row = self._names[attribute]
        template = self.templates.templates[m]
        views = self.program.slot_view[self.program.slot_ptr[m] : self.program.slot_ptr[m + 1]]
        parts = self.known[m].parts[row].tolist()
        return template.name(self.lexicons[view].text(part) for view, part in zip(views, parts))

    def state(self) -> tuple[dict[str, Any], Tensors]:
        spec = {
            "kind": "templates",
            "templates": to_json(self.templates),
            "n_attributes": self.n_attributes,
            "n_dense": self.n_dense,
            "n_columns": self.n_columns,
        }
        tensors: Tensors = class_tensors(self.templates)
        for i, lexicon in enumerate(self.lexicons):
            tensors[f"lexicon.{i}.text"], tensors[f"lexicon.{i}.offsets"] = pack_strings(lexicon.strings)
        for m, known in enumerate(self.known):
            tensors[f"template.{m}.parts"] = known.parts
            tensors[f"template.{m}.attributes"] = known.attributes
        return spec, tensors

    @classmethod
    def restored(cls, spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> TemplateExtractor:
        self = cls(from_json(spec, tensors))
        if self.templates.hash_bits is not None:
            raise ModelFileError("the templates are hashed, and there is a vocabulary")
        for i, (name, column) in enumerate(self.templates.views):
            self.lexicons[i] = Lexicon(name, column, stored_strings(tensors, f"lexicon.{i}"), self.templates.classes)
            if len(self.lexicons[i]) >= 1 << kernels.SLOT_BITS:
                raise ModelFileError(f"the texts of 'lexicon.{i}' are too many")
        self.n_attributes = whole_of(spec, "n_attributes", high=2**31 - 1)
        self.n_dense = whole_of(spec, "n_dense", high=2**31 - 1)
        self.n_columns = whole_of(spec, "n_columns", high=2**31 - 1) if "n_columns" in spec else 0
        for m in range(len(self.known)):
            self.known[m] = self._stored(tensors, m)
        numbers = np.sort(np.concatenate([np.empty(0, np.int32), *(known.attributes for known in self.known)]))
        if len(numbers) != self.n_attributes or not np.array_equal(numbers, np.arange(len(numbers))):
            raise ModelFileError(f"the features are not numbered from 0 to {self.n_attributes - 1}, each once")
        return self

    def _stored(self, tensors: Mapping[str, NDArray[Any]], m: int) -> _Known:
        """The features of a template in a file, each slot's number within its lexicon."""
        slots = self._slots(m)
        attributes = array_of(tensors, f"template.{m}.attributes", np.int32, [None], low=0)
        name = f"template.{m}.parts"
        parts = array_of(tensors, name, np.int32, [len(attributes), len(slots)], low=0)
        for s, slot in enumerate(slots):
            size = len(self.lexicons[self.program.slot_view[slot]])
            if parts[:, s].max(initial=-1) >= size:
                raise ModelFileError(f"the array {name!r} names a text beyond the {size} there are")
        return _Known(parts, attributes)

    def views(self, columns: Columns, *, grow: bool, again: bool = False) -> Ids:
        """The value of every view at every token; if growing `again`, cached strings remain valid. # [V, T]"""

        def work(which: list[int], strings: list[str]) -> Ids:
            return np.stack([self.lexicons[view].numbers(strings, grow=grow) for view in which])

        check_columns(self.templates, columns, trained=self.n_columns)  # before any lexicon grows
        views: Ids = self._seen.numbers(columns, work, anew=grow and not again)
        for lexicon in self.lexicons:
            if len(lexicon) >= 1 << kernels.SLOT_BITS:
                raise DataError(
                    f"column {lexicon.column} has more than {1 << kernels.SLOT_BITS:,} distinct values",
                    remedy="use hash_bits instead of a vocabulary",
                )
        return views

    def _slots(self, m: int) -> range:
        return range(int(self.program.slot_ptr[m]), int(self.program.slot_ptr[m + 1]))

    def collect(self, m: int, starts: Ints, views: Ids, tokens: int) -> tuple[Ids, Ints, Ints]:
        """The distinct features of a template in this batch: number per token, first token and count of each."""
        slots = self._slots(m)
        parts = np.empty((len(slots), tokens), dtype=np.int32)
        skip = self.templates.boundary == "skip"
        for s, slot in enumerate(slots):
            view = views[self.program.slot_view[slot]]
            kernels.slot_values(starts, 0, len(starts) - 1, view, int(self.program.slot_offset[slot]), skip, parts[s])
        keys = np.empty(tokens, dtype=np.uint64)
        kernels.pack_keys(parts, len(slots) > 3, keys)
        space = float(np.prod([float(len(self.lexicons[self.program.slot_view[slot]])) for slot in slots]))
        bits = max(4, int(np.ceil(np.log2(2 * max(2.0, min(float(tokens), space))))))
        table_keys = np.empty(1 << bits, dtype=np.uint64)
        table_ids = np.full(1 << bits, -1, dtype=np.int32)
        ids = np.empty(tokens, dtype=np.int32)
        first = np.empty(1 << bits, dtype=np.int64)
        counts = np.empty(1 << bits, dtype=np.int64)
        size = kernels.collect(keys, bits, table_keys, table_ids, ids, first, counts)
        return ids, first[:size].copy(), counts[:size].copy()

    def parts_of(self, m: int, first: Ints, starts: Ints, views: Ids) -> Ids:
        """The numbers in the slots of a template at some tokens. # [n, slots]"""
        slots = self._slots(m)
        sequence = np.searchsorted(starts, first, side="right") - 1
        parts = np.empty((len(first), len(slots)), dtype=np.int32)
        for s, slot in enumerate(slots):
            offset = int(self.program.slot_offset[slot])
            where = first + offset
            low, high = starts[sequence], starts[sequence + 1]
            inside = (where >= low) & (where < high)
            value = views[self.program.slot_view[slot]][np.where(inside, where, first)]
            edge = np.where(where < low, low - where - 1, 8 + where - high)
            parts[:, s] = np.where(inside, value, edge)
        return parts

    def _number(self, m: int, local: Ids, first: Ints, counts: Ints, starts: Ints, views: Ids) -> Ids:
        """Attributes per token: known features keep theirs, new ones that are frequent enough get the next numbers."""
        parts = self.parts_of(m, first, starts, views)
        table = np.full(len(first), -1, dtype=np.int32)
        known = self.known[m]
        fresh = np.ones(len(first), dtype=bool)
        if len(known.attributes):
            seen = {part.tobytes(): int(a) for part, a in zip(known.parts, known.attributes)}
            for row in range(len(first)):
                attribute = seen.get(parts[row].tobytes())
                if attribute is not None:
                    table[row] = attribute
                    fresh[row] = False
        fresh &= counts >= self.templates.min_count
        new = np.flatnonzero(fresh)
        table[new] = self.n_attributes + np.arange(len(new), dtype=np.int32)
        self.known[m] = _Known(
            np.ascontiguousarray(np.concatenate([known.parts, parts[new]])),
            np.concatenate([known.attributes, table[new]]),
        )
        self.n_attributes += len(new)
        padded = np.append(table, np.int32(-1))  # number -1, absent, reads the last entry
        return padded[local]

    def _build_tables(self) -> _Tables:
        sizes = np.array([len(self.lexicons[view]) for view in self.program.slot_view], dtype=np.int64)
        count = len(self.known)
        kinds, at, bits = (np.zeros(count, dtype=np.int64) for _ in range(3))
        direct_parts: list[Ids] = []
        key_parts: list[Keys] = []
        id_parts: list[Ids] = []
        direct_size = hash_size = 0
        for m, known in enumerate(self.known):
            slots = self._slots(m)
            space = float(np.prod(sizes[slots.start : slots.stop].astype(float)))
            if space <= DIRECT:
                table = np.full(int(space), -1, dtype=np.int32)
                place = np.zeros(len(known.attributes), dtype=np.int64)
                for s, slot in enumerate(slots):
                    place = place * sizes[slot] + known.parts[:, s]
                table[place] = known.attributes
                kinds[m], at[m] = 0, direct_size
                direct_parts.append(table)
                direct_size += len(table)
            else:
                kinds[m], at[m] = (2 if len(slots) > 3 else 1), hash_size
                bits[m] = int(np.ceil(np.log2(2 * max(8, len(known.attributes)))))
                packed = np.empty(len(known.attributes), dtype=np.uint64)
                kernels.pack_keys(np.ascontiguousarray(known.parts.T), len(slots) > 3, packed)
                table_keys = np.zeros(1 << int(bits[m]), dtype=np.uint64)
                table_ids = np.full(1 << int(bits[m]), -1, dtype=np.int32)
                kernels.insert(packed, known.attributes, int(bits[m]), table_keys, table_ids)
                key_parts.append(table_keys)
                id_parts.append(table_ids)
                hash_size += len(table_ids)
        nothing = np.empty(0, dtype=np.int32)
        return _Tables(
            sizes,
            kinds,
            at,
            bits,
            np.concatenate([*direct_parts, nothing]),
            np.concatenate([*key_parts, np.empty(0, dtype=np.uint64)]),
            np.concatenate([*id_parts, nothing]),
        )


def compressed(starts: Ints, attributes: Ids, dense: NDArray[np.float32]) -> Rows:
    """The rows of attribute numbers [T, M], leaving out the negative ones."""
    indptr = np.zeros(len(attributes) + 1, dtype=np.int64)
    indices = np.empty(int(np.count_nonzero(attributes >= 0)), dtype=np.int32)
    kernels.compress(attributes, indptr, indices)
    return Rows(starts, indptr, indices, NO_VALUES, dense)

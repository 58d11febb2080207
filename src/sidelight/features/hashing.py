"""Template features without a vocabulary: a feature's hash is its attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import whole_of
from sidelight.errors import ModelFileError
from sidelight.features.extractor import Tensors
from sidelight.features.inputs import dense_rows
from sidelight.features.rows import Rows, check_dense
from sidelight.features.vocabulary import compressed
from sidelight.features.words import keys as kernels
from sidelight.features.words.lexicon import HashedViews, check_columns, columns_of
from sidelight.features.words.stored_templates import class_tensors, from_json, to_json
from sidelight.features.words.templates import Templates, program
from sidelight.parallel import shards, threads


class HashingExtractor:
    """Hashes features into 2**hash_bits attributes; nothing about strings is stored, and nothing has a name."""

    def __init__(self, templates: Templates) -> None:
        assert templates.hash_bits is not None
        self.templates = templates
        self.program = program(templates)
        self.bits = templates.hash_bits
        self.n_dense = 0
        self.n_columns = 0  # of the first batch; 0 if it is not known
        self._started = False
        self._views = HashedViews(templates.views, templates.classes)
        digests = [
            blake2b(repr(tuple(t.slots)).encode() + t.text.encode(), digest_size=8).digest()
            for t in templates.templates
        ]
        self.salts = np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)

    @property
    def n_attributes(self) -> int:
        return 1 << self.bits

    @property
    def transitions(self) -> bool:
        return self.templates.transitions

    def copy(self) -> HashingExtractor:
        other = HashingExtractor(self.templates)
        other.n_dense, other.n_columns, other._started = self.n_dense, self.n_columns, self._started
        return other

    def grow(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        if not self._started:
            self.n_dense = dense_rows(xs).shape[1]
            self.n_columns = len(columns_of(xs))
            self._started = True
        return self.rows(xs, n_jobs=n_jobs)

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        columns = columns_of(xs)
        starts = columns.starts
        tokens = int(starts[-1])
        check_columns(self.templates, columns, trained=self.n_columns)
        views = self._views.hashes(columns)
        attributes = np.empty((tokens, len(self.templates.templates)), dtype=np.int32)
        skip = self.templates.boundary == "skip"
        flat = self.program

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            out = attributes[int(starts[lo]) : int(starts[hi])]
            slots = flat.slot_ptr, flat.slot_view, flat.slot_offset
            kernels.hashed(starts, lo, hi, views, *slots, self.salts, self.bits, skip, out)

        threads(run, shards(starts), n_jobs=n_jobs)
        return check_dense(compressed(starts, attributes, dense_rows(xs)), self.n_dense)

    def name(self, attribute: int) -> str:
        return f"hash:{attribute}"

    def state(self) -> tuple[dict[str, Any], Tensors]:
        spec = {
            "kind": "hashing",
            "templates": to_json(self.templates),
            "n_dense": self.n_dense,
            "n_columns": self.n_columns,
        }
        return spec, class_tensors(self.templates)

    @classmethod
    def restored(cls, spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> HashingExtractor:
        templates = from_json(spec, tensors)
        if templates.hash_bits is None:
            raise ModelFileError("the templates are to be hashed, and there is no hash_bits")
        self = cls(templates)
        self.n_dense = whole_of(spec, "n_dense", high=2**31 - 1)
        self.n_columns = whole_of(spec, "n_columns", high=2**31 - 1) if "n_columns" in spec else 0
        self._started = True
        return self

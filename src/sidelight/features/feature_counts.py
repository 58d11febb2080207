"""How often features occur in a stream of batches, with as much memory as is given: the vocabulary in one pass.

Counts are kept sorted by feature, and merged when as many new ones have come. Where there are more than `most`, they go
to files, one sorted run after another, and the end merges these a range at a time. So counts are exact, and what stays
in memory at the end are the features that are frequent enough: in the order of their first occurrence, template by
template, as if all batches had been one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight.core.arrays import Ids, Ints, Keys
from sidelight.features.vocabulary import TemplateExtractor
from sidelight.features.words import keys as kernels
from sidelight.features.words.lexicon import columns_of

MOST = 1 << 22  # features in memory at once
RANGE = 1 << 20  # of all runs, that are merged at once


@dataclass(frozen=True, slots=True)
class Counted:
    """Distinct features of a template, sorted by key."""

    keys: Keys  # [n]
    parts: Ids  # [n, slots]
    first: Ints  # [n] token of the first occurrence
    counts: Ints  # [n]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def none(cls, slots: int) -> Self:
        """No features."""
        numbers = np.empty(0, dtype=np.int64)
        return cls(np.empty(0, dtype=np.uint64), np.empty((0, slots), dtype=np.int32), numbers, numbers)

    @classmethod
    def together(cls, parts: list[Self]) -> Self:
        """The counts of all consecutive parts; counts of the same feature are added."""
        arrays: list[Any] = [np.concatenate([getattr(one, field.name) for one in parts]) for field in fields(cls)]
        order = np.argsort(arrays[0], kind="stable")  # so the first one of equals was the first to come
        keys, rows, first, counts = (array[order] for array in arrays)
        if not len(keys):
            return cls(keys, rows, first, counts)
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        return cls(keys[starts], rows[starts], first[starts], np.add.reduceat(counts, starts))

    def part(self, lo: int, hi: int) -> Self:
        """The features lo..hi."""
        return type(self)(*(getattr(self, field.name)[lo:hi] for field in fields(self)))

    def frequent(self, least: int) -> Self:
        """The features that occur at least `least` times."""
        mask = self.counts >= least
        return type(self)(*(getattr(self, field.name)[mask] for field in fields(self)))

    def write(self, folder: Path, name: str) -> None:
        """Write a run."""
        for field in fields(self):
            np.save(folder / f"{name}-{field.name}.npy", getattr(self, field.name))

    @classmethod
    def stored(cls, folder: Path, name: str) -> Self:
        """A run in its files, which stays there."""
        return cls(*(np.load(folder / f"{name}-{field.name}.npy", mmap_mode="r") for field in fields(cls)))


class FeatureCounts:
    """Counts the features of templates, batch after batch; `folder` is for what does not fit into memory."""

    def __init__(self, extractor: TemplateExtractor, folder: Path, *, most: int = MOST) -> None:
        self.extractor, self.folder, self.most = extractor, folder, most
        self.tokens = 0
        self.runs = 0
        self._sorted = [Counted.none(known.parts.shape[1]) for known in extractor.known]
        self._new: list[list[Counted]] = [[] for _ in extractor.known]

    def add(self, xs: Any) -> tuple[Ints, Ids]:
        """Count a batch; returns its offsets and the values of its views [V, T], which make its rows later."""
        columns, extractor = columns_of(xs), self.extractor
        if not self.tokens:
            extractor.n_columns = len(columns)
        views = extractor.views(columns, grow=True, again=self.tokens > 0)
        starts, tokens = columns.starts, int(columns.starts[-1])
        for m, new in enumerate(self._new):
            _, first, counts = extractor.collect(m, starts, views, tokens)
            parts = extractor.parts_of(m, first, starts, views)
            new.append(Counted(_keys(parts), parts, first + self.tokens, counts))
            if sum(map(len, new)) > max(len(self._sorted[m]), tokens):
                self._merge(m)
        self.tokens += tokens
        if sum(map(len, self._sorted)) > self.most:
            self._spill()
        return starts, views

    def finish(self) -> TemplateExtractor:
        """The extractor, with every feature that is frequent enough."""
        least = self.extractor.templates.min_count
        features = []
        for m in range(len(self._new)):
            self._merge(m)
            frequent = self._frequent(m, least) if self.runs else self._sorted[m].frequent(least)
            features.append(np.ascontiguousarray(frequent.parts[np.argsort(frequent.first, kind="stable")]))
        self.extractor.learn(features)
        return self.extractor

    def _merge(self, m: int) -> None:
        self._sorted[m], self._new[m] = Counted.together([self._sorted[m], *self._new[m]]), []

    def _spill(self) -> None:
        for m in range(len(self._new)):
            self._merge(m)
            self._sorted[m].write(self.folder, f"run-{self.runs}-{m}")
            self._sorted[m] = Counted.none(self._sorted[m].parts.shape[1])
        self.runs += 1

    def _frequent(self, m: int, least: int) -> Counted:
        """The frequent features of all runs, merged a range of keys at a time."""
        runs = [Counted.stored(self.folder, f"run-{run}-{m}") for run in range(self.runs)] + [self._sorted[m]]
        longest = max(runs, key=len)
        step = max(1, RANGE // len(runs))
        marks = np.asarray(longest.keys[step::step])
        ends = [[0, *np.searchsorted(run.keys, marks).tolist(), len(run)] for run in runs]
        frequent = []
        for k in range(len(marks) + 1):
            pieces = [run.part(end[k], end[k + 1]) for run, end in zip(runs, ends)]
            frequent.append(Counted.together(pieces).frequent(least))
        return Counted.together(frequent)


def _keys(parts: Ids) -> Keys:
    """A number for each feature, by the numbers in its slots. # [n]"""
    keys = np.empty(len(parts), dtype=np.uint64)
    kernels.pack_keys(np.ascontiguousarray(parts.T), parts.shape[1] > 3, keys)
    return keys

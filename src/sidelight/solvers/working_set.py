"""Cuts met so far, pooled in flat arrays, with their dual variables.

Pools grow by doubling and survive from round to round; a cut that has had no weight for many rounds may be forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Floats, Ids, Ints
from sidelight.kernels import kernel
from sidelight.objective.cuts import Cuts


class WorkingSet:
    """The cuts of N terms. The weights are always −Σ α · slope, plus nothing else."""

    def __init__(self, n_terms: int) -> None:
        self.n_terms = n_terms
        self.count = 0
        self.entries = 0
        self.begin: Ints = np.zeros(0, dtype=np.int64)  # [capacity] first entry of each cut
        self.end: Ints = np.zeros(0, dtype=np.int64)
        self.offsets: Floats = np.zeros(0)
        self.alphas: Floats = np.zeros(0)
        self.norms: Floats = np.zeros(0)  # squared length of the slope
        self.terms: Ints = np.zeros(0, dtype=np.int64)
        self.idle: Ints = np.zeros(0, dtype=np.int64)  # rounds in a row with alpha 0
        self.indices: Ids = np.zeros(0, dtype=np.int32)
        self.values: Floats = np.zeros(0)
        self.sums: Floats = np.zeros(n_terms)  # Σ α over the cuts of a term

    def __len__(self) -> int:
        return self.count

    def add(self, cuts: Cuts) -> None:
        """Append cuts with dual variable 0."""
        fresh = len(cuts.terms)
        slopes = cuts.slopes
        self._reserve(fresh, len(slopes.indices))
        a, b = self.count, self.count + fresh
        self.begin[a:b] = self.entries + slopes.indptr[:-1]
        self.end[a:b] = self.entries + slopes.indptr[1:]
        self.offsets[a:b] = cuts.offsets
        self.alphas[a:b] = 0.0
        self.terms[a:b] = cuts.terms
        self.idle[a:b] = 0
        squares = slopes.values * slopes.values
        filled = np.append(squares, 0.0)
        norms = np.add.reduceat(filled, slopes.indptr[:-1]) if fresh else np.zeros(0)
        self.norms[a:b] = np.where(np.diff(slopes.indptr) > 0, norms, 0.0)
        self.indices[self.entries : self.entries + len(slopes.indices)] = slopes.indices
        self.values[self.entries : self.entries + len(slopes.indices)] = slopes.values
        self.count = b
        self.entries += len(slopes.indices)

    def members(self, first: int, last: int) -> Ints:
        """The cuts of the terms first..last."""
        terms = self.terms[: self.count]
        return np.flatnonzero((terms >= first) & (terms < last))

    def remove(self, terms: Ints) -> Floats:
        """Forget the cuts of some terms; returns the dual weight each of these terms had."""
        doomed = np.zeros(self.n_terms, dtype=bool)
        doomed[terms] = True
        had = self.sums[terms].copy()
        self.sums[terms] = 0.0
        self._keep(np.flatnonzero(~doomed[self.terms[: self.count]]))
        return had

    def forget_idle(self, rounds: int) -> None:
        """Count idle rounds, and forget cuts that have been idle for so many."""
        alphas = self.alphas[: self.count]
        idle = self.idle[: self.count]
        idle[:] = np.where(alphas > 0.0, 0, idle + 1)
        if np.count_nonzero(idle > rounds) > self.count // 4:
            self._keep(np.flatnonzero(idle <= rounds))

    def weights(self, size: int) -> Floats:
        """−Σ α · slope, from scratch."""
        out = np.zeros(size)
        _subtract(self.begin, self.end, self.indices, self.values, self.alphas, self.count, out)
        return out

    def give(self, alphas: Floats) -> None:
        """Set the dual variables of the cuts added last."""
        part = slice(self.count - len(alphas), self.count)
        self.alphas[part] = alphas
        np.add.at(self.sums, self.terms[part], alphas)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that hold everything, for a checkpoint."""
        n, e = self.count, self.entries
        return {
            "begin": self.begin[:n],
            "end": self.end[:n],
            "offsets": self.offsets[:n],
            "alphas": self.alphas[:n],
            "norms": self.norms[:n],
            "terms": self.terms[:n],
            "idle": self.idle[:n],
            "indices": self.indices[:e],
            "values": self.values[:e],
            "sums": self.sums,
        }

    @classmethod
    def restored(cls, arrays: dict[str, NDArray[Any]]) -> WorkingSet:
        self = cls(len(arrays["sums"]))
        self.count, self.entries = len(arrays["begin"]), len(arrays["indices"])
        for name, array in arrays.items():
            setattr(self, name, array.copy())
        return self

    def _reserve(self, cuts: int, entries: int) -> None:
        if self.count + cuts > len(self.begin):
            room = max(1024, self.count + cuts, len(self.begin) * 2)
            for name in ("begin", "end", "offsets", "alphas", "norms", "terms", "idle"):
                setattr(self, name, _grown(getattr(self, name), self.count, room))
        if self.entries + entries > len(self.indices):
            room = max(1 << 16, self.entries + entries, len(self.indices) * 3 // 2)
            self.indices = _grown(self.indices, self.entries, room)
            self.values = _grown(self.values, self.entries, room)

    def _keep(self, which: Ints) -> None:
        lengths = self.end[which] - self.begin[which]
        ends = np.cumsum(lengths)
        begins = ends - lengths
        picked = np.repeat(self.begin[which] - begins, lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
        self.indices, self.values = self.indices[picked], self.values[picked]
        for name in ("offsets", "alphas", "norms", "terms", "idle"):
            setattr(self, name, getattr(self, name)[which])
        self.begin, self.end = begins, ends
        self.count, self.entries = len(which), len(picked)


@kernel
def _subtract(begin: Ints, end: Ints, indices: Ids, values: Floats, alphas: Floats, count: int, out: Floats) -> None:
    for j in range(count):
        if alphas[j] != 0.0:
            for k in range(begin[j], end[j]):
                out[indices[k]] -= alphas[j] * values[k]


def _grown(array: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    bigger = np.empty(room, dtype=array.dtype)
    bigger[:used] = array[:used]
    return bigger

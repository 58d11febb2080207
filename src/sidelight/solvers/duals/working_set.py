"""The cuts found so far, pooled in flat arrays, with their dual variables.

Pools grow by doubling and are kept from round to round; a cut without weight for many rounds may be removed. Inner
products between the cuts of a term are computed on first use: steps of pairs of dual variables of one term need them
repeatedly (`cut_products`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.errors import ModelFileError
from sidelight.features.rows import offsets_of
from sidelight.objective.cuts import Cuts


class CutProducts:
    """A square matrix per term; NaN for products that are not computed yet."""

    def __init__(self, n_terms: int) -> None:
        self.places: Ints = np.zeros(0, dtype=np.int64)  # [cuts known here] row and column of each cut
        self.rooms: Ints = np.zeros(n_terms, dtype=np.int64)  # [N] rows of each matrix
        self.used: Ints = np.zeros(n_terms, dtype=np.int64)  # [N]
        self.at: Ints = np.zeros(n_terms + 1, dtype=np.int64)  # [N + 1] where each matrix begins
        self.gram: Floats = np.zeros(0)

    def keep(self, which: Ints) -> None:
        """Remove all other cuts."""
        self.places = self.places[which[which < len(self.places)]]

    def make_room(self, terms: Ints) -> None:
        """Assign a place to every new cut; `terms` are the terms of all cuts, with new cuts last."""
        known, count = len(self.places), len(terms)
        if known == count:
            return
        fresh = terms[known:]
        more = np.bincount(fresh, minlength=len(self.rooms))
        if np.all(self.used + more <= self.rooms):
            places = self.used[fresh] + _ranks(fresh)
        else:
            places = self._rebuild(terms)
        self.used += more
        self.places = np.concatenate([self.places, places])

    def _rebuild(self, terms: Ints) -> Ints:
        """Allocate larger matrices, without the rows of removed cuts; returns the places of the new cuts."""
        known = len(self.places)
        sizes = np.bincount(terms[:known], minlength=len(self.rooms))
        counts = np.bincount(terms, minlength=len(self.rooms))
        rooms = counts + (counts + 1) // 2
        at = offsets_of(rooms * rooms)
        gram = np.full(int(at[-1]), np.nan)
        places = _ranks(terms)
        order = np.argsort(terms[:known], kind="stable")
        _copy(offsets_of(sizes), order, self.places, self.rooms, self.at, self.gram, places, rooms, at, gram)
        self.places, self.rooms, self.used, self.at, self.gram = places[:known], rooms, sizes, at, gram
        return places[known:]


def _ranks(terms: Ints) -> Ints:
    """The rank of each cut within its term.

    >>> _ranks(np.array([3, 5, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(terms, kind="stable")
    sorted_terms = terms[order]
    begins = np.flatnonzero(np.diff(sorted_terms, prepend=-1))
    ranks = np.empty(len(terms), dtype=np.int64)
    ranks[order] = np.arange(len(terms)) - np.repeat(begins, np.diff(begins, append=len(terms)))
    return ranks


@kernel
def _copy(
    ptr: Ints,
    members: Ints,
    old_places: Ints,
    old_rooms: Ints,
    old_at: Ints,
    old: Floats,
    places: Ints,
    rooms: Ints,
    at: Ints,
    gram: Floats,
) -> None:
    for i in range(ptr.shape[0] - 1):
        for a in range(ptr[i], ptr[i + 1]):
            for b in range(ptr[i], ptr[i + 1]):
                one, other = members[a], members[b]
                value = old[old_at[i] + old_places[one] * old_rooms[i] + old_places[other]]
                gram[at[i] + places[one] * rooms[i] + places[other]] = value


@inner_kernel
def row_product(indices: Ids, values: Floats, a: int, a_end: int, b: int, b_end: int) -> float:
    """The inner product of two rows with sorted indices."""
    total = 0.0
    while a < a_end and b < b_end:
        if indices[a] == indices[b]:
            total += values[a] * values[b]
            a += 1
            b += 1
        elif indices[a] < indices[b]:
            a += 1
        else:
            b += 1
    return total


class WorkingSet:
    """The cuts of N terms. The weights are always −Σ α · slope, plus nothing else.

    If all slopes are integers (`whole`), an entry is only an index, repeated according to its value: first the positive
    entries of a cut, up to `middle`, then the negative ones. This takes a third of the memory.
    """

    def __init__(self, n_terms: int, *, whole: bool = False) -> None:
        self.n_terms = n_terms
        self.whole = whole
        self.count = 0
        self.entries = 0
        self.begin: Ints = np.zeros(0, dtype=np.int64)  # [capacity] first entry of each cut
        self.middle: Ints = np.zeros(0, dtype=np.int64)  # [capacity] first negative entry, if whole
        self.end: Ints = np.zeros(0, dtype=np.int64)
        self.offsets: Floats = np.zeros(0)
        self.alphas: Floats = np.zeros(0)
        self.best_alphas: Floats = np.zeros(0)  # those of the best weights so far
        self.norms: Floats = np.zeros(0)  # squared length of the slope
        self.terms: Ints = np.zeros(0, dtype=np.int64)
        self.idle: Ints = np.zeros(0, dtype=np.int64)  # rounds in a row with alpha 0
        self.indices: Ids = np.zeros(0, dtype=np.int32)
        self.values: Floats = np.zeros(0)  # stays empty if whole
        self.sums: Floats = np.zeros(n_terms)  # Σ α over the cuts of a term
        self.products = CutProducts(n_terms)  # used only by the hinge

    def __len__(self) -> int:
        return self.count

    def add(self, cuts: Cuts) -> None:
        """Append cuts with dual variable 0."""
        slopes = cuts.slopes
        fresh = len(cuts.terms)
        size = int(np.abs(slopes.values).sum()) if self.whole else len(slopes.indices)
        self._reserve(fresh, size)
        a, b = self.count, self.count + fresh
        self.offsets[a:b] = cuts.offsets
        self.alphas[a:b] = 0.0
        self.best_alphas[a:b] = 0.0
        self.terms[a:b] = cuts.terms
        self.idle[a:b] = 0
        filled = np.append(slopes.values * slopes.values, 0.0)
        norms = np.add.reduceat(filled, slopes.indptr[:-1]) if fresh else np.zeros(0)
        self.norms[a:b] = np.where(np.diff(slopes.indptr) > 0, norms, 0.0)
        place = self.begin[a:b], self.middle[a:b], self.end[a:b]
        if self.whole:
            _add_whole(slopes.indptr, slopes.indices, slopes.values, self.entries, *place, self.indices)
        else:
            for bound, ends in zip(place, (slopes.indptr[:-1], slopes.indptr[1:], slopes.indptr[1:])):
                bound[:] = self.entries + ends
            self.indices[self.entries : self.entries + size] = slopes.indices
            self.values[self.entries : self.entries + size] = slopes.values
        self.count = b
        self.entries += size

    def members(self, first: int, last: int) -> Ints:
        """The cuts of the terms first..last."""
        terms = self.terms[: self.count]
        return np.flatnonzero((terms >= first) & (terms < last))

    def remove(self, terms: Ints) -> Floats:
        """Remove the cuts of some terms; returns the dual weight of each of these terms."""
        doomed = np.zeros(self.n_terms, dtype=bool)
        doomed[terms] = True
        had = self.sums[terms].copy()
        self.sums[terms] = 0.0
        self._keep(np.flatnonzero(~doomed[self.terms[: self.count]]))
        return had

    def forget_idle(self, rounds: int, *, found_again: NDArray[np.bool_] | None = None) -> None:  # [N]
        """Count idle rounds, and remove cuts that have been idle for `rounds` rounds.

        `found_again` says for each term whether a removed cut would be found again when it is needed; other cuts are
        kept.
        """
        alphas = self.alphas[: self.count]
        idle = self.idle[: self.count]
        idle[:] = np.where((alphas > 0.0) | (self.best_alphas[: self.count] > 0.0), 0, idle + 1)
        old = idle > rounds
        if found_again is not None:
            old &= found_again[self.terms[: self.count]]
        if np.count_nonzero(old) > self.count // 4:
            self._keep(np.flatnonzero(~old))

    def mark_best(self) -> None:
        """Store the current dual variables as the best ones."""
        self.best_alphas[: self.count] = self.alphas[: self.count]

    def weights(self, size: int, alphas: Floats) -> Floats:
        """−Σ α · slope, recomputed."""
        out = np.zeros(size)
        _subtract_all(self.begin, self.middle, self.end, self.indices, self.values, alphas[: self.count], out)
        return out

    def give(self, alphas: Floats) -> None:
        """Set the dual variables of the cuts added last."""
        part = slice(self.count - len(alphas), self.count)
        self.alphas[part] = alphas
        np.add.at(self.sums, self.terms[part], alphas)

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        n, e = self.count, self.entries
        return {
            "begin": self.begin[:n],
            "middle": self.middle[:n],
            "end": self.end[:n],
            "offsets": self.offsets[:n],
            "alphas": self.alphas[:n],
            "best_alphas": self.best_alphas[:n],
            "norms": self.norms[:n],
            "terms": self.terms[:n],
            "idle": self.idle[:n],
            "indices": self.indices[:e],
            "values": self.values[: 0 if self.whole else e],
            "sums": self.sums,
            "whole": np.array([self.whole]),
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], fresh: WorkingSet, *, size: int) -> WorkingSet:
        """The cuts from a checkpoint, for the same number of terms as a fresh set; slopes have `size` entries.

        Raises `ModelFileError` if they are invalid.
        """
        whole = bool(array_of(arrays, "whole", np.bool_, [1])[0])
        if whole is not fresh.whole:
            raise ModelFileError("its cuts are of another form")
        self = cls(fresh.n_terms, whole=whole)
        self.indices = array_of(arrays, "indices", np.int32, [None], low=0, high=size - 1)
        self.entries = len(self.indices)
        self.begin = array_of(arrays, "begin", np.int64, [None], low=0, high=self.entries)
        count = self.count = len(self.begin)
        self.middle, self.end = (
            array_of(arrays, name, np.int64, [count], low=0, high=self.entries) for name in ("middle", "end")
        )
        inside = (self.begin <= self.middle) & (self.middle <= self.end) if whole else self.begin <= self.end
        if not np.all(inside) or np.any(self.begin[1:] < self.end[:-1]):
            raise ModelFileError("the entries of its cuts overlap")
        self.terms = array_of(arrays, "terms", np.int64, [count], low=0, high=self.n_terms - 1)
        self.idle = array_of(arrays, "idle", np.int64, [count], low=0)
        self.offsets = array_of(arrays, "offsets", np.float64, [count])
        self.alphas, self.best_alphas, self.norms = (
            array_of(arrays, name, np.float64, [count], low=0.0) for name in ("alphas", "best_alphas", "norms")
        )
        self.values = array_of(arrays, "values", np.float64, [0 if whole else self.entries])
        self.sums = array_of(arrays, "sums", np.float64, [self.n_terms])
        return self

    def _reserve(self, cuts: int, entries: int) -> None:
        if self.count + cuts > len(self.begin):
            room = max(1024, self.count + cuts, len(self.begin) * 2)
            for name in _PER_CUT:
                setattr(self, name, _grown(getattr(self, name), room))
        if self.entries + entries > len(self.indices):
            room = max(1 << 16, self.entries + entries, len(self.indices) * 5 // 4)
            self.indices = _grown(self.indices, room)
            if not self.whole:
                self.values = _grown(self.values, room)

    def _keep(self, which: Ints) -> None:
        lengths = self.end[which] - self.begin[which]
        ends = np.cumsum(lengths)
        begins = ends - lengths
        size = int(ends[-1]) if len(ends) else 0
        _slide(self.begin[which], begins, lengths, self.indices)
        if not self.whole:
            _slide(self.begin[which], begins, lengths, self.values)
        middles = self.middle[which] - self.begin[which] + begins
        self.products.keep(which)
        for name in ("offsets", "alphas", "best_alphas", "norms", "terms", "idle"):
            setattr(self, name, getattr(self, name)[which])
        self.begin, self.middle, self.end = begins, middles, ends
        self.count, self.entries = len(which), size


_PER_CUT = ("begin", "middle", "end", "offsets", "alphas", "best_alphas", "norms", "terms", "idle")


@inner_kernel
def dot(indices: Ids, values: Floats, weights: Floats, begin: int, middle: int, end: int) -> float:
    """slope · w of the cut with these entries."""
    total = 0.0
    if values.shape[0] > 0:
        where, what = indices[begin:end], values[begin:end]
        for k in range(where.shape[0]):
            total += what[k] * weights[np.uint32(where[k])]  # unsigned: no check for negative indices
    else:
        for index in indices[begin:middle]:
            total += weights[np.uint32(index)]
        for index in indices[middle:end]:
            total -= weights[np.uint32(index)]
    return total


@inner_kernel
def subtract(indices: Ids, values: Floats, weights: Floats, begin: int, middle: int, end: int, amount: float) -> None:
    """w −= amount · slope of the cut with these entries."""
    if values.shape[0] > 0:
        where, what = indices[begin:end], values[begin:end]
        for k in range(where.shape[0]):
            weights[np.uint32(where[k])] -= amount * what[k]
    else:
        for index in indices[begin:middle]:
            weights[np.uint32(index)] -= amount
        for index in indices[middle:end]:
            weights[np.uint32(index)] += amount


@kernel
def _subtract_all(
    begin: Ints, middle: Ints, end: Ints, indices: Ids, values: Floats, alphas: Floats, out: Floats
) -> None:
    for j in range(alphas.shape[0]):
        if alphas[j] != 0.0:
            subtract(indices, values, out, begin[j], middle[j], end[j], alphas[j])


@kernel
def _add_whole(
    indptr: Ints, indices: Ids, values: Floats, size: int, begin: Ints, middle: Ints, end: Ints, out: Ids
) -> None:
    for i in range(indptr.shape[0] - 1):
        begin[i] = size
        for sign in (1.0, -1.0):
            for k in range(indptr[i], indptr[i + 1]):
                for _ in range(np.int64(sign * values[k])):
                    out[size] = indices[k]
                    size += 1
            if sign > 0.0:
                middle[i] = size
        end[i] = size


@kernel
def _slide(old: Ints, new: Ints, lengths: Ints, entries: NDArray[Any]) -> None:
    """Move pieces to the front, in order."""
    for i in range(old.shape[0]):
        for k in range(lengths[i]):
            entries[new[i] + k] = entries[old[i] + k]


def _grown(array: NDArray[Any], room: int) -> NDArray[Any]:
    """A larger array with the same contents; the system moves large ones without a second copy."""
    if not array.flags.owndata:
        array = array.copy()
    array.resize(room, refcheck=False)
    return array

"""Inner products between the cuts of a term, each computed when it is first asked for.

Pairs of dual variables of one term take steps that need them, again and again for the same cuts.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.features.rows import offsets_of


class CutProducts:
    """A square matrix per term; NaN where a product has not been asked for."""

    def __init__(self, n_terms: int) -> None:
        self.places: Ints = np.zeros(0, dtype=np.int64)  # [cuts known here] row and column of each cut
        self.rooms: Ints = np.zeros(n_terms, dtype=np.int64)  # [N] rows of each matrix
        self.used: Ints = np.zeros(n_terms, dtype=np.int64)  # [N]
        self.at: Ints = np.zeros(n_terms + 1, dtype=np.int64)  # [N + 1] where each matrix begins
        self.gram: Floats = np.zeros(0)

    def keep(self, which: Ints) -> None:
        """Forget all cuts but some."""
        self.places = self.places[which[which < len(self.places)]]

    def make_room(self, terms: Ints) -> None:
        """Give a place to every cut that has none; `terms` are those of all cuts, new ones last."""
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
        """Larger matrices without the rows of forgotten cuts; returns the places of the new cuts."""
        known = len(self.places)
        kept = np.bincount(terms[:known], minlength=len(self.rooms))
        counts = np.bincount(terms, minlength=len(self.rooms))
        rooms = counts + (counts + 1) // 2
        at = offsets_of(rooms * rooms)
        gram = np.full(int(at[-1]), np.nan)
        places = _ranks(terms)
        order = np.argsort(terms[:known], kind="stable")
        _copy(offsets_of(kept), order, self.places, self.rooms, self.at, self.gram, places, rooms, at, gram)
        self.places, self.rooms, self.used, self.at, self.gram = places[:known], rooms, kept, at, gram
        return places[known:]


def _ranks(terms: Ints) -> Ints:
    """The how-manieth of its term each is.

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


@kernel
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

"""One-to-one matchings: every slot takes a number from 1 on that no other slot has, or nothing (choice 0).

The best by successive shortest paths (Kuhn 1955, Munkres 1957; in the form of Jonker and Volgenant 1987), compiled,
O(slots² · choices). Sums over matchings are permanents, which are intractable, so they are not supported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner_kernel, kernel
from sidelight.parallel import shards, threads
from sidelight.spaces.slots import BatchedSlotSpace


@dataclass(frozen=True)
class MatchingSpace(BatchedSlotSpace):
    """The matchings of a batch; `mask` marks the possible choices."""

    no_sums = "sums over matchings, which may cross, are permanents and not tractable"

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        choices, values = np.zeros(len(scores), dtype=np.int32), np.empty(len(self.starts) - 1)

        def run(shard: tuple[int, int]) -> None:
            lo, hi = shard
            best_matchings(self.starts, lo, hi, scores, choices, values)

        threads(run, shards(self.starts), n_jobs=n_jobs)
        return choices, values


@kernel
def best_matchings(starts: Ints, lo: int, hi: int, scores: Floats, choices: Ids, values: Floats) -> None:
    """The best matching of the inputs lo..hi; a value of −inf if there is none. # scores: [T, K]"""
    right = scores.shape[1] - 1
    for number in range(lo, hi):
        first = starts[number]
        n = starts[number + 1] - first
        own = scores[first : first + n]
        total = right + n  # columns: numbers, then one for each slot that takes nothing
        taker = np.full(total, -1, np.int64)
        lift, price = np.zeros(n), np.zeros(total)
        values[number] = 0.0
        for slot in range(n):
            if not _add_slot(slot, own, right, taker, lift, price):
                values[number] = -np.inf
                break
        if values[number] == -np.inf:
            continue
        for column in range(total):
            slot = taker[column]
            if slot >= 0:
                choice = column + 1 if column < right else 0
                choices[first + slot] = choice
                values[number] += own[slot, choice]


@inner_kernel
def _add_slot(slot: int, own: Floats, right: int, taker: Ints, lift: Floats, price: Floats) -> bool:
    """Give one more slot a column by the shortest path of changes; False if there is none."""
    total = taker.shape[0]
    way, from_ = np.full(total, np.inf), np.full(total, -1, np.int64)
    done = np.zeros(total, np.uint8)
    at, last = slot, -1  # the slot that looks for a column, and the column that it has lost
    length = 0.0
    while True:
        for column in range(total):
            worth = own[at, column + 1] if column < right else own[at, 0] if column == right + at else -np.inf
            if not done[column] and worth > -np.inf:
                step = length - worth - lift[at] - price[column]
                if step < way[column]:
                    way[column] = step
                    from_[column] = last
        last = -1
        for column in range(total):
            if not done[column] and way[column] < np.inf and (last < 0 or way[column] < way[last]):
                last = column
        if last < 0:
            return False
        done[last] = 1
        length = way[last]
        if taker[last] < 0:
            break
        at = taker[last]
    for column in range(total):
        if done[column]:
            if taker[column] >= 0:
                lift[taker[column]] += length - way[column]
            price[column] -= length - way[column]
    lift[slot] += length
    while True:
        before = from_[last]
        taker[last] = slot if before < 0 else taker[before]
        if before < 0:
            return True
        last = before

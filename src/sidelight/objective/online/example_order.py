"""The order of examples for online learners, if examples are in blocks of which few are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.features.rows import offsets_of


@dataclass(frozen=True, slots=True)
class ExampleOrder:
    """Examples with numbers of their own, block after block."""

    starts: Ints  # [B + 1]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> ExampleOrder:
        """Blocks of so many examples."""
        return cls(offsets_of(list(sizes)))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def shuffled(self, rng: np.random.Generator) -> Ints:
        """All examples: blocks in random order, and each block's own in random order.

        >>> ExampleOrder.of([2, 3]).shuffled(np.random.default_rng(0)).tolist()
        [0, 1, 4, 2, 3]
        """
        count = len(self.starts) - 1
        if count == 1:
            return rng.permutation(len(self))
        blocks = rng.permutation(count)
        return np.concatenate([self.starts[b] + rng.permutation(self.starts[b + 1] - self.starts[b]) for b in blocks])

    def runs(self, order: Ints) -> Iterator[tuple[int, Ints]]:
        """An order as blocks, one after another, with the numbers that their examples have in them.

        >>> [(b, own.tolist()) for b, own in ExampleOrder.of([2, 3]).runs(np.array([3, 2, 0]))]
        [(1, [1, 0]), (0, [0])]
        """
        if not len(order):
            return
        blocks = np.searchsorted(self.starts, order, side="right") - 1
        ends = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), len(order)]
        for lo, hi in pairwise(ends):
            block = int(blocks[lo])
            yield block, order[lo:hi] - self.starts[block]

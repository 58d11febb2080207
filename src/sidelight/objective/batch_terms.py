"""Terms of a batch, one of each input, in the blocks that a solver looks at."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sidelight.objective.batch import Batch
from sidelight.objective.cuts import Terms
from sidelight.parallel import shards

BLOCK_TOKENS = 8192  # a solver looks at so many tokens between two moves of the weights


class BatchTerms(ABC):
    """What such terms have in common; each kind brings its batch, and says what some of its terms are."""

    __slots__ = ()

    batch: Batch

    def __len__(self) -> int:
        return len(self.batch)

    def parts(self) -> list[tuple[int, Terms]]:
        """Blocks of terms, each with the number of its first."""
        return [(lo, self.part(lo, hi)) for lo, hi in shards(self.batch.starts, tokens=BLOCK_TOKENS)]

    @abstractmethod
    def part(self, lo: int, hi: int) -> Terms:
        """The terms lo..hi alone."""

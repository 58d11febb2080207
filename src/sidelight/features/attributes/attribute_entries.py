"""What an item of a token's dict, or a name in its list, gives: worked out once and kept, because items come again.

An item's entries (attribute number and value) are one `bytes`, so that those of a batch are joined in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENTRY = np.dtype([("attribute", np.int32), ("value", np.float64)])
KEPT = 1 << 17  # so many items at least are kept between batches

Work = Callable[[Any], Iterable[tuple[int, float]]]  # an item -> its attributes, -1 if unknown, and their values


class KnownEntries(dict[Any, bytes]):
    """Entries by item; what is missing is worked out.

    Threads that predict at the same time write the same thing into it without a lock.
    """

    def __init__(self, work: Work) -> None:
        self.work = work

    def __missing__(self, item: Any) -> bytes:
        entries = self[item] = np.array(list(self.work(item)), dtype=ENTRY).tobytes()
        return entries

    def joined(self, items: Iterator[Any], counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The entries of a batch, and how many each token has, of items so many to a token. # [E], [T]

        Raises `TypeError` where an item cannot be kept, a list for one.
        """
        pieces = list(map(self.__getitem__, items))
        entries = np.frombuffer(b"".join(pieces), dtype=ENTRY)
        if len(entries) == len(pieces):
            return entries, counts
        sizes = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)) // ENTRY.itemsize
        ends = np.append(0, np.cumsum(sizes))[np.cumsum(counts)]  # items with several entries, or with none
        return entries, np.diff(ends, prepend=0)

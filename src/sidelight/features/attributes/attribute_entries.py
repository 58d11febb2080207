"""What an item of a token's dict, or a name in its list, gives: worked out once and kept, because items come again.

An item's entries (attribute number and value) are one `bytes`, so that those of a batch are joined in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel

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


@kernel
def place_table(begins: Ints, numbers: Ids, amounts: Floats, attributes: Ids, values: Floats) -> None:
    """Write a table [tokens, names] where its tokens begin."""
    for t in range(numbers.shape[0]):
        for k in range(numbers.shape[1]):
            attributes[begins[t] + k] = numbers[t, k]
            values[begins[t] + k] = amounts[t, k]


@kernel
def keep_known(attributes: Ids, values: Floats, indptr: Ints) -> bool:
    """Move the entries that have a number to the front, in order; whether all of their values are 1."""
    size, ones, last = 0, True, 0
    for t in range(indptr.shape[0] - 1):
        first, last = last, indptr[t + 1]
        for k in range(first, last):
            if attributes[k] >= 0:
                attributes[size] = attributes[k]
                values[size] = values[k]
                ones &= values[k] == 1.0
                size += 1
        indptr[t + 1] = size
    return ones

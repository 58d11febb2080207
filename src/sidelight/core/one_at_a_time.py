"""Items that are created on access, so that many large ones are never in memory together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

Item = TypeVar("Item")
Other = TypeVar("Other")


class OneAtATime(Sequence[Item], Generic[Item]):
    """A sequence of items that keeps only the item accessed last.

    >>> squares = OneAtATime(lambda number: number * number, 4)
    >>> list(squares), squares.map(str)[-1]
    ([0, 1, 4, 9], '9')
    """

    def __init__(self, make: Callable[[int], Item], count: int) -> None:
        self._make, self._count = make, count
        self._kept: tuple[int, Item] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Item: ...

    @overload
    def __getitem__(self, number: slice) -> OneAtATime[Item]: ...

    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return self.take(range(self._count)[number])
        number = range(self._count)[number]  # supports negative indices, and ends loops
        if self._kept is None or self._kept[0] != number:
            self._kept = None  # it may be large; free it before the next one is created
            self._kept = number, self._make(number)
        return self._kept[1]

    def __iter__(self) -> Iterator[Item]:
        for number in range(self._count):
            yield self[number]

    @property
    def last(self) -> Item:
        """The item accessed last, or the first one: for properties that all items share."""
        return self[0] if self._kept is None else self._kept[1]

    def map(self, function: Callable[[Item], Other]) -> OneAtATime[Other]:
        """A function of each item, computed on access."""
        return OneAtATime(lambda number: function(self[number]), self._count)

    def take(self, which: Sequence[int]) -> OneAtATime[Item]:
        """Some of the items."""
        return OneAtATime(lambda number: self[which[number]], len(which))

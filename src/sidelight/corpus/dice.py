"""The one source of chance in the corpus: everything is drawn from uniform numbers, so a seed fixes every byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from numpy.random import PCG64, Generator

T = TypeVar("T")


class Dice:
    """Draws from a seeded generator.

    >>> Dice(0).pick("abc") == Dice(0).pick("abc")
    True
    """

    __slots__ = ("_next",)

    def __init__(self, seed: int) -> None:
        self._next = Generator(PCG64(seed)).random

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._next() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """One option, all equally likely."""
        return options[int(self._next() * len(options))]

    def zipf(self, options: Sequence[T], *, flat: float = 4.0) -> T:
        """One option with probability about proportional to 1 / (rank + flat), the first one the likeliest."""
        size = len(options)
        rank = flat * ((size / flat + 1.0) ** self._next() - 1.0)
        return options[min(int(rank), size - 1)]

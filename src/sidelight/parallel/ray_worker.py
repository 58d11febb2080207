"""A worker of a Ray place: holds pieces of the data, and applies functions to them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import NO_FLOATS, Floats, Ids
from sidelight.core.collection import without_collection
from sidelight.parallel.parcels import Parcel, opened, packed
from sidelight.parallel.place import Node, loaded, summed


@dataclass(frozen=True, slots=True)
class Weights:
    """A large vector in a message: complete, or as changes since the vector of the previous message."""

    number: int  # of the vector
    values: Floats  # [size], or [changed]
    places: Ids | None = None  # [changed]

    def after(self, before: Any) -> Floats:
        """The vector; if only changes were sent, the previous vector is updated in place, as a copy is slow."""
        if self.places is None:
            return self.values
        before[self.places] = self.values
        vector: Floats = before
        return vector


def weights_since(number: int, before: Floats | None, now: Floats) -> Weights:
    """The shorter message for workers that know the previous vector: complete or changes; both give the same bits.

    >>> weights_since(1, np.zeros(4), np.array([0.0, -0.0, 0.0, 0.0])).places.tolist()
    [1]
    """
    if before is not None and before.shape == now.shape:
        places = np.flatnonzero(before.view(np.int64) != now.view(np.int64))
        if 2 * len(places) < len(now):
            return Weights(number, now[places], places.astype(np.int32))
    return Weights(number, now)


class Shortage(Exception):
    """A worker had too little memory for a piece."""


class Worker:
    """The pieces of a worker, by the number of their set and their own number."""

    def __init__(self) -> None:
        self._held: dict[int, dict[int, Any]] = {}
        self._failed: dict[int, Exception] = {}  # why a set is missing; raised on its use
        self._weights: tuple[int, Floats] = (-1, NO_FLOATS)  # the last vector, and its number
        self._task: tuple[int, Any] = (-1, None)  # the task for items of a list, and its number

    def pid(self) -> int:
        """The process id."""
        return os.getpid()

    def hold(self, key: int, numbers: list[int], *parcels: Parcel) -> None:
        """Take pieces; stored ones are loaded."""
        with self._taking(key) as held:
            for number, parcel in zip(numbers, parcels):
                with _memory_for(number):
                    held[number] = loaded(opened(parcel))

    def make(self, key: int, source: int, message: Parcel, own: Parcel) -> None:
        """Compute new pieces from those of a set."""
        with self._taking(key) as held:
            function, common = opened(message)
            mine = opened(own)
            for number, piece in self._pieces(source).items():
                with _memory_for(number):
                    held[number] = function(piece, *common, *mine.get(number, ()))

    @contextmanager
    def _taking(self, key: int) -> Iterator[dict[int, Any]]:
        """Context manager for a new set: an error is stored, since no caller waits for an answer."""
        self._held[key] = {}
        try:
            yield self._held[key]
        except Exception as error:
            error.__context__ = None  # its frames would keep pieces alive
            self._failed[key] = error.with_traceback(None)
            self._held[key] = {}

    def _pieces(self, key: int) -> dict[int, Any]:
        """A set; raises the error of its creation."""
        if key in self._failed:
            raise self._failed[key]
        return self._held[key]

    def know(self, message: Parcel) -> None:
        """Store a vector to which later messages refer."""
        self._read(message)

    def _read(self, message: Parcel) -> tuple[Any, tuple[Any, ...]]:
        """A function and its arguments."""
        function, common = opened(message)
        return function, tuple(self._whole(one) if isinstance(one, Weights) else one for one in common)

    def _whole(self, weights: Weights) -> Floats:
        number, known = self._weights
        if weights.number != number:  # otherwise it is the same call again
            known = weights.after(known)
            self._weights = weights.number, known
        return known

    def drop(self, keys: list[int]) -> None:
        """Forget sets of pieces."""
        for key in keys:
            self._held.pop(key, None)
            self._failed.pop(key, None)

    def each(self, key: int, message: Parcel, own: Parcel) -> tuple[Parcel, float]:
        """The results of all pieces, and their time."""
        function, common = self._read(message)
        mine = opened(own)
        began = time.perf_counter()
        answers = {}
        for number, piece in self._pieces(key).items():
            with _memory_for(number):
                answers[number] = function(piece, *common, *mine.get(number, ()))
        return packed(answers), time.perf_counter() - began

    def total(self, key: int, message: Parcel, nodes: list[Node]) -> tuple[Parcel, float]:
        """The sums of some nodes of the tree."""
        function, common = self._read(message)
        pieces, began = self._pieces(key), time.perf_counter()

        def leaf(number: int) -> Any:
            with _memory_for(number):
                return function(pieces[number], *common)

        sums = {node: summed(node, leaf) for node in nodes}
        return packed(sums), time.perf_counter() - began

    def advance(
        self, key: int, message: Parcel, own: Parcel, states: Parcel, nodes: list[Node]
    ) -> tuple[tuple[Parcel, float], Parcel]:
        """The same, with the new state of each piece."""
        function, common = self._read(message)
        mine = opened(own)
        before: dict[int, Any] = opened(states)
        after: dict[int, Any] = {}
        pieces, began = self._pieces(key), time.perf_counter()

        def leaf(number: int) -> Any:
            with _memory_for(number):
                after[number], answer = function(pieces[number], before.get(number), *common, *mine.get(number, ()))
            return answer

        sums = {node: summed(node, leaf) for node in nodes}
        seconds = time.perf_counter() - began
        return (packed(sums), seconds), packed(after)

    def learn(self, key: int, message: Parcel) -> None:
        """Store the task for items of a list."""
        self._task = key, message

    def carry_out(self, key: int, number: int, item: Parcel) -> tuple[Parcel, float]:
        """Perform the stored task for one item."""
        assert self._task[0] == key
        if isinstance(self._task[1], list):
            self._task = key, opened(self._task[1])
        function, common = self._task[1]
        began = time.perf_counter()
        with _memory_for(number, "task"):
            with without_collection():
                whole = opened(item)
            answer = packed(function(whole, *common))
        return answer, time.perf_counter() - began


@contextmanager
def _memory_for(number: int, what: str = "shard") -> Iterator[None]:
    """Context manager: names the piece for which memory did not suffice."""
    try:
        yield
    except MemoryError:
        raise Shortage(f"{what} {number}") from None

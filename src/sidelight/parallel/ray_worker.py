"""A worker of a Ray place: holds pieces of the data, and answers questions about them."""

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
    """A large vector in a message: whole, or as what has changed since the vector of the message before it."""

    number: int  # of the vector
    values: Floats  # [size], or [changed]
    places: Ids | None = None  # [changed]

    def after(self, before: Any) -> Floats:
        """The vector, of the one before it, which becomes it where only changes are told: a copy takes long."""
        if self.places is None:
            return self.values
        before[self.places] = self.values
        vector: Floats = before
        return vector


def weights_since(number: int, before: Floats | None, now: Floats) -> Weights:
    """The shorter way to tell of a vector to those who know the one before it; the same bits either way.

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
    """Pieces by the number of their set and their own."""

    def __init__(self) -> None:
        self._held: dict[int, dict[int, Any]] = {}
        self._failed: dict[int, Exception] = {}  # why a set is not here: told to whoever asks about it
        self._weights: tuple[int, Floats] = (-1, NO_FLOATS)  # the last vector, and its number
        self._task: tuple[int, Any] = (-1, None)  # what is done for every item of a list, and its number

    def pid(self) -> int:
        """Its process."""
        return os.getpid()

    def hold(self, key: int, numbers: list[int], *parcels: Parcel) -> None:
        """Take pieces; those that are stored elsewhere are read from there."""
        with self._taking(key) as held:
            for number, parcel in zip(numbers, parcels):
                with _memory_for(number):
                    held[number] = loaded(opened(parcel))

    def make(self, key: int, source: int, message: Parcel, own: Parcel) -> None:
        """Make other pieces of those of a set."""
        with self._taking(key) as held:
            function, common = opened(message)
            mine = opened(own)
            for number, piece in self._pieces(source).items():
                with _memory_for(number):
                    held[number] = function(piece, *common, *mine.get(number, ()))

    @contextmanager
    def _taking(self, key: int) -> Iterator[dict[int, Any]]:
        """A new set, and what goes wrong with it: nobody waits for an answer here."""
        self._held[key] = {}
        try:
            yield self._held[key]
        except Exception as error:
            error.__context__ = None  # whose frames hold pieces
            self._failed[key] = error.with_traceback(None)
            self._held[key] = {}

    def _pieces(self, key: int) -> dict[int, Any]:
        """A set; raises what went wrong when it was made."""
        if key in self._failed:
            raise self._failed[key]
        return self._held[key]

    def know(self, message: Parcel) -> None:
        """Take up a vector that later messages begin from."""
        self._read(message)

    def _read(self, message: Parcel) -> tuple[Any, tuple[Any, ...]]:
        """A function and its arguments."""
        function, common = opened(message)
        return function, tuple(self._whole(one) if isinstance(one, Weights) else one for one in common)

    def _whole(self, weights: Weights) -> Floats:
        number, known = self._weights
        if weights.number != number:  # else it is the same question once more
            known = weights.after(known)
            self._weights = weights.number, known
        return known

    def drop(self, keys: list[int]) -> None:
        """Forget sets of pieces."""
        for key in keys:
            self._held.pop(key, None)
            self._failed.pop(key, None)

    def each(self, key: int, message: Parcel, own: Parcel) -> tuple[Parcel, float]:
        """The answers of all pieces, and how long they took."""
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
        """The same, with what each piece's state has become; states are packed."""
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
        """Take up what is to be done for every item of a list."""
        self._task = key, message

    def carry_out(self, key: int, number: int, item: Parcel) -> tuple[Parcel, float]:
        """That, of one item."""
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
    """Says which piece it was that memory did not suffice for."""
    try:
        yield
    except MemoryError:
        raise Shortage(f"{what} {number}") from None

"""Places of computation: the threads of this process, or workers that hold the data.

Data is cut into pieces, *shards*, which depend only on the data. A place holds them, and applies a function of one
piece to all of them. Sums are computed along one fixed tree over the pieces, so they have the same bits wherever the
pieces are, and for any number of workers.

Such a function must be defined at the top level of a module. It must not change its piece: a worker that died is
restarted with the original piece, and the call is repeated. And it must not keep a large vector that it receives: the
next call may change it.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight.core.checks import shown
from sidelight.core.collection import without_collection
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.core.records import PlaceFigures
from sidelight.errors import DataError, Infeasible, SidelightError
from sidelight.parallel.threads import shards

SHARD_TOKENS = 1 << 18  # approximate tokens of a shard; smaller data is one shard and stays in this process

LOT = 4096  # maximum inputs predicted together: distinct words are looked up once per lot
LOTS = 16  # approximate number per worker, so that all finish at the same time
FEW = 32  # inputs of a lot that is too small to be cut
WAITING = 4  # items of a worker that may wait for an earlier one
NUMBERED = re.compile(r"\b(example|input|sequence) (\d+)")  # in an error

Function = Callable[..., Any]
Node = tuple[int, int]  # pieces lo..hi, whose sum is a node of the tree


class Stored(Protocol):
    """A piece that is read where it is used, for example from a file that every worker can open."""

    def load(self) -> Any:
        """The piece itself."""
        ...


def loaded(piece: Any) -> Any:
    """The piece itself; a stored one is loaded."""
    return piece.load() if hasattr(piece, "load") else piece


class Held(Protocol):
    """Pieces in a place."""

    @property
    def n_jobs(self) -> int | None:
        """Threads that a function should use for its piece."""
        ...

    def __len__(self) -> int: ...

    def each(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """function(piece, *common, *own of the piece) of every piece, in order."""
        ...

    def total(self, function: Function, *common: Any) -> Any:
        """The sum of function(piece, *common); the results must be new objects, see `added`."""
        ...

    def advance(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Any:
        """The same for function(piece, state, *common, *own) -> (state, summand); a state is None at first."""
        ...

    def remembered(self, *, before: bool = False) -> list[Any]:
        """The states after the last `advance`, in order; or those before it."""
        ...

    def remember(self, states: Sequence[Any]) -> None:
        """Set the states for the next `advance`."""
        ...

    def derive(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Held:
        """New pieces computed from these, in the same places."""
        ...


class Place(Protocol):
    """A place that holds pieces."""

    @property
    def shard_tokens(self) -> int: ...

    @property
    def n_jobs(self) -> int | None:
        """Threads that a function should use."""
        ...

    @property
    def remote(self) -> bool:
        """Whether its pieces are in other processes."""
        ...

    @property
    def size(self) -> int:
        """The number of its workers."""
        ...

    def hold(self, pieces: Sequence[Any]) -> Held:
        """Hold pieces, or `Stored` ones, for later calls."""
        ...

    def each_done(
        self, function: Function, items: Iterable[Any], *common: Any, ahead: int = 1, most: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        """function(item, *common) for every item, with its number, in order of completion: for tasks of different
        lengths.

        `ahead`: the number of items that a worker has at a time, if there are workers; `most`: the maximum distance
        from the first unfinished item (None: no limit).
        """
        ...

    def figures(self) -> PlaceFigures | None:
        """The figures since the last call; None without workers."""
        ...


def split(node: Node) -> tuple[Node, Node]:
    """The two halves of a node; the first is as large as a power of two allows.

    >>> split((0, 6))
    ((0, 4), (4, 6))
    """
    first, last = node
    middle = first + (1 << ((last - first - 1).bit_length() - 1))
    return (first, middle), (middle, last)


def nodes_within(node: Node, first: int, last: int) -> list[Node]:
    """The largest nodes below this one that lie within first..last.

    >>> nodes_within((0, 8), 3, 8)
    [(3, 4), (4, 8)]
    """
    if node[0] >= last or node[1] <= first:
        return []
    if first <= node[0] and node[1] <= last:
        return [node]
    one, other = split(node)
    return nodes_within(one, first, last) + nodes_within(other, first, last)


def summed(node: Node, leaf: Callable[[int], Any], known: Mapping[Node, Any] | None = None) -> Any:
    """The sum of a node, from leaves or from known sums."""
    if known is not None and node in known:
        return known[node]
    if node[1] - node[0] == 1:
        return leaf(node[0])
    one, other = split(node)
    return added(summed(one, leaf, known), summed(other, leaf, known))


def added(one: Any, other: Any) -> Any:
    """The sum of two results: arrays (the first is overwritten with the sum), numbers, tuples of these, and objects
    with `plus`; None plus None is None.

    >>> added((1.0, None), (2.0, None))
    (3.0, None)
    """
    if one is None:
        return None
    if hasattr(one, "plus"):
        return one.plus(other)
    if isinstance(one, tuple):
        parts = [added(a, b) for a, b in zip(one, other, strict=True)]
        return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)
    if isinstance(one, np.ndarray) and one.ndim:
        one += other
        return one
    return one + other


def figures_since(place: Place, began: float) -> PlaceFigures | None:
    """The figures of workers in a round that began at this time; the rest of its time was spent in the driver."""
    figures = place.figures()
    if figures is None:
        return None
    solving = time.perf_counter() - began - figures.inference - figures.transit
    return replace(figures, solving=max(solving, 0.0))


@without_collection()
def in_lots(place: Place, function: Function, items: Sequence[Any], *common: Any, few: int = FEW) -> list[Any]:
    """The results of function(some items, *common, n_jobs), one per lot of items, in the order of the items.

    `few` is the minimum number of items per call; use a smaller one if each item takes long. The error raised is that
    of the first failing item, with the caller's numbering.
    """
    size = min(max(len(items) // (LOTS * place.size), few), LOT)
    lots = ((list(items[first : first + size]), first) for first in range(0, len(items), size))
    return list(in_order(place, _of_lot, lots, function, common, place.n_jobs))


def one_each(place: Place, function: Function, items: Sequence[Any], *common: Any, few: int = FEW) -> list[Any]:
    """The same for a function whose results are lists, one result an item."""
    return list(chain.from_iterable(in_lots(place, function, items, *common, few=few)))


def in_order(place: Place, function: Function, items: Iterable[Any], *common: Any) -> Iterator[Any]:
    """function(item, *common) for a stream of items, in their order; only a few items are in memory at a time.

    The error of an item is raised when its turn comes; of each kind of warning, the first one is issued in this
    process.
    """
    answers: dict[int, _Outcome] = {}
    following = 0
    warned: set[type[Warning]] = set()
    for number, outcome in place.each_done(_outcome_of, items, function, common, ahead=2, most=WAITING * place.size):
        answers[number] = outcome
        while following in answers:
            outcome = answers.pop(following)
            for category, text in outcome.warnings:
                if category not in warned:
                    warned.add(category)
                    warnings.warn(text, category, stacklevel=2)
            if outcome.error is not None:
                raise outcome.error
            yield outcome.answer
            following += 1


class _Outcome(NamedTuple):
    """The result, error and warnings of an item."""

    answer: Any
    error: SidelightError | None
    warnings: list[tuple[type[Warning], str]]


def _outcome_of(item: Any, function: Function, common: tuple[Any, ...]) -> _Outcome:
    answer: Any = None
    error: SidelightError | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            answer = function(item, *common)
        except SidelightError as found:
            error = found
    return _Outcome(answer, error, [(one.category, str(one.message)) for one in caught])


def _of_lot(lot: tuple[list[Any], int], function: Function, common: tuple[Any, ...], n_jobs: int | None) -> Any:
    items, first = lot
    try:
        return function(items, *common, n_jobs)
    except (DataError, Infeasible) as error:
        raise _moved(error, first) from None


def _moved(error: DataError | Infeasible, by: int) -> DataError | Infeasible:
    """An error about an item of a lot, renumbered among all items."""

    def renumbered(text: str) -> str:
        return NUMBERED.sub(lambda match: f"{match[1]} {int(match[2]) + by}", text, count=1)

    if isinstance(error, Infeasible):
        example = None if error.example is None else error.example + by
        return Infeasible(renumbered(str(error)), example=example, rules=error.rules)
    return type(error)(renumbered(error.problem), file=error.file, line=error.line, remedy=error.remedy)


def pieces_of(starts: Any, tokens: int) -> list[Node]:
    """The inputs lo..hi of every shard."""
    return shards(starts, tokens=tokens)


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """This process: one shard after another, each with all threads."""

    n_jobs: int | None = None
    shard_tokens: int = SHARD_TOKENS
    remote = False
    size = 1

    def hold(self, pieces: Sequence[Any]) -> Held:
        """Stored pieces are loaded on each use, one after another, and not kept."""
        if any(hasattr(piece, "load") for piece in pieces):
            return _Here(OneAtATime(lambda k: loaded(pieces[k]), len(pieces)), self.n_jobs)
        return _Here(pieces, self.n_jobs)

    def each_done(
        self, function: Function, items: Iterable[Any], *common: Any, ahead: int = 1, most: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        for number, item in enumerate(items):
            yield number, function(item, *common)

    def figures(self) -> PlaceFigures | None:
        return None


class _Here:
    """Pieces in this process."""

    def __init__(self, pieces: Sequence[Any], n_jobs: int | None) -> None:
        self._pieces = pieces
        self._states: list[Any] = [None] * len(pieces)
        self._before = self._states
        self.n_jobs = n_jobs

    def __len__(self) -> int:
        return len(self._pieces)

    def each(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        return [function(piece, *common, *more) for piece, more in zip(self._pieces, own or [()] * len(self))]

    def total(self, function: Function, *common: Any) -> Any:
        return summed((0, len(self)), lambda k: function(self._pieces[k], *common))

    def advance(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Any:
        def one(k: int) -> Any:
            more = () if own is None else own[k]
            self._states[k], answer = function(self._pieces[k], self._before[k], *common, *more)
            return answer

        self._before = list(self._states)
        return summed((0, len(self)), one)

    def remembered(self, *, before: bool = False) -> list[Any]:
        return list(self._before if before else self._states)

    def remember(self, states: Sequence[Any]) -> None:
        self._states = list(states)

    def derive(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Held:
        def one(k: int) -> Any:
            return function(self._pieces[k], *common, *(() if own is None else own[k]))

        pieces = OneAtATime(one, len(self))
        return _Here(pieces if isinstance(self._pieces, OneAtATime) else list(pieces), self.n_jobs)


def place_of(value: Any, n_jobs: int | None) -> Place:
    """The place for a name or the address of a Ray cluster, or the place itself; raises ValueError for other values.

    >>> place_of("threads", 2).n_jobs, place_of("head:6379", None).address
    (2, 'head:6379')
    """
    from sidelight.parallel.ray_place import (
        RayPlace,  # imported here, because its module imports this one
    )

    if value is None or (isinstance(value, str) and value == "threads"):
        return ThreadPlace(n_jobs)
    if isinstance(value, ThreadPlace):
        return replace(value, n_jobs=n_jobs)
    if isinstance(value, RayPlace):
        return value
    if isinstance(value, str) and value == "ray":
        return RayPlace()
    if isinstance(value, str) and (value == "auto" or ":" in value):
        return RayPlace(value)
    raise ValueError(f"place is {shown(value)}; give 'threads', 'ray', the address of a Ray cluster, or a RayPlace")

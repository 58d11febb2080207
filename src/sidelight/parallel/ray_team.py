"""A place on Ray: pieces are held by actors, one per worker, on this machine or on a cluster.

Each worker holds a range of consecutive pieces, and computes its part of the summation tree before it answers. The
driver keeps a packed copy of every piece in Ray's object store, and a recipe for pieces computed from it. So a worker
that dies is replaced, its pieces are recreated, and the call is repeated. The states of pieces between two calls
(`advance`) are kept in the object store of the driver's machine too, as they were before the call and as they are after
it; so a machine may be lost with its workers.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.records import PlaceFigures
from sidelight.errors import PlaceError
from sidelight.parallel.parcels import Parcel, alike, opened, packed, size_of
from sidelight.parallel.place import Function, Node
from sidelight.parallel.ray_held import RayHeld
from sidelight.parallel.ray_worker import Shortage, Weights, Worker, weights_since
from sidelight.parallel.raylet_line import RayletLine

START = 120.0  # seconds that workers may take to start
PATIENCE = 5.0  # seconds without an answer, after which the cluster is checked
TRIES = 3  # of finding it
LARGE = 1 << 13  # minimum size of a vector that is sent as its changes
MOST_DEATHS = 8  # maximum deaths of one worker during one call
MOST_SHORTAGES = 2  # maximum failures for lack of memory, which other processes may have used for a while
SHORT_OF_MEMORY = ("NODE_OUT_OF_MEMORY", "running low on memory", "OutOfMemoryError")  # Ray's words
END = object()  # of items
AGAIN = "start the same command again: with a checkpoint it continues from the last round"


@dataclass(slots=True)
class _Pieces:
    """How a set of pieces is created: from packed pieces, or by a function of another set."""

    count: int
    parcels: list[Any]  # references, one per piece
    source: int = -1
    message: Any = None  # a reference
    own: Sequence[tuple[Any, ...]] | None = None


class KeptStates(NamedTuple):
    """What the pieces of a worker remember, packed, on the driver's machine: pinned there while this is held."""

    reference: Any
    here: Parcel  # the same, as it is in the object store


class Team:
    """The workers of a place, in a fixed order."""

    def __init__(self, ray: Any, address: str, workers: int, threads: int) -> None:
        self.ray, self.address, self.threads = ray, address, threads
        self._actors: list[Any] = [self._actor() for _ in range(workers)]
        # restarted workers: reference to their first answer, and start time
        self._begun: dict[int, tuple[Any, float]] = {}
        self._sets: dict[int, _Pieces] = {}
        self._keys = count()
        self._dropped: list[int] = []
        self._incomplete = False  # whether no machine had room for a worker that had to be restarted
        # time of the last check of the cluster's head, and failed checks since
        self._looked, self._silent = time.monotonic(), 0
        self._raylet = RayletLine.of_driver()
        self._weights: tuple[int, Any] = (0, None)  # the last large vector, and its number
        self._task: tuple[int, Any] | None = None  # the last function of items: its number and reference
        self._clean()
        self._wait_for_workers()

    def __len__(self) -> int:
        return len(self._actors)

    def is_there(self) -> bool:
        """Whether it can be used: its cluster is still the one of this process, and no worker is missing."""
        return bool(self.ray.is_initialized()) and not self._incomplete

    def end(self) -> None:
        """End the workers."""
        if self.ray.is_initialized():
            for actor in self._actors:
                self.ray.kill(actor)

    def _wait_for_workers(self) -> None:
        ready = [actor.pid.remote() for actor in self._actors]
        _, missing = self.ray.wait(ready, num_returns=len(ready), timeout=START)
        if missing:
            self.end()
            problem = f"{len(missing)} of {len(ready)} workers did not start within {START:.0f} s"
            raise PlaceError(f"{problem} at {self.address}; is the cluster busy with other work? (ray status)")

    def _clean(self) -> None:
        self._bytes = self._restarts = self._shards = 0
        self._inference = self._transit = 0.0

    def figures(self) -> PlaceFigures:
        """The figures since the last call."""
        figures = PlaceFigures(
            len(self), self._shards, self._bytes, self._inference, self._transit, restarts=self._restarts
        )
        self._clean()
        return figures

    def pids(self) -> list[int]:
        """The processes of the workers."""
        return [int(pid) for pid in self.ray.get([actor.pid.remote() for actor in self._actors])]

    def hold(self, pieces: Sequence[Any]) -> RayHeld:
        began = time.perf_counter()
        parcels = [self._put(piece) for piece in pieces]
        key = self._new(_Pieces(len(pieces), parcels))
        self._transit += time.perf_counter() - began
        return RayHeld(self, key, len(pieces))

    def make(self, source: int, function: Function, common: tuple[Any, ...], own: Any) -> RayHeld:
        message = self._put_for_all((function, common))
        size = self._sets[source].count
        key = self._new(_Pieces(size, [], source, message, own))
        return RayHeld(self, key, size)

    def _new(self, pieces: _Pieces) -> int:
        key = next(self._keys)
        self._sets[key] = pieces
        for number in range(len(self)):
            self._load(number, key)
        return key

    def drop(self, key: int) -> None:
        """Forget a set at the next call: it is no longer used."""
        self._dropped.append(key)

    def _put(self, value: Any, *, times: int = 1) -> Any:
        """A reference to a value, which is sent so many times."""
        parcel = packed(value)
        self._look_for_raylet()
        self._bytes += size_of(parcel) * times
        return self.ray.put(parcel)

    def _put_for_all(self, value: Any) -> Any:
        return self._put(value, times=len(self))

    def kept(self, states: Mapping[int, Any]) -> KeptStates:
        """The states of a worker's pieces, for its next call."""
        reference = self._put(states)
        return KeptStates(reference, self.ray.get(reference))

    def question(self, function: Function, common: tuple[Any, ...]) -> Any:
        """A reference to a call, whose large vector is sent as the difference from that of the previous call."""
        arguments: list[Any] = list(common)
        for k, one in enumerate(common):
            if isinstance(one, np.ndarray) and one.dtype == np.float64 and one.ndim == 1 and one.size >= LARGE:
                number, known = self._weights
                arguments[k] = since = weights_since(number + 1, known, one)
                self._weights = number + 1, one.copy() if since.places is None else since.after(known)
                break
        return self._put_for_all((function, tuple(arguments)))

    def range_of(self, number: int, size: int) -> Node:
        """The range of pieces of a worker."""
        return size * number // len(self), size * (number + 1) // len(self)

    def _load(self, number: int, key: int) -> None:
        """Give a worker its pieces of a set."""
        one, actor = self._sets[key], self._actors[number]
        first, last = self.range_of(number, one.count)
        if one.source < 0:
            actor.hold.remote(key, list(range(first, last)), *one.parcels[first:last])
            return
        own = {} if one.own is None else {k: one.own[k] for k in range(first, last)}
        parcel = packed(own)
        self._bytes += size_of(parcel)
        actor.make.remote(key, one.source, one.message, parcel)

    def ask(self, key: int, call: Callable[[Any, int], Any]) -> list[Any]:
        """The results of a call to every worker that has pieces of a set; the call is repeated if a worker dies."""
        self._forget()
        size = self._sets[key].count
        self._shards = max(self._shards, size)
        numbers = [n for n in range(len(self)) if len(range(*self.range_of(n, size)))]
        deaths = dict.fromkeys(numbers, 0)
        names = {n: _named(*self.range_of(n, size)) for n in numbers}
        answers: dict[int, Any] = {}
        pending = {_first(result := call(self._actors[n], n)): (n, result) for n in numbers}
        for reference in self._ready(pending):
            number, result = pending.pop(reference)
            try:
                answers[number] = self._taken(result, reference, names[number])
            except self._mishaps as error:
                deaths[number] += 1
                self._restart(number, names[number], deaths[number], error)
                result = call(self._actors[number], number)
                pending[_first(result)] = (number, result)
        return [answers[number] for number in numbers]

    def each_done(
        self, function: Function, items: Iterable[Any], *common: Any, ahead: int = 1, most: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        """function(item, *common) for every item, with its number, in order of completion: the next item goes to an
        idle worker.

        A worker has `ahead` items at a time: with two it need not wait for the next one. See `Place.each_done`.
        """
        self._forget()
        key = self._task_of(function, common)
        deaths: Counter[int] = Counter()
        pending: dict[Any, tuple[int, int, Any]] = {}  # item, worker, and the worker's actor
        left, busy, began, taken = iter(items), [0.0] * len(self), time.perf_counter(), 0
        idle = ahead * list(range(len(self)))  # workers
        parcels: dict[int, Parcel] = {}  # unfinished items

        def begin(item: int, number: int) -> None:
            actor = self._actors[number]
            self._bytes += size_of(parcels[item])
            pending[actor.carry_out.remote(key, item, parcels[item])] = item, number, actor

        def begin_more() -> None:
            nonlocal taken
            while idle and (most is None or taken - next(iter(parcels), taken) < most):
                if (following := next(left, END)) is END:
                    return
                parcels[taken] = packed(following)
                begin(taken, idle.pop(0))
                taken += 1

        begin_more()
        for reference in self._ready(pending):
            item, number, actor = pending.pop(reference)
            try:
                parcel, seconds = self._taken(reference, reference, f"task {item}")
            except self._mishaps as error:
                deaths[item] += 1
                if actor is self._actors[number]:  # otherwise it has already been replaced
                    self._restart(number, f"task {item}", deaths[item], error)
                begin(item, number)
                continue
            del parcels[item]
            idle.append(number)
            begin_more()
            self._bytes += size_of(parcel)
            busy[number] += seconds
            yield item, opened(parcel)
        self._shards = max(self._shards, taken)
        self._inference += max(busy)
        self._transit += max(time.perf_counter() - began - max(busy), 0.0)

    def _task_of(self, function: Function, common: tuple[Any, ...]) -> int:
        """The number of the task for items; it is sent to all workers unless they know it."""
        parcel = packed((function, common))
        self._look_for_raylet()
        if self._task is None or not alike(parcel, self.ray.get(self._task[1])):
            self._bytes += size_of(parcel) * len(self)
            self._task = next(self._keys), self.ray.put(parcel)
            for actor in self._actors:
                actor.learn.remote(*self._task)
        return self._task[0]

    def _ready(self, pending: Mapping[Any, Any]) -> Iterator[Any]:
        """Completed references, while any are pending; raises `PlaceError` if the cluster is gone."""
        while pending:
            self._look_for_raylet()
            ready, _ = self.ray.wait(list(pending), timeout=PATIENCE)
            self._look_for_raylet()
            self._look_for_cluster()
            if not ready:
                self._look_for_those_begun()
            yield from ready

    def _look_for_raylet(self) -> None:
        """Raise `PlaceError` if Ray's process on this machine has died."""
        if self._raylet.is_cut():
            raise PlaceError(f"the Ray cluster {self.address} is gone from this machine; {AGAIN}")

    def _look_for_cluster(self) -> None:
        """From time to time, check the cluster, and raise `PlaceError` if it is gone: workers may answer for a while
        without its head, but then Ray would end this process.
        """
        if time.monotonic() - self._looked < PATIENCE:
            return
        self._looked = time.monotonic()
        self._silent = self._silent + 1 if self._is_silent() else 0
        if self._silent >= TRIES:
            raise PlaceError(f"the Ray cluster {self.address} is gone; {AGAIN}")

    def _look_for_those_begun(self) -> None:
        """Raise `PlaceError` if no machine has room for a restarted worker."""
        for number, (word, since) in list(self._begun.items()):
            if self.ray.wait([word], timeout=0)[0]:
                del self._begun[number]
            elif time.monotonic() - since > START:
                self._incomplete = True
                problem = f"worker {number} did not start again within {START:.0f} s at {self.address}"
                raise PlaceError(
                    f"{problem}; has the cluster lost a machine (ray status)? Give fewer workers, and {AGAIN}"
                )

    @property
    def _mishaps(self) -> tuple[type[Exception], ...]:
        """What is raised where a worker died before its answer was here, or its machine was lost with the answer."""
        known = self.ray.exceptions
        return known.RayActorError, known.OutOfMemoryError, known.ObjectLostError

    def _taken(self, result: Any, reference: Any, name: str) -> Any:
        """An answer, with the states of pieces if it comes with them."""
        try:
            answer = self.ray.get(reference)
            return (answer, KeptStates(result[1], self.ray.get(result[1]))) if isinstance(result, list) else answer
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, Shortage | MemoryError):
                where = cause if isinstance(cause, Shortage) else name
                raise PlaceError(f"a worker had too little memory for {where}; {_more_memory()}") from None
            if isinstance(cause, self.ray.exceptions.ObjectLostError):
                raise PlaceError(f"what a worker was to know of {name} was lost with a machine; {AGAIN}") from None
            raise cause from None

    def _restart(self, number: int, name: str, deaths: int, error: Exception) -> None:
        """Replace an actor that died by a new one with the same pieces."""
        if not self.ray.is_initialized():
            raise PlaceError(f"the Ray cluster {self.address} is gone; {AGAIN}") from None
        self._look_for_raylet()
        where = f"worker {number} with {name}"
        reason = f"{type(error).__name__} {error}"
        if deaths > MOST_SHORTAGES and any(sign in reason for sign in SHORT_OF_MEMORY):
            raise PlaceError(f"{where} ended because memory ran out; {_more_memory()}") from None
        if deaths > MOST_DEATHS:
            cause = " ".join(str(error).split())[:300]
            problem = f"{where} died {deaths} times over one question ({cause})"
            raise PlaceError(f"{problem}; if memory was short, {_more_memory()}; {AGAIN}") from None
        self.ray.kill(self._actors[number])
        self._actors[number] = self._actor()
        self._begun[number] = self._actors[number].pid.remote(), time.monotonic()
        self._restarts += 1
        for key in self._sets:
            self._load(number, key)
        if self._task is not None:
            self._actors[number].learn.remote(*self._task)
        if self._weights[1] is not None:
            self._actors[number].know.remote(packed((None, (Weights(*self._weights),))))

    def _actor(self) -> Any:
        options = {"num_cpus": self.threads, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        return self.ray.remote(Worker).options(**options).remote()

    def _forget(self) -> None:
        if not self._dropped:
            return
        keys: list[int] = []
        for key in sorted(self._dropped, reverse=True):  # sets computed from a set have higher numbers
            if not any(one.source == key for one in self._sets.values()):
                keys.append(key)
                self._dropped.remove(key)
                del self._sets[key]
        for actor in self._actors:
            actor.drop.remote(keys)

    def _is_silent(self) -> bool:
        """Whether the cluster's head does not accept a connection."""
        if not self.ray.is_initialized():
            return True
        return not answers(getattr(self.ray.get_runtime_context(), "gcs_address", ""))

    def answered(self, began: float, parcels: Sequence[Parcel], seconds: list[float]) -> None:
        """Add the figures of a call."""
        inference = max(seconds, default=0.0)
        self._bytes += sum(map(size_of, parcels))
        self._inference += inference
        self._transit += max(time.perf_counter() - began - inference, 0.0)


def answers(address: str) -> bool:
    """Whether something accepts a connection at an address; true if it is not of the form host:port."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError):
        return False
    return True


def _named(first: int, last: int) -> str:
    return f"shard {first}" if last == first + 1 else f"shards {first} to {last - 1}"


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, list) else result


def _more_memory() -> str:
    return "give the fit fewer workers on a machine, smaller shards (shard_tokens), or machines with more memory"

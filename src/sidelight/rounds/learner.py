"""What training needs of a learner, and the state of a cutting-plane solver, which several learners keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Floats32
from sidelight.core.file_contents import array_like, array_of, flag_of, number_of, part_of
from sidelight.core.records import Round
from sidelight.errors import ModelFileError
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.duals.working_set import WorkingSet

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # JSON values, arrays


class Learner(Protocol):
    """Learns one `Round` at a time.

    All that a learner knows between two rounds is in its state, so that training can stop after any round and go on to
    the same bits.
    """

    @property
    def rounds(self) -> int:
        """How many there have been."""
        ...

    @property
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""
        ...

    def run(self) -> Iterator[Round]:
        """Rounds until training ends; the last one says so."""
        ...

    def has_result(self, record: Round) -> bool:
        """Whether the weights after this round are worth trying on validation data."""
        ...

    def finish(self) -> Floats:
        """The weights, for keeps: the learner may be of no use afterwards."""
        ...

    def state(self) -> State:
        """Everything needed to go on."""
        ...

    def resume(self, state: State) -> None:
        """Take up the state of an earlier run on the same data and options."""
        ...


class Memory(NamedTuple):
    """What a later `partial_fit` goes on from, besides the model's weights: the last weights, and the clock."""

    weights: Floats32
    clock: float


@runtime_checkable
class Remembering(Protocol):
    """A learner whose averages go on in a later fit."""

    @property
    def memory(self) -> Memory:
        """What it leaves behind."""
        ...


class _Limited(Protocol):
    @property
    def max_rounds(self) -> int: ...


class RoundByRound(ABC):
    """A learner that makes rounds until it is done, or has made as many as its options allow."""

    __slots__ = ()

    options: _Limited
    rounds: int
    done: bool

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""

    @abstractmethod
    def round(self) -> Round:
        """One round; the last one sets `done`."""

    def run(self) -> Iterator[Round]:
        """Rounds until training ends."""
        while not self.done and self.rounds < self.options.max_rounds:
            yield self.round()

    def finish(self) -> Floats:
        """The weights, for keeps."""
        return self.weights


def plane_state(plane: CuttingPlane) -> State:
    """Everything that a solver knows between two rounds."""
    values = {"best_primal": float(plane.best_primal), "gap": float(plane.gap), "at_best": plane.at_best}
    arrays: dict[str, NDArray[Any]] = {f"pool.{name}": array for name, array in plane.pool.state().items()}
    arrays |= {"plane.weights": plane.weights, "plane.random": plane.random}
    if plane.origin is not None:
        arrays["plane.origin"] = plane.origin
    if plane.start is not None:
        arrays["plane.start"] = plane.start
    return values, arrays


def restored_plane(state: State, fresh: CuttingPlane, prefix: str) -> CuttingPlane:
    """The solver that was in this state, of the same problem as a fresh one; arrays of other names are left alone.

    Names of its own arrays begin with the prefix, those of its working set with "pool.".
    """
    values, arrays = state
    more = {
        name: array_like(arrays, prefix + name, fresh.weights) if prefix + name in arrays else None
        for name in ("origin", "start")
    }
    if (more["origin"] is None) != (fresh.origin is None):
        raise ModelFileError("its weights are drawn to another origin")
    return CuttingPlane(
        array_like(arrays, prefix + "weights", fresh.weights),
        WorkingSet.restored(part_of(arrays, "pool."), fresh.pool, size=len(fresh.weights)),
        array_of(arrays, prefix + "random", np.uint64, [1]),
        fresh.power,
        more["origin"],
        more["start"],
        number_of(values, "best_primal", finite=False),
        number_of(values, "gap", finite=False),
        flag_of(values, "at_best"),
    )

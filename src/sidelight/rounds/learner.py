"""The protocol of learners, a base class of training loops, and the state of a cutting-plane solver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Floats32
from sidelight.core.file_contents import array_like, array_of, flag_of, number_of, part_of, random_of, whole_of
from sidelight.core.records import MAX_ROUNDS, Round
from sidelight.errors import ModelFileError
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.solvers.cutting_plane import CuttingPlane
from sidelight.solvers.duals.working_set import WorkingSet

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # JSON values, arrays
Step = tuple[str | None, dict[str, Any]]  # why training ends, if it does, and further fields of the `Round`


class Resumable(Protocol):
    """Learns one `Round` at a time.

    Between two rounds, the state contains everything that it knows, so training can stop after any round and resume
    with the same bits.
    """

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        ...

    def run(self) -> Iterator[Round]:
        """Rounds until training ends; the last one has `last` set."""
        ...

    def state(self) -> State:
        """Everything needed to resume."""
        ...

    def resume(self, state: State) -> None:
        """Resume from the state of an earlier run on the same data and options."""
        ...


class Learner(Resumable, Protocol):
    """One that learns weights."""

    @property
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""
        ...

    def has_result(self, record: Round) -> bool:
        """Whether the weights after this round are worth trying on validation data."""
        ...

    def finish(self) -> Floats:
        """The weights, for keeps: the learner may be of no use afterwards."""
        ...


class Memory(NamedTuple):
    """What a later `partial_fit` needs besides the model's weights: the last weights, and the clock."""

    weights: Floats32
    clock: float


@runtime_checkable
class Remembering(Protocol):
    """A learner whose averages continue in a later fit."""

    @property
    def memory(self) -> Memory:
        """The memory for a later fit."""
        ...


@runtime_checkable
class Penalised(Protocol):
    """A learner that learns the penalties of rules itself."""

    def learned_penalties(self) -> tuple[AnyRuled | None, list[float]]:
        """The inputs under rules, and the penalty of each rule; None if there are no rules."""
        ...


@dataclass(slots=True, kw_only=True)
class Stepwise(ABC):
    """Base class of a training loop: rounds until it is done, or reaches its maximum number of rounds.

    A subclass defines one round (`step`), the fields that a checkpoint stores (`KEEPS`), and further contents of a
    checkpoint (`more_state`, `take_more`). `name` is a field or a class attribute.
    """

    KEEPS: ClassVar[tuple[str, ...]] = ()  # numbers, arrays and generators of random numbers
    LIMIT: ClassVar[str] = MAX_ROUNDS  # why training ends at the maximum number of rounds

    rounds: int = 0  # in all
    seconds: float = 0.0  # since training began
    done: bool = False
    limited: bool = False  # whether it ended because of the maximum number of rounds

    @abstractmethod
    def step(self) -> Step:
        """Perform one round, whose number is `rounds`."""

    def limit(self) -> int:
        """The maximum number of rounds."""
        own: Any = self
        return int(own.options.max_rounds)

    def round(self) -> Round:
        """One round; the last one sets `done`."""
        began = time.perf_counter()
        self.rounds += 1
        stopped, figures = self.step()
        self.limited = stopped is None and self.rounds >= self.limit()
        stopped = self.LIMIT if self.limited else stopped
        self.done = stopped is not None
        self.seconds += time.perf_counter() - began
        return Round(self.rounds, self._called(), self.seconds, last=self.done, stopped=stopped, **figures)

    def run(self) -> Iterator[Round]:
        """Rounds until training ends."""
        while not self.done and self.rounds < self.limit():
            yield self.round()

    def state(self) -> State:
        """Everything needed to resume; if training ended at its maximum number of rounds, more may be allowed later."""
        values: dict[str, Any] = {"name": self._called(), "rounds": self.rounds, "seconds": self.seconds}
        values["done"] = self.done and not self.limited
        arrays: dict[str, NDArray[Any]] = {}
        for name in self.KEEPS:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                arrays[name] = value
            else:
                values[name] = value.bit_generator.state if isinstance(value, np.random.Generator) else value
        more, held = self.more_state()
        return {**values, **more}, {**arrays, **held}

    def more_state(self) -> State:
        """Further contents of a checkpoint."""
        return {}, {}

    def resume(self, state: State) -> None:
        """Resume from the state of an earlier run on the same data and options; raises `ModelFileError` for other
        states.
        """
        values, arrays = state
        self.take_more(values, arrays)
        for name in self.KEEPS:
            value = getattr(self, name)
            if isinstance(value, np.random.Generator):
                random_of(values, name, value)
            elif isinstance(value, np.ndarray):
                setattr(self, name, array_like(arrays, name, value))
            else:
                whole = isinstance(value, int)
                setattr(self, name, whole_of(values, name) if whole else number_of(values, name, finite=False))
        self.rounds, self.seconds = whole_of(values, "rounds"), number_of(values, "seconds", low=0.0)
        self.done, self.limited = flag_of(values, "done"), False

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: B027
        """Restore the result of `more_state`."""

    def _called(self) -> str:
        return str(getattr(self, "name", type(self).__name__))


@dataclass(slots=True, kw_only=True)
class RoundByRound(Stepwise):
    """A learner of weights that makes such rounds."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """The best weights so far, in the full layout."""

    def has_result(self, record: Round) -> bool:
        """Every round ends with weights that can be used, unless a learner knows better."""
        return True

    def finish(self) -> Floats:
        """The weights, for keeps."""
        return self.weights


def plane_state(plane: CuttingPlane, prefix: str) -> State:
    """Everything that a solver knows between two rounds; see `restored_plane`."""
    values = {"best_primal": float(plane.best_primal), "gap": float(plane.gap), "at_best": plane.at_best}
    arrays: dict[str, NDArray[Any]] = {f"pool.{name}": array for name, array in plane.pool.state().items()}
    for name in ("weights", "random", "origin", "start"):
        if (own := getattr(plane, name)) is not None:
            arrays[prefix + name] = own
    return values, arrays


def restored_plane(state: State, fresh: CuttingPlane, prefix: str) -> CuttingPlane:
    """The solver in this state, for the same problem as a fresh solver; arrays with other names are ignored.

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

"""What training needs of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Floats32
from sidelight.core.records import Round

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

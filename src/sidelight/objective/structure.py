"""What a structure is: inputs as a batch, outputs as one choice per slot and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from sidelight.arrays import Ids
from sidelight.objective.batch import Batch

X = TypeVar("X", contravariant=True)
Y = TypeVar("Y")


class Structure(Protocol[X, Y]):
    """Everything about one kind of output; learners see only the batches that it makes."""

    def batch(self, xs: Sequence[X]) -> Batch:
        """Inputs with all of their outputs."""
        ...

    def encode(self, x: X, y: Y) -> Ids:
        """The choice of every slot of an input. # [slots]"""
        ...

    def decode(self, x: X, choices: Ids) -> Y:
        """The output that choices stand for."""
        ...

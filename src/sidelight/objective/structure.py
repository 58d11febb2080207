"""The minimal protocol of structures: inputs as a batch, and outputs as one choice per slot and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.objective.batch import Batch

X = TypeVar("X", contravariant=True)
Y = TypeVar("Y")


class PlainStructure(Protocol[X, Y]):
    """The methods of a user's structure; `structures.structure` has what models store."""

    def batch(self, xs: Sequence[X]) -> Batch:
        """Inputs with all of their outputs."""
        ...

    def encode(self, x: X, y: Y) -> Ids:
        """The choice of every slot of an input. # [slots]"""
        ...

    def decode(self, x: X, choices: Ids) -> Y:
        """The output for these choices."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A structure that defines the sizes of inputs."""

    def sizes(self, xs: Sequence[Any]) -> Floats:
        """κ(x), by which the scores of companion decisions are divided. # [N]"""
        ...


@runtime_checkable
class Begun(Protocol):
    """A structure with initial weights, for learning without known outputs."""

    def first_weights(self) -> Floats:
        """Weights under which the best outputs are meaningful; with zeros all outputs are tied. # [weights]"""
        ...


def first_weights_of(structure: Any) -> Floats | None:
    """The structure's initial weights; None if it has none."""
    return structure.first_weights() if isinstance(structure, Begun) else None


@runtime_checkable
class Described(Protocol):
    """A structure that describes its valid outputs, for messages about invalid ones."""

    @property
    def legal(self) -> str:
        """The condition that every output satisfies, and the settings that allow more."""
        ...


@runtime_checkable
class Worded(Protocol):
    """A structure with names of slots and choices, for display."""

    def slot_words(self, x: Any) -> list[str]:
        """The names of the slots of an input."""
        ...

    def choice_words(self, x: Any, choices: Ids) -> list[str]:
        """The names of their choices."""
        ...


def sizes_of(structure: PlainStructure[Any, Any], xs: Sequence[Any], batch: Batch) -> Floats:
    """κ(x) as defined by the structure, or else the number of slots, for a batch of these inputs. # [N]"""
    if isinstance(structure, Sized):
        return np.asarray(structure.sizes(xs), dtype=np.float64)
    return np.maximum(batch.lengths, 1).astype(np.float64)

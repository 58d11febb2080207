"""What a structure is: inputs as a batch, outputs as one choice per slot and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.objective.batch import Batch

X = TypeVar("X", contravariant=True)
Y = TypeVar("Y")


class PlainStructure(Protocol[X, Y]):
    """What a structure of one's own says; `structures.structure` has what models keep of any."""

    def batch(self, xs: Sequence[X]) -> Batch:
        """Inputs with all of their outputs."""
        ...

    def encode(self, x: X, y: Y) -> Ids:
        """The choice of every slot of an input. # [slots]"""
        ...

    def decode(self, x: X, choices: Ids) -> Y:
        """The output that choices stand for."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A structure that says how large inputs are."""

    def sizes(self, xs: Sequence[Any]) -> Floats:
        """κ(x), by which the scores of companion decisions are divided. # [N]"""
        ...


@runtime_checkable
class Begun(Protocol):
    """A structure that says where to begin when nothing is known of outputs."""

    def first_weights(self) -> Floats:
        """Weights under which the best outputs say something; with zeros all are level. # [weights]"""
        ...


def first_weights_of(structure: Any) -> Floats | None:
    """Where to begin, as the structure says it; None where it does not."""
    return structure.first_weights() if isinstance(structure, Begun) else None


@runtime_checkable
class Described(Protocol):
    """A structure that says in words which outputs there are, for people who gave one that is none."""

    @property
    def legal(self) -> str:
        """What every output keeps to, and which settings allow more."""
        ...


@runtime_checkable
class Worded(Protocol):
    """A structure that says in words what its slots and choices are, for people."""

    def slot_words(self, x: Any) -> list[str]:
        """What the slots of an input are called."""
        ...

    def choice_words(self, x: Any, choices: Ids) -> list[str]:
        """What is chosen for each of them."""
        ...


def sizes_of(structure: PlainStructure[Any, Any], xs: Sequence[Any], batch: Batch) -> Floats:
    """κ(x) as the structure says it, or else the number of slots, of a batch of these inputs. # [N]"""
    if isinstance(structure, Sized):
        return np.asarray(structure.sizes(xs), dtype=np.float64)
    return np.maximum(batch.lengths, 1).astype(np.float64)

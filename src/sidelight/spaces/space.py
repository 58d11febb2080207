"""The protocol of spaces, for every structure."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.spaces.chains.chain import AnyCost, ChainSpace, Paths, Transitions
from sidelight.spaces.second_order.second_order import SecondOrderSpace


class Space(Protocol):
    """Outputs of a batch, one choice per slot; `ChainSpace` describes each method.

    Scores come from the scorer of the same structure.
    """

    @property
    def starts(self) -> Ints: ...

    @property
    def n_labels(self) -> int: ...

    def inside(self, admitted: Bytes) -> Space: ...

    def outside(self, admitted: Bytes) -> Space: ...

    def part(self, lo: int, hi: int) -> Space: ...

    def take(self, which: Ints) -> Space: ...

    def best(
        self,
        scores: Any,
        *,
        cost: AnyCost | None = None,
        rng: np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Paths: ...

    def score(self, scores: Any, labels: Ids, *, n_jobs: int | None = None) -> Floats: ...

    def admits(self, labels: Ids) -> Bytes: ...

    def feasible(self, *, n_jobs: int | None = None) -> NDArray[np.bool_]: ...

    def random(self, rng: np.random.Generator, *, n_jobs: int | None = None) -> Ids: ...


@runtime_checkable
class Charging(Protocol):
    """A space whose outputs cost something beside their scores, as soft rules do."""

    def charges(self, labels: Ids) -> Floats:
        """The penalties of each output. # [N]"""
        ...


class Solved(NamedTuple):
    """The outputs that were found, and what is proved about them."""

    choices: Ids  # [T]
    values: Floats  # [N]
    bounds: Floats  # [N] no output is worth more

    @property
    def gaps(self) -> Floats:
        """The optimality gap of each output; 0 if it is proved optimal. # [N]"""
        gaps = self.bounds - self.values
        return np.where(gaps > 1e-6 * (1.0 + np.abs(self.values)), gaps, 0.0)


@runtime_checkable
class Proving(Protocol):
    """A space that does not always prove its best outputs: time may run out."""

    def solved(self, scores: Any, *, n_jobs: int | None = None) -> Solved:
        """The best outputs that were found, with bounds."""
        ...


def space_of(starts: Ints, n_labels: int, *, order: int = 1, allowed: Transitions | None = None) -> Space:
    """All labelings of sequences, for scores of order 1 or 2.

    >>> space_of(np.array([0, 3]), 2, order=2).admits(np.array([0, 1, 0], dtype=np.int32)).tolist()
    [1]
    """
    if order not in (1, 2):
        raise ValueError(f"order is {order}; give 1 or 2")
    chain = ChainSpace(starts, n_labels, allowed)
    return chain if order == 1 else SecondOrderSpace(chain)

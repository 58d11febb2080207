"""Several counters in the form for kernels, and the inputs and results of searches under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints

Node = tuple[int, ...]  # the node of a prefix, without counters; its last number is the label of the last token


class Machines(NamedTuple):
    """The automata of M clauses over T tokens, with L labels of tokens."""

    places: Ids  # [T] the joint table of each token
    ids: Ids  # [J, L, L] joint classes of pairs of labels
    members: Ids  # [J, K, M] the class under each counter
    following: Ids  # [M, T, N, C] the next state
    degrees: Ids  # [M, T, N, C] the violation that becomes unavoidable
    sizes: Ints  # [M, T + 1] how many states there are before token t
    widths: Ids  # [M, T] how many classes there are
    gains: Floats  # [M, T, C] what classes add to a sum
    sums: NDArray[np.bool_]  # [M] whether a counter is that of a sum
    prices: Floats  # [M]


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Clauses that a search uses together."""

    clauses: tuple[int, ...]
    machines: Machines
    most_codes: int  # more than the code of any joint state

    @property
    def states(self) -> int:
        """An upper bound of the joint states at one place."""
        return self.most_codes - 1 if self.clauses else 1

    def zero_bonus(self) -> Floats:
        """Zeros for every state of every counter. # [M, T, N]"""
        return np.zeros(self.machines.following.shape[:3])


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """The guide of a search: for every prefix, an upper bound of the rest."""

    future: Floats  # the best completions, by the places of the structure
    bonus: Floats  # [M, T, N] what counters can still bring after token t, by state; 0 where completions alone bound
    bound: float  # of every whole output


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The result of a search."""

    came: int  # FOUND, NONE or TOO_MANY
    value: float
    bound: float  # upper bound of dropped outputs
    nodes: int
    labels: Ids  # [T]

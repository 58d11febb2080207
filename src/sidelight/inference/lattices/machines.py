"""Counters that are taken into account together, as kernels want them; what searches under them are given and say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints

Node = tuple[int, ...]  # where a prefix stands, counters apart; the label of its last token is the last number


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
    """Clauses that are taken into account together."""

    clauses: tuple[int, ...]
    machines: Machines
    most_codes: int  # more than the code of any joint state

    @property
    def states(self) -> int:
        """An upper bound of the joint states at one place."""
        return self.most_codes - 1 if self.clauses else 1

    def zero_bonus(self) -> Floats:
        """Nothing for any state of any counter. # [M, T, N]"""
        return np.zeros(self.machines.following.shape[:3])


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """What guides a search: for every prefix, an upper bound of what is left."""

    future: Floats  # the best completions, by the places of the structure
    bonus: Floats  # [M, T, N] what counters can still bring after token t, by state; 0 where completions alone bound
    bound: float  # of every whole output


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """What a search came to."""

    came: int  # FOUND, NONE or TOO_MANY
    value: float
    bound: float  # no output that was given up is worth more
    nodes: int
    labels: Ids  # [T]

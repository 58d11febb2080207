"""Counters that are taken into account together, as kernels want them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Floats, Ids, Ints


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

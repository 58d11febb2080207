"""Prices of words of the second graph, and of hubs with its edges: where they begin, and how they move.

They follow subgradients, with Polyak's steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.core.kernels import inner_kernel
from sidelight.spaces.alignments.forest_kernels import Pair

KEEP = 0.6  # of the direction of the step before


class Prices(NamedTuple):
    """Prices of words, and of hubs with edges; the direction of the last step; where the bound was lowest."""

    price: Floats  # [C], 0 for nothing
    fees: Floats  # [H + 1, F], none in the last row
    way: Floats
    ways: Floats


@inner_kernel
def no_prices(width: int, shape: tuple[int, int]) -> Prices:
    """Prices of 0, for so many choices, and for hubs with edges."""
    return Prices(np.zeros(width), np.zeros(shape), np.zeros(width), np.zeros(shape))


@inner_kernel
def step_prices(pair: Pair, words: Ints, prices: Prices, exact: bool, length: float) -> bool:
    """Raise the prices of words used twice, and lower those of unused words; False if no price must change.

    A step keeps part of the previous direction (Camerini, Fratta and Maffioli 1975). `length` is the gap times the
    scale.
    """
    price, fees, way, ways = prices.price, prices.fees, prices.way, prices.ways
    more, mores, norm, off = np.full(price.shape[0], -1.0), np.zeros(fees.shape), 0.0, False
    for a in range(words.shape[0]):
        more[words[a]] += 1.0
    for k in range(words.shape[0]):
        if pair.tree[k, 1] >= 0:
            e, b, above = pair.tree[k, 2], words[pair.tree[k, 0]], words[pair.tree[k, 1]]
            f = (pair.mapped[b, above] if pair.tree[k, 3] else pair.mapped[above, b]) - 1
            if f >= 0:
                mores[pair.edge_hubs[e, 0], f] += 1.0
                mores[pair.edge_hubs[e, 1], f] += 1.0
    for c in range(1, price.shape[0]):
        if more[c] < 0.0 and not exact and price[c] == 0.0:
            more[c] = 0.0
        off |= more[c] != 0.0
        way[c] = KEEP * way[c] + more[c]
        norm += way[c] ** 2
    for h in range(pair.hubs.shape[0]):
        word, side = pair.hubs[h, 0], pair.hubs[h, 1]
        for f in range(pair.second.shape[0]):
            if words[word] == pair.second[f, side] and (mores[h, f] > 0.0 or fees[h, f] > 0.0):
                mores[h, f] -= 1.0
            off |= mores[h, f] != 0.0
            ways[h, f] = KEEP * ways[h, f] + mores[h, f]
            norm += ways[h, f] ** 2
    if not off:
        return False
    for c in range(1, price.shape[0]):
        price[c] += length / norm * way[c]
        if not exact and price[c] < 0.0:
            price[c] = 0.0
    for h in range(pair.hubs.shape[0]):
        for f in range(pair.second.shape[0]):
            fees[h, f] = max(0.0, fees[h, f] + length / norm * ways[h, f])
    return True


@inner_kernel
def begin_prices(prices: Prices, stored: Floats, kept_fees: Floats) -> None:
    """Restore the stored prices, without a direction."""
    copy_prices(stored, kept_fees, prices.price, prices.fees)
    prices.way[:] = 0.0
    prices.ways[:] = 0.0


@inner_kernel
def copy_prices(price: Floats, fees: Floats, to: Floats, fees_to: Floats) -> None:
    """Prices and fees into other places."""
    for c in range(price.shape[0]):
        to[c] = price[c]
    for h in range(fees.shape[0]):
        for f in range(fees.shape[1]):
            fees_to[h, f] = fees[h, f]

"""Which Gold is held out when: folds over Gold, repeated where there is little of it."""

from __future__ import annotations

from typing import NamedTuple

from sidelight.evaluate.gold_folds import GoldFolds

FOLDS = 5
FEWEST = 4  # labelled inputs below which nothing is held out
REPEATS = ((30, 3), (100, 2))  # up to so many labelled inputs: how often all of them are held out


class Block(NamedTuple):
    """One fold: the Gold that is held out, by its number among the Gold."""

    number: int
    held_out: list[int]


def blocks(count: int, seed: int) -> list[Block]:
    """Folds of `count` labelled inputs, fewer of them the more inputs there are; none where these are too few.

    >>> [block.held_out for block in blocks(200, 0)][0][:3], len(blocks(20, 0)), len(blocks(3, 0))
    ([7, 27, 28], 15, 0)
    """
    if count < FEWEST:
        return []
    repeats = next((times for most, times in REPEATS if count <= most), 1)
    folds = GoldFolds(min(FOLDS, count), seed, repeats).split(range(count), y=())
    return [Block(number, held_out.tolist()) for number, (_, held_out) in enumerate(folds)]

"""The best output under rules of any structure that can list its k best: go down the list until nothing can follow.

Scores fall along the list and penalties are not negative, so once the worth of an output (its score less penalties) is
at least the score of the last one listed, it is the best of all. The list is made longer until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sidelight.errors import Infeasible, Intractable

FIRST, FACTOR, MOST = 8, 8, 4096  # lengths of lists


class Listed(NamedTuple):
    """An output out of a list."""

    output: Any
    value: float  # score less penalties
    looked_at: int  # how many outputs were


def best_of_list(
    listed: Callable[[int], Sequence[tuple[Any, float]]],
    penalty: Callable[[Any], float],
    *,
    names: Sequence[str] = (),
    most: int = MOST,
) -> Listed:
    """The best output; `listed(k)` gives the k best with their scores, or all if there are fewer.

    Raises `Infeasible` where no output is legal, `Intractable` where `most` of them do not suffice to tell.

    >>> best_of_list(lambda k: [("a", 3.0), ("b", 2.0), ("c", 1.0)][:k], lambda y: 1.5 if y == "a" else 0.0).output
    'b'
    """
    k = FIRST
    rules = ", ".join(names)
    while True:
        found = listed(k)
        best, value = None, -math.inf
        for output, score in found:
            if score <= value:
                break
            worth = score - penalty(output)
            if worth > value:
                best, value = output, worth
        if len(found) < k or (value > -math.inf and value >= found[-1][1]):
            if value == -math.inf:
                raise Infeasible(f"no output obeys the rules {rules}; leave one of them out or make it soft")
            return Listed(best, value, len(found))
        if k >= most:
            raise Intractable(
                f"the {most} best outputs do not tell the best one under the rules {rules}; use Tagger, or softer rules"
            )
        k = min(k * FACTOR, most)

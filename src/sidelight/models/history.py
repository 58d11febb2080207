"""How training went, as a model's file tells it: the objective and the gap, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.core.file_contents import list_of
from sidelight.core.records import Round
from sidelight.errors import ModelFileError

Point = list[float | int | None]  # number of the round, objective, gap
MOST_POINTS = 200  # in a file


def point_of(record: Round) -> Point:
    """What is kept of a round; for those that count mistakes, these are the objective."""
    return [record.number, record.mistakes if record.objective is None else record.objective, record.gap]


def thinned(points: Sequence[Point]) -> list[Point]:
    """So many of them that a file stays small, the first and the last among them.

    >>> numbers = [number for number, _, _ in thinned([[k, None, None] for k in range(1000)])]
    >>> len(numbers), numbers[:3], numbers[-1]
    (200, [0, 5, 10], 999)
    """
    if len(points) <= MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(k * step)] for k in range(MOST_POINTS)]


def history_in(values: Mapping[str, Any]) -> list[Point]:
    """The history that a file holds; none in files of before. Raises `ModelFileError` where it is no history."""
    points = list_of(values, "history") if "history" in values else []
    for point in points:
        if not isinstance(point, list) or len(point) != 3 or not all(_is_amount(one) for one in point):
            raise ModelFileError("the history of training is no list of rounds")
    return [*points]


def _is_amount(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))

"""About what each experiment takes, so that the longest begins first and memory is not promised twice."""

from __future__ import annotations

from typing import NamedTuple

FULL_MEMORY = 2.5  # what a run in full takes, in memories of a quick one


class Cost(NamedTuple):
    """Of a quick run, on one core, with its kernels compiled."""

    seconds: float
    megabytes: float


UNKNOWN = Cost(30.0, 800.0)
QUICK: dict[str, Cost] = {}


def cost_of(name: str) -> Cost:
    """What a quick run takes."""
    return QUICK.get(name, UNKNOWN)

"""Places by the names that users give them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sidelight.core.checks import shown
from sidelight.parallel.place import Place, ThreadPlace
from sidelight.parallel.ray_place import RayPlace

NAMES = ("threads", "ray")


def place_of(given: Any, n_jobs: int | None) -> Place:
    """The place of a name, of the address of a Ray cluster, or as it is; raises ValueError for what is none.

    >>> place_of("threads", 2).n_jobs, place_of("head:6379", None).address
    (2, 'head:6379')
    """
    if given is None or (isinstance(given, str) and given == "threads"):
        return ThreadPlace(n_jobs)
    if isinstance(given, ThreadPlace):
        return replace(given, n_jobs=n_jobs)
    if isinstance(given, RayPlace):
        return given
    if isinstance(given, str) and given == "ray":
        return RayPlace()
    if isinstance(given, str) and (given == "auto" or ":" in given):
        return RayPlace(given)
    raise ValueError(f"place is {shown(given)}; give 'threads', 'ray', the address of a Ray cluster, or a RayPlace")

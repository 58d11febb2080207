"""A line of the table of learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sidelight.recipe_kinds import Recipe


class Entry(NamedTuple):
    """A line of the table of learners (thesis Table 2.2)."""

    make: Callable[..., Recipe]
    evidence: str
    minimises: str
    inference: str
    step_size: str
    stops: str

    @property
    def line(self) -> str:
        """What it is, in one line."""
        return (self.make.__doc__ or "").split("\n")[0].rstrip(".")

"""Groups of inputs that have something latent, before it is decided which weights exist.

Every kind of group has a file with a function `plan(given, recipe)` that says what the group shows and how it is made;
`making.likelihood` asks all of them (`PLANS` there).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidelight.features.support import Shown
from sidelight.learners.latent_likelihood import LatentGroup
from sidelight.objective.likelihood import Form


@dataclass(frozen=True, slots=True)
class Plan:
    """A group to be made."""

    shown: Sequence[Shown | None]  # pairs of attribute and label that are to have weights
    make: Callable[[Form], LatentGroup]  # form.features(batch): features with the weights that exist

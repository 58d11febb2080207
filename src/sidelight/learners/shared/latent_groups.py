"""Groups of inputs that have something latent, before it is decided which weights exist.

A plan says what the group shows and how it is made: of votes (`learners.votes`), of beliefs under rules
(`learners.posterior_regularization`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidelight.features.support import Shown
from sidelight.objective.likelihood import Form
from sidelight.rounds.latent_likelihood import LatentGroup


@dataclass(frozen=True, slots=True)
class LatentPlan:
    """A group to be made."""

    shown: Sequence[Shown | None]  # pairs of attribute and label that are to have weights
    make: Callable[[Form], LatentGroup]  # form.features(batch): features with the weights that exist

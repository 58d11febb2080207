"""What a learner says of itself: options with their ranges, and what it takes, needs and heeds."""

from sidelight.specs.learner import LearnerSpec
from sidelight.specs.options import option
from sidelight.structures.structure import Need

__all__ = ["LearnerSpec", "Need", "option"]

"""Declarations of learners: options with their ranges, the evidence they take, and what they need and use."""

from sidelight.specs.learner import LearnerSpec
from sidelight.specs.options import option
from sidelight.structures.structure import Need

__all__ = ["LearnerSpec", "Need", "option"]

"""`learner="auto"`: a good fixed choice of learner for the evidence, guarded by cross-validation over Gold."""

from sidelight.choice.auto import choose
from sidelight.choice.plan import Offer, Plan
from sidelight.choice.report import ChoiceReport

__all__ = ["ChoiceReport", "Offer", "Plan", "choose"]

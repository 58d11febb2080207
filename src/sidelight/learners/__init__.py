"""One way of learning per file, each a sequence of rounds."""

from sidelight.learners.learner import Learner, State

__all__ = ["Learner", "State"]

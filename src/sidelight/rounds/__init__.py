"""Loops of learning that several learners share, each a sequence of `Round`s that can be stopped and resumed."""

from sidelight.rounds.learner import Learner, State

__all__ = ["Learner", "State"]

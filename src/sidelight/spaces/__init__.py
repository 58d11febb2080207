"""Sets of outputs under linear scores."""

from sidelight.spaces.chain import ChainScores, ChainSpace, Cost, GivenScores, LeavingCost, Paths, Transitions

__all__ = ["ChainScores", "ChainSpace", "Cost", "GivenScores", "LeavingCost", "Paths", "Transitions"]

"""Sets of outputs under linear scores."""

from sidelight.spaces.chains.chain import (
    AnyCost,
    ChainScores,
    ChainSpace,
    Cost,
    GivenScores,
    LeavingCost,
    Paths,
    Transitions,
)
from sidelight.spaces.second_order.second_order import GivenSecondOrderScores, SecondOrderScores, SecondOrderSpace
from sidelight.spaces.space import Charging, Space, space_of

__all__ = [
    "AnyCost",
    "ChainScores",
    "ChainSpace",
    "Charging",
    "Cost",
    "GivenScores",
    "GivenSecondOrderScores",
    "LeavingCost",
    "Paths",
    "SecondOrderScores",
    "SecondOrderSpace",
    "Space",
    "Transitions",
    "space_of",
]

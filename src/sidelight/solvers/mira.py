"""MIRA and passive–aggressive learning: the smallest change of the weights that satisfies one example at a time.

With example (x, y), its k best outputs ŷ_j, slopes s_j = Φ(x, ŷ_j) − Φ(x, y) and margins m_j, the weights change from w
to

    MIRA, PA-I   argmin_w' ½ ‖w' − w‖² + C ξ       m_j + s_j · w' <= ξ for all j,  ξ >= 0
    PA           argmin_w' ½ ‖w' − w‖²             m_j + s_j · w' <= 0 for all j
    PA-II        argmin_w' ½ ‖w' − w‖² + C ξ²      m_j + s_j · w' <= ξ for all j

With one output and v = m + s · w > 0 this is w' = w − τ s with τ = min(C, v / ‖s‖²), v / ‖s‖² and
v / (‖s‖² + 1/(2C)). With more outputs, it is a small problem in the dual, solved by steps of two variables. C is
multiplied by the weight of the example.

MIRA: Crammer and Singer 2003, with k best outputs McDonald, Crammer and Pereira 2005. Passive–aggressive: Crammer,
Dekel, Keshet, Shalev-Shwartz and Singer 2006, who use as ŷ the predicted output ("prediction") or the one with the
largest loss ("max_loss", the best of score plus cost), and as m the square root of its cost ("root"). The cost itself
("cost") is the usual choice, and the only one for which the output with the largest loss can be found.

The result is the average of the weights before the first and after each example. Stops after the given number of
epochs, or after one without changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like, number_of


@dataclass(frozen=True, slots=True)
class MiraOptions:
    """The kind of update, and the outputs to learn from."""

    rule: Literal["MIRA", "PA", "PA-I", "PA-II"] = "MIRA"
    k: int = 1  # MIRA only
    aggressiveness: float = 1.0  # C; PA has none
    outputs: Literal["max_loss", "prediction"] = "max_loss"
    margin: Literal["cost", "root"] = "cost"

    def __post_init__(self) -> None:
        if self.rule not in ("MIRA", "PA", "PA-I", "PA-II"):
            raise ValueError(f"rule is {self.rule!r}; give 'MIRA', 'PA', 'PA-I' or 'PA-II'")
        if self.k < 1 or (self.k > 1 and self.rule != "MIRA"):
            raise ValueError(f"k is {self.k}; give 1 or more for MIRA, 1 for the others")
        if not self.aggressiveness > 0:
            raise ValueError(f"aggressiveness is {self.aggressiveness}; give a positive number")
        check_outputs(self.outputs, self.margin)

    def caps(self, importance: Floats) -> Floats:
        """The maximum τ (in sum) of every example. # [N]"""
        if self.rule in ("PA", "PA-II"):
            return np.where(importance > 0.0, np.inf, 0.0)
        return self.aggressiveness * importance

    def eases(self, importance: Floats) -> Floats:
        """The term added to ‖s‖². # [N]"""
        if self.rule != "PA-II":
            return np.zeros(len(importance))
        return 0.5 / (self.aggressiveness * np.maximum(importance, 1e-300))


def check_outputs(outputs: str, margin: str) -> None:
    """Raise `ValueError` for an unknown kind of output or margin."""
    if outputs not in ("max_loss", "prediction"):
        raise ValueError(f"outputs is {outputs!r}; give 'max_loss' or 'prediction'")
    if margin not in ("cost", "root"):
        raise ValueError(f"margin is {margin!r}; give 'cost' or 'root'")
    if margin == "root" and outputs == "max_loss":
        raise ValueError("the largest loss with square roots of costs cannot be found; give outputs='prediction'")


class MiraEpoch(Protocol):
    """An epoch of steps; `objective.online.online_steps.mira_epoch` with its first arguments given."""

    def __call__(
        self,
        *,
        order: Ints,
        weights: Floats,
        totals: Floats,
        clock: float,
        k: int,
        with_cost: bool,
        root: bool,
    ) -> tuple[int, float]: ...


@dataclass(slots=True)
class Mira:
    """Weights, the sums for their average, and the number of examples seen plus one."""

    weights: Floats
    totals: Floats
    options: MiraOptions
    clock: float = 1.0

    @property
    def name(self) -> str:
        return "mira" if self.options.rule == "MIRA" else "passive_aggressive"

    @classmethod
    def fresh(cls, size: int, options: MiraOptions) -> Mira:
        return cls(np.zeros(size), np.zeros(size), options)

    def epoch(self, run: MiraEpoch, count: int, rng: np.random.Generator) -> int:
        """One pass in random order; returns the number of examples that changed the weights."""
        moved, self.clock = run(
            order=rng.permutation(count),
            weights=self.weights,
            totals=self.totals,
            clock=self.clock,
            k=self.options.k,
            with_cost=self.options.outputs == "max_loss",
            root=self.options.margin == "root",
        )
        return moved

    def result(self) -> Floats:
        """The average of all weights so far."""
        return np.asarray(self.weights - self.totals / self.clock)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for a checkpoint."""
        return {"clock": self.clock}, {"weights": self.weights, "totals": self.totals}

    def resume(self, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the result of `state`."""
        self.weights, self.totals = (array_like(arrays, name, getattr(self, name)) for name in ("weights", "totals"))
        self.clock = number_of(values, "clock", low=1.0)

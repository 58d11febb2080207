"""AROW: adaptive regularisation of weights, an online learner that keeps a confidence for each weight.

The weights are normal with means w and variances σ, all independent. Example (x, y) with its output ŷ, the slope
s = Φ(x, ŷ) − Φ(x, y) and the margin m changes them to

    argmin_{w', σ'}  KL(N(w', σ') ‖ N(w, σ)) + 1/(2r) |m + s · w'|₊² + 1/(2r) Σ_i σ'_i s_i²

which is, with v = m + s · w and u = Σ_i σ_i s_i²,

    w'_i = w_i − σ_i s_i v / (u + r)        1/σ'_i = 1/σ_i + s_i² / r         where v > 0

and no change elsewhere. Weights of frequent features change little, those of rare ones much. r is the same for all
examples; an example of weight c has r / c. A smaller r gives larger steps.

Crammer, Kulesza and Dredze 2009, with the variances alone instead of all covariances. As for passive–aggressive
learning, ŷ is the best output of score plus cost ("max_loss") or of score ("prediction"), m its cost or the square
root of it. The result is the last means. Stops after the given number of epochs, or after one without changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like, array_of
from sidelight.solvers.mira import check_outputs


@dataclass(frozen=True, slots=True)
class ArowOptions:
    """The initial variance, the step size, and the outputs to learn from."""

    variance: float = 1.0  # of every weight before the first example
    r: float = 1.0
    outputs: Literal["max_loss", "prediction"] = "max_loss"
    margin: Literal["cost", "root"] = "cost"

    def __post_init__(self) -> None:
        for name, value in (("variance", self.variance), ("r", self.r)):
            if not 0.0 < value < np.inf:
                raise ValueError(f"{name} is {value}; give a positive number")
        check_outputs(self.outputs, self.margin)

    def rates(self, importance: Floats) -> Floats:
        """r of every example; inf where an example does not count. # [N]"""
        return np.where(importance > 0.0, self.r / np.maximum(importance, 1e-300), np.inf)


class ArowEpoch(Protocol):
    """An epoch of steps; `objective.online.online_steps.arow_epoch` with its first arguments given."""

    def __call__(self, *, order: Ints, weights: Floats, variances: Floats, with_cost: bool, root: bool) -> int: ...


@dataclass(slots=True)
class Arow:
    """The means and variances of all weights."""

    weights: Floats
    variances: Floats
    options: ArowOptions
    name: str = "arow"

    @classmethod
    def fresh(cls, size: int, options: ArowOptions) -> Arow:
        return cls(np.zeros(size), np.full(size, options.variance), options)

    def epoch(self, run: ArowEpoch, count: int, rng: np.random.Generator) -> int:
        """One pass in random order; returns the number of examples that changed the weights."""
        return run(
            order=rng.permutation(count),
            weights=self.weights,
            variances=self.variances,
            with_cost=self.options.outputs == "max_loss",
            root=self.options.margin == "root",
        )

    def result(self) -> Floats:
        """The means."""
        return self.weights.copy()

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for a checkpoint."""
        return {}, {"weights": self.weights, "variances": self.variances}

    def resume(self, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the result of `state`."""
        self.weights = array_like(arrays, "weights", self.weights)
        self.variances = array_of(arrays, "variances", self.variances.dtype, self.variances.shape, low=0.0)

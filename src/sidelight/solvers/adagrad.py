"""AdaGrad: gradient steps over a few inputs at a time, shorter for weights that have changed much.

The problem:  min_w  F(w) = ½ λ ‖w‖² + Σ_i f_i(w).  An epoch processes the inputs in random order, in small groups. With
g the gradient of a group's share of F, and s the sum of g² so far (Duchi, Hazan and Singer 2011),

    s ← s + g²,      w ← w − η g / (√s + 1e-8)

Convexity is not required, so there is no gap: the caller computes F after each epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like


class GradientProblem(Protocol):
    """A function of weights that is a sum over inputs."""

    l2: float

    def __len__(self) -> int: ...

    @property
    def size(self) -> int: ...

    def take(self, which: Ints) -> Self:
        """The sum over some of the inputs, without the L2 norm."""
        ...

    def value(self, weights: Floats) -> float: ...

    def value_and_gradient(self, weights: Floats, gradient: Floats) -> float: ...


@dataclass(slots=True)
class AdaGrad:
    """The state of a run."""

    weights: Floats
    squares: Floats  # s
    step: float  # η
    inputs: int  # per step

    @classmethod
    def fresh(cls, start: Floats, *, step: float = 0.1, inputs: int = 8) -> AdaGrad:
        """A run with initial weights; networks need random ones."""
        if not step > 0 or inputs < 1:
            raise ValueError(f"step is {step} and inputs is {inputs}; give a step above 0 and 1 or more inputs")
        return cls(start.copy(), np.zeros(len(start)), step, inputs)

    def epoch(self, problem: GradientProblem, rng: np.random.Generator) -> None:
        """One pass over the inputs."""
        gradient, count = np.empty(len(self.weights)), len(problem)
        for which in np.array_split(rng.permutation(count), max(1, -(-count // self.inputs))):
            problem.take(which).value_and_gradient(self.weights, gradient)
            gradient += problem.l2 * len(which) / max(count, 1) * self.weights
            self.squares += gradient * gradient
            self.weights -= self.step * gradient / (np.sqrt(self.squares) + 1e-8)

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        return {"weights": self.weights, "squares": self.squares}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from such arrays, for a problem of the same size."""
        self.weights, self.squares = (array_like(arrays, name, self.weights) for name in ("weights", "squares"))

"""L-BFGS, and OWL-QN with an L1 norm.

The problem:  min_w  F(w) = f(w) + c ‖w‖₁,   f smooth, given by its value and gradient; c = 0 by default.

With the last m steps s_i = w_{i+1} − w_i and y_i = ∇f(w_{i+1}) − ∇f(w_i), the direction is −H ∇f, where H is the BFGS
matrix after m updates of (s·y / y·y) I (Nocedal 1980; Liu and Nocedal 1989). It is a combination of the s_i, the y_i
and ∇f whose coefficients need only their inner products (Chen, Wang and Zhou 2014): one pass over memory for the new
products, and one for the combination, both in parallel threads.

Line search, c = 0: the first step that decreases F enough and is not too short (weak Wolfe conditions, 1e-4 and 0.9),
found by bracketing and cubic interpolation; the second condition gives s·y > 0. With c > 0 (Andrew and Gao 2007): the
pseudo-gradient (the smallest element of the subdifferential) replaces the gradient, the direction keeps its signs, and
a step that leaves the orthant is projected onto its face; the step is halved until F decreases enough. A pair with too
small s·y is not stored.

With scales d, the variables are v with w = d · v. If d_k² is near the inverse of the Hessian's diagonal, far fewer
iterations are needed (frequencies of features differ by a factor of ten thousand).

Stops when ‖pseudo-gradient‖ <= epsilon · max(1, ‖w‖), when F fell by less than delta, relatively, over the last
`period` iterations (the rules of CRFsuite), or when no step decreases F. With a gap, also when ½ ‖∇F‖² < gap · |F|: if
F is ½ ‖w‖² plus convex functions, F − min F is at most ½ ‖∇F‖². One iteration per call; the state is complete, so a
resumed run gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import NO_FLOATS, Floats
from sidelight.core.file_contents import array_like, list_of, number_of, numbers_of, text_of, whole_of
from sidelight.core.kernels import inner
from sidelight.errors import ModelFileError
from sidelight.parallel import threads
from sidelight.solvers import lbfgs_kernels as kernels

Evaluate = Callable[[Floats, Floats], float]  # weights, gradient to be written -> value

ENOUGH = 1e-4  # a step must decrease F by this share of the decrease predicted by the slope
FLATTER = 0.9  # and the new slope must be at most this share of the old one
SPAN = 65536  # weights processed by one thread at a time


@dataclass(frozen=True, slots=True)
class LbfgsOptions:
    """When to stop, and how many pairs to store."""

    memory: int = 6  # m
    l1: float = 0.0  # c
    epsilon: float = 1e-5
    delta: float = 1e-5
    period: int = 10
    max_evaluations: int = 20  # in one line search
    gap: float = 0.0  # relative; see above

    def __post_init__(self) -> None:
        if self.memory < 1 or self.period < 1 or self.max_evaluations < 1:
            raise ValueError("memory, period and max_evaluations must be 1 or more")
        if not (self.l1 >= 0 and self.epsilon >= 0 and self.delta >= 0 and self.gap >= 0):
            raise ValueError("l1, epsilon, delta and gap must not be negative")


@dataclass(slots=True)
class Lbfgs:
    """The state of a run."""

    point: Floats  # [P] v
    options: LbfgsOptions
    basis: Floats  # [2 m + 1, P] steps, changes of the gradient, and the (pseudo-)gradient
    products: Floats  # [2 m + 1, 2 m + 1] their inner products, where needed
    gradient: Floats  # [P] of f, by v
    scales: Floats  # [P] d, or [0] for ones
    strengths: Floats  # [P] c d, or [0] where c = 0
    n_jobs: int | None = None
    value: float = np.nan  # F; NaN before the first evaluation
    order: list[int] = field(default_factory=list)  # slots of the pairs, oldest first
    values: list[float] = field(default_factory=list)  # of the last iterations
    iterations: int = 0
    evaluations: int = 0
    stopped: str = ""  # why

    @classmethod
    def fresh(
        cls, start: Floats, options: LbfgsOptions, *, scales: Floats | None = None, n_jobs: int | None = None
    ) -> Lbfgs:
        """A run with initial weights."""
        rows, size = 2 * options.memory + 1, len(start)
        d = NO_FLOATS if scales is None else scales
        return cls(
            start.copy() if scales is None else start / scales,
            options,
            np.zeros((rows, size)),
            np.zeros((rows, rows)),
            np.empty(size),
            d,
            _strengths(options, size, d),
            n_jobs,
        )

    @property
    def weights(self) -> Floats:
        """w; do not change it."""
        return self.point * self.scales if len(self.scales) else self.point

    @property
    def gradient_norm(self) -> float:
        """The norm of the pseudo-gradient with respect to w, at the current weights."""
        if len(self.scales) == 0:
            return float(np.sqrt(self.products[-1, -1]))
        by_weight = self.basis[-1] / self.scales
        return float(np.sqrt(inner(by_weight, by_weight)))

    def step(self, evaluate: Evaluate) -> float:
        """One iteration, or the first evaluation; returns the objective."""
        if self.stopped:
            return self.value
        if np.isnan(self.value):
            self._begin(evaluate)
            return self.value
        direction, slope = self._direction()
        if slope >= 0.0:  # only dropping the stored pairs can help
            self.order.clear()
            direction, slope = self._direction()
        if not self._search(evaluate, direction, slope) and not self._afresh(evaluate):
            self.stopped = "no step falls"
            return self.value
        self.iterations += 1
        self._check()
        return self.value

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything needed to resume."""
        numbers = {name: getattr(self, name) for name in ("value", "order", "values", "iterations", "evaluations")}
        arrays = {name: getattr(self, name) for name in ("point", "gradient", "basis", "products", "scales")}
        return numbers | {"stopped": self.stopped}, arrays

    def resume(self, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Resume from the state of an earlier run with the same options and number of variables."""
        for name in ("point", "gradient", "basis", "products"):
            setattr(self, name, array_like(arrays, name, getattr(self, name), finite=False))
        self.scales = array_like(arrays, "scales", self.scales)
        self.strengths = _strengths(self.options, len(self.point), self.scales)
        self.value = number_of(numbers, "value", nan=True)
        slots = self.options.memory
        self.order = [whole_of({"order": slot}, "order", high=slots - 1) for slot in list_of(numbers, "order")]
        if len(set(self.order)) < len(self.order):
            raise ModelFileError("'order' has a slot twice")
        self.values = numbers_of(numbers, "values")
        self.iterations, self.evaluations = (whole_of(numbers, name) for name in ("iterations", "evaluations"))
        self.stopped = text_of(numbers, "stopped")

    def _begin(self, evaluate: Evaluate) -> None:
        self.value = self._evaluate(evaluate, self.point, self.gradient)
        if not np.isfinite(self.value):
            raise ValueError(f"the objective is {self.value} at the first weights")
        self._refresh(None)
        self._check()

    def _evaluate(self, evaluate: Evaluate, point: Floats, gradient: Floats) -> float:
        """F, and the gradient of f with respect to v."""
        self.evaluations += 1
        if len(self.scales) == 0:
            value = evaluate(point, gradient)
        else:
            value = evaluate(point * self.scales, gradient)
            gradient *= self.scales
        return value + kernels.weighted_size(self.strengths, point) if len(self.strengths) else value

    def _afresh(self, evaluate: Evaluate) -> bool:
        """Search along the gradient itself, if the quasi-Newton direction failed."""
        if not self.order:
            return False
        self.order.clear()
        return self._search(evaluate, *self._direction())

    def _check(self) -> None:
        options = self.options
        weights = self.weights
        size = float(np.sqrt(inner(weights, weights)))
        self.values = [*self.values[-options.period :], self.value]
        norm = self.gradient_norm
        if norm <= options.epsilon * max(1.0, size) or 0.5 * norm * norm < options.gap * abs(self.value):
            self.stopped = "gradient"
        elif len(self.values) > options.period:
            fall = self.values[0] - self.value
            if fall <= options.delta * abs(self.value):
                self.stopped = "decrease"

    def _direction(self) -> tuple[Floats, float]:
        """−H · (pseudo-)gradient, and the slope along it."""
        memory = self.options.memory
        products, last = self.products, 2 * memory
        coefficients = np.zeros(2 * memory + 1)
        coefficients[last] = -1.0
        shares = np.zeros(memory)
        for slot in reversed(self.order):
            shares[slot] = coefficients @ products[slot] / products[slot, memory + slot]
            coefficients[memory + slot] -= shares[slot]
        if self.order:
            newest = self.order[-1]
            change = products[memory + newest, memory + newest]
            coefficients *= products[newest, memory + newest] / change
        for slot in self.order:
            share = coefficients @ products[memory + slot] / products[slot, memory + slot]
            coefficients[slot] += shares[slot] - share
        direction = np.empty(len(self.point))
        rows = np.flatnonzero(coefficients)

        def run(lo: int) -> None:
            kernels.combine(self.basis, rows, coefficients, lo, min(lo + SPAN, len(direction)), direction)

        threads(run, range(0, len(direction), SPAN), n_jobs=self.n_jobs)
        if self.options.l1 == 0:
            return direction, float(coefficients @ products[last])
        kernels.keep_signs(direction, self.basis[last])
        return direction, inner(direction, self.basis[last])

    def _search(self, evaluate: Evaluate, direction: Floats, slope: float) -> bool:
        """Move along the direction; False, without a move, if no step decreases F."""
        if not slope < 0.0:
            return False
        length = float(np.sqrt(inner(direction, direction)))
        step = 1.0 if self.order else min(1.0, 1.0 / length)
        trial, gradient = np.empty(len(direction)), np.empty(len(direction))
        searching = self._projected if self.options.l1 > 0 else self._wolfe
        value = searching(evaluate, direction, slope, step, trial, gradient)
        if value is None:
            return False
        slot = self._remember(trial, gradient)
        self.point, self.gradient, self.value = trial, gradient, value
        self._refresh(slot)
        return True

    def _wolfe(
        self, evaluate: Evaluate, direction: Floats, slope: float, step: float, trial: Floats, gradient: Floats
    ) -> float | None:
        low, low_value, low_slope = 0.0, self.value, slope
        high, high_value, high_slope = np.inf, np.inf, np.inf
        for _ in range(self.options.max_evaluations):
            kernels.move(self.point, direction, step, trial)
            value = self._evaluate(evaluate, trial, gradient)
            here = inner(gradient, direction)
            if not value <= self.value + ENOUGH * step * slope:
                high, high_value, high_slope = step, value, here
            elif here < FLATTER * slope:
                low, low_value, low_slope = step, value, here
            else:
                return value
            if np.isinf(high):
                step *= 4.0
            else:
                step = _between(low, low_value, low_slope, high, high_value, high_slope)
        if low > 0.0:  # falls, but is short
            kernels.move(self.point, direction, low, trial)
            return self._evaluate(evaluate, trial, gradient)
        return None

    def _projected(
        self, evaluate: Evaluate, direction: Floats, slope: float, step: float, trial: Floats, gradient: Floats
    ) -> float | None:
        pseudo = self.basis[-1]
        for _ in range(self.options.max_evaluations):
            promised = kernels.move_in_orthant(self.point, direction, pseudo, step, trial)
            value = self._evaluate(evaluate, trial, gradient)
            if promised < 0.0 and value <= self.value + ENOUGH * promised:
                return value
            step *= 0.5
        return None

    def _remember(self, point: Floats, gradient: Floats) -> int | None:
        """Store the new pair instead of the oldest, unless it has no information about curvature."""
        memory = self.options.memory
        full = len(self.order) == memory
        slot = self.order[0] if full else next(i for i in range(memory) if i not in self.order)
        s, y = self.basis[slot], self.basis[memory + slot]
        np.subtract(point, self.point, out=s)
        np.subtract(gradient, self.gradient, out=y)
        if full:
            self.order.pop(0)
        if not inner(s, y) > 1e-12 * inner(y, y):
            return None
        self.order.append(slot)
        return slot

    def _refresh(self, slot: int | None) -> None:
        """Update the pseudo-gradient at the current weights, and the inner products with it and with a new pair."""
        memory = self.options.memory
        last = 2 * memory
        if len(self.strengths):
            kernels.pseudo_gradient(self.point, self.gradient, self.strengths, self.basis[last])
        else:
            self.basis[last] = self.gradient
        changes = [memory + i for i in self.order]
        products = [(last, last), *((last, i) for i in [*self.order, *changes])]
        if slot is not None:
            products += [(slot, i) for i in changes] + [
                (memory + slot, i) for i in [*changes, *self.order] if i != slot
            ]
        pairs = np.array(products, dtype=np.int64)

        def run(lo: int) -> Floats:
            out = np.zeros(len(pairs))
            kernels.products(self.basis, pairs, lo, min(lo + SPAN, self.basis.shape[1]), out)
            return out

        total = np.zeros(len(pairs))
        for part in threads(run, range(0, self.basis.shape[1], SPAN), n_jobs=self.n_jobs):
            total += part  # in the order of the spans, so the result does not depend on threads
        self.products[pairs[:, 0], pairs[:, 1]] = total
        self.products[pairs[:, 1], pairs[:, 0]] = total


def _strengths(options: LbfgsOptions, size: int, scales: Floats) -> Floats:
    if options.l1 == 0:
        return NO_FLOATS
    return options.l1 * scales if len(scales) else np.full(size, options.l1)


def _between(low: float, f: float, slope: float, high: float, g: float, other: float) -> float:
    """The minimum of the cubic through two points and slopes, kept well inside the interval."""
    width = high - low
    best = low + 0.5 * width
    if np.isfinite(g) and np.isfinite(other):
        bend = slope + other - 3.0 * (f - g) / (low - high)
        root = bend * bend - slope * other
        if root >= 0.0:
            turn = np.sqrt(root)
            below = other - slope + 2.0 * turn
            if below != 0.0:
                best = high - width * (other + turn - bend) / below
    return float(min(max(best, low + 0.1 * width), high - 0.1 * width))

"""The dual of `chain_duals` when all examples move together: its distributions fit into one vector.

If every step is made for all examples with the same η, the potentials of example i are θ_i = u·Φ(x_i, y) − depth ·
Δ(y_i, y) for one vector u of the weights' form and one number, whatever the number of examples:

    log-loss      u ← (1 − η) u + η w(α),   depth ← (1 − η) depth
    max-margin    u ← u + η w(α),           depth ← depth − η

Any features will do, of any form, on any structure that has sums, and no example keeps anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints
from sidelight.core.file_contents import array_like, number_of
from sidelight.core.kernels import inner
from sidelight.objective.expected_features import add_log_sums
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.spaces import sums
from sidelight.spaces.chains.chain import Cost

FIRST_RATE = 0.5
GROWTH = 1.05
TRIES = 30


@dataclass(slots=True)
class SharedPotentials:
    """θ of all examples."""

    direction: Floats  # u
    depth: float
    rate: float = FIRST_RATE  # η
    known: tuple[Floats, float] | None = None  # w(α) and D(α) of these potentials, once computed

    def state(self) -> tuple[dict[str, float], dict[str, Floats]]:
        """Numbers and arrays that hold everything."""
        return {"depth": self.depth, "rate": self.rate}, {"direction": self.direction}

    def stored(self, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SharedPotentials:
        """Such a state, in the place of this one."""
        depth, rate = number_of(numbers, "depth"), number_of(numbers, "rate", low=0.0)
        return SharedPotentials(array_like(arrays, "direction", self.direction), depth, rate)


@dataclass(frozen=True, slots=True)
class BatchDuals:
    """Gold examples, their loss and their dual problem."""

    terms: LikelihoodTerms
    costs: Floats  # [K, K] Δ of a slot
    margin: bool  # whether the loss is the margin loss, with these costs
    gold: Floats
    n_jobs: int | None = None

    @classmethod
    def of(cls, terms: LikelihoodTerms, *, costs: Floats | None = None, n_jobs: int | None = None) -> BatchDuals:
        """The dual of the log-loss, or with costs [right, predicted] that of the margin loss."""
        if terms.targets is None:
            raise ValueError("the dual needs gold labels")
        size = terms.space.n_labels
        gold = np.zeros(terms.features.size)
        terms.add_gold(gold, n_jobs=n_jobs)
        return cls(terms, 1.0 - np.eye(size) if costs is None else costs, costs is not None, gold, n_jobs)

    def __len__(self) -> int:
        return len(self.terms)

    def first(self, depth: float) -> SharedPotentials:
        """The larger the depth, the nearer α is to the gold labels and w(α) to zero."""
        return SharedPotentials(np.zeros(self.terms.features.size), depth)

    def settled(self, potentials: SharedPotentials) -> tuple[Floats, float]:
        """w(α) and D(α)."""
        if potentials.known is None:
            potentials.known = self._settled(potentials.direction, potentials.depth)
        return potentials.known

    def primal(self, weights: Floats) -> float:
        """P(w)."""
        terms = self.terms
        if self.margin:
            paths = terms.space.best(terms.features.scores(weights), cost=self._cost(), n_jobs=self.n_jobs)
            losses = paths.values - paths.targets
        else:
            losses = terms.losses(weights, n_jobs=self.n_jobs)
        return 0.5 * inner(weights, weights) + inner(terms.prices, losses)

    def sweep(self, order: Ints, potentials: SharedPotentials, weights: Floats) -> tuple[float, int]:
        """One step for all examples (their order is of no matter); η is halved until D rises, and then grows."""
        _, dual = self.settled(potentials)
        for wasted in range(TRIES):
            rate = potentials.rate
            if self.margin:
                direction, depth = potentials.direction + rate * weights, potentials.depth - rate
            else:
                direction = (1.0 - rate) * potentials.direction + rate * weights
                depth = (1.0 - rate) * potentials.depth
            here = self._settled(direction, depth)
            if here[1] >= dual:
                potentials.direction, potentials.depth, potentials.known = direction, depth, here
                potentials.rate = rate * GROWTH
                return here[1] - dual, wasted
            potentials.rate = 0.5 * rate
        return 0.0, TRIES

    def _cost(self) -> Cost:
        assert self.terms.targets is not None
        return Cost(self.terms.targets, self.costs)

    def _settled(self, direction: Floats, depth: float) -> tuple[Floats, float]:
        terms, cost = self.terms, self._cost()
        costs = cost.costs[cost.targets]  # [T, K]
        bonus, expected = -depth * costs, np.zeros(terms.features.size)
        shared = terms.features, terms.space, terms.prices
        log_sums = add_log_sums(*shared, direction, expected, bonus=bonus, n_jobs=self.n_jobs)
        raised = sums.raised(terms.space, terms.features.scores(direction), bonus)
        shares = sums.token_marginals(*raised, n_jobs=self.n_jobs)
        per_slot = np.repeat(terms.prices, np.diff(terms.space.starts))
        paid = inner(per_slot, np.sum(shares * costs, axis=1))
        weights = self.gold - expected
        height = paid if self.margin else log_sums - inner(direction, expected) + depth * paid
        return weights, height - 0.5 * inner(weights, weights)

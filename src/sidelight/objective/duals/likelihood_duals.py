"""The duals of log-linear and max-margin learning: over chains with variables kept by parts, over others together.

Primal:  P(w) = ½ ‖w‖² + Σ_i C_i ℓ_i(w),   ℓ_i = log-loss, or max_y Δ(y_i, y) + w·Φ(x_i, y) − w·Φ(x_i, y_i)
Dual:    D(α) = Σ_i C_i h_i(α_i) − ½ ‖w(α)‖²,   w(α) = Σ_i C_i (Φ(x_i, y_i) − E_{α_i} Φ(x_i, y))

over distributions α_i on the labelings of x_i; h_i is the entropy of α_i (log-loss) or its expected cost (max-margin).
D(α) <= min P. A distribution is exp θ_i(y) / Z_i, where θ_i adds up over tokens and transitions, so that its
marginals come from one forward and backward pass. An exponentiated-gradient step on example i is

    θ_i ← (1 − η) θ_i + η w·Φ(x_i, y)   (log-loss),        θ_i ← θ_i + η (Δ + w·Φ(x_i, y))   (max-margin).

Potentials of transitions are kept for every example: N · L² numbers.

If every step is made for all examples with the same η, all distributions fit into one vector: the potentials of example
i are θ_i = u·Φ(x_i, y) − depth · Δ(y_i, y) for one vector u of the weights' form and one number, whatever the number of
examples:

    log-loss      u ← (1 − η) u + η w(α),   depth ← (1 − η) depth
    max-margin    u ← u + η w(α),           depth ← depth − η

Any features will do then, of any form, on any structure that has sums, and no example keeps anything (`BatchDuals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_like, number_of
from sidelight.core.kernels import inner
from sidelight.errors import Infeasible
from sidelight.features.support_scores import SupportedFeatures
from sidelight.objective.duals import chain_dual_kernels as kernels
from sidelight.objective.expected_features import add_log_sums
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.objective.online.online_likelihood import OnlineLikelihood
from sidelight.parallel import shards, threads
from sidelight.spaces import sums
from sidelight.spaces.chains.chain import ChainSpace, Cost

FIRST_RATE = 0.5


@dataclass(frozen=True, slots=True)
class ChainDuals:
    """Gold examples, their loss and their dual problem."""

    terms: LikelihoodTerms
    online: OnlineLikelihood
    costs: Floats  # [L, L] Δ of a token; empty for the log-loss
    gold: Floats  # Σ C Φ(x, y), in the form of the features
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        features: SupportedFeatures,
        space: ChainSpace,
        prices: Floats,
        targets: Ids,
        *,
        costs: Floats | None = None,
        n_jobs: int | None = None,
    ) -> ChainDuals:
        """The dual of the log-loss, or with costs [right, predicted] that of the margin loss."""
        terms = LikelihoodTerms(features, space, prices, targets=targets)
        online = OnlineLikelihood.of(features, space, prices, targets=targets)
        gold = np.zeros(features.size)
        terms.add_gold(gold, n_jobs=n_jobs)
        return cls(terms, online, np.zeros((0, 0)) if costs is None else costs, gold, n_jobs)

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def targets(self) -> Ids:
        return self.online.targets

    def first(self, depth: float) -> kernels.Potentials:
        """Potentials −depth for every wrong token: the larger, the nearer α is to the gold labels and w(α) to zero."""
        starts, size = self.terms.space.starts, self.terms.space.n_labels
        tokens = np.full((int(starts[-1]), size), -depth)
        tokens[np.arange(len(self.targets)), self.targets] = 0.0
        count = len(self)
        moves, edges = np.zeros((count, size, size)), np.zeros((count, 2, size))
        return kernels.Potentials(tokens, moves, edges, np.full(count, FIRST_RATE))

    def settled(self, potentials: kernels.Potentials) -> tuple[Floats, float]:
        """w(α) and D(α), recomputed."""
        features, space = self.terms.chain()
        prices = self.terms.prices
        starts, size = space.starts, features.layout.n_labels
        expected = np.zeros(features.size)
        values = np.empty(len(self))
        start, end, moves = np.zeros(size), np.zeros(size), np.zeros((size, size))
        for number, block in enumerate(features.blocks):
            tokens = np.empty((block.last - block.first, size))
            offset = starts[block.lo : block.hi + 1] - block.first

            def run(
                shard: tuple[int, int], lo: int = block.lo, first: int = block.first, out: Floats = tokens
            ) -> Floats:
                part = np.zeros((size, size))
                span = starts, lo + shard[0], lo + shard[1], first
                known = self.online.closed, self.targets, self.costs, prices
                kernels.expected(*span, potentials, *known, out, part, values)
                return part

            for part in threads(run, shards(offset), n_jobs=self.n_jobs):
                moves += part
            if not np.all(np.isfinite(values[block.lo : block.hi])):
                raise Infeasible("an input has no labeling within the allowed transitions")
            start += tokens[offset[:-1]].sum(0)
            end += tokens[offset[1:] - 1].sum(0)
            features.add_tokens(number, tokens, expected, n_jobs=self.n_jobs)
        features.add_edges(start, end, moves, expected)
        weights = self.gold - expected
        return weights, inner(prices, values) - 0.5 * inner(weights, weights)

    def primal(self, weights: Floats) -> float:
        """P(w)."""
        if self.costs.size == 0:
            losses = self.terms.losses(weights, n_jobs=self.n_jobs)
        else:
            scores = self.terms.features.scores(weights)
            paths = self.terms.space.best(scores, cost=Cost(self.targets, self.costs), n_jobs=self.n_jobs)
            losses = paths.values - paths.targets
        return 0.5 * inner(weights, weights) + inner(self.terms.prices, losses)

    def sweep(self, order: Ints, potentials: kernels.Potentials, weights: Floats) -> tuple[float, int]:
        """Visit the examples in this order; returns the increase of D, and the number of rejected trial steps.

        Each visit halves the example's step size until D rises, and then increases it a little. `weights` must be
        those of the potentials; they are not changed.
        """
        online, v = self.online, self.online.vector(weights)
        known = self.targets, self.costs, self.terms.prices
        gained, wasted = kernels.sweep(online.chains, *known, order, v, online.views_of(v), potentials)
        if not np.isfinite(gained):
            raise Infeasible("an input has no labeling within the allowed transitions")
        return gained, wasted


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
        """The complete state as numbers and arrays."""
        return {"depth": self.depth, "rate": self.rate}, {"direction": self.direction}

    def stored(self, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SharedPotentials:
        """The potentials restored from such a state."""
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
        """One step for all examples (in any order); η is halved until D rises, and then increased."""
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

"""The dual of `chain_duals` when all examples move together: its distributions fit into one vector.

If every step is made for all examples with the same η, the potentials of example i are θ_i = u·Φ(x_i, y) − depth ·
Δ(y_i, y) for one vector u of the weights' form and one number, whatever the number of examples:

    log-loss      u ← (1 − η) u + η w(α),   depth ← (1 − η) depth
    max-margin    u ← u + η w(α),           depth ← depth − η

Any features will do, of any form, and no example keeps anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.kernels import inner
from sidelight.objective.likelihood import LikelihoodTerms
from sidelight.spaces.chain import Cost
from sidelight.spaces.chain_sums import ScoresFrom, beliefs

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


@dataclass(frozen=True, slots=True)
class BatchDuals:
    """Gold examples, their loss and their dual problem."""

    terms: LikelihoodTerms
    costs: Floats  # [L, L] Δ of a token
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
            assert terms.targets is not None
            cost = Cost(terms.targets, self.costs)
            paths = terms.space.best(terms.features.scores(weights), cost=cost, n_jobs=self.n_jobs)
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
            found = self._settled(direction, depth)
            if found[1] >= dual:
                potentials.direction, potentials.depth, potentials.known = direction, depth, found
                potentials.rate = rate * GROWTH
                return found[1] - dual, wasted
            potentials.rate = 0.5 * rate
        return 0.0, TRIES

    def _settled(self, direction: Floats, depth: float) -> tuple[Floats, float]:
        terms, size = self.terms, self.terms.space.n_labels
        features, space = terms.chain()
        assert terms.targets is not None
        scores = features.scores(direction)
        expected = np.zeros(features.size)
        start, end, moves = np.zeros(size), np.zeros(size), np.zeros((size, size))
        sums, cost = 0.0, 0.0
        for number, block in enumerate(features.blocks):
            targets = terms.targets[block.first : block.last]
            found = beliefs(
                space.part(block.lo, block.hi),
                ScoresFrom(scores, block.first),
                cost=Cost(targets, -depth * self.costs),
                prices=terms.prices[block.lo : block.hi],
                n_jobs=self.n_jobs,
            )
            sums += inner(terms.prices[block.lo : block.hi], found.log_sums)
            cost += float(np.sum(found.tokens * self.costs[targets]))
            start, end, moves = start + found.start, end + found.end, moves + found.transitions
            features.add_tokens(number, found.tokens, expected, n_jobs=self.n_jobs)
        features.add_edges(start, end, moves, expected)
        weights = self.gold - expected
        height = cost if self.margin else sums - inner(direction, expected) + depth * cost
        return weights, height - 0.5 * inner(weights, weights)

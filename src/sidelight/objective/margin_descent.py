"""Margins as a function for gradient descent, for scores that need not be linear in the weights.

The problem:  min_w  ½ λ ‖w‖² + Σ_i C_i ℓ(v_i(w)),   v_i(w) = max_y [Δ(y, y_i) + score(y; w)] − score(y_i; w)

A subgradient of v_i is the gradient of the worst output's score minus that of the target's score. With linear scores
this is the structural SVM; with a network it is its max-margin training, which is not convex.
"""

from __future__ import annotations

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import inner
from sidelight.errors import Intractable
from sidelight.objective.batch import Batch, LinearScorer, SmoothScorer
from sidelight.objective.cuts import LOGISTIC, total_loss
from sidelight.objective.margin import TargetTerms
from sidelight.spaces import Cost, sums


class MarginDescent:
    """The objective of target terms, as a function of one weight vector."""

    def __init__(self, terms: TargetTerms, *, power: int = 2, l2: float = 1.0, n_jobs: int | None = None) -> None:
        """`power` names the loss (see `cuts`), `l2` is λ; costs must be against a target for each slot."""
        if not isinstance(terms.cost, Cost):
            raise Intractable("margins by gradients need a cost against a target for each slot")
        self.terms, self.cost, self.power, self.l2, self.n_jobs = terms, terms.cost, power, l2, n_jobs

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def size(self) -> int:
        return self.terms.batch.scorer.size

    def take(self, which: Ints) -> MarginDescent:
        """The same problem of some of the inputs, without its regulariser."""
        slots, cost = self.terms.batch.slots_of(which), self.cost
        weights = cost.token_weights[slots] if len(cost.token_weights) else cost.token_weights
        own = Cost(cost.targets[slots], cost.costs, weights)
        terms = TargetTerms(self.terms.batch.take(which), own, self.terms.prices[which])
        return MarginDescent(terms, power=self.power, l2=0.0, n_jobs=self.n_jobs)

    def value(self, weights: Floats) -> float:
        """The objective."""
        loss = total_loss(self.terms.worst(weights).values, self.terms.prices, self.power)
        return 0.5 * self.l2 * inner(weights, weights) + loss

    def value_and_gradient(self, weights: Floats, gradient: Floats) -> float:
        """The objective; a subgradient is written into the second argument."""
        worst = self.terms.worst(weights)
        np.multiply(weights, self.l2, out=gradient)
        slopes = self.terms.prices * loss_slopes(worst.values, self.power)
        add_difference(self.terms.batch, weights, worst.outputs, self.cost.targets, slopes, gradient)
        loss = total_loss(worst.values, self.terms.prices, self.power)
        return 0.5 * self.l2 * inner(weights, weights) + loss


def loss_slopes(values: Floats, power: int) -> Floats:
    """ℓ' of every term. # [N]

    >>> loss_slopes(np.array([-1.0, 0.5]), 2).tolist()
    [0.0, 1.0]
    """
    if power == LOGISTIC:
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)))
    return np.asarray((values > 0) * 1.0 if power == 1 else 2.0 * np.maximum(values, 0.0))


def add_difference(batch: Batch, weights: Floats, plus: Ids, minus: Ids, scales: Floats, gradient: Floats) -> None:
    """gradient += Σ_i scale_i · ∂ (score(plus_i) − score(minus_i)) / ∂ weights."""
    scorer = batch.scorer
    if isinstance(scorer, LinearScorer):
        gradient += scorer.summed(plus, minus, scales)
        return
    if not isinstance(scorer, SmoothScorer):
        raise Intractable(f"{type(scorer).__name__} has no gradients (a method add_gradient)")
    scores = scorer.scores(weights)
    for labels, signed in ((plus, scales), (minus, -scales)):
        scorer.add_gradient(weights, sums.parts(batch.space, scores, labels, signed, n_jobs=batch.n_jobs), gradient)

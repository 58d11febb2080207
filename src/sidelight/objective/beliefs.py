"""Log-linear terms whose labels are believed, not known: a distribution q over labelings stands for the gold one.

The term of an input is  C (log Σ_y exp w·Φ(x, y) − E_q[w·Φ(x, y)]),  that is, the cross entropy of q and the model.
With all belief in one labeling it is the term of Gold. The gradient of its second part is a constant, the expected
features under q, so a problem of such terms is convex: the M-step of posterior regularisation for a CRF (Ganchev et al.
2010).
"""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.core.arrays import Floats
from sidelight.errors import Intractable
from sidelight.objective.expected_features import WeightedFeatures, add_log_sums
from sidelight.spaces.chains.chain import ChainSpace


@dataclass(frozen=True, slots=True)
class BelievedTerms:
    """Inputs with beliefs about their labels; all beliefs are multiplied by the prices of their inputs already."""

    features: WeightedFeatures
    space: ChainSpace
    prices: Floats  # [N]
    tokens: Floats  # [T, L] price · q(y_t = l)
    start: Floats  # [L] Σ price · q(first label)
    end: Floats  # [L]
    transitions: Floats  # [L, L]

    def __len__(self) -> int:
        return len(self.space.starts) - 1

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """Transitions are summed over inputs, so there is no loss of a single one."""
        raise Intractable("believed labels have no loss for each input; use the solver lbfgs")

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · E_q[Φ(x, y)]."""
        for number, block in enumerate(self.features.blocks):
            self.features.add_tokens(number, self.tokens[block.first : block.last], gradient, n_jobs=n_jobs)
        self.features.add_edges(self.start, self.end, self.transitions, gradient)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · expected features under the model; returns Σ price · log-sum."""
        return add_log_sums(self.features, self.space, self.prices, weights, gradient, n_jobs=n_jobs)

"""Posterior regularisation of a CRF: beliefs that obey rules, and a model that follows them (Ganchev et al. 2010).

The part of such inputs in the objective of `latent_likelihood` is

    min over q  Σ C (−E_q[log p_w(y | x)] − γ H(q))

over distributions q that obey the rules in expectation; for γ = 1 it is KL(q, p_w). The E-step finds q (a
`Completion`); what is left to the weights is the cross entropy of q and the model (`objective.beliefs`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner
from sidelight.generative.completion import Completion
from sidelight.inference.ruled_inputs import Ruled
from sidelight.objective.beliefs import BelievedTerms
from sidelight.objective.expected_features import WeightedFeatures
from sidelight.rounds.learner import State
from sidelight.spaces.chains.chain import ChainSpace
from sidelight.spaces.chains.chain_sums import log_sums


@dataclass(frozen=True, slots=True)
class EStep:
    """What was found at some weights."""

    weights: Floats
    began: Floats | None  # multipliers of rules that it began with
    terms: BelievedTerms
    values: Floats  # [N] E_q[score] + γ H(q)


@dataclass(slots=True)
class BelievedGroup:
    """Inputs whose labels are believed under rules: a `LatentGroup`."""

    features: WeightedFeatures
    space: ChainSpace  # all labelings
    admitted: ChainSpace  # those that may be believed
    prices: Floats  # [N]
    completion: Completion
    gamma: float = 1.0
    n_jobs: int | None = None
    found: EStep | None = None  # the last one

    def refresh(self, weights: Floats) -> tuple[BelievedTerms, ...]:
        """Believe, under the rules; the cross entropy of beliefs and model."""
        return (self._e_step(weights).terms,)

    def value(self, weights: Floats) -> float:
        """Σ price · (log-sum − the value of the best q)."""
        sums = log_sums(self.space, self.features.scores(weights), n_jobs=self.n_jobs)
        return inner(self.prices, sums - self._e_step(weights).values)

    def _e_step(self, weights: Floats) -> EStep:
        """That of the last weights is not made again."""
        if self.found is not None and np.array_equal(self.found.weights, weights):
            return self.found
        began = self.completion.multipliers if isinstance(self.completion, Ruled) else None
        q = self.completion.complete(
            self.features.scores(weights),
            self.admitted,
            gamma=self.gamma,
            weights=self.prices,
            n_jobs=self.n_jobs,
        )
        terms = BelievedTerms(self.features, self.space, self.prices, q.tokens, q.start, q.end, q.transitions)
        self.found = EStep(weights.copy(), began, terms, q.values)
        return self.found

    def state(self) -> State:
        """Where the last E-step began: it is made again."""
        began = None if self.found is None else self.found.began
        return {}, {} if began is None else {"multipliers": began}

    def resume(self, state: State) -> None:
        """The next E-step is the last one, made again."""
        self.found = None
        if isinstance(self.completion, Ruled):
            arrays = state[1]
            held = array_of(arrays, "multipliers", np.float64, [None]) if "multipliers" in arrays else None
            self.completion.multipliers = held

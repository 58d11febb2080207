"""Companion answers in a likelihood: has an input any good output? (The likelihood side of J-LIS, Chang et al. 2010.)

For an input x with answer z (+1 or −1), size κ(x), and the threshold weight b, the constant feature of companion terms,

    C log(1 + exp(−z (S(x) / κ(x) + b)))      where  S(x) = τ log (1 / |Y(x)| Σ_{y in Y(x)} exp(w·Φ(x, y) / τ))

so the answer is +1 with probability 1 / (1 + exp(−(S / κ + b))). J-LIS has the hinge of the best output's score in the
place of the logistic loss of S, a soft maximum. It is a mean, not a sum: under zero weights S is 0 however many outputs
an input may have, so b is no more than a threshold, and inputs with few candidates are not thought bad for having few.
The temperature τ is 0.3. In the mean over names, tags, chunks and citations this was better than 1 (the log-sum of the
CRF itself) at each price tried, but not in every setting. In the four settings where 0.1 and 0.03 were also tried,
these were as good. Subtracting the mean score of all outputs from S was tried with one draw per corpus, and did not
help.

S is convex in w, so terms with z = −1 are convex. Those with z = +1 are not, as the terms of candidates are not, but
they are as smooth: with p ∝ exp(w·Φ / τ) over Y(x) and u = z (S / κ + b), the gradient is

    −z C / (1 + exp(u)) · (E_p[Φ(x, y)] / κ  on the features,  1  on b)

and L-BFGS goes down the objective itself: no round lets it rise. J-LIS's concave–convex rounds would put the tangent
of S at the weights of the moment in its place for z = +1. That is a lower bound of S, so an upper bound of the term,
which touches it there with the same gradient: they end where the gradient of the objective is zero, as L-BFGS does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.kernels import inner
from sidelight.objective.expected_features import FeatureTerms, Weighted, add_log_sums
from sidelight.spaces.space import Space
from sidelight.spaces.sums import log_counts, log_sums

TEMPERATURE = 0.3  # τ


@dataclass(frozen=True, slots=True)
class Answers:
    """The companion answers about a batch of inputs."""

    signs: Floats  # [N] z: +1 or −1
    sizes: Floats  # [N] κ


@dataclass(frozen=True, slots=True)
class CompanionTerms(FeatureTerms):
    """Inputs with companion answers.

    A loss is counted in units of S, κ times that of the formula, so that prices are per unit as they are elsewhere.
    """

    features: Weighted
    space: Space
    prices: Floats  # [N] C / κ
    answers: Answers
    counts: Floats  # [N] log |Y|

    @classmethod
    def of(
        cls,
        features: Weighted,
        space: Space,
        prices: Floats,
        answers: Answers,
        *,
        n_jobs: int | None = None,
    ) -> CompanionTerms:
        """With the prices C of whole inputs."""
        return cls(features, space, prices / answers.sizes, answers, log_counts(space, n_jobs=n_jobs))

    def decisions(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """S / κ + b of every input: above 0 where a good output is thought likelier than none. # [N]"""
        scores = self.features.scores(weights / TEMPERATURE)
        soft = soft_maxima(self.space, scores, TEMPERATURE, counts=self.counts, n_jobs=n_jobs)
        return np.asarray(soft / self.answers.sizes + weights[0])

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """κ log(1 + exp(−z (S / κ + b))) of every input. # [N]"""
        sure = self.answers.signs * self.decisions(weights, n_jobs=n_jobs)
        return self.answers.sizes * np.logaddexp(0.0, -sure)

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """Adds nothing: no term is linear in the weights."""

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += the gradient of all terms; returns their value."""
        signs, sizes = self.answers.signs, self.answers.sizes
        sure = signs * self.decisions(weights, n_jobs=n_jobs)
        slopes = -signs * self.prices * np.exp(-np.logaddexp(0.0, sure))  # by S
        gradient[0] += inner(slopes, sizes)
        add_log_sums(self.features, self.space, slopes, weights / TEMPERATURE, gradient, n_jobs=n_jobs)
        return inner(self.prices, sizes * np.logaddexp(0.0, -sure))


def soft_maxima(
    space: Space,
    scores: Any,  # under w / τ
    temperature: float,
    *,
    counts: Floats | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """S of every input; `counts` are log |Y| where they are known. # [N]"""
    sums = log_sums(space, scores, n_jobs=n_jobs)
    return temperature * (sums - (log_counts(space, n_jobs=n_jobs) if counts is None else counts))

"""Log-linear terms over second-order chains: `likelihood.LikelihoodTerms` for layouts of order 2.

The problem is that of `likelihood`; `LikelihoodProblem` takes these terms as it takes the others. Every attribute has a
weight for every label (`FullFeatures`); `OnSupport` leaves out those that were not seen together. The sum within the
admitted labels costs what the candidates cost; the sum over the whole space costs the cube of the number of labels per
token, unless the space is itself inside a tag dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Bytes, Floats, Ids
from sidelight.features.counts import difference_rows
from sidelight.features.gradient import FullFeatures
from sidelight.features.layout import Layout
from sidelight.features.support import Support
from sidelight.objective.companion_likelihood import CompanionTerms
from sidelight.objective.expected_features import add_log_sums
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, LogLinearTerms
from sidelight.spaces.second_order import SecondOrderSpace
from sidelight.spaces.second_order_sums import log_sums


@dataclass(frozen=True, slots=True)
class SecondOrderLikelihoodTerms:
    """Inputs of one kind: with gold labels, or with the labels that each token may have."""

    features: FullFeatures
    space: SecondOrderSpace
    prices: Floats  # [N]
    targets: Ids | None = None  # [T]
    admitted: Bytes | None = None  # [T, L]

    def __post_init__(self) -> None:
        if (self.targets is None) == (self.admitted is None):
            raise ValueError("give either targets or admitted labels")
        if self.features.layout.order != 2:
            raise ValueError("the layout has order 1; use LikelihoodTerms")

    def __len__(self) -> int:
        return len(self.space.starts) - 1

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """−log p(what is admitted) of every input, without its price. # [N]"""
        given = self.features.scores(weights)
        totals = log_sums(self.space, given, n_jobs=n_jobs)
        if self.targets is not None:
            return totals - self.space.score(given, self.targets, n_jobs=n_jobs)
        assert self.admitted is not None
        return totals - log_sums(self.space.inside(self.admitted), given, n_jobs=n_jobs)

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · Φ(x, gold)."""
        if self.targets is None:
            return
        features, everything = self.features, np.arange(len(self), dtype=np.int64)
        rows = difference_rows(
            features.rows,
            features.layout,
            which=everything,
            plus=self.targets,
            minus=None,
            scales=self.prices,
            thresholds=np.zeros(len(self)),
            n_jobs=n_jobs,
        )
        np.add.at(gradient, rows.indices, rows.values)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · (expected features − those expected within the admitted labels, unless gold).

        Returns Σ price · (log-sum − log-sum of the admitted), the latter left out where gold is known.
        """
        value = add_log_sums(self.features, self.space, self.prices, weights, gradient, n_jobs=n_jobs)
        if self.admitted is not None:
            inside = self.space.inside(self.admitted)
            value += add_log_sums(self.features, inside, -self.prices, weights, gradient, n_jobs=n_jobs)
        return value


@dataclass(frozen=True, slots=True)
class OnSupport:
    """A problem in which only some pairs of attribute and label have a weight; those of all others are zero."""

    problem: LikelihoodProblem
    support: Support

    @property
    def n_jobs(self) -> int | None:
        return self.problem.n_jobs

    @property
    def size(self) -> int:
        return self.support.size

    def expand(self, weights: Floats) -> Floats:
        """The weights in the full layout."""
        return self.support.expand(weights)

    def shorten(self, full: Floats) -> Floats:
        """The weights that exist, out of the full layout."""
        return self.support.shorten(full)

    def curvature(self) -> Floats:
        """As `LikelihoodProblem.curvature`."""
        return self.support.shorten(self.problem.curvature())

    def value_and_gradient(self, weights: Floats, gradient: Floats) -> float:
        """The objective; its gradient is written into the second argument."""
        full = self.support.expand(weights)
        slopes = np.empty_like(full)
        value = self.problem.value_and_gradient(full, slopes)
        gradient[:] = self.support.shorten(slopes)
        return value


def second_order_problem(
    inputs: Sequence[Labelled], layout: Layout, *, support: str = "seen", l2: float = 1.0, n_jobs: int | None = None
) -> LikelihoodProblem | OnSupport:
    """The problem of second-order inputs; a weight for every attribute and label ("all"), or those seen together."""
    terms: list[LogLinearTerms] = []
    for part in inputs:
        if not isinstance(part.space, SecondOrderSpace):
            raise ValueError("these inputs are of order 1; use likelihood_problem")
        features = FullFeatures.of(part.rows, layout, n_jobs=n_jobs)
        if part.answers is not None:
            terms.append(CompanionTerms.of(features, part.space, part.prices, part.answers, n_jobs=n_jobs))
        else:
            terms.append(SecondOrderLikelihoodTerms(features, part.space, part.prices, part.targets, part.admitted))
    problem = LikelihoodProblem(terms, l2=l2, n_jobs=n_jobs)
    if support == "all":
        return problem
    shown = [shown for part in inputs if (shown := part.shown()) is not None]
    return OnSupport(problem, Support.seen(layout, shown))

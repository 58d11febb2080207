"""The structural SVM on Gold, by a solver of choice.

All minimise ½‖w‖² + C Σ margin loss. Dual coordinate descent is that of all margin learners (`rounds.margin`), the
others have a loop of their own (`rounds.convex`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from sidelight.learners.margin import BEST_ALONE, MARGIN_KIN, MOST_ROUNDS, MarginSpec
from sidelight.objective.cuts import POWERS
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import TargetTerms
from sidelight.rounds import Learner
from sidelight.rounds.convex import ConvexLearner, ConvexOptions, SolverName, check_loss
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions
from sidelight.spaces import Cost
from sidelight.specs import Need, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed

SOLVERS = ("dual_coordinate", "frank_wolfe", "one_slack", "n_slack_qp", "subgradient", "exponentiated_gradient")
FRANK_WOLFE, ONE_SLACK, SUBGRADIENT = (("solver", (name,)) for name in ("frank_wolfe", "one_slack", "subgradient"))


@dataclass(frozen=True, kw_only=True)
class StructuralSvm(MarginSpec):
    """The structural SVM on Gold (Tsochantaridis et al. 2005).

    `solver`: "dual_coordinate" (cutting planes with dual coordinate descent) and "subgradient" (stochastic steps) take
    any loss, "n_slack_qp" the hinge or its square, "frank_wolfe" (by blocks), "one_slack" and "exponentiated_gradient"
    the hinge alone (loss="hinge"). Some have options:

    - frank_wolfe: `sampling` is "uniform" or "gap" (examples are drawn by their duality gaps). `steps` is the most
      pairwise steps of a visit; 0 makes one Frank–Wolfe step. `cached` is the number of passes over stored outputs
      after each pass over all. `average` is "last" or "weighted" (the average of the weights is tried too).
    - one_slack: `cache` is the number of rounds whose outputs are kept, 0 for none. Constraints that are `idle` for
      so many rounds are dropped.
    - subgradient: `average` is "weighted", "suffix" or "last". `project` moves weights back into the ball that holds
      the optimum.
    """

    name = "structural_svm"
    takes = ("gold",)
    heeds = BEST_ALONE
    kin = MARGIN_KIN
    minimises = "½‖w‖² + C Σ margin loss"
    inference = "loss-augmented (exponentiated_gradient: marginal)"
    stops = "duality gap (n_slack_qp: or no cut violated)"

    solver: str = option("dual_coordinate", among=SOLVERS)
    sampling: str | None = option(None, among=("uniform", "gap"), goes_with=FRANK_WOLFE)
    steps: int | None = option(None, low=0, goes_with=FRANK_WOLFE)
    cached: int | None = option(None, low=0, goes_with=FRANK_WOLFE)
    average: str | None = option(
        None, among=("weighted", "suffix", "last"), goes_with=("solver", ("frank_wolfe", "subgradient"))
    )
    project: bool | None = option(None, goes_with=SUBGRADIENT)
    cache: int | None = option(None, low=0, goes_with=ONE_SLACK)
    idle: int | None = option(None, low=1, goes_with=ONE_SLACK)

    def check(self) -> None:
        if self.solver == "frank_wolfe" and self.average == "suffix":
            raise ValueError("average is 'suffix'; frank_wolfe has 'weighted' and 'last'")

    def needed(self) -> Mapping[Need, str]:
        sums = self.solver == "exponentiated_gradient"
        return {Need.SUMS: "use dual_coordinate"} if sums else super().needed()

    def heeded(self) -> frozenset[Heed]:
        return self.heeds - {"rules_in_training"} if self.solver == "exponentiated_gradient" else self.heeds

    def stays(self) -> str:
        if self.solver in ("dual_coordinate", "one_slack", "n_slack_qp"):
            return ""
        return f"with the solver {self.solver} takes one example after another; use dual_coordinate or one_slack"

    def make(self, data: FitData) -> Learner:
        if self.solver == "dual_coordinate":
            return super().make(data)
        settings = data.settings
        if data.go_on or data.start is not None:
            raise ValueError(
                f"the solver {self.solver} begins at zero; use dual_coordinate for partial_fit and warm_start"
            )
        power, most = POWERS[settings.loss], MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds
        if self.solver == "exponentiated_gradient":
            check_loss(self.solver, power)
            return self._exponentiated_gradient(data, most)
        options = ConvexOptions(
            solver=cast(SolverName, self.solver),
            power=power,
            tolerance=settings.tolerance,
            violation=settings.violation,
            max_rounds=most,
            one_slack=OneSlackOptions(**_given({"remember": self.cache, "idle": self.idle})),
            frank_wolfe=self._frank_wolfe(settings.seed),
            subgradient=self._subgradient(settings.seed),
        )
        return ConvexLearner.fresh(gold_terms(data), options, name=self.name)

    def _frank_wolfe(self, seed: int) -> FrankWolfeOptions:
        data = _given({"sampling": self.sampling, "steps": self.steps, "cached": self.cached})
        return FrankWolfeOptions(**data, average=self.average == "weighted", seed=seed)

    def _subgradient(self, seed: int) -> SubgradientOptions:
        average = cast(Literal["weighted", "suffix", "last"], self.average or SubgradientOptions().average)
        return SubgradientOptions(average, project=bool(self.project), seed=seed)

    def _exponentiated_gradient(self, data: FitData, most: int) -> LikelihoodLearner:
        terms, settings = gold_terms(data), data.settings
        shown = Labelled(terms.batch, terms.prices, targets=data.encoded.targets)
        problem = likelihood_problem([shown], support="all", n_jobs=settings.n_jobs)
        options = LikelihoodOptions(most, solver="eg", tolerance=settings.tolerance, seed=settings.seed)
        return LikelihoodLearner.fresh(problem, options, costs=data.costs(), name=self.name)


def gold_terms(data: FitData) -> TargetTerms:
    """The margin losses of all inputs, which are Gold."""
    everything = np.arange(len(data.rows))
    return TargetTerms(data.batch(everything), Cost(data.encoded.targets, data.costs()), data.prices())


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Those that were given; the others have the solver's own defaults."""
    return {name: value for name, value in options.items() if value is not None}

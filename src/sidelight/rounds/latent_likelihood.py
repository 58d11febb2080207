"""Likelihoods with latent quantities: smooth problems, alternating with estimates on which their terms depend.

    min over w and s  ½ ‖w‖² (+ l1 ‖w‖₁) + Σ_known C loss(w) + Σ_groups value(w, s)

where s is what a `LatentGroup` estimates: beliefs that obey rules (`believed`), the reliability of voters, and so on. A
round refreshes every group at the current weights. This gives the smooth terms of one problem; each is an upper bound
of its group's part of the objective, and equals it at these weights. Then L-BFGS minimises this problem from these
weights. Neither step raises the objective. The first round learns from the known terms alone, unless there are none, or
initial weights are given. Training ends when the objective falls by less than a share `decrease` of itself, or after
the maximum number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.checks import LARGEST
from sidelight.core.file_contents import array_of, list_of, part_of, whole_of
from sidelight.core.kernels import inner
from sidelight.core.records import NO_FALL
from sidelight.features.support import Shown
from sidelight.objective.expected_features import WeightForm
from sidelight.objective.likelihood import Form, LikelihoodProblem, LogLinearTerms
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions


class LatentGroup(Protocol):
    """Inputs whose terms depend on an estimate besides the weights.

    Weights are passed in the form of the problem.
    """

    def refresh(self, weights: Floats) -> Sequence[LogLinearTerms]:
        """Estimate at these weights, and return the smooth terms of the next problem: an upper bound, up to a constant,
        of the group's part of the objective, which equals it at these weights.
        """
        ...

    def value(self, weights: Floats) -> float:
        """The group's own part of the objective at these weights, with the best estimate for them."""
        ...

    def state(self) -> State:
        """What is needed, besides the weights, to continue after a round with the same bits."""
        ...

    def resume(self, state: State) -> None:
        """Resume from the state of an earlier run on the same inputs."""
        ...


@dataclass(frozen=True, slots=True)
class LatentOptions:
    """When to stop, and how a smooth problem is solved: by L-BFGS."""

    iterations: int = 20  # maximum rounds after the one for known terms
    decrease: float = 1e-5
    solving: LikelihoodOptions = field(default_factory=LikelihoodOptions)
    steps: int = 20  # of L-BFGS per round after the first: estimates will change, so no exact minimum is needed

    def __post_init__(self) -> None:
        if self.solving.solver != "lbfgs":
            raise ValueError(f"the solver {self.solving.solver} is for likelihoods without anything latent; use lbfgs")


@dataclass(slots=True)
class LatentLikelihoodLearner(RoundByRound):
    """Alternates estimates and smooth problems."""

    KEEPS = ("objective",)

    form: WeightForm  # of the weights
    known: tuple[LogLinearTerms, ...]  # fixed terms: Gold, candidates, companion answers
    groups: tuple[LatentGroup, ...]
    options: LatentOptions
    name: str = "partial_crf"
    n_jobs: int | None = None
    short: Floats = field(default_factory=lambda: np.zeros(0))  # the weights, in their form
    begun: bool = False  # whether there are weights at which groups can be refreshed
    objective: float = np.inf

    @classmethod
    def fresh(
        cls,
        form: WeightForm,
        known: Sequence[LogLinearTerms],
        groups: Sequence[LatentGroup],
        options: LatentOptions,
        *,
        start: Floats | None = None,
        name: str = "partial_crf",
        n_jobs: int | None = None,
    ) -> LatentLikelihoodLearner:
        """A learner before its first round; `start` has the full layout."""
        self = cls(form, tuple(known), tuple(groups), options, name, n_jobs)
        self.short = np.zeros(form.size) if start is None else form.shorten(start)
        self.begun = start is not None or not self.known
        return self

    @property
    def weights(self) -> Floats:
        """The current weights, in the full layout."""
        return self.form.expand(self.short)

    def limit(self) -> int:
        """The maximum number of rounds: one for known terms, then the estimates."""
        return 1 + self.options.iterations

    def step(self) -> Step:
        """Learn from the known terms, or estimate and learn."""
        terms = list(self.known)
        if self.begun:
            terms += [part for group in self.groups for part in group.refresh(self.short)]
        self.short = self._descended(LikelihoodProblem(terms, n_jobs=self.n_jobs, form=self.form), rough=self.begun)
        self.begun = True
        before, self.objective = self.objective, self._objective()
        fall = before - self.objective
        still = np.isfinite(before) and 0.0 <= fall < self.options.decrease * abs(self.objective)
        last = self.rounds >= self.limit()
        figures = {"completion": self.rounds - 1, "objective": self.objective}
        return NO_FALL if still and not last else None, figures

    def _objective(self) -> float:
        """The objective with the best estimates for the current weights."""
        weights = self.short
        value = 0.5 * inner(weights, weights)
        if self.options.solving.lbfgs.l1 > 0:
            value += self.options.solving.lbfgs.l1 * float(np.abs(weights).sum())
        for part in self.known:
            value += inner(part.prices, part.losses(weights, n_jobs=self.n_jobs))
        return value + sum(group.value(weights) for group in self.groups)

    def _descended(self, problem: LikelihoodProblem, *, rough: bool) -> Floats:
        solving = self.options.solving
        if rough:
            solving = replace(solving, max_rounds=min(self.options.steps, solving.max_rounds))
        learner = LikelihoodLearner.fresh(problem, solving, start=self.weights)
        for _ in learner.run():
            pass
        return learner.engine.weights

    def more_state(self) -> State:
        states = [group.state() for group in self.groups]
        arrays: dict[str, NDArray[Any]] = {"weights": self.short}
        for i, (_, held) in enumerate(states):
            arrays |= {f"group{i}.{name}": array for name, array in held.items()}
        return {"groups": [numbers for numbers, _ in states]}, arrays

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        whole_of(values, "rounds", low=1)
        self.short = array_of(arrays, "weights", np.float64, [self.form.size], low=-LARGEST, high=LARGEST)
        self.begun = True
        held = list_of(values, "groups", count=len(self.groups))
        for i, (group, numbers) in enumerate(zip(self.groups, held)):
            group.resume((numbers, part_of(arrays, f"group{i}.")))


@dataclass(frozen=True, slots=True)
class LatentPlan:
    """A group that will be created when the weights are known."""

    shown: Sequence[Shown | None]  # pairs of attribute and label that need weights
    make: Callable[[Form], LatentGroup]  # form.features(batch): features with the weights that exist

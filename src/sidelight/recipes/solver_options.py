"""The options of the structural SVM's solvers; one that is None is the solver's own default.

`KNOWN` says which solver has which; dual coordinate descent, `n_slack_qp` and `exponentiated_gradient` have none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, cast, get_args

from sidelight.checks import whole
from sidelight.recipe_kinds import ConvexMargins, OtherSolver
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions

KNOWN: dict[str, tuple[str, ...]] = {
    "frank_wolfe": ("sampling", "steps", "cached", "average"),
    "one_slack": ("cache", "idle"),
    "subgradient": ("average", "project"),
}


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """What was given, of all solvers."""

    sampling: str | None = None
    steps: int | None = None
    cached: int | None = None
    average: str | None = None
    project: bool | None = None
    cache: int | None = None
    idle: int | None = None

    def check(self, solver: str) -> None:
        """Raises ValueError for an unknown solver, and for options that it does not have."""
        solvers = ("dual_coordinate", *get_args(OtherSolver))
        if solver not in solvers:
            raise ValueError(f"solver is {solver!r}; there are {', '.join(solvers)}")
        for field in fields(self):
            if getattr(self, field.name) is not None and field.name not in KNOWN.get(solver, ()):
                able = " and ".join(name for name, options in KNOWN.items() if field.name in options)
                raise ValueError(f"{field.name} is an option of {able}, and the solver is {solver}; leave it out")

    def recipe(self, name: str, solver: str) -> ConvexMargins:
        """A recipe with a solver that is not dual coordinate descent."""
        return ConvexMargins(
            name,
            cast(OtherSolver, solver),
            self._frank_wolfe() if solver == "frank_wolfe" else FrankWolfeOptions(),
            self._one_slack() if solver == "one_slack" else OneSlackOptions(),
            self._subgradient() if solver == "subgradient" else SubgradientOptions(),
        )

    def _frank_wolfe(self) -> FrankWolfeOptions:
        usual = FrankWolfeOptions()
        if self.average not in (None, "weighted", "last"):
            raise ValueError(f"average is {self.average!r}; frank_wolfe has 'weighted' and 'last'")
        return FrankWolfeOptions(
            usual.sampling if self.sampling is None else cast(Literal["uniform", "gap"], self.sampling),
            usual.steps if self.steps is None else whole("steps", self.steps, least=0),
            cached=usual.cached if self.cached is None else whole("cached", self.cached, least=0),
            average=self.average == "weighted",
        )

    def _one_slack(self) -> OneSlackOptions:
        usual = OneSlackOptions()
        return OneSlackOptions(
            usual.remember if self.cache is None else whole("cache", self.cache, least=0),
            idle=usual.idle if self.idle is None else whole("idle", self.idle, least=1),
        )

    def _subgradient(self) -> SubgradientOptions:
        usual = SubgradientOptions()
        if not isinstance(self.project, bool | None):
            raise ValueError(f"project is {self.project!r}; give True or False")
        return SubgradientOptions(
            usual.average if self.average is None else cast(Literal["weighted", "suffix", "last"], self.average),
            project=bool(self.project),
        )

"""The structural SVM on Gold, by a solver of choice.

All minimise  ½ ‖w‖² + Σ_i C_i max(0, v_i(w))  (`n_slack_qp` also the square, `subgradient` any loss, see `LOSSES`):

    dual_coordinate          cutting planes with dual coordinate descent, as for all evidence (`learners.margin`)
    one_slack                cutting planes with one slack for all terms: few constraints, an inference for each or a
                             cache
    n_slack_qp               cutting planes with one slack per term, solved exactly: the reference for small problems
    frank_wolfe              passes over the examples, each moving the weights: the fastest to a small gap
    subgradient              passes over the examples with falling steps: the least memory, a gap that closes slowly
    exponentiated_gradient   the dual of `rounds.likelihood`, with costs
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats
from sidelight.core.file_contents import part_of
from sidelight.core.records import NO_CUTS, SMALL_GAP, Round
from sidelight.learners.margin import BEST_ALONE, MARGIN_KIN, MOST_ROUNDS, MarginSpec
from sidelight.objective.cuts import POWERS
from sidelight.objective.entries import examples_of, has_kernels
from sidelight.objective.likelihood import Labelled, likelihood_problem
from sidelight.objective.margin import TargetTerms
from sidelight.objective.online import plain_epochs
from sidelight.objective.online.online_margin import ChainBlocks
from sidelight.objective.online.online_steps import subgradient_epoch
from sidelight.objective.scorers.chain_scorer import chain_of
from sidelight.rounds import Learner
from sidelight.rounds.learner import RoundByRound, State, Step
from sidelight.rounds.likelihood import LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.duals.cut_blocks import CutBlocks
from sidelight.solvers.frank_wolfe import FrankWolfe, FrankWolfeOptions
from sidelight.solvers.n_slack_qp import NSlackQP
from sidelight.solvers.one_slack import OneSlack, OneSlackOptions
from sidelight.solvers.subgradient import Subgradient, SubgradientEpoch, SubgradientOptions, rates_of
from sidelight.spaces import Cost
from sidelight.specs import Need, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed

SOLVERS = ("dual_coordinate", "frank_wolfe", "one_slack", "n_slack_qp", "subgradient", "exponentiated_gradient")
FRANK_WOLFE, ONE_SLACK, SUBGRADIENT = (("solver", (name,)) for name in ("frank_wolfe", "one_slack", "subgradient"))


@dataclass(frozen=True, kw_only=True)
class StructuralSvm(MarginSpec):
    """The structural SVM on Gold (Tsochantaridis et al. 2005).

    The solvers "dual_coordinate" (cutting planes with dual coordinate descent) and "subgradient" (stochastic steps)
    take any loss, "n_slack_qp" takes the hinge or its square, and "frank_wolfe" (by blocks), "one_slack" and
    "exponentiated_gradient" take the hinge alone (loss="hinge"). Some have options:

    - frank_wolfe: `sampling` is "uniform" or "gap" (examples are drawn by their duality gaps). `steps` is the largest
      number of pairwise steps of a visit; 0 makes one Frank–Wolfe step. `cached` is the number of passes over stored
      outputs after each pass over all. `average` is "last" or "weighted" (the average of the weights is tried too).
    - one_slack: `cache` is the number of rounds whose outputs are kept, 0 for none. Constraints are dropped after being
      `idle` for that many rounds.
    - subgradient: `average` is "weighted", "suffix" or "last". `project` moves weights back into the ball that holds
      the optimum.
    """

    name = "structural_svm"
    takes = ("gold",)
    heeds = BEST_ALONE
    kin = MARGIN_KIN
    minimises = "½‖w‖² + C Σ margin loss"
    inference = "loss-augmented (exponentiated_gradient: marginal)"
    stops = "duality gap (n_slack_qp: or no violated cut)"

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
    """The options that were set; the others have the solver's defaults."""
    return {name: value for name, value in options.items() if value is not None}


SolverName = Literal["one_slack", "n_slack_qp", "frank_wolfe", "subgradient"]
LOSSES = {"n_slack_qp": ("hinge", "squared_hinge"), "subgradient": tuple(POWERS)}  # where the hinge is not the only one


def check_loss(solver: str, power: int) -> None:
    """Raise `ValueError` if a solver does not minimise the loss of a power."""
    loss = next((loss for loss, its in POWERS.items() if its == power), f"of power {power}")
    if loss not in LOSSES.get(solver, ("hinge",)):
        remedy = "give loss='hinge' (--loss hinge on the command line), or use dual_coordinate"
        raise ValueError(f"the solver {solver} minimises the hinge, and the loss is {loss}; {remedy}")


@dataclass(frozen=True, slots=True)
class ConvexOptions:
    """The solver, when to stop, and the solver's own options."""

    solver: SolverName = "frank_wolfe"
    power: int = 1  # of the loss, see `objective.cuts`
    tolerance: float = 0.01  # relative duality gap
    violation: float = 1e-3  # ε of n_slack_qp: a cut is added if it is violated by more
    max_rounds: int = 1000
    one_slack: OneSlackOptions = field(default_factory=OneSlackOptions)
    frank_wolfe: FrankWolfeOptions = field(default_factory=FrankWolfeOptions)
    subgradient: SubgradientOptions = field(default_factory=SubgradientOptions)

    def __post_init__(self) -> None:
        if self.solver not in get_args(SolverName):
            raise ValueError(f"solver is {self.solver!r}; there are {', '.join(get_args(SolverName))}")
        check_loss(self.solver, self.power)
        if not self.tolerance >= 0 or not self.violation >= 0 or self.max_rounds < 1:
            raise ValueError("tolerance and violation must not be negative, max_rounds must be 1 or more")


@dataclass(slots=True)
class ConvexLearner(RoundByRound):
    """The structural SVM over outputs of any structure."""

    terms: TargetTerms
    options: ConvexOptions
    solver: OneSlack | NSlackQP | FrankWolfe | Subgradient
    name: str = "structural_svm"
    blocks: ChainBlocks | CutBlocks | None = None  # of frank_wolfe
    epoch: SubgradientEpoch | None = None  # of subgradient

    @classmethod
    def fresh(cls, terms: TargetTerms, options: ConvexOptions, *, name: str = "structural_svm") -> ConvexLearner:
        """A learner before its first round, at zero; raises `ValueError` for what a solver cannot minimise."""
        size = terms.batch.scorer.size
        if options.solver == "one_slack":
            return cls(terms, options, OneSlack.fresh(size, options.one_slack), name)
        if options.solver == "n_slack_qp":
            return cls(terms, options, NSlackQP.fresh(size, power=options.power), name)
        if options.solver == "frank_wolfe":
            solver = FrankWolfe.fresh(size, len(terms), options.frank_wolfe)
            return cls(terms, options, solver, name, blocks=_blocks_of(terms))
        falling = Subgradient.fresh(size, terms, options.subgradient, power=options.power)
        return cls(terms, options, falling, name, epoch=_epoch_of(terms))

    @property
    def weights(self) -> Floats:
        """The weights of the lowest primal value met."""
        return self.solver.best

    def step(self) -> Step:
        """One round of the solver."""
        figures = self._round(self.rounds >= self.limit())
        objective, dual = self.solver.best_primal, figures["dual"]
        gap = np.inf if dual is None else objective - dual
        figures |= {
            name: float(value) for name, value in (("objective", objective), ("gap", gap)) if np.isfinite(value)
        }
        return self._stopped(figures["new_cuts"]), figures

    def _stopped(self, new_cuts: int) -> str | None:
        """Why the solver is done, if it is."""
        if self.solver.finished(self.options.tolerance):
            return SMALL_GAP
        return NO_CUTS if isinstance(self.solver, NSlackQP) and new_cuts == 0 else None

    def _round(self, last: bool) -> dict[str, Any]:
        """One round of whichever solver; the last one measures the primal in any case."""
        solver, terms, options = self.solver, self.terms, self.options
        if isinstance(solver, OneSlack):
            return asdict(solver.round(terms, infer=last))
        if isinstance(solver, NSlackQP):
            return asdict(solver.round(terms, violation=options.violation))
        if isinstance(solver, FrankWolfe):
            assert self.blocks is not None
            return asdict(solver.round(self.blocks, tolerance=options.tolerance, measure=last))
        assert self.epoch is not None
        return asdict(solver.round(self.epoch, terms, measure=last))

    def has_result(self, record: Round) -> bool:
        """Whether the weights have been measured: others are not worth trying."""
        return record.primal is not None

    def more_state(self) -> State:
        arrays = {f"solver.{name}": array for name, array in self.solver.state().items()}
        if self.blocks is not None:
            arrays |= {f"blocks.{name}": array for name, array in self.blocks.state().items()}
        return {"solver": self.options.solver}, arrays

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.solver.restore(part_of(arrays, "solver."), len(self.terms))
        if self.blocks is not None:
            self.blocks.restore(part_of(arrays, "blocks."))


def _epoch_of(terms: TargetTerms) -> SubgradientEpoch:
    """Subgradient steps in one kernel where chains have them, one term after another elsewhere."""
    if not isinstance(terms.cost, Cost):
        raise ValueError("subgradient steps need a cost against a target; use dual_coordinate")
    rates = rates_of(terms.prices)
    if not has_kernels(terms.batch):
        return partial(plain_epochs.subgradient_epoch, terms, rates)
    return partial(subgradient_epoch, examples_of(terms.batch, terms.cost), chain_of(terms.batch).layout, rates)


def _blocks_of(terms: TargetTerms) -> ChainBlocks | CutBlocks:
    """Passes in one kernel where chains have them, one term after another elsewhere."""
    if has_kernels(terms.batch) and isinstance(terms.cost, Cost):
        return ChainBlocks.of(terms)
    return CutBlocks(terms, terms.batch.scorer.size)

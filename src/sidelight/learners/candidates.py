"""CLLP and MMS from any mixture of labels, and the baseline that picks labels from candidates.

All of them begin with an output of each input, within its candidates: the initial labels that are given, and where
these leave something open (or there are none) the best output under a partially labelled CRF, or one at random. Beside
Gold, what that CRF learns from other inputs counts less: it sums over all they admit, and drifts where that is much.
The loop is in `rounds.candidates`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast

import numpy as np

from sidelight.core.arrays import NO_FLOATS, Ids, Ints
from sidelight.core.checks import whole
from sidelight.learners.initial_outputs import Initial, admitted_of, begun, has_initial, within
from sidelight.learners.margin import MarginLearner, options_of
from sidelight.objective.candidates import CandidateProblem, Charge, Margins
from sidelight.objective.completion import Latent, LatentProblem, Positive
from sidelight.objective.margin import NegativeTerms, TargetTerms
from sidelight.rounds import Learner
from sidelight.rounds.candidates import FINE, ROUGH, CandidateLearner, CandidateOptions
from sidelight.spaces import Cost
from sidelight.spaces.parts import Parts
from sidelight.specs import LearnerSpec, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed
from sidelight.specs.settings import Settings

USUAL = {"tolerance": 0.01, "violation": 1e-3, "random_ties": False}  # the defaults of estimators, refused or its own
WRONG = ("tokens", "parts")
SOLVERS, CHARGES, INITIAL = ("two_slack", "dual_coordinate"), ("completion", "candidates"), ("partial_crf", "random")


@dataclass(frozen=True, kw_only=True)
class CandidateSpec(LearnerSpec):
    """The base of CLLP and MMS."""

    takes = ("candidates", "partial", "gold", "unlabeled")
    heeds = frozenset({"cost", "prices", "states", "chunks"})
    inference = "loss-augmented, inside and outside candidates"
    stops = "precision at its threshold, and no decrease or no change"
    alone = ""
    compile_seconds = 7.0
    margins: ClassVar[Margins] = "cllp"

    precision: float | None = option(None, above=0)  # ε2
    threshold: float | None = option(None, above=0)  # t2
    discount: float = option(2.0, above=1)  # d
    max_completions: int = option(30, low=1)

    def check(self) -> None:
        _ = self.options

    @property
    def options(self) -> CandidateOptions:
        """How precisely each round is solved; raises ValueError for thresholds above what comes down to them."""
        return self._options("two_slack", (self.precision,) * 2, (self.threshold,) * 2, "random")

    @property
    def charged(self) -> Charge:
        """For what an output outside the candidates pays."""
        return "completion"

    @property
    def inside_price(self) -> float:
        """C1 as a multiple of C2."""
        return 1.0

    @property
    def counts_parts(self) -> bool:
        """Whether wrong parts are counted instead of wrong tokens."""
        return False

    @property
    def begins(self) -> Initial:
        """The learner that provides the initial labels."""
        return "random"

    @property
    def total(self) -> float | None:
        """C2 of all inputs together, as SVM-HMM has it; None for the prices as they are."""
        return None

    def _options(
        self,
        solver: str,
        precision: tuple[float | None, float | None],
        thresholds: tuple[float | None, float | None],
        initial: str,
    ) -> CandidateOptions:
        for first, last in zip(precision, thresholds):
            if first is not None and last is not None and first < last:
                raise ValueError(f"a threshold of {last} is above the precision of {first} that comes down to it")
        return CandidateOptions(
            cast(Literal["two_slack", "dual_coordinate"], solver),
            precision,
            thresholds,
            ROUGH if initial == "random" else FINE,
            self.discount,
            max_completions=self.max_completions,
        )

    def make(self, data: FitData) -> Learner:
        """C2 is the price of an input's kind, C1 that price times `inside_price`."""
        self._check_costs_are_used(data.settings)
        prices = data.prices()
        if self.total is not None:
            prices *= self.total / len(prices)
        admitted = admitted_of(data)
        problem = CandidateProblem.of(
            data.batch(np.arange(len(data.rows))),
            Parts.of(admitted, data.encoded.chunks) if data.encoded.chunks else admitted,
            costs=data.costs(),
            prices=(self.inside_price * prices, prices),
            margins=self.margins,
            charge=self.charged,
            whole_parts=self.counts_parts,
        )
        fresh = data.start is None
        return CandidateLearner.fresh(
            problem,
            self.options_under(data.settings),
            size=data.size,
            initial=begun(data, problem.batch.space, self.begins) if fresh or has_initial(data) else None,
            start=data.start,
            name=self.name,
        )

    def options_under(self, settings: Settings) -> CandidateOptions:
        """Its options, combined with the estimator's settings; raises ValueError for settings that it does not use."""
        name, options = self.name, replace(self.options, seed=settings.seed)
        changed = [setting for setting, usual in USUAL.items() if getattr(settings, setting) != usual]
        if "tolerance" in changed:
            problem = f"{name} has its own precision, and tolerance is {settings.tolerance}"
            raise ValueError(f"{problem}; leave it out, or set the learner's threshold")
        if "random_ties" in changed:
            raise ValueError(f"{name} takes the first of outputs that tie, and random_ties is set; leave it out")
        if "violation" in changed and options.solver == "two_slack":
            problem = f"{name} by two_slack adds cuts until it is precise, and violation is {settings.violation}"
            raise ValueError(f"{problem}; leave it out, or set the learner's solver to 'dual_coordinate'")
        if settings.max_completions is not None:
            limit, own = whole("max_completions", settings.max_completions, least=1), options.max_completions
            if own not in (limit, CandidateOptions().max_completions):
                raise ValueError(f"max_completions is {limit}, and {own} among {name}'s options; give one of them")
            options = replace(options, max_completions=limit)
        if "violation" in changed:
            options = replace(options, violation=settings.violation)
        if settings.decrease is not None:
            options = replace(options, decrease=settings.decrease)
        return options if settings.max_rounds is None else replace(options, max_rounds=settings.max_rounds)

    def _check_costs_are_used(self, settings: Settings) -> None:
        if self.margins == "mms" and self.charged == "candidates":
            for name, value in (("cost", settings.cost), ("class_weight", settings.class_weight)):
                if value is not None:
                    raise ValueError(
                        f"mms counts parts outside their candidates, and knows no cost; leave {name} out, "
                        "or set the learner's charge to 'completion'"
                    )


@dataclass(frozen=True, kw_only=True)
class ChosenSpec(CandidateSpec):
    """The base of learners with options for solver, charge and initial labels."""

    solver: str = option("two_slack", among=SOLVERS)
    charge: str = option("completion", among=CHARGES)
    initial: str = option("partial_crf", among=INITIAL)

    @property
    def options(self) -> CandidateOptions:
        return self._options(self.solver, (self.precision,) * 2, (self.threshold,) * 2, self.initial)

    @property
    def charged(self) -> Charge:
        return cast(Charge, self.charge)

    @property
    def begins(self) -> Initial:
        return cast(Initial, self.initial)


@dataclass(frozen=True, kw_only=True)
class Cllp(ChosenSpec):
    """Candidate labels for local parts: margins inside and outside the candidates (CLLP).

    If the evidence has no initial labels of its own, `initial` chooses them among the admitted labels: the best ones of
    a "partial_crf" on the same evidence (if there is Gold, other inputs count a tenth in it), or "random" ones. With
    random labels the first rounds are solved roughly, so that training can leave these labels. `cllp_as_printed` is the
    paper's own form.

    `inside` is C1 / C2, above 0, where C2 is the price of the evidence; the larger it is, the more training keeps its
    initial labels. `charge` says what an output outside the candidates pays for: labels that differ from the
    "completion", as in the paper, or only parts outside their "candidates", as in `mms`. `wrong` says what is counted:
    wrong "tokens", by the estimator's `cost`, or wrong "parts", one for each chunk with a wrong label (0/1 loss).

    `precision` and `threshold` are ε2 and t2 per unit of price; by default they follow the loss at zero weights. ε1 and
    t1 are the same unless they are given; `discount` is d. `solver` is "two_slack" or "dual_coordinate".

    Of the estimator's settings, `max_completions` (30 by default) and `decrease` (1e-4 by default) are used, and
    `violation` with "dual_coordinate" only. The loss is always the hinge. `tolerance` and `random_ties` have no meaning
    here and are refused.
    """

    name = "cllp"
    minimises = "½‖w‖² + C1 Σ margin inside the candidates + C2 Σ margin outside"

    inside: float = option(0.1, above=0)
    wrong: str = option("tokens", among=WRONG)
    precision_inside: float | None = option(None, above=0)
    threshold_inside: float | None = option(None, above=0)

    @property
    def options(self) -> CandidateOptions:
        first = self.precision if self.precision_inside is None else self.precision_inside
        last = self.threshold if self.threshold_inside is None else self.threshold_inside
        return self._options(self.solver, (first, self.precision), (last, self.threshold), self.initial)

    @property
    def inside_price(self) -> float:
        return self.inside

    @property
    def counts_parts(self) -> bool:
        return self.wrong == "parts"

    def heeded(self) -> frozenset[Heed]:
        return self.heeds - {"cost"} if self.counts_parts else self.heeds


@dataclass(frozen=True, kw_only=True)
class CllpAsPrinted(CandidateSpec):
    """CLLP as the paper prints it: random initial labels, and the last model's weights (Li, Zhang and Chen 2014).

    `c1` and `c2` are C1 and C2 of all inputs together, as in SVM-HMM: each of N inputs has c2 / N times the price of
    its kind. The paper chooses both among 500, 650, …, 3200. `precision` is ε1 and ε2, which the paper calls large (by
    default two thirds of the loss at zero weights). After every round it is divided by the `discount` d, down to the
    `threshold` (t1 and t2, chosen among 0.5, 1, …, 3). Every round ends with the solution of the last
    2-slack cutting-plane model, even if better weights were found before, and completes by it, even if it is zero.
    """

    name = "cllp_as_printed"
    minimises = "as cllp"

    c1: float = option(500.0, above=0)
    c2: float = option(500.0, above=0)
    threshold: float = option(0.5, above=0)

    @property
    def options(self) -> CandidateOptions:
        usual = self._options("two_slack", (self.precision,) * 2, (self.threshold,) * 2, "random")
        return replace(usual, as_printed=True)

    @property
    def inside_price(self) -> float:
        return self.c1 / self.c2

    @property
    def total(self) -> float:
        return self.c2


@dataclass(frozen=True, kw_only=True)
class Mms(ChosenSpec):
    """Maximum margin set: the best candidate against the best output outside (Luo and Orabona 2010).

    Parts outside their candidates cost one each, so the estimator's `cost` and `class_weight` are refused unless
    `charge` is "completion". The options mean the same as in `cllp`.
    """

    name = "mms"
    minimises = "½‖w‖² + C Σ margin between the best candidate and the best output outside"
    inference = "loss-augmented outside candidates, argmax inside"
    margins = "mms"

    charge: str = option("candidates", among=CHARGES)


@dataclass(frozen=True, kw_only=True)
class Naive(LearnerSpec):
    """A structural SVM on one label per token, drawn from its candidates.

    This is the baseline of the papers: the labels are drawn at random. With `initial` "partial_crf" they are instead
    the best admitted ones of that model (see `cllp`).
    """

    name = "naive"
    takes = ("candidates", "partial", "gold", "unlabeled")
    heeds = frozenset({"cost", "loss", "prices", "chunks"})
    minimises = "as structural_svm, on the labels drawn"
    inference = "loss-augmented"
    stops = "duality gap"
    alone = ""

    initial: str = option("random", among=INITIAL)

    def make(self, data: FitData) -> Learner:
        space = within(data, admitted_of(data), data.encoded.chunks)
        labels = begun(data, space, cast(Initial, self.initial))
        return svm_on(data, np.arange(len(data.rows)), labels)


def svm_on(data: FitData, which: Ints, labels: Ids) -> MarginLearner:
    """A structural SVM on labelings of some inputs, each of which may come several times."""
    none = np.zeros(0, dtype=np.int64)
    costs, nothing = data.costs(), np.zeros(0)
    empty = data.batch(none)
    no_cost = Cost(np.zeros(0, dtype=np.int32), costs, NO_FLOATS)
    problem = LatentProblem(
        TargetTerms(data.batch(which), Cost(labels, costs, NO_FLOATS), data.prices()[which]),
        Latent(TargetTerms(empty, no_cost, nothing), None),
        NegativeTerms(empty, nothing, nothing),
        Positive(empty, nothing, nothing),
    )
    options = options_of(data)
    return MarginLearner.fresh(problem, options, size=data.size, start=data.start, name=data.settings.learner.name)

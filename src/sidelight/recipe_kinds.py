"""The kinds of recipes: frozen values with the options of a family of learners. `recipes` has their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sidelight.generative.hmm_counts import HmmSmoothing
from sidelight.learners.candidates import CandidateOptions
from sidelight.learners.hmm import EmOptions
from sidelight.learners.naive_bayes import NaiveBayesOptions
from sidelight.learners.self_training import SelfTrainingOptions
from sidelight.objective.candidates import Charge, Margins
from sidelight.objective.trust import TrustOptions
from sidelight.solvers.arow import ArowOptions
from sidelight.solvers.frank_wolfe import FrankWolfeOptions
from sidelight.solvers.mira import MiraOptions
from sidelight.solvers.one_slack import OneSlackOptions
from sidelight.solvers.subgradient import SubgradientOptions


@dataclass(frozen=True, slots=True)
class Recipe:
    """A learner's name; the kinds below have its options."""

    name: str


@dataclass(frozen=True, slots=True)
class LatentMargins(Recipe):
    """Margins with completion: `jlis` and `latent_svm`, and `structural_svm` where nothing is to be completed."""

    gold_only: bool = False
    restarts: int = 1  # runs with different seeds and random ties; the lowest objective is kept
    answers: bool = True  # learns from companion answers too


@dataclass(frozen=True, slots=True)
class TransductiveMargins(LatentMargins):
    """`transductive_svm`."""

    anneal: int = 0


@dataclass(frozen=True, slots=True)
class SelfTraining(LatentMargins):
    """`self_training`."""

    options: SelfTrainingOptions = field(default_factory=SelfTrainingOptions)


@dataclass(frozen=True, slots=True)
class NaiveBayes(Recipe):
    """`naive_bayes`."""

    options: NaiveBayesOptions


@dataclass(frozen=True, slots=True)
class OneAgainstRest(Recipe):
    """`one_against_rest`: a binary SVM per class."""


OtherSolver = Literal["frank_wolfe", "one_slack", "n_slack_qp", "subgradient", "exponentiated_gradient"]


@dataclass(frozen=True, slots=True)
class ConvexMargins(Recipe):
    """`structural_svm` by a solver that is not dual coordinate descent."""

    solver: OtherSolver
    frank_wolfe: FrankWolfeOptions = field(default_factory=FrankWolfeOptions)
    one_slack: OneSlackOptions = field(default_factory=OneSlackOptions)
    subgradient: SubgradientOptions = field(default_factory=SubgradientOptions)


@dataclass(frozen=True, slots=True)
class OnlineMargins(Recipe):
    """`mira`, `passive_aggressive` and `arow`."""

    options: MiraOptions | ArowOptions


@dataclass(frozen=True, slots=True)
class AveragedPerceptron(Recipe):
    """`perceptron`."""


Initial = Literal["partial_crf", "random"]  # whose labels are begun with


@dataclass(frozen=True, slots=True)
class CandidateMargins(Recipe):
    """`cllp` and `mms`."""

    margins: Margins
    charge: Charge  # for what is outside the candidates
    inside: float  # C1 as a multiple of C2
    options: CandidateOptions
    initial: Initial = "partial_crf"
    total: float | None = None  # C2 of all inputs together, as SVM-HMM has it; None for the prices as they are


@dataclass(frozen=True, slots=True)
class Picked(Recipe):
    """`naive`: a structural SVM on one labeling out of the candidates."""

    initial: Initial = "random"


@dataclass(frozen=True, slots=True)
class AllLabelings(Recipe):
    """`cl_svm`: a structural SVM on all candidate labelings."""

    at_most: int = 5_000_000


@dataclass(frozen=True, slots=True)
class LogLinear(Recipe):
    """`crf` and `partial_crf`."""

    gold_only: bool
    l1: float
    support: str
    solver: str
    trust: TrustOptions = field(default_factory=TrustOptions)  # in functions that vote


@dataclass(frozen=True, slots=True)
class Contrastive(Recipe):
    """`contrastive`."""

    neighbours: str
    copies: int
    start: float


@dataclass(frozen=True, slots=True)
class Generative(Recipe):
    """`hmm`, `em`, `hard_em` and `unified_em`."""

    options: EmOptions
    smoothing: HmmSmoothing
    rare: int = 0  # words seen at most so often count as unknown
    start: str | None = None  # where EM begins: a name of `generative.hmm_starts`; None is gold, or uniform without any
    noise: float = 0.1  # of uniform
    beta: float | None = None
    beta_if_unlabeled: float | None = None  # in place of beta, where Gold is beside inputs without labels and price
    ruled: bool = False  # rules limit what is believed
    mix_logs: bool = False  # beta mixes logarithms instead of probabilities


@dataclass(frozen=True, slots=True)
class Driven(Recipe):
    """`codl` over a learner that is not an HMM."""

    base: Recipe
    beta: float | None
    cycles: int


@dataclass(frozen=True, slots=True)
class Believed(Recipe):
    """`posterior_regularization` of a CRF."""

    base: LogLinear
    gamma: float
    iterations: int


@dataclass(frozen=True, slots=True)
class SemiMarkov(Recipe):
    """`semi_crf` and `semi_svm`: learners of `SegmentTagger`."""

    max_length: int | None


UNPRICED = (AveragedPerceptron, OnlineMargins, NaiveBayes, Generative)  # learners that prices mean nothing to


def learns_from_rules(recipe: Recipe) -> bool:
    """Whether rules have a part in learning, and not in prediction alone."""
    return isinstance(recipe, (Driven, Believed)) or (isinstance(recipe, Generative) and recipe.ruled)


def is_unpriced(recipe: Recipe) -> bool:
    """Whether prices of losses mean nothing to a learner, or to the one that it drives."""
    return isinstance(recipe.base if isinstance(recipe, Driven) else recipe, UNPRICED)


def prices_gold_alone(recipe: Recipe) -> bool:
    """Whether a learner weighs other evidence than Gold by a share of its own, and not by prices."""
    return isinstance(recipe, Driven) and recipe.beta is not None

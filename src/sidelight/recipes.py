"""Every learner under its name in the literature.

A recipe is a name with options; an estimator takes the name alone, `Tagger(learner="cllp")`, or the recipe,
`Tagger(learner=recipes.cllp(discount=3.0))`. `LEARNERS` lists them all with what they minimise, the inference they
need, whether a step size must be tuned, and how they stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, cast, get_args

from sidelight.learners.candidates import CandidateOptions
from sidelight.learners.likelihood import SOLVERS
from sidelight.learners.naive_bayes import Events, NaiveBayesOptions
from sidelight.learners.self_training import SelfTrainingOptions
from sidelight.objective.neighbourhoods import KINDS
from sidelight.recipe_kinds import (
    AllLabelings,
    AveragedPerceptron,
    CandidateMargins,
    Contrastive,
    ConvexMargins,
    LatentMargins,
    LogLinear,
    NaiveBayes,
    OneAgainstRest,
    OnlineMargins,
    OtherSolver,
    Picked,
    Recipe,
    SelfTraining,
    SemiMarkov,
    TransductiveMargins,
)
from sidelight.solvers.mira import MiraOptions


def jlis(*, restarts: int = 1) -> Recipe:
    """J-LIS: margin learning from every kind of evidence (Chang, Srikumar, Goldwasser and Roth 2010).

    With more than one of `restarts` (for learning without Gold, thesis 6.5.4) as many runs with ties broken at random
    are made on all cores, and the one with the lowest objective is kept.
    """
    if restarts < 1:
        raise ValueError(f"restarts is {restarts}; give 1 or more")
    return LatentMargins("jlis", restarts=restarts)


def structural_svm(*, solver: str = "dual_coordinate") -> Recipe:
    """The structural SVM on Gold (Tsochantaridis et al. 2005).

    `solver`: "dual_coordinate" (cutting planes with dual coordinate descent), or with loss="hinge" "frank_wolfe" (by
    blocks), "one_slack", "n_slack_qp", "subgradient" or "exponentiated_gradient".
    """
    if solver == "dual_coordinate":
        return LatentMargins("structural_svm", gold_only=True)
    if solver not in get_args(OtherSolver):
        raise ValueError(f"solver is {solver!r}; there are dual_coordinate, {', '.join(get_args(OtherSolver))}")
    return ConvexMargins("structural_svm", cast(OtherSolver, solver))


def latent_svm(*, restarts: int = 1) -> Recipe:
    """The latent structural SVM: labels with hidden states, partial and candidate labels (Yu and Joachims 2009).

    The objective is that of jlis without companion answers. It begins with states at random and ends in a local
    optimum; of several `restarts` the one with the lowest objective is kept. See `states` of the estimators.
    """
    if restarts < 1:
        raise ValueError(f"restarts is {restarts}; give 1 or more")
    return LatentMargins("latent_svm", restarts=restarts, answers=False)


def transductive_svm(*, anneal: int = 0) -> Recipe:
    """The transductive structural SVM: unlabelled inputs are completed with a margin (Zien et al. 2007).

    The objective is that of jlis without companion answers. With `anneal`, what is completed has its full price only
    after so many completions, and half as much for each one to go (after Joachims 1999).
    """
    if anneal < 0:
        raise ValueError(f"anneal is {anneal}; give 0 or more")
    return TransductiveMargins("transductive_svm", anneal=anneal)


def self_training(
    *, share: float = 0.5, measure: str = "tokens", confidence: float = 0.0, relabel: bool = True
) -> Recipe:
    """Self-training: the model labels inputs and learns from those it is surest of (Yarowsky 1995).

    At most a `share` of the pool is taken after each training, 1 for all at once, and nothing with a lower
    `confidence`: by how much the best output beats the best one that has another label at a token, the mean over
    tokens (`measure` "tokens"), or the second best output, divided by the number of tokens ("output"; for order 2).
    `relabel`: what was taken is labelled anew each time.
    """
    if measure not in ("tokens", "output"):
        raise ValueError(f"measure is {measure!r}; give 'tokens' or 'output'")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share is {share}; give a number above 0 and up to 1")
    if not confidence >= 0.0:
        raise ValueError(f"confidence is {confidence}; give a number that is not negative")
    options = SelfTrainingOptions(share, "output" if measure == "output" else "tokens", confidence, relabel)
    return SelfTraining("self_training", options=options)


def naive_bayes(*, events: str = "multinomial", smoothing: float = 1.0, prior: bool = True) -> Recipe:
    """Naive Bayes on counts, for classes or single tokens (McCallum and Nigam 1998).

    `events` is "multinomial" (features are counts) or "bernoulli" (features are 0 or 1); `smoothing` is added to every
    count; without `prior` all labels are equally likely beforehand.
    """
    if events not in ("multinomial", "bernoulli"):
        raise ValueError(f"events is {events!r}; give 'multinomial' or 'bernoulli'")
    if not 0.0 < smoothing < float("inf"):
        raise ValueError(f"smoothing is {smoothing}; give a positive number")
    kind: Events = "bernoulli" if events == "bernoulli" else "multinomial"
    return NaiveBayes("naive_bayes", NaiveBayesOptions(kind, smoothing, prior))


def one_against_rest() -> Recipe:
    """A binary SVM for every class against the rest, or for every label of single tokens (Rifkin and Klautau 2004)."""
    return OneAgainstRest("one_against_rest")


def perceptron() -> Recipe:
    """The averaged structured perceptron on Gold (Collins 2002)."""
    return AveragedPerceptron("perceptron")


def mira(*, k: int = 1, aggressiveness: float = 1.0) -> Recipe:
    """MIRA on Gold: the least change that sets the k best outputs right (McDonald, Crammer and Pereira 2005).

    `aggressiveness` caps a step.
    """
    return OnlineMargins("mira", MiraOptions("MIRA", k, aggressiveness))


def passive_aggressive(
    *, rule: str = "PA-I", aggressiveness: float = 1.0, outputs: str = "max_loss", margin: str = "cost"
) -> Recipe:
    """Passive–aggressive learning on Gold (Crammer et al. 2006).

    `rule` is "PA", "PA-I" or "PA-II"; `outputs` the output that is set right, "max_loss" or "prediction"; `margin` the
    cost of it, or with "prediction" its "root".
    """
    options = MiraOptions(
        cast(Literal["PA", "PA-I", "PA-II"], rule),
        1,
        aggressiveness,
        cast(Literal["max_loss", "prediction"], outputs),
        cast(Literal["cost", "root"], margin),
    )
    if rule == "MIRA":
        raise ValueError("rule is 'MIRA'; use recipes.mira")
    return OnlineMargins("passive_aggressive", options)


def cllp(
    *,
    solver: str = "two_slack",
    inside: float = 0.1,
    precision: float | None = None,
    threshold: float | None = None,
    precision_inside: float | None = None,
    threshold_inside: float | None = None,
    discount: float = 2.0,
    max_completions: int = 30,
) -> Recipe:
    """Candidate labels for local parts, margins inside and outside them (CLLP).

    `inside` is C1 as a multiple of C2, the price of the evidence: above 0, and the larger the firmer labels that chance
    began with. `precision` and `threshold` are ε2 and t2 per unit of price (by default they follow the loss at zero
    weights), with ε1 and t1 the same unless given; `discount` is d. `solver` is "two_slack" or "dual_coordinate".
    """
    first = precision if precision_inside is None else precision_inside
    last = threshold if threshold_inside is None else threshold_inside
    options = _options(solver, (first, precision), (last, threshold), discount, max_completions)
    return CandidateMargins("cllp", "cllp", inside, options)


def mms(
    *,
    solver: str = "two_slack",
    precision: float | None = None,
    threshold: float | None = None,
    discount: float = 2.0,
    max_completions: int = 30,
) -> Recipe:
    """Maximum margin set: the best candidate against what is outside (Luo and Orabona 2010)."""
    options = _options(solver, (precision,) * 2, (threshold,) * 2, discount, max_completions)
    return CandidateMargins("mms", "mms", 1.0, options)


def crf(*, solver: str = "lbfgs", l1: float = 0.0, support: str = "seen") -> Recipe:
    """The conditional random field on Gold (Lafferty, McCallum and Pereira 2001).

    The price C of an example stands against ½‖w‖²; `l1` adds l1·‖w‖₁ (by OWL-QN). `support` is "seen" (weights for the
    pairs of attribute and label in the labelled data) or "all". `solver` is "lbfgs", "sgd" (stochastic gradient
    descent, its step size found on a sample) or "eg" (exponentiated gradient on the dual, which knows its gap).
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; there are {', '.join(SOLVERS)}")
    if solver != "lbfgs" and l1 > 0:
        raise ValueError(f"the solver {solver} has no l1; use lbfgs")
    return LogLinear("crf", True, *_log_linear(l1, support), solver)


def partial_crf(*, l1: float = 0.0, support: str = "seen") -> Recipe:
    """The CRF on Partial, Candidates and Gold: the probability of all that is admitted (Tsuboi et al. 2008).

    Options as for `crf`.
    """
    return LogLinear("partial_crf", False, *_log_linear(l1, support), "lbfgs")


def contrastive(*, neighbours: str = "swaps", copies: int = 10, start: float = 0.01) -> Recipe:
    """Contrastive estimation: inputs against their neighbours (Smith and Eisner 2005).

    `neighbours`: "swaps" (any adjacent pairs swapped, no token twice), "transpose" (one pair), "delete" (one token),
    "delete_or_transpose", or "shuffle" (so many `copies`). `start` is the spread of the first weights where there is no
    Gold.
    """
    if neighbours not in KINDS:
        raise ValueError(f"neighbours is {neighbours!r}; there are {', '.join(KINDS)}")
    if copies < 1 or not start > 0:
        raise ValueError("copies must be 1 or more, and start above 0")
    return Contrastive("contrastive", neighbours, copies, start)


def semi_crf(*, max_length: int | None = None) -> Recipe:
    """The semi-Markov CRF: whole segments are scored (Sarawagi and Cohen 2004); the learner of `SegmentTagger`.

    `max_length` is the most tokens of a segment; None is that of the longest gold segment.
    """
    return SemiMarkov("semi_crf", max_length)


def semi_svm(*, max_length: int | None = None) -> Recipe:
    """The semi-Markov model with margins instead of likelihood; a learner of `SegmentTagger`.

    `max_length` as for `semi_crf`.
    """
    return SemiMarkov("semi_svm", max_length)


def naive() -> Recipe:
    """A structural SVM on one label per token, drawn from its candidates."""
    return Picked("naive")


def cl_svm(*, at_most: int = 5_000_000) -> Recipe:
    """A structural SVM on every candidate labeling as if it were Gold; refuses more than `at_most` labelings."""
    return AllLabelings("cl_svm", at_most)


class Entry(NamedTuple):
    """A line of the table of learners (thesis Table 2.2)."""

    make: Callable[..., Recipe]
    evidence: str
    minimises: str
    inference: str
    step_size: str
    stops: str

    @property
    def line(self) -> str:
        """What it is, in one line."""
        return (self.make.__doc__ or "").split("\n")[0].rstrip(".")


LEARNERS: dict[str, Entry] = {
    "jlis": Entry(
        jlis,
        "all kinds",
        "½‖w‖² + C1 Σ margin loss on Gold + C2 Σ loss on companion answers",
        "loss-augmented, argmax",
        "none",
        "relative decrease between completions",
    ),
    "structural_svm": Entry(structural_svm, "Gold", "½‖w‖² + C Σ margin loss", "loss-augmented", "none", "duality gap"),
    "latent_svm": Entry(
        latent_svm,
        "Gold, Partial, Candidates, Unlabeled",
        "½‖w‖² + C Σ margin between the best output of all and the best admitted one",
        "loss-augmented, argmax",
        "none",
        "relative decrease between completions",
    ),
    "transductive_svm": Entry(
        transductive_svm,
        "Gold, Unlabeled, Partial, Candidates",
        "½‖w‖² + C Σ margin loss on Gold + C_u Σ margin loss on completed outputs",
        "loss-augmented, argmax",
        "none",
        "relative decrease between completions",
    ),
    "self_training": Entry(
        self_training,
        "Gold, Unlabeled, Partial, Candidates",
        "as structural_svm on Gold and what it labelled itself",
        "loss-augmented, argmax, second best",
        "none",
        "no decrease of the transductive objective, or nothing left to label",
    ),
    "one_against_rest": Entry(
        one_against_rest, "Gold", "½‖w‖² + C Σ binary margin loss, per class", "scores", "none", "duality gap"
    ),
    "naive_bayes": Entry(naive_bayes, "Gold", "−log P(x, y)", "none", "none", "closed form"),
    "cllp": Entry(
        cllp,
        "Candidates, Partial, Gold, Unlabeled",
        "½‖w‖² + C1 Σ margin inside the candidates + C2 Σ margin outside",
        "loss-augmented, inside and outside candidates",
        "none",
        "precision at its threshold and no decrease",
    ),
    "mms": Entry(
        mms,
        "Candidates, Partial, Gold, Unlabeled",
        "½‖w‖² + C Σ margin between the best candidate and what is outside",
        "loss-augmented outside candidates, argmax inside",
        "none",
        "precision at its threshold and no decrease",
    ),
    "naive": Entry(
        naive, "Candidates, Gold", "as structural_svm, labels picked", "loss-augmented", "none", "duality gap"
    ),
    "cl_svm": Entry(
        cl_svm, "Candidates, Gold", "as structural_svm, all labelings as Gold", "loss-augmented", "none", "duality gap"
    ),
    "crf": Entry(
        crf,
        "Gold",
        "½‖w‖² + C Σ −log p(y | x) (+ l1‖w‖₁)",
        "marginal",
        "none (sgd finds its own)",
        "relative decrease over ten rounds, or the gradient",
    ),
    "partial_crf": Entry(
        partial_crf,
        "Partial, Candidates, Gold",
        "½‖w‖² + C Σ −log p(admitted | x) (+ l1‖w‖₁)",
        "marginal, of all and of the admitted",
        "none",
        "relative decrease over ten rounds, or the gradient",
    ),
    "contrastive": Entry(
        contrastive,
        "Unlabeled, Candidates, Partial, Gold",
        "½‖w‖² + C Σ −log p(x | its neighbourhood)",
        "marginal, of the input and of its neighbours",
        "none",
        "relative decrease over ten rounds, or the gradient",
    ),
    "semi_crf": Entry(
        semi_crf,
        "Gold, Partial, Candidates",
        "½‖w‖² + C Σ −log p(admitted segmentations | x)",
        "marginal over segmentations",
        "none",
        "the gradient",
    ),
    "semi_svm": Entry(
        semi_svm,
        "Gold, Partial, Candidates",
        "½‖w‖² + C Σ margin loss over segmentations",
        "loss-augmented over segmentations",
        "none",
        "duality gap",
    ),
    "mira": Entry(
        mira, "Gold", "change of the weights, online", "k best, loss-augmented", "none", "epochs, or none moved"
    ),
    "passive_aggressive": Entry(
        passive_aggressive,
        "Gold",
        "change of the weights, online",
        "loss-augmented or argmax",
        "none",
        "epochs, or none moved",
    ),
    "perceptron": Entry(perceptron, "Gold", "mistakes, online", "argmax", "none", "epochs, or none wrong"),
}


def table() -> list[str]:
    """The learners as lines of a Markdown table: what each minimises, needs, and how it stops (thesis Table 2.2).

    >>> table()[0].startswith("| learner | learns from | minimises | inference |")
    True
    """
    head = ("learner", "learns from", "minimises", "inference", "step size to tune", "stops by")
    lines = [head, ("---",) * len(head)]
    lines += [(f"`{name}`", *entry[1:]) for name, entry in LEARNERS.items()]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def recipe_of(learner: str | Recipe) -> Recipe:
    """The recipe itself, or that of a name with its default options.

    >>> recipe_of("mms").name
    'mms'
    """
    if isinstance(learner, Recipe):
        return learner
    if learner not in LEARNERS:
        raise ValueError(f"learner is {learner!r}; there are {', '.join(LEARNERS)}")
    return LEARNERS[learner].make()


def _log_linear(l1: float, support: str) -> tuple[float, str]:
    if not l1 >= 0:
        raise ValueError(f"l1 is {l1}; give a number that is not negative")
    if support not in ("seen", "all"):
        raise ValueError(f"support is {support!r}; give 'seen' or 'all'")
    return l1, support


def _options(
    solver: str,
    precision: tuple[float | None, float | None],
    thresholds: tuple[float | None, float | None],
    discount: float,
    max_completions: int,
) -> CandidateOptions:
    if solver not in ("two_slack", "dual_coordinate"):
        raise ValueError(f"solver is {solver!r}; give 'two_slack' or 'dual_coordinate'")
    if not discount > 1.0:
        raise ValueError(f"discount is {discount}; give a number above 1")
    for first, last in zip(precision, thresholds):
        if (last is not None and not last > 0) or (first is not None and last is not None and first < last):
            raise ValueError("a threshold is not positive, or above the precision that comes down to it")
    name: Literal["two_slack", "dual_coordinate"] = "two_slack" if solver == "two_slack" else "dual_coordinate"
    return CandidateOptions(name, precision, thresholds, discount, max_completions=max_completions)

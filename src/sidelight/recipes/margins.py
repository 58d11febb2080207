"""Margin learners by name."""

from __future__ import annotations

from typing import Literal, cast

from sidelight.checks import arguments_checked, whole
from sidelight.learners.self_training import SelfTrainingOptions
from sidelight.objective.confidence import Measure
from sidelight.recipe_kinds import (
    AveragedPerceptron,
    LatentMargins,
    OneAgainstRest,
    OnlineMargins,
    Recipe,
    SelfTraining,
    SemiMarkov,
    TransductiveMargins,
)
from sidelight.recipes.entry import Entry
from sidelight.recipes.solver_options import SolverOptions
from sidelight.solvers.arow import ArowOptions
from sidelight.solvers.mira import MiraOptions


@arguments_checked
def jlis(*, restarts: int = 1) -> Recipe:
    """J-LIS: margin learning from every kind of evidence (Chang, Srikumar, Goldwasser and Roth 2010).

    With more than one of `restarts` (for learning without Gold, thesis 6.5.4) as many runs with ties broken at random
    are made on all cores, and the one with the lowest objective is kept. Restart r, counted from 0, has the estimator's
    `seed` + r for its seed: estimators whose seeds differ by less than `restarts` share runs, so give them seeds that
    are further apart where they are to differ.
    """
    return LatentMargins("jlis", restarts=whole("restarts", restarts, least=1))


@arguments_checked
def structural_svm(
    *,
    solver: str = "dual_coordinate",
    sampling: str | None = None,
    steps: int | None = None,
    cached: int | None = None,
    average: str | None = None,
    project: bool | None = None,
    cache: int | None = None,
    idle: int | None = None,
) -> Recipe:
    """The structural SVM on Gold (Tsochantaridis et al. 2005).

    `solver`: "dual_coordinate" (cutting planes with dual coordinate descent) and "subgradient" (stochastic steps) with
    any loss, "n_slack_qp" with the hinge or its square, or with loss="hinge" "frank_wolfe" (by blocks), "one_slack" or
    "exponentiated_gradient". Some have options:

    - frank_wolfe: `sampling` "uniform" or "gap" (examples drawn by their duality gaps); at most so many pairwise
      `steps` of a visit, 0 for one Frank–Wolfe step; so many passes over `cached` outputs after each over all;
      `average` "last" or "weighted" (the average of the weights is tried too).
    - one_slack: outputs of so many rounds in the `cache`, 0 for none; constraints are dropped when `idle` so long.
    - subgradient: `average` "weighted", "suffix" or "last"; `project` draws weights back to the ball of the optimum.
    """
    options = SolverOptions(sampling, steps, cached, average, project, cache, idle)
    options.check(solver)
    if solver == "dual_coordinate":
        return LatentMargins("structural_svm", gold_only=True)
    return options.recipe("structural_svm", solver)


@arguments_checked
def latent_svm(*, restarts: int = 1) -> Recipe:
    """The latent structural SVM: labels with hidden states, partial and candidate labels (Yu and Joachims 2009).

    The objective is that of jlis without companion answers. It begins with states at random and ends in a local
    optimum; of several `restarts`, seeded as those of `jlis`, the one with the lowest objective is kept. See `states`
    of the estimators.
    """
    return LatentMargins("latent_svm", restarts=whole("restarts", restarts, least=1), answers=False)


@arguments_checked
def transductive_svm(*, anneal: int = 0) -> Recipe:
    """The transductive structural SVM: unlabelled inputs are completed with a margin (Zien et al. 2007).

    The objective is that of jlis without companion answers. With `anneal`, what is completed has its full price only
    after so many completions, and half as much for each one to go (after Joachims 1999).
    """
    return TransductiveMargins("transductive_svm", anneal=whole("anneal", anneal, least=0))


@arguments_checked
def self_training(
    *, share: float = 0.5, measure: str | None = None, confidence: float = 0.0, relabel: bool = True
) -> Recipe:
    """Self-training: the model labels inputs and learns from those it is surest of (Yarowsky 1995).

    At most a `share` of the pool is taken after each training, 1 for all at once, and nothing with a lower
    `confidence`: by how much the best output beats the best one that has another label at a token, the mean over
    tokens (`measure` "tokens", for chains of first order unless said otherwise), or the second best output, divided by
    the number of tokens ("output", for second order).
    `relabel`: what was taken is labelled anew each time.
    """
    if measure not in (None, "tokens", "output"):
        raise ValueError(f"measure is {measure!r}; give 'tokens' or 'output'")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share is {share}; give a number above 0 and up to 1")
    if not confidence >= 0.0:
        raise ValueError(f"confidence is {confidence}; give a number that is not negative")
    kind: Measure | None = None if measure is None else "output" if measure == "output" else "tokens"
    options = SelfTrainingOptions(share, kind, confidence, relabel)
    return SelfTraining("self_training", options=options)


@arguments_checked
def one_against_rest() -> Recipe:
    """A binary SVM for every class against the rest, or for every label of single tokens (Rifkin and Klautau 2004)."""
    return OneAgainstRest("one_against_rest")


@arguments_checked
def semi_svm(*, max_length: int | None = None) -> Recipe:
    """The semi-Markov model with margins instead of likelihood; a learner of `SegmentTagger`.

    `max_length` as for `semi_crf`.
    """
    return SemiMarkov("semi_svm", None if max_length is None else whole("max_length", max_length, least=1))


@arguments_checked
def mira(*, k: int = 1, aggressiveness: float = 1.0, outputs: str = "max_loss") -> Recipe:
    """MIRA on Gold: the least change that sets the k best outputs right (McDonald, Crammer and Pereira 2005).

    `aggressiveness` caps a step. `outputs`: "max_loss", the best of score plus cost, or "prediction", the best of score
    (Chang's thesis, Algorithm 3, whose steps have no cap and a margin of 1); they are to score below the target by
    their cost.
    """
    chosen = cast(Literal["max_loss", "prediction"], outputs)
    return OnlineMargins("mira", MiraOptions("MIRA", whole("k", k, least=1), aggressiveness, chosen))


@arguments_checked
def passive_aggressive(
    *, rule: str = "PA-I", aggressiveness: float = 1.0, outputs: str = "max_loss", margin: str = "cost"
) -> Recipe:
    """Passive–aggressive learning on Gold (Crammer et al. 2006).

    `rule` is "PA", "PA-I" or "PA-II"; `outputs` the output that is set right, "max_loss" or "prediction"; `margin` the
    cost of it, or with "prediction" its "root".
    """
    if rule == "MIRA":
        raise ValueError("rule is 'MIRA'; use recipes.mira")
    if rule not in ("PA", "PA-I", "PA-II"):
        raise ValueError(f"rule is {rule!r}; give 'PA', 'PA-I' or 'PA-II'")
    options = MiraOptions(
        cast(Literal["PA", "PA-I", "PA-II"], rule),
        1,
        aggressiveness,
        cast(Literal["max_loss", "prediction"], outputs),
        cast(Literal["cost", "root"], margin),
    )
    return OnlineMargins("passive_aggressive", options)


@arguments_checked
def arow(*, variance: float = 1.0, r: float = 1.0, outputs: str = "max_loss", margin: str = "cost") -> Recipe:
    """AROW on Gold: weights that were seen often move little, rare ones much (Crammer, Kulesza and Dredze 2009).

    `variance` is that of every weight at first; the larger `r`, the less one example moves (10 or 100 may be better
    with many noisy labels). `outputs` and `margin` as for `passive_aggressive`.
    """
    sides = cast(Literal["max_loss", "prediction"], outputs), cast(Literal["cost", "root"], margin)
    return OnlineMargins("arow", ArowOptions(variance, r, *sides))


@arguments_checked
def perceptron() -> Recipe:
    """The averaged structured perceptron on Gold (Collins 2002)."""
    return AveragedPerceptron("perceptron")


_COMPLETING = "relative decrease, or no change, between completions; duality gap with Gold alone"
ENTRIES: dict[str, Entry] = {
    "jlis": Entry(
        jlis,
        "Gold, Partial, Candidates, Companion, Unlabeled",
        "½‖w‖² + C1 Σ margin loss on Gold and completed outputs + C2 Σ loss on companion answers",
        "loss-augmented, argmax",
        "none",
        _COMPLETING,
    ),
    "structural_svm": Entry(
        structural_svm,
        "Gold",
        "½‖w‖² + C Σ margin loss",
        "loss-augmented (exponentiated_gradient: marginal)",
        "none",
        "duality gap (n_slack_qp: or no cut violated)",
    ),
    "latent_svm": Entry(
        latent_svm,
        "Gold, Partial, Candidates, Unlabeled",
        "½‖w‖² + C Σ margin between the best output of all and the best admitted one",
        "loss-augmented, argmax",
        "none",
        _COMPLETING,
    ),
    "transductive_svm": Entry(
        transductive_svm,
        "Gold, Unlabeled, Partial, Candidates",
        "½‖w‖² + C Σ margin loss on Gold + C_u Σ margin loss on completed outputs",
        "loss-augmented, argmax",
        "none",
        _COMPLETING,
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
    "semi_svm": Entry(
        semi_svm,
        "Gold, Partial, Candidates, Unlabeled",
        "½‖w‖² + C Σ margin loss over segmentations",
        "loss-augmented over segmentations",
        "none",
        _COMPLETING,
    ),
    "mira": Entry(
        mira, "Gold", "change of the weights, online", "k best, loss-augmented or not", "none", "epochs, or none moved"
    ),
    "passive_aggressive": Entry(
        passive_aggressive,
        "Gold",
        "change of the weights, online",
        "loss-augmented or argmax",
        "none",
        "epochs, or none moved",
    ),
    "arow": Entry(
        arow,
        "Gold",
        "change of the weights and of their variances, online",
        "loss-augmented or argmax",
        "none",
        "epochs, or none moved",
    ),
    "perceptron": Entry(perceptron, "Gold", "mistakes, online", "argmax", "none", "epochs, or none wrong"),
}

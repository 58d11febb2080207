"""Learners of probabilities by name: log-linear models and naive Bayes."""

from __future__ import annotations

from dataclasses import replace

from sidelight.checks import arguments_checked, whole
from sidelight.learners.likelihood import SOLVERS
from sidelight.learners.naive_bayes import Events, NaiveBayesOptions
from sidelight.objective.neighbourhoods import KINDS
from sidelight.objective.trust import TrustOptions
from sidelight.recipe_kinds import Contrastive, LogLinear, NaiveBayes, Recipe, SemiMarkov
from sidelight.recipes.entry import Entry

TRUST = TrustOptions()


@arguments_checked
def crf(*, solver: str = "lbfgs", l1: float = 0.0, support: str = "seen") -> Recipe:
    """The conditional random field on Gold (Lafferty, McCallum and Pereira 2001).

    The price C of an example stands against ½‖w‖²; `l1` adds l1·‖w‖₁ (by OWL-QN). `support` is "seen" (weights for the
    pairs of attribute and label in the labelled data) or "all". `solver` is "lbfgs", "sgd" (stochastic gradient
    descent, its step size found on a sample) or "eg" (exponentiated gradient on the dual, which knows its gap).
    """
    return _log_linear("crf", True, solver, l1, support)


@arguments_checked
def partial_crf(
    *,
    solver: str = "lbfgs",
    l1: float = 0.0,
    support: str = "seen",
    right: float = TRUST.right,
    strength: float = TRUST.strength,
    gold: float = TRUST.gold,
) -> Recipe:
    """The CRF on Partial, Candidates and Gold: the probability of all that is admitted (Tsuboi et al. 2008).

    Companion answers count by the logistic loss of a soft maximum of an input's scores, divided by its size, against
    a threshold: J-LIS as a likelihood. They give no attribute a weight for a label it was not seen with elsewhere.
    Votes of functions are learned from together with how far each function is to be trusted (`objective.trust`), which
    is believed beforehand as of so many votes (`strength`), the share `right` of them right; a vote on an input that is
    Gold as well counts as `gold` others. Other options as for `crf`; `solver` is "lbfgs" or "sgd", which knows
    answers but no votes (the loss is not convex, so there is no dual for "eg").
    """
    if solver == "eg":
        raise ValueError("the solver eg needs every label; use lbfgs or sgd")
    return replace(_log_linear("partial_crf", False, solver, l1, support), trust=TrustOptions(right, strength, gold))


@arguments_checked
def contrastive(*, neighbours: str = "swaps", copies: int | None = None, start: float = 0.01) -> Recipe:
    """Contrastive estimation: inputs against their neighbours (Smith and Eisner 2005).

    `neighbours`: "swaps" (any adjacent pairs swapped, no token twice), "transpose" (one pair), "delete" (one token),
    "delete_or_transpose", or "shuffle" (so many `copies`, 10 unless given). `start` is the spread of the first weights
    where there is no Gold.
    """
    if neighbours not in KINDS:
        raise ValueError(f"neighbours is {neighbours!r}; there are {', '.join(KINDS)}")
    if not 0.0 < start < float("inf"):
        raise ValueError(f"start is {start}; give a positive number")
    made = whole("copies", 10 if copies is None else copies, least=1)
    if copies is not None and neighbours != "shuffle":
        raise ValueError(f"copies are of the neighbours 'shuffle', and neighbours is {neighbours!r}; leave them out")
    return Contrastive("contrastive", neighbours, made, start)


@arguments_checked
def semi_crf(*, max_length: int | None = None) -> Recipe:
    """The semi-Markov CRF: whole segments are scored (Sarawagi and Cohen 2004); the learner of `SegmentTagger`.

    `max_length` is the most tokens of a segment; None is that of the longest gold segment.
    """
    return SemiMarkov("semi_crf", None if max_length is None else whole("max_length", max_length, least=1))


@arguments_checked
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


ENTRIES: dict[str, Entry] = {
    "crf": Entry(
        crf,
        "Gold",
        "½‖w‖² + C Σ −log p(y | x) (+ l1‖w‖₁)",
        "marginal",
        "none (sgd finds its own)",
        "relative decrease over ten rounds, or the gradient (sgd: over half the epochs; eg: duality gap)",
    ),
    "partial_crf": Entry(
        partial_crf,
        "Partial, Candidates, Gold, Voted, Companion; Unlabeled says nothing to it",
        "½‖w‖² + C Σ −log p(admitted | x), of votes −log Σ p(y | x) P(votes | y), "
        "+ C2 Σ −log p(companion answer | x) (+ l1‖w‖₁)",
        "marginal, of all and of the admitted",
        "none (sgd finds its own)",
        "relative decrease over ten rounds, or the gradient (sgd: over half the epochs)",
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
        "Gold, Partial, Candidates, Voted, Companion; Unlabeled says nothing to it",
        "½‖w‖² + C Σ −log p(admitted segmentations | x), of votes and companion answers as partial_crf",
        "marginal over segmentations",
        "none",
        "the gradient",
    ),
    "naive_bayes": Entry(naive_bayes, "Gold", "−log P(x, y) − log prior", "none", "none", "closed form"),
}


def _log_linear(name: str, gold_only: bool, solver: str, l1: float, support: str) -> LogLinear:
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; there are {', '.join(SOLVERS)}")
    if not isinstance(l1, int | float) or not 0.0 <= l1 < float("inf"):
        raise ValueError(f"l1 is {l1!r}; give a number that is not negative")
    if solver != "lbfgs" and l1 > 0:
        raise ValueError(f"the solver {solver} has no l1; use lbfgs")
    if support not in ("seen", "all"):
        raise ValueError(f"support is {support!r}; give 'seen' or 'all'")
    return LogLinear(name, gold_only, l1, support, solver)

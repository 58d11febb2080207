"""Learners from candidate labels by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from sidelight.checks import arguments_checked, positive, whole
from sidelight.learners.candidates import FINE, ROUGH, CandidateOptions
from sidelight.objective.candidates import Charge
from sidelight.recipe_kinds import AllLabelings, CandidateMargins, Initial, Picked, Recipe
from sidelight.recipes.entry import Entry


@arguments_checked
def cllp(
    *,
    solver: str = "two_slack",
    inside: float = 0.1,
    charge: str = "completion",
    precision: float | None = None,
    threshold: float | None = None,
    precision_inside: float | None = None,
    threshold_inside: float | None = None,
    discount: float = 2.0,
    max_completions: int = 30,
    initial: str = "partial_crf",
) -> Recipe:
    """Candidate labels for local parts, margins inside and outside them (CLLP).

    `initial` says which admitted labels are begun with where the evidence has no initial labels of its own: the best
    ones of a "partial_crf" of the same evidence (in which, beside Gold, other inputs count a tenth), or "random" ones.
    The latter have rough solutions in the first rounds, by which labels of a model would be forgotten.
    `cllp_as_printed` is the paper's own form.

    `inside` is C1 as a multiple of C2, the price of the evidence: above 0, and the larger the firmer the labels that
    were begun with. `charge` says what an output outside the candidates pays for: labels unlike the "completion", as in
    the paper, or parts outside their "candidates" alone, as with `mms`. `precision` and `threshold` are ε2 and t2 per
    unit of price (by default they follow the loss at zero weights), with ε1 and t1 the same unless given; `discount` is
    d. `solver` is "two_slack" or "dual_coordinate".

    Of the estimator's settings, `max_completions` (otherwise 30) and `decrease` (otherwise 1e-4) are taken where they
    are given, `violation` with "dual_coordinate" alone. The loss is always the hinge. `tolerance` and `random_ties`
    mean nothing here and are refused.
    """
    for name, value in (("precision_inside", precision_inside), ("threshold_inside", threshold_inside)):
        if value is not None:
            positive(name, value)
    first = precision if precision_inside is None else precision_inside
    last = threshold if threshold_inside is None else threshold_inside
    start = _initial(initial)
    options = _options(solver, (first, precision), (last, threshold), discount, max_completions, start)
    return CandidateMargins("cllp", "cllp", _charge(charge), positive("inside", inside), options, start)


@arguments_checked
def cllp_as_printed(
    *,
    c1: float = 500.0,
    c2: float = 500.0,
    precision: float | None = None,
    threshold: float = 0.5,
    discount: float = 2.0,
    max_completions: int = 30,
) -> Recipe:
    """CLLP as the paper prints it: random labels to begin with, the last model's weights (Li, Zhang and Chen 2014).

    `c1` and `c2` are C1 and C2 of all inputs together, as SVM-HMM has them: an input has c2 / N times the price of its
    kind, N being the number of inputs; the paper chooses both among 500, 650, …, 3200. `threshold` is t1 and t2, chosen
    among 0.5, 1, …, 3, to which `precision` (ε1 and ε2, which the paper calls large; by default two thirds of the loss
    at zero weights) comes down by the `discount` d. Every round ends with the solution of the 2-slack cutting plane's
    last model, whether or not better weights were met, and completes by it even where it is zero.
    """
    positive("c2", c2)
    limits = (precision,) * 2, (positive("threshold", threshold),) * 2
    options = _options("two_slack", *limits, discount, max_completions, "random")
    options = replace(options, as_printed=True)
    inside = positive("c1", c1) / c2
    return CandidateMargins("cllp_as_printed", "cllp", "completion", inside, options, "random", c2)


@arguments_checked
def mms(
    *,
    solver: str = "two_slack",
    charge: str = "candidates",
    precision: float | None = None,
    threshold: float | None = None,
    discount: float = 2.0,
    max_completions: int = 30,
    initial: str = "partial_crf",
) -> Recipe:
    """Maximum margin set: the best candidate against what is outside (Luo and Orabona 2010); options as with `cllp`.

    Parts outside their candidates cost one each, so the estimator's `cost` and `class_weight` are refused unless
    `charge` is "completion".
    """
    start = _initial(initial)
    options = _options(solver, (precision,) * 2, (threshold,) * 2, discount, max_completions, start)
    return CandidateMargins("mms", "mms", _charge(charge), 1.0, options, start)


@arguments_checked
def naive(*, initial: str = "random") -> Recipe:
    """A structural SVM on one label per token, drawn from its candidates.

    The baseline of the papers, which learns what chance chose. With `initial` "partial_crf" labels are the best
    admitted ones of that model (see `cllp`).
    """
    return Picked("naive", _initial(initial))


@arguments_checked
def cl_svm(*, at_most: int = 5_000_000) -> Recipe:
    """A structural SVM on every candidate labeling as if it were Gold; refuses more than `at_most` labelings."""
    return AllLabelings("cl_svm", whole("at_most", at_most, least=1))


ENTRIES: dict[str, Entry] = {
    "cllp": Entry(
        cllp,
        "Candidates, Partial, Gold, Unlabeled",
        "½‖w‖² + C1 Σ margin inside the candidates + C2 Σ margin outside",
        "loss-augmented, inside and outside candidates",
        "none",
        "precision at its threshold, and no decrease or no change",
    ),
    "cllp_as_printed": Entry(
        cllp_as_printed,
        "Candidates, Partial, Gold, Unlabeled",
        "as cllp",
        "loss-augmented, inside and outside candidates",
        "none",
        "precision at its threshold, and no decrease or no change",
    ),
    "mms": Entry(
        mms,
        "Candidates, Partial, Gold, Unlabeled",
        "½‖w‖² + C Σ margin between the best candidate and what is outside",
        "loss-augmented outside candidates, argmax inside",
        "none",
        "precision at its threshold, and no decrease or no change",
    ),
    "naive": Entry(
        naive,
        "Candidates, Partial, Gold, Unlabeled",
        "as structural_svm, labels picked",
        "loss-augmented",
        "none",
        "duality gap",
    ),
    "cl_svm": Entry(
        cl_svm,
        "Candidates, Partial, Gold, Unlabeled",
        "as structural_svm, all labelings as Gold",
        "loss-augmented",
        "none",
        "duality gap",
    ),
}


def _initial(name: str) -> Initial:
    if name not in ("partial_crf", "random"):
        raise ValueError(f"initial is {name!r}; give 'partial_crf' or 'random'")
    return "random" if name == "random" else "partial_crf"


def _charge(name: str) -> Charge:
    if name not in ("completion", "candidates"):
        raise ValueError(f"charge is {name!r}; give 'completion' or 'candidates'")
    return "completion" if name == "completion" else "candidates"


def _options(
    solver: str,
    precision: tuple[float | None, float | None],
    thresholds: tuple[float | None, float | None],
    discount: float,
    max_completions: int,
    initial: Initial,
) -> CandidateOptions:
    if solver not in ("two_slack", "dual_coordinate"):
        raise ValueError(f"solver is {solver!r}; give 'two_slack' or 'dual_coordinate'")
    if not isinstance(discount, (int, float, np.number)) or not discount > 1.0:
        raise ValueError(f"discount is {discount!r}; give a number above 1")
    for text, value in (("precision", precision[1]), ("threshold", thresholds[1])):
        if value is not None:
            positive(text, value)
    for first, last in zip(precision, thresholds):
        if first is not None and last is not None and first < last:
            raise ValueError(f"a threshold of {last} is above the precision of {first} that comes down to it")
    limit = whole("max_completions", max_completions, least=1)
    name: Literal["two_slack", "dual_coordinate"] = "two_slack" if solver == "two_slack" else "dual_coordinate"
    shares = ROUGH if initial == "random" else FINE
    return CandidateOptions(name, precision, thresholds, shares, discount, max_completions=limit)

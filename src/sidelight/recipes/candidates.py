"""Learners from candidate labels by name."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sidelight.learners.candidates import CandidateOptions
from sidelight.objective.candidates import Charge
from sidelight.recipe_kinds import AllLabelings, CandidateMargins, Picked, Recipe
from sidelight.recipes.checks import options_checked, positive, whole
from sidelight.recipes.entry import Entry


@options_checked
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
) -> Recipe:
    """Candidate labels for local parts, margins inside and outside them (CLLP).

    `inside` is C1 as a multiple of C2, the price of the evidence: above 0, and the larger the firmer labels that chance
    began with. `charge` says what an output outside the candidates pays for: labels unlike the "completion", as in the
    paper, or parts outside their "candidates" alone, as with `mms`. `precision` and `threshold` are ε2 and t2 per unit
    of price (by default they follow the loss at zero weights), with ε1 and t1 the same unless given; `discount` is d.
    `solver` is "two_slack" or "dual_coordinate".

    Of the estimator's settings, `max_completions` (otherwise 30) and `decrease` (otherwise 1e-4) are taken where they
    are given, `violation` with "dual_coordinate" alone. The loss is always the hinge. `tolerance` and `random_ties`
    mean nothing here and are refused.
    """
    for name, value in (("precision_inside", precision_inside), ("threshold_inside", threshold_inside)):
        if value is not None:
            positive(name, value)
    first = precision if precision_inside is None else precision_inside
    last = threshold if threshold_inside is None else threshold_inside
    options = _options(solver, (first, precision), (last, threshold), discount, max_completions)
    return CandidateMargins("cllp", "cllp", _charge(charge), positive("inside", inside), options)


@options_checked
def mms(
    *,
    solver: str = "two_slack",
    charge: str = "candidates",
    precision: float | None = None,
    threshold: float | None = None,
    discount: float = 2.0,
    max_completions: int = 30,
) -> Recipe:
    """Maximum margin set: the best candidate against what is outside (Luo and Orabona 2010); options as with `cllp`.

    Parts outside their candidates cost one each, so the estimator's `cost` and `class_weight` are refused unless
    `charge` is "completion".
    """
    options = _options(solver, (precision,) * 2, (threshold,) * 2, discount, max_completions)
    return CandidateMargins("mms", "mms", _charge(charge), 1.0, options)


@options_checked
def naive() -> Recipe:
    """A structural SVM on one label per token, drawn from its candidates."""
    return Picked("naive")


@options_checked
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
    return CandidateOptions(name, precision, thresholds, discount, max_completions=limit)

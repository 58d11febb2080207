"""Learning with rules by name.

Both take rules from the estimator (`Tagger(rules=…)`) and from the evidence (`unlabeled(xs, rules=…)`), and a base: the
learner that they drive, by name or as a recipe with options of its own, e.g. `codl(base=hmm(emission_amount=50))`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sidelight.checks import arguments_checked
from sidelight.learners.hmm import EmOptions
from sidelight.recipe_kinds import Believed, Contrastive, Driven, Generative, LogLinear, Recipe
from sidelight.recipes.candidates import ENTRIES as CANDIDATES
from sidelight.recipes.entry import Entry
from sidelight.recipes.generative import ENTRIES as GENERATIVE
from sidelight.recipes.likelihoods import ENTRIES as LIKELIHOODS
from sidelight.recipes.margins import ENTRIES as MARGINS

BETA, CYCLES = 0.9, 10


@arguments_checked
def codl(*, base: str | Recipe = "crf", beta: float | None = BETA, cycles: int = CYCLES) -> Recipe:
    """Constraint-driven learning: rules choose the labels that a model learns from (Chang, Ratinov and Roth 2007).

    Again and again, unlabelled inputs get the best labels under rules and the model of `base` of the moment, and a
    model learned from these is mixed with that of Gold: `beta` times Gold's and the rest times theirs, in every one of
    `cycles`. With `beta` none, Gold and completed inputs are learned from together. Of an HMM, "hmm", `beta` mixes the
    probabilities, of all others the weights; `codl_as_printed` mixes weights alone. With the base "semi_crf" or
    "semi_svm" it is a learner of `SegmentTagger`.
    """
    return _codl("codl", base, beta, cycles)


@arguments_checked
def codl_as_printed(*, base: str | Recipe = "hmm", beta: float = BETA, cycles: int = CYCLES) -> Recipe:
    """Constraint-driven learning as the thesis prints it: `beta` mixes weights, also of an HMM (Algorithm 8, line 8).

    The weights of an HMM are logarithms of probabilities: what one of two models gives next to no chance is then next
    to impossible in the mixture, whatever the other says. Otherwise as `codl`.
    """
    if beta is None:
        raise ValueError("beta is None; give a number from 0 to 1, or use codl")
    made = _codl("codl_as_printed", base, beta, cycles)
    return replace(made, mix_logs=True) if isinstance(made, Generative) else made


def _codl(name: str, base: str | Recipe, beta: float | None, cycles: int) -> Recipe:
    _check_share(beta)
    if cycles < 1:
        raise ValueError(f"cycles is {cycles}; give 1 or more")
    driven = _base(base, name)
    if isinstance(driven, Generative):
        return replace(
            driven, name=name, options=EmOptions(-math.inf, cycles), beta=beta, beta_if_unlabeled=None, ruled=True
        )
    if isinstance(driven, Contrastive):
        raise ValueError(f"the base is {driven.name}, and {name} labels what a base learns from; give crf or another")
    if isinstance(driven, (Driven, Believed)):
        raise ValueError(f"the base is {driven.name}, which has a base of its own; give that one")
    return Driven(name, driven, beta, cycles)


@arguments_checked
def posterior_regularization(
    *, base: str | Recipe = "hmm", gamma: float = 1.0, iterations: int = 20, beta: float | None = None
) -> Recipe:
    """EM whose beliefs obey rules in expectation, for an HMM or a CRF (Ganchev et al. 2010; thesis chapter 4).

    `base` is "hmm" or "crf". With `gamma` other than 1 it is constrained unified EM: 0 is constrained LP-EM, −inf CoDL.
    `beta` as for `em`; for the CRF there is none. A CRF with support "seen" has weights for the labels that attributes
    have in Gold, and for all that they may be believed to have elsewhere: for any label, in unlabelled inputs. It
    learns from companion answers too, as `partial_crf` does.
    """
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; give 1 or more")
    if math.isnan(gamma):
        raise ValueError("gamma is not a number; give one from -inf to inf")
    _check_share(beta)
    name = "posterior_regularization"
    driven = _base(base, name)
    if isinstance(driven, Generative):
        options = EmOptions(gamma, iterations)
        return replace(driven, name=name, options=options, beta=beta, beta_if_unlabeled=None, ruled=True)
    if not isinstance(driven, LogLinear):
        raise ValueError(f"the base is {driven.name}; posterior regularisation needs probabilities: hmm or crf")
    if beta is not None:
        raise ValueError("the CRF has no beta; leave it out")
    return Believed(name, driven, gamma, iterations)


def _check_share(beta: float | None) -> None:
    if beta is not None and not 0.0 <= beta <= 1.0:
        raise ValueError(f"beta is {beta}; give a number from 0 to 1")


def _base(base: str | Recipe, name: str) -> Recipe:
    """The recipe of a base; raises ValueError where it has a beta, which is that of the learner over it."""
    if isinstance(base, Recipe):
        if isinstance(base, Generative) and base.beta is not None:
            raise ValueError(f"the base {base.name} has a beta of {base.beta}; give beta to {name} instead")
        return base
    known = {**MARGINS, **CANDIDATES, **LIKELIHOODS, **GENERATIVE}
    if not isinstance(base, str) or base not in known:
        raise ValueError(f"the base is {base!r}; there are {', '.join(known)}")
    return known[base].make()


_COMPLETED = "Gold, Partial, Candidates, Unlabeled, rules"
ENTRIES: dict[str, Entry] = {
    "codl": Entry(
        codl,
        _COMPLETED,
        "that of its base on Gold, and on max_y (score − penalties) elsewhere",
        "argmax under rules",
        "as its base",
        "no label changes, over an HMM relative decrease, or cycles",
    ),
    "codl_as_printed": Entry(
        codl_as_printed,
        _COMPLETED,
        "as codl; beta mixes the logarithms of an HMM",
        "argmax under rules",
        "as its base",
        "no label changes, over an HMM relative decrease, or cycles",
    ),
    "posterior_regularization": Entry(
        posterior_regularization,
        f"{_COMPLETED} (over a CRF companion answers too)",
        "Σ −log P on Gold + Σ min over q that obey rules in expectation of KL(q, P) − log prior "
        "(CRF: + ½‖w‖² + C2 Σ −log p(companion answer | x))",
        "marginal under rules in expectation",
        "none",
        "relative decrease, or iterations",
    ),
}

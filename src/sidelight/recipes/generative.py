"""Hidden Markov models and the EM family by name.

Options that all of them have: `emission` and `transition` say how counts are smoothed ("none", "additive", "mass",
"uniform", "unigram" or "witten_bell", see `generative.smoothing`), `emission_amount` and `transition_amount` by how
much; `vocabulary` is how many words there are thought to be, over which they spread it. Words seen at most `rare` times
count as unknown, and `reserve` is the share of unknown words where it is to be the same for every label; `ends` models
which labels end a sequence.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from sidelight.checks import arguments_checked
from sidelight.generative.hmm_counts import HmmSmoothing
from sidelight.generative.hmm_starts import STARTS
from sidelight.generative.smoothing import Smoothing
from sidelight.learners.hmm import Annealing, EmOptions, Schedule
from sidelight.recipe_kinds import Generative, Recipe
from sidelight.recipes.entry import Entry

MASS, CONSTANT = 250.0, 0.01  # of emissions per label, of transitions per entry
VOCABULARY = 50_000
BETA = 0.9  # of EM beside inputs without labels


@arguments_checked
def hmm(
    *,
    emission: str = "mass",
    emission_amount: float = MASS,
    transition: str = "additive",
    transition_amount: float = CONSTANT,
    vocabulary: int = VOCABULARY,
    rare: int = 0,
    reserve: float = 0.0,
    ends: bool = False,
) -> Recipe:
    """The hidden Markov model by counting Gold (Rabiner 1989; thesis 3.2.1).

    `emission` and `transition` are ways of smoothing: "none", "additive" (so much per entry), "mass" (so much per
    label, spread over the words), "uniform" and "unigram" (a share of another distribution), "witten_bell". There are
    thought to be `vocabulary` words. Those seen at most `rare` times count as unknown; `reserve` is a share of unknown
    words that is the same for all labels; `ends` models which labels end a sequence.
    """
    smoothing = _smoothing(emission, emission_amount, transition, transition_amount, vocabulary, ends, rare, reserve)
    return Generative("hmm", EmOptions(iterations=0), smoothing, rare)


@arguments_checked
def em(
    *,
    iterations: int = 50,
    start: str | None = None,
    noise: float = 0.1,
    beta: float | str | None = "auto",
    emission: str = "mass",
    emission_amount: float = MASS,
    transition: str = "additive",
    transition_amount: float = CONSTANT,
    vocabulary: int = VOCABULARY,
    rare: int = 0,
    reserve: float = 0.0,
    ends: bool = False,
) -> Recipe:
    """The HMM by expectation maximisation (Dempster, Laird and Rubin 1977).

    `start` is "gold", "uniform" (with so much `noise`), "labels" (those of candidates), "emission", "em", "emission_em"
    or "min_greedy" (see `generative.hmm_starts`). With `beta` the parameters are beta times those of Gold and the rest
    times those of completed inputs (thesis Algorithm 8); without, their counts are added. "auto" is 0.9 where there is
    Gold and all other inputs are without any labels and without a price of their own, and none elsewhere: added to
    Gold's, the counts of many unlabelled inputs would count for more than it. Others as for `hmm`.
    """
    smoothing = _smoothing(emission, emission_amount, transition, transition_amount, vocabulary, ends, rare, reserve)
    if isinstance(beta, str):
        if beta != "auto":
            raise ValueError(f"beta is {beta!r}; give a number from 0 to 1, 'auto' or none")
        made = _em("em", 1.0, iterations, None, start, noise, None, smoothing, rare)
        return replace(made, beta_if_unlabeled=BETA)
    return _em("em", 1.0, iterations, None, start, noise, beta, smoothing, rare)


@arguments_checked
def hard_em(
    *,
    iterations: int = 50,
    start: str | None = None,
    noise: float = 0.1,
    beta: float | None = None,
    emission: str = "mass",
    emission_amount: float = MASS,
    transition: str = "additive",
    transition_amount: float = CONSTANT,
    vocabulary: int = VOCABULARY,
    rare: int = 0,
    reserve: float = 0.0,
    ends: bool = False,
) -> Recipe:
    """The HMM by hard EM: the best labeling is taken for the right one (thesis 2.5.1, 3.2.2).

    Options as for `em`. From "em", one iteration is what Garrette and Baldridge 2012 call auto-supervised.
    """
    smoothing = _smoothing(emission, emission_amount, transition, transition_amount, vocabulary, ends, rare, reserve)
    return _em("hard_em", -math.inf, iterations, None, start, noise, beta, smoothing, rare)


@arguments_checked
def unified_em(
    *,
    gamma: float = 1.0,
    anneal_from: float | None = None,
    anneal_steps: int = 10,
    schedule: str = "linear",
    iterations: int = 50,
    start: str | None = None,
    noise: float = 0.1,
    beta: float | None = None,
    emission: str = "mass",
    emission_amount: float = MASS,
    transition: str = "additive",
    transition_amount: float = CONSTANT,
    vocabulary: int = VOCABULARY,
    rare: int = 0,
    reserve: float = 0.0,
    ends: bool = False,
) -> Recipe:
    """The HMM by unified EM: one gamma from −inf (hard EM) through 1 (EM) to inf (uniform) (thesis chapter 4).

    With `anneal_from`, gamma comes from there in so many `anneal_steps`, by a "linear" or "geometric" schedule:
    deterministic annealing (Rose 1998). Others as for `em`.
    """
    if math.isnan(gamma):
        raise ValueError("gamma is not a number; give one from -inf to inf")
    annealing = None
    if anneal_from is not None:
        annealing = _annealing(anneal_from, anneal_steps, schedule, gamma)
    smoothing = _smoothing(emission, emission_amount, transition, transition_amount, vocabulary, ends, rare, reserve)
    return _em("unified_em", gamma, iterations, annealing, start, noise, beta, smoothing, rare)


_COMPLETED = "Gold, Partial, Candidates, Unlabeled"
ENTRIES: dict[str, Entry] = {
    "hmm": Entry(hmm, "Gold", "−log P(x, y) − log prior", "none", "none", "closed form"),
    "em": Entry(
        em,
        _COMPLETED,
        "Σ −log P(x, y) on Gold + Σ −log P(x, admitted) − log prior",
        "marginal within what is admitted",
        "none",
        "relative decrease, or iterations",
    ),
    "hard_em": Entry(
        hard_em,
        _COMPLETED,
        "Σ −log P(x, y) on Gold + Σ −log max P(x, admitted) − log prior",
        "argmax within what is admitted",
        "none",
        "no label changes, relative decrease, or iterations",
    ),
    "unified_em": Entry(
        unified_em,
        _COMPLETED,
        "Σ −log P(x, y) on Gold − Σ max_q (E_q log P(x, h) + γ H(q)) − log prior",
        "marginal of powers, or argmax, within what is admitted",
        "none",
        "relative decrease, no label changes (γ ≤ 0), or iterations",
    ),
}


def _em(
    name: str,
    gamma: float,
    iterations: int,
    annealing: Annealing | None,
    start: str | None,
    noise: float,
    beta: float | None,
    smoothing: HmmSmoothing,
    rare: int,
) -> Generative:
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; give 1 or more, or use hmm")
    if start is not None and start not in STARTS:
        raise ValueError(f"start is {start!r}; there are {', '.join(STARTS)}")
    if not 0.0 <= noise < math.inf:
        raise ValueError(f"noise is {noise}; give a number that is not negative")
    if beta is not None and not 0.0 <= beta <= 1.0:
        raise ValueError(f"beta is {beta}; give a number from 0 to 1")
    options = EmOptions(gamma, iterations, annealing=annealing)
    return Generative(name, options, smoothing, rare, start, noise, beta, ruled=name == "unified_em")


def _annealing(first: float, steps: int, schedule: str, gamma: float) -> Annealing:
    if not 0.0 < first < math.inf:
        raise ValueError(f"anneal_from is {first}; give a positive number")
    if steps < 1:
        raise ValueError(f"anneal_steps is {steps}; give 1 or more")
    if schedule not in ("linear", "geometric"):
        raise ValueError(f"schedule is {schedule!r}; give 'linear' or 'geometric'")
    if gamma == math.inf or (schedule == "geometric" and gamma <= 0.0):
        raise ValueError(f"gamma is {gamma}, and no {schedule} schedule comes there; use another one")
    return Annealing(first, steps, cast(Schedule, schedule))


def _smoothing(
    emission: str,
    emission_amount: float,
    transition: str,
    transition_amount: float,
    vocabulary: int,
    ends: bool,
    rare: int,
    reserve: float,
) -> HmmSmoothing:
    if rare < 0 or vocabulary < 0:
        raise ValueError(f"rare is {rare} and vocabulary {vocabulary}; give 0 or more")
    if not 0.0 <= reserve < 1.0:
        raise ValueError(f"reserve is {reserve}; give a share from 0 to below 1")
    parts = _part("emission", emission, emission_amount), _part("transition", transition, transition_amount)
    return HmmSmoothing(*parts, ends=ends, reserve=reserve, vocabulary=vocabulary)


def _part(option: str, name: str, amount: float) -> Smoothing:
    """One of the two smoothings; an error names its options, of which the amount may be a default."""
    try:
        return Smoothing.of(name, amount)
    except ValueError as error:
        raise ValueError(f"{option} is {name!r} with {option}_amount {amount}: {error}") from None

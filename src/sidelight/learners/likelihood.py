"""CRFs: from Gold, from evidence that restricts the labels of tokens, and with estimates besides the weights.

Gold whose labels have several hidden states admits all of these: a CRF with hidden states (Quattoni et al. 2007;
Morency, Quattoni and Darrell 2007), which is no longer convex.

With support "seen", there are weights for the pairs of attribute and label that occur in some labeling of the data: the
gold label for tokens of Gold, and every admitted label elsewhere. Inputs of price 0 add no weights. Neither do
companion inputs, which may have any label: their answers only affect existing weights, so with a price near zero they
do not change the model of the other evidence. The loops are in `rounds.likelihood` and, with estimates besides the
weights, in `rounds.latent_likelihood`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.errors import DataError
from sidelight.learners import votes
from sidelight.objective.companion_likelihood import Answers
from sidelight.objective.likelihood import Labelled, LabelledBlocks, form_of, likelihood_problem
from sidelight.objective.trust import TrustOptions
from sidelight.parallel.place import Place
from sidelight.rounds import Learner
from sidelight.rounds.latent_likelihood import LatentLikelihoodLearner, LatentOptions, LatentPlan
from sidelight.rounds.likelihood import SOLVERS, LikelihoodLearner, LikelihoodOptions
from sidelight.solvers.lbfgs import LbfgsOptions
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData, StoredBlocks
from sidelight.structures.segment_structure import SegmentStructure

MOST_ROUNDS = 1000
MEMORY = 10  # steps that L-BFGS remembers, over segments
STEPS = 200  # iterations of L-BFGS between two estimates of something latent, at most
USUAL_TOLERANCE = 0.01  # with which L-BFGS has its usual precision
START = 0.1  # standard deviation of the first weights where labels have several states
TRUST = TrustOptions()
DRIVERS = "codl or posterior_regularization with the base crf"


@dataclass(frozen=True, kw_only=True)
class LikelihoodSpec(LearnerSpec):
    """The base of CRFs."""

    needs = frozenset({Need.SUMS})
    heeds = frozenset({"prices"})
    step_size = "none (sgd finds its own)"
    usual_prices: ClassVar[Mapping[str, float]] = {
        "companion": 0.05
    }  # chosen on development data, see docs/learners.md
    soft_answers = True
    sums_losses = True
    compile_seconds = 16.0
    blocks = True

    solver: str = option("lbfgs", among=SOLVERS)
    l1: float = option(0.0, low=0)
    support: str = option("seen", among=("seen", "all"))

    def check(self) -> None:
        if self.solver != "lbfgs" and self.l1 > 0:
            raise ValueError(f"the solver {self.solver} has no l1; use lbfgs")

    def stays(self) -> str:
        if self.solver == "lbfgs":
            return ""
        return f"with the solver {self.solver} takes one example after another; use the solver lbfgs"

    def needs_memory(self) -> str | None:
        if self.solver == "eg":
            return "the solver eg keeps a distribution of every token in memory; use lbfgs or sgd, or train in memory"
        return None

    @property
    def trust(self) -> TrustOptions:
        """In functions that vote, beforehand."""
        return TRUST

    def make(self, data: FitData) -> Learner:
        plan = votes.plan(data, self.trust)
        return likelihood_learner(data, self, [] if plan is None else [plan], labelled(data))


@dataclass(frozen=True, kw_only=True)
class Crf(LikelihoodSpec):
    """The conditional random field on Gold (Lafferty, McCallum and Pereira 2001).

    `l1` adds l1·‖w‖₁ (by OWL-QN). `support` is "seen" (weights for the pairs of attribute and label in the labelled
    data) or "all". `solver` is "lbfgs", "sgd" (stochastic gradient descent; it finds its step size on a sample) or "eg"
    (exponentiated gradient on the dual, which knows its gap).
    """

    name = "crf"
    kin: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("partial", "candidates", "companion"), "partial_crf"),
        "unlabeled": DRIVERS,
    }
    minimises = "½‖w‖² + C Σ −log p(y | x) (+ l1‖w‖₁)"
    inference = "marginal"
    stops = "relative decrease over ten rounds, or the gradient (sgd: over half the epochs; eg: duality gap)"


@dataclass(frozen=True, kw_only=True)
class PartialCrf(LikelihoodSpec):
    """The CRF on Partial, Candidates and Gold, by the probability of all admitted outputs (Tsuboi et al. 2008).

    The loss of a companion answer is the logistic loss of a score against a threshold: a soft maximum over the scores
    of the input's outputs, divided by the input's size. This is J-LIS as a likelihood. Answers add no new pairs of
    attribute and label. If there are votes, the learner also estimates how often each function is right. Before any
    evidence, a function counts as if `strength` votes had been seen, with the share `right` of them right; a vote on an
    input that is Gold too counts as much as `gold` others. `solver` is "lbfgs", or "sgd", which takes answers but no
    votes. (The loss is not convex, so it has no dual for "eg".) The other options are those of `crf`.
    """

    name = "partial_crf"
    takes = ("partial", "candidates", "gold", "votes", "companion")
    ignores = ("unlabeled",)
    heeds = frozenset({"prices", "states"})
    minimises = (
        "½‖w‖² + C Σ −log p(admitted | x), of votes −log Σ p(y | x) P(votes | y), "
        "+ C2 Σ −log p(companion answer | x) (+ l1‖w‖₁)"
    )
    inference = "marginal, over all and over admitted outputs"
    stops = "relative decrease over ten rounds, or the gradient (sgd: over half the epochs)"
    plain = "crf"
    beside = ("partial", "candidates")

    solver: str = option("lbfgs", among=("lbfgs", "sgd"))
    right: float = option(TRUST.right, above=0, below=1)
    strength: float = option(TRUST.strength, above=0)
    gold: float = option(TRUST.gold, low=0)

    @property
    def trust(self) -> TrustOptions:
        return TrustOptions(self.right, self.strength, self.gold)


@dataclass(frozen=True, kw_only=True)
class SemiCrf(LearnerSpec):
    """The semi-Markov CRF: whole segments are scored (Sarawagi and Cohen 2004); the learner of `SegmentTagger`.

    This is `partial_crf` over segments. No segment is longer than `max_length` tokens; None takes the length of the
    longest gold segment.
    """

    name = "semi_crf"
    takes = ("gold", "partial", "candidates", "votes", "companion")
    ignores = ("unlabeled",)
    needs = frozenset({Need.SUMS, Need.SEGMENTS})
    heeds = frozenset({"prices"})
    minimises = "½‖w‖² + C Σ −log p(admitted segmentations | x), of votes and companion answers as partial_crf"
    inference = "marginal over segmentations"
    stops = "the gradient"
    usual_prices = LikelihoodSpec.usual_prices
    soft_answers = True
    alone = ""
    compile_seconds = 17.0

    max_length: int | None = option(None, low=1)

    def needed(self) -> Mapping[Need, str]:
        return {**super().needed(), Need.SEGMENTS: f"use SegmentTagger(learner={self.name!r})"}

    @property
    def longest(self) -> int | None:
        return self.max_length

    def make(self, data: FitData) -> Learner:
        return PartialCrf().make(data)


def likelihood_learner(
    data: FitData,
    options: LikelihoodSpec,
    plans: Sequence[LatentPlan],
    inputs: Sequence[Labelled],
    *,
    most: int | None = None,
) -> Learner:
    """One likelihood of inputs and companion answers, and of groups with something latent; these are estimated at most
    so often."""
    companions = _companions(data)
    if not len(inputs) and not plans:
        raise DataError("no input has any label", remedy="give some Gold, Partial or Candidates")
    if companions and options.solver == "eg":
        raise ValueError("the solver eg knows no companion answers; use lbfgs or sgd")
    if not plans:
        return _smooth(data, options, [*inputs, *companions] if companions else inputs)
    start = data.start
    if start is None and not inputs:  # companion answers alone have no labels: groups are estimated first
        start = np.zeros(data.size)
    return _latent(data, options, [*inputs, *companions], plans, start, most)


def _smooth(
    data: FitData, own: LikelihoodSpec, inputs: Sequence[Labelled] | Sequence[Labelled | LabelledBlocks]
) -> LikelihoodLearner:
    """Only labels are latent: a single smooth problem."""
    settings = data.settings
    place = data.place if own.solver == "lbfgs" else None
    if data.stored is not None and place is not None:
        inputs = _in_blocks(data.stored, place)
    problem = likelihood_problem(inputs, support=own.support, l2=1.0, n_jobs=settings.n_jobs, place=place)
    options = LikelihoodOptions(
        MOST_ROUNDS if settings.max_rounds is None else settings.max_rounds,
        _lbfgs_of(data, l1=own.l1),
        own.solver,
        settings.tolerance if own.solver == "sgd" else settings.tolerance / 10,
        seed=settings.seed,
    )
    start = data.start
    if start is None and data.labels.hidden:  # at zero the states of a label are equals, and would stay so
        start = np.random.default_rng(settings.seed).normal(scale=START, size=data.size)
    return LikelihoodLearner.fresh(problem, options, start=start, name=settings.learner.name)


def _latent(
    data: FitData,
    own: LikelihoodSpec,
    inputs: list[Labelled],
    plans: Sequence[LatentPlan],
    start: Floats | None,
    most: int | None,
) -> LatentLikelihoodLearner:
    """Problem after problem, and estimates between them."""
    settings, name = data.settings, data.settings.learner.name
    if own.solver != "lbfgs":
        raise ValueError(f"{name} solves problem after problem by L-BFGS, and the solver is {own.solver}")
    shown = [part.shown() for part in inputs] + [one for plan in plans for one in plan.shown]
    scorer = data.batch(np.zeros(0, dtype=np.int64)).scorer
    form = form_of(scorer, shown, support=own.support, n_jobs=settings.n_jobs, place=data.place)
    most = settings.completions if most is None else most
    options = LatentOptions(
        most if settings.max_rounds is None else min(most, settings.max_rounds),
        settings.fall,
        LikelihoodOptions(STEPS, _lbfgs_of(data, l1=own.l1)),
    )
    return LatentLikelihoodLearner.fresh(
        form,
        [form.terms(part) for part in inputs],
        [plan.make(form) for plan in plans],
        options,
        start=start,
        name=name,
        n_jobs=settings.n_jobs,
    )


def _lbfgs_of(data: FitData, *, l1: float) -> LbfgsOptions:
    """The default options of L-BFGS; for segments it stops by a bound of the gap, if there is one."""
    if isinstance(data.structure, SegmentStructure) and l1 == 0.0:
        return LbfgsOptions(memory=MEMORY, epsilon=0.0, delta=0.0, gap=data.settings.tolerance)
    return lbfgs_options(data.settings.tolerance, l1=l1)


def lbfgs_options(tolerance: float, *, l1: float = 0.0) -> LbfgsOptions:
    """L-BFGS knows no gap: it ends where the fall over ten rounds or the gradient is a thousandth of the tolerance."""
    share = tolerance / USUAL_TOLERANCE
    usual = LbfgsOptions(l1=l1)
    return replace(usual, epsilon=share * usual.epsilon, delta=share * usual.delta)


def labelled(data: FitData, *, partly: bool = True) -> Sequence[Labelled]:
    """Gold, and inputs with candidates unless left out; unlabelled inputs contribute nothing to a likelihood."""
    if data.stored is not None:
        return data.stored.of("gold", "partial").map(_of_block)
    encoded, prices = data.encoded, data.prices()
    groups = []
    gold, hidden = encoded.gold()
    if len(gold):
        targets = encoded.targets[data.rows.tokens_of(gold)]
        groups.append(Labelled(data.batch(gold), prices[gold], targets=targets))
    some = np.concatenate([hidden, encoded.of_kind("partial", "candidates")])
    if len(some) and encoded.admitted is not None and partly:
        admitted = encoded.admitted[data.rows.tokens_of(some)]
        groups.append(Labelled(data.batch(some), prices[some], admitted=admitted))
    return groups


def _of_block(part: FitData) -> Labelled:
    return labelled(part)[0]


def _in_blocks(stored: StoredBlocks, place: Place) -> list[Labelled | LabelledBlocks]:
    """Gold and what is partly known, each in the blocks of its files."""
    terms: list[Labelled | LabelledBlocks] = []
    for kind in ("gold", "partial"):
        blocks = stored.of(kind).map(_of_block)
        if len(blocks) > 1:
            terms.append(LabelledBlocks.of(blocks, stored.held(place, kind).derive(_of_block)))
        else:
            terms += blocks
    return terms


def _companions(data: FitData) -> list[Labelled]:
    """Companion answers, where there are any."""
    encoded, which = data.encoded, data.encoded.of_kind("companion")
    if not len(which):
        return []
    batch = data.batch(which)
    if encoded.admitted is not None and not np.all(admitted := encoded.admitted[data.rows.tokens_of(which)]):
        batch = batch.inside(admitted)
    answers = Answers(encoded.answers[which].astype(np.float64), data.sizes()[which])
    return [Labelled(batch, data.prices()[which], answers=answers)]

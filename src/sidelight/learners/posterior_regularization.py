"""Posterior regularisation: EM whose beliefs obey rules in expectation, of an HMM or a CRF (Ganchev et al. 2010).

The part of inputs without Gold in the objective of a CRF (`rounds.latent_likelihood`) is

    min over q  Σ C (−E_q[log p_w(y | x)] − γ H(q))

over distributions q that obey the rules in expectation; for γ = 1 it is KL(q, p_w). The E-step finds q (a
`Completion`); the M-step minimises the cross entropy of q and the model over the weights,

    C (log Σ_y exp w·Φ(x, y) − E_q[w·Φ(x, y)])

whose second part has a constant gradient, the expected features under q: so it is convex, and with all belief in one
labeling it is the term of Gold.

With support "seen", inputs with beliefs add weights for every admitted label: any label for Unlabeled inputs, since
beliefs under rules may include it. Inputs of price 0 add no weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Bytes, Floats
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.support_scores import SupportedFeatures
from sidelight.generative.completion import Free
from sidelight.generative.em import Divisible
from sidelight.learners import votes
from sidelight.learners.codl import RuledSpec
from sidelight.learners.hmm import HmmSpec, completion_under_rules, hmm_learner
from sidelight.learners.likelihood import LikelihoodSpec, labelled, likelihood_learner
from sidelight.objective.batch import Batch
from sidelight.objective.expected_features import FeatureTerms, WeightedFeatures, add_log_sums
from sidelight.objective.likelihood import Form, Labelled, LogLinearTerms
from sidelight.objective.placed import ShardedTerms
from sidelight.parallel.place import Held
from sidelight.rounds import Learner
from sidelight.rounds.hmm import EmOptions
from sidelight.rounds.latent_likelihood import LatentPlan
from sidelight.rounds.learner import State
from sidelight.spaces import ChainSpace
from sidelight.spaces.chains.chain_sums import log_sums
from sidelight.specs import Need, option
from sidelight.specs.fit_data import FitData
from sidelight.specs.learner import Heed


@dataclass(frozen=True, kw_only=True)
class PosteriorRegularization(RuledSpec):
    """EM whose posteriors obey rules in expectation, for an HMM or a CRF (Ganchev et al. 2010; thesis chapter 4).

    `base` is "hmm" or "crf". A `gamma` other than 1 makes it constrained unified EM: 0 is constrained LP-EM, −inf CoDL.
    `beta` is as for `em`; the CRF has none. A CRF with `support` "seen" has weights for the labels that an attribute
    has in Gold, and for those that other inputs admit for it; in unlabelled inputs these are all labels. The CRF also
    learns from companion answers, as `partial_crf` does.
    """

    name = "posterior_regularization"
    and_takes = ", rules (over a CRF companion answers too)"
    minimises = (
        "Σ −log P on Gold + Σ min over q that obey rules in expectation of KL(q, P) − log prior "
        "(CRF: + ½‖w‖² + C2 Σ −log p(companion answer | x))"
    )
    inference = "marginal under rules in expectation"
    stops = "relative decrease, or iterations"
    usual_prices = LikelihoodSpec.usual_prices
    soft_answers = True
    compile_seconds = 20.0

    gamma: float = option(1.0, infinite=True)
    iterations: int = option(20, low=1)
    beta: float | None = option(None, low=0, high=1)

    def check(self) -> None:
        if self.over_hmm:
            return
        if not isinstance(self.base, LikelihoodSpec):
            name = self.base_spec.name
            raise ValueError(f"the base is {name}; posterior regularisation needs probabilities: hmm or crf")
        if self.beta is not None:
            raise ValueError("the CRF has no beta; leave it out")

    def needed(self) -> Mapping[Need, str]:
        if self.over_hmm:
            return {**self.base_spec.needed(), Need.GENERATIVE: f"use recipes.{self.name}(base='crf')"}
        return {**self.base_spec.needed(), Need.BELIEFS: ""}

    def heeded(self) -> frozenset[Heed]:
        return frozenset({"rules", "states"} if self.over_hmm else {"rules", "prices"})

    def taken(self) -> tuple[str, ...]:
        return self.takes if self.over_hmm else (*self.takes, "companion", "votes")

    def make(self, data: FitData) -> Learner:
        base = self.base
        if isinstance(base, HmmSpec):
            em = EmOptions(self.gamma, self.iterations)
            plan = replace(base.em(), options=em, beta=self.beta, beta_if_unlabeled=None)
            under = completion_under_rules(data, beta=self.beta, gamma=self.gamma)
            return hmm_learner(data, base, plan, completion=under)
        assert isinstance(base, LikelihoodSpec)
        groups = _believed(data, self.gamma), votes.plan(data, base.trust)
        plans, inputs = [plan for plan in groups if plan is not None], labelled(data, partly=False)
        if not inputs or not (plans or len(data.encoded.of_kind("companion"))):
            remedy = "give labelled inputs, and inputs without labels"
            raise DataError("there is no Gold, or nothing else", remedy=remedy)
        return likelihood_learner(data, base, plans, inputs, most=self.iterations)


def _believed(data: FitData, gamma: float) -> LatentPlan | None:
    """The evidence other than Gold, if there is any."""
    rest = data.to_complete()
    if not len(rest):
        return None
    batch = data.batch(rest)
    space = batch.space
    if not isinstance(space, ChainSpace):
        raise Intractable("beliefs under rules are for chains of first order; leave order out")
    prices = np.ascontiguousarray(data.prices()[rest])
    admitted: Bytes = np.ones((int(batch.starts[-1]), space.n_labels), dtype=np.uint8)
    if data.encoded.admitted is not None:
        admitted = data.encoded.admitted[data.rows.tokens_of(rest)]
    within = space if data.encoded.admitted is None else space.inside(admitted)
    completion = completion_under_rules(data, beta=None, gamma=gamma) or Free()

    def make(form: Form) -> BelievedGroup:
        whole = BelievedBatch(batch.here(), within, prices, completion)
        if form.place is None or not (lots := form.lots(batch)):
            return BelievedGroup(BelievedInputs.of(whole, form), completion, gamma)
        held = form.place.hold([whole.part(lo, hi) for lo, hi in lots])
        held = held.derive(BelievedInputs.of, form.there(held))
        return BelievedGroup(ShardedBeliefs(held, form, prices), completion, gamma)

    return LatentPlan((Labelled(batch, prices, admitted=admitted).shown(),), make)


class BelievedBatch(NamedTuple):
    """Inputs whose labels are to be believed."""

    batch: Batch
    admitted: ChainSpace  # labelings that may be believed
    prices: Floats  # [N]
    completion: Divisible

    def part(self, lo: int, hi: int) -> BelievedBatch:
        """The inputs lo..hi alone."""
        about = self.admitted.part(lo, hi), self.prices[lo:hi], self.completion.part(lo, hi)
        return BelievedBatch(self.batch.part(lo, hi), *about)


class EStep(NamedTuple):
    """The result of an E-step at some weights."""

    terms: LogLinearTerms
    values: Floats  # [N] E_q[score] + γ H(q)
    memory: Floats | None  # of the completion, for the next one


@dataclass(frozen=True, slots=True)
class BelievedInputs:
    """All inputs of a group, or those of a shard."""

    features: WeightedFeatures
    space: ChainSpace  # all labelings
    admitted: ChainSpace  # those that may be believed
    prices: Floats  # [N]
    completion: Divisible
    n_jobs: int | None

    @classmethod
    def of(cls, inputs: BelievedBatch, form: Form) -> BelievedInputs:
        """With features in a form."""
        features, space = form.features(inputs.batch), inputs.batch.space
        assert isinstance(features, FullFeatures | SupportedFeatures) and isinstance(space, ChainSpace)
        return cls(features, space, inputs.admitted, inputs.prices, inputs.completion, form.n_jobs)

    def completed(self, weights: Floats, gamma: float, penalties: Sequence[float], memory: Floats | None) -> EStep:
        """The E-step at these weights, which begins from what the completion kept."""
        self.completion.at(penalties, memory)
        scores = self.features.scores(weights)
        q = self.completion.complete(scores, self.admitted, gamma=gamma, weights=self.prices, n_jobs=self.n_jobs)
        terms = BelievedTerms(self.features, self.space, self.prices, q.tokens, q.start, q.end, q.transitions)
        return EStep(terms, q.values, self.completion.memory)

    def log_sums(self, weights: Floats) -> Floats:
        """The log-sums of all labelings. # [N]"""
        return log_sums(self.space, self.features.scores(weights), n_jobs=self.n_jobs)

    def rows(self) -> int:
        """The number of values in the completion's memory."""
        return self.completion.rows()


@dataclass(frozen=True, slots=True)
class ShardedBeliefs:
    """The same for inputs in shards."""

    held: Held  # of `BelievedInputs`
    form: Form
    prices: Floats  # [N]

    def completed(self, weights: Floats, gamma: float, penalties: Sequence[float], memory: Floats | None) -> EStep:
        """See `BelievedInputs`."""
        memories: list[Floats | None] = [None] * len(self.held)
        if memory is not None:
            memories = [*np.split(memory, np.cumsum(self.held.each(BelievedInputs.rows))[:-1])]
        steps = self.held.derive(BelievedInputs.completed, weights, gamma, penalties, own=[(one,) for one in memories])
        results = steps.each(_without_terms)
        new_memories = [one.memory for one in results if one.memory is not None]
        terms = ShardedTerms(steps.derive(_terms_of), self.form, self.prices)
        return EStep(
            terms,
            np.concatenate([one.values for one in results]),
            np.concatenate(new_memories) if new_memories else None,
        )

    def log_sums(self, weights: Floats) -> Floats:
        """See `BelievedInputs`."""
        return np.concatenate(self.held.each(BelievedInputs.log_sums, weights))

    def rows(self) -> int:
        """See `BelievedInputs`."""
        return sum(self.held.each(BelievedInputs.rows))


def _without_terms(step: EStep) -> EStep:
    return step._replace(terms=None)  # type: ignore[arg-type]


def _terms_of(step: EStep) -> LogLinearTerms:
    return step.terms


@dataclass(slots=True)
class BelievedGroup:
    """Inputs whose labels are believed under rules: a `LatentGroup`."""

    inputs: BelievedInputs | ShardedBeliefs
    completion: Divisible  # of all inputs
    gamma: float = 1.0
    memory: Floats | None = None  # where the next E-step begins
    began: Floats | None = None  # where the last one began
    found: tuple[Floats, EStep] | None = None  # the last one, and its weights

    def refresh(self, weights: Floats) -> tuple[LogLinearTerms, ...]:
        """Believe, under the rules; the cross entropy of beliefs and model."""
        return (self._e_step(weights).terms,)

    def value(self, weights: Floats) -> float:
        """Σ price · (log-sum − the value of the best q)."""
        return inner(self.inputs.prices, self.inputs.log_sums(weights) - self._e_step(weights).values)

    def _e_step(self, weights: Floats) -> EStep:
        """The E-step at these weights; it is not repeated for the last weights."""
        if self.found is not None and np.array_equal(self.found[0], weights):
            return self.found[1]
        self.began = self.memory
        step = self.inputs.completed(weights, self.gamma, list(self.completion.prices), self.memory)
        self.memory, self.found = step.memory, (weights.copy(), step)
        return step

    def state(self) -> State:
        """The start of the last E-step, which is repeated on resuming."""
        return {}, {} if self.began is None else {"multipliers": self.began}

    def resume(self, state: State) -> None:
        """The next E-step is the last one, made again."""
        arrays = state[1]
        self.found = None
        has_memory = "multipliers" in arrays
        self.memory = array_of(arrays, "multipliers", np.float64, [self.inputs.rows()]) if has_memory else None


@dataclass(frozen=True, slots=True)
class BelievedTerms(FeatureTerms):
    """Inputs with beliefs about their labels; all beliefs are multiplied by the prices of their inputs already."""

    features: WeightedFeatures
    space: ChainSpace
    prices: Floats  # [N]
    tokens: Floats  # [T, L] price · q(y_t = l)
    start: Floats  # [L] Σ price · q(first label)
    end: Floats  # [L]
    transitions: Floats  # [L, L]

    def losses(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """Transitions are summed over inputs, so there is no loss of a single one."""
        raise Intractable("believed labels have no loss for each input; use the solver lbfgs")

    def add_gold(self, gradient: Floats, *, n_jobs: int | None = None) -> None:
        """gradient += Σ price · E_q[Φ(x, y)]."""
        for number, block in enumerate(self.features.blocks):
            self.features.add_tokens(number, self.tokens[block.first : block.last], gradient, n_jobs=n_jobs)
        self.features.add_edges(self.start, self.end, self.transitions, gradient)

    def add_beliefs(self, weights: Floats, gradient: Floats, *, n_jobs: int | None = None) -> float:
        """gradient += Σ price · expected features under the model; returns Σ price · log-sum."""
        return add_log_sums(self.features, self.space, self.prices, weights, gradient, n_jobs=n_jobs)

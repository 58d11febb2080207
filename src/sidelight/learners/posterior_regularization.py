"""Posterior regularisation: EM whose beliefs obey rules in expectation, of an HMM or a CRF (Ganchev et al. 2010).

The part of inputs without Gold in the objective of a CRF (`rounds.latent_likelihood`) is

    min over q  Σ C (−E_q[log p_w(y | x)] − γ H(q))

over distributions q that obey the rules in expectation; for γ = 1 it is KL(q, p_w). The E-step finds q (a
`Completion`); what is left to the weights, the M-step, is the cross entropy of q and the model

    C (log Σ_y exp w·Φ(x, y) − E_q[w·Φ(x, y)])

whose second part has a constant gradient, the expected features under q: so it is convex, and with all belief in one
labeling it is the term of Gold.

With support "seen", inputs whose labels are believed show every label that they are admitted: any one for Unlabeled,
since the rules may come to believe it. Inputs of price 0 show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Bytes, Floats
from sidelight.core.file_contents import array_of
from sidelight.core.kernels import inner
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.support_scores import SupportedFeatures
from sidelight.generative.completion import Completion, Free
from sidelight.inference.ruled_inputs import Ruled
from sidelight.learners import votes
from sidelight.learners.codl import RuledSpec
from sidelight.learners.hmm import HmmSpec, completion_under_rules, hmm_learner
from sidelight.learners.likelihood import LikelihoodSpec, labelled, likelihood_learner
from sidelight.objective.expected_features import FeatureTerms, WeightedFeatures, add_log_sums
from sidelight.objective.likelihood import Form, Labelled
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
    """EM whose beliefs obey rules in expectation, for an HMM or a CRF (Ganchev et al. 2010; thesis chapter 4).

    `base` is "hmm" or "crf". With `gamma` other than 1 it is constrained unified EM: 0 is constrained LP-EM, −inf CoDL.
    `beta` as for `em`; the CRF has none. A CRF with `support` "seen" has weights for the labels that an attribute has
    in Gold, and for those that other inputs admit for it; in unlabelled inputs these are all labels. The CRF
    learns from companion answers too, as `partial_crf` does.
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
            name = self.driven.name
            raise ValueError(f"the base is {name}; posterior regularisation needs probabilities: hmm or crf")
        if self.beta is not None:
            raise ValueError("the CRF has no beta; leave it out")

    def needed(self) -> Mapping[Need, str]:
        if self.over_hmm:
            return {**self.driven.needed(), Need.GENERATIVE: f"use recipes.{self.name}(base='crf')"}
        return {**self.driven.needed(), Need.BELIEFS: ""}

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
    """What is not Gold, if there is anything."""
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
        features = form.features(batch)
        assert isinstance(features, (FullFeatures, SupportedFeatures))
        return BelievedGroup(features, space, within, prices, completion, gamma, data.settings.n_jobs)

    return LatentPlan((Labelled(batch, prices, admitted=admitted).shown(),), make)


@dataclass(frozen=True, slots=True)
class EStep:
    """What was found at some weights."""

    weights: Floats
    began: Floats | None  # multipliers of rules that it began with
    terms: BelievedTerms
    values: Floats  # [N] E_q[score] + γ H(q)


@dataclass(slots=True)
class BelievedGroup:
    """Inputs whose labels are believed under rules: a `LatentGroup`."""

    features: WeightedFeatures
    space: ChainSpace  # all labelings
    admitted: ChainSpace  # those that may be believed
    prices: Floats  # [N]
    completion: Completion
    gamma: float = 1.0
    n_jobs: int | None = None
    found: EStep | None = None  # the last one

    def refresh(self, weights: Floats) -> tuple[BelievedTerms, ...]:
        """Believe, under the rules; the cross entropy of beliefs and model."""
        return (self._e_step(weights).terms,)

    def value(self, weights: Floats) -> float:
        """Σ price · (log-sum − the value of the best q)."""
        sums = log_sums(self.space, self.features.scores(weights), n_jobs=self.n_jobs)
        return inner(self.prices, sums - self._e_step(weights).values)

    def _e_step(self, weights: Floats) -> EStep:
        """That of the last weights is not made again."""
        if self.found is not None and np.array_equal(self.found.weights, weights):
            return self.found
        began = self.completion.multipliers if isinstance(self.completion, Ruled) else None
        q = self.completion.complete(
            self.features.scores(weights),
            self.admitted,
            gamma=self.gamma,
            weights=self.prices,
            n_jobs=self.n_jobs,
        )
        terms = BelievedTerms(self.features, self.space, self.prices, q.tokens, q.start, q.end, q.transitions)
        self.found = EStep(weights.copy(), began, terms, q.values)
        return self.found

    def state(self) -> State:
        """Where the last E-step began: it is made again."""
        began = None if self.found is None else self.found.began
        return {}, {} if began is None else {"multipliers": began}

    def resume(self, state: State) -> None:
        """The next E-step is the last one, made again."""
        self.found = None
        if isinstance(self.completion, Ruled):
            arrays = state[1]
            held = array_of(arrays, "multipliers", np.float64, [None]) if "multipliers" in arrays else None
            self.completion.multipliers = held


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

"""Posterior regularisation: EM whose beliefs obey rules in expectation, of an HMM or a CRF.

With support "seen" of a CRF, inputs whose labels are believed show every label that they are admitted: any one for
Unlabeled, since the rules may come to believe it. Inputs of price 0 show nothing. The loop of a CRF is
`rounds.latent_likelihood` with a group of `rounds.believed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sidelight.core.arrays import Bytes
from sidelight.errors import DataError, Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.support_scores import SupportedFeatures
from sidelight.generative.completion import Free
from sidelight.learners import votes
from sidelight.learners.codl import RuledSpec
from sidelight.learners.hmm import HmmSpec, hmm_learner
from sidelight.learners.likelihood import LikelihoodSpec, labelled, likelihood_learner
from sidelight.learners.shared.latent_groups import LatentPlan
from sidelight.learners.shared.under_rules import completion_under_rules
from sidelight.objective.likelihood import Form, Labelled
from sidelight.rounds import Learner
from sidelight.rounds.hmm import EmOptions
from sidelight.rounds.posterior_regularization import BelievedGroup
from sidelight.spaces import ChainSpace
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

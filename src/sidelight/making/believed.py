"""Inputs whose labels are believed under rules, for posterior regularisation of a CRF.

With support "seen" they show every label that they are admitted: any one for Unlabeled, since the rules may come to
believe it. Inputs of price 0 show nothing.
"""

from __future__ import annotations

import numpy as np

from sidelight.arrays import Bytes
from sidelight.errors import Intractable
from sidelight.features.gradient import FullFeatures
from sidelight.features.supported import SupportedFeatures
from sidelight.generative.completion import Free
from sidelight.learners.believed import BelievedGroup
from sidelight.making import ruled
from sidelight.making.given import Given
from sidelight.making.hmm import to_complete
from sidelight.making.latent_groups import Plan
from sidelight.objective.likelihood import Form, Labelled
from sidelight.recipe_kinds import Believed, LogLinear
from sidelight.spaces import ChainSpace


def plan(given: Given, recipe: LogLinear | Believed) -> Plan | None:
    """What is not Gold, for recipes that learn from rules."""
    rest = to_complete(given)
    if not isinstance(recipe, Believed) or not len(rest):
        return None
    batch, gamma = given.batch(rest), recipe.gamma
    space = batch.space
    if not isinstance(space, ChainSpace):
        raise Intractable("beliefs under rules are for chains of first order; leave order out")
    prices = np.ascontiguousarray(given.prices()[rest])
    admitted: Bytes = np.ones((int(batch.starts[-1]), space.n_labels), dtype=np.uint8)
    if given.encoded.admitted is not None:
        admitted = given.encoded.admitted[given.rows.tokens_of(rest)]
    within = space if given.encoded.admitted is None else space.inside(admitted)
    completion = ruled.completion(given, beta=None, gamma=gamma) or Free()

    def make(form: Form) -> BelievedGroup:
        features = form.features(batch)
        assert isinstance(features, (FullFeatures, SupportedFeatures))
        return BelievedGroup(features, space, within, prices, completion, gamma, given.settings.n_jobs)

    return Plan((Labelled(batch, prices, admitted=admitted).shown(),), make)

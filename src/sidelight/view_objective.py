"""The joint objective of two views of the same inputs (Brefeld and Scheffer 2006; Chang 2011, section 2.5.3).

    J(w_1, w_2) = Σ_v  ½‖w_v‖² + Σ_{i labelled} C_i ℓ_v(x_i, y_i) + C_u Σ_{j unlabelled} ℓ_v(x_j, ŷ_j of the other view)

with C_i the price of Gold times the weight of an example and C_u the price of Gold times the weight of what the other
view has labelled. ℓ_v is the loss of a view's own learner: for margins max(0, max_y Δ(y, ŷ) + s(y) − s(ŷ))^p, or its
logistic form, for a CRF −log p(ŷ | x); a CRF's l1 is added too. So J is the sum of what the learners would minimise if
each had all unlabelled inputs with the labels of the other. It falls as the views agree with a larger margin.

J is not convex: the labels of each view depend on the weights of the other. It contains only Gold and unlabelled
evidence. Learners that minimise neither a margin loss nor a likelihood over whole outputs have no J.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.evidence import Gold
from sidelight.learners.likelihood import LikelihoodSpec
from sidelight.models.model import Model
from sidelight.objective.batch import Batch
from sidelight.objective.cuts import POWERS, losses_of
from sidelight.objective.margin import TargetTerms
from sidelight.spaces import Cost, sums
from sidelight.specs.fit_data import FitData
from sidelight.specs.settings import Settings
from sidelight.structures.labels.encoding import encode


def view_objective(model: Model, settings: Settings, examples: Sequence[Gold]) -> float:
    """What the learner of these settings would minimise on these examples, at the model's weights.

    >>> from sidelight import Classifier
    >>> xs, ys = [{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], ["x", "y", "y"]
    >>> fitted = Classifier(learner="crf").fit(xs, ys)
    >>> examples = [Gold(x, y) for x, y in zip(xs, ys)]
    >>> settings = fitted._settings()
    >>> abs(view_objective(fitted.model_, settings, examples) - fitted.rounds_[-1].objective) < 1e-9
    True
    """
    own = settings.learner
    rows = model.prepare([example.x for example in examples], n_jobs=settings.n_jobs)
    batch = model.batch(rows, n_jobs=settings.n_jobs)
    encoded = encode(examples, model.labels, batch.starts, sequences=model.sequences)
    data_of_view = FitData(settings, examples, rows, encoded, model.structure)
    norm = 0.5 * float(model.weights @ model.weights)
    if isinstance(own, LikelihoodSpec):
        norm += own.l1 * float(np.abs(model.weights).sum())
        losses = _log_losses(batch, model.weights, encoded.targets)
    else:
        terms = TargetTerms(batch, Cost(encoded.targets, data_of_view.costs()), data_of_view.prices())
        losses = losses_of(terms.worst(model.weights).values, POWERS[settings.loss])
    return norm + float(data_of_view.prices() @ losses)


def _log_losses(batch: Batch, weights: Floats, targets: Ids) -> Floats:
    """−log p of the targets. Targets that this view forbids may score above all others; then their loss is 0. # [N]"""
    under = batch.scores(weights)
    return np.maximum(sums.log_sums(batch.space, under, n_jobs=batch.n_jobs) - batch.score(weights, targets), 0.0)

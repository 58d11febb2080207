"""The model of tokens, classes or segments that is meant: of a fitted estimator, or itself."""

from __future__ import annotations

from typing import Any

from sidelight.errors import DataError, NotFitted
from sidelight.models.model import Model


def model_of(fitted: Any) -> Model:
    """The model of a fitted `Tagger`, `Classifier` or `SegmentTagger`, or a model as it is.

    Raises `NotFitted` for an estimator that was not fitted, `DataError` for what has no such model.
    """
    model = getattr(fitted, "model_", fitted)
    if isinstance(model, Model):
        return model
    name = type(fitted).__name__
    if hasattr(fitted, "fit") and not hasattr(fitted, "model_") and not hasattr(fitted, "first"):
        raise NotFitted(f"this {name} has not been fitted; call fit first")
    remedy = "give a Tagger, a Classifier, a SegmentTagger or a model; of CoTraining, first_ or second_"
    raise DataError(f"a {name} has no weights of features", remedy=remedy)

"""Structured predictors learned from whatever supervision there is."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from sidelight.describe import describe  # at once: modules of the same names would hide these functions
from sidelight.evaluate import compare, evaluate

if TYPE_CHECKING:
    from sidelight import annotation_tools, data, features, interop, recipes, rules
    from sidelight.core.records import Round
    from sidelight.errors import (
        DataError,
        Infeasible,
        Intractable,
        ModelFileError,
        NotFitted,
        PlaceError,
        SidelightError,
    )
    from sidelight.estimators.aligner import Aligner
    from sidelight.estimators.co_training import CoTraining
    from sidelight.estimators.constrained import Constrained, HandedScores
    from sidelight.estimators.evidence_worth import worth
    from sidelight.estimators.joint import Joint
    from sidelight.estimators.latent_classifier import LatentClassifier
    from sidelight.estimators.predictor import Predictor
    from sidelight.estimators.segment_tagger import SegmentTagger
    from sidelight.estimators.sequential_learner import SequentialLearner
    from sidelight.estimators.taggers import Classifier, Tagger
    from sidelight.evaluate.gold_folds import GoldFolds
    from sidelight.evidence import (
        Candidates,
        Chunk,
        Companion,
        Evidence,
        Gold,
        Partial,
        Unlabeled,
        Voted,
        candidates,
        companion,
        gold,
        partial,
        shuffled,
        unlabeled,
    )
    from sidelight.features import Matrix, WithDense, word_classes
    from sidelight.features.segments.segment_features import SegmentFeatures
    from sidelight.models.agreement import agree
    from sidelight.models.explain import explain
    from sidelight.models.export import export
    from sidelight.models.model import Model
    from sidelight.models.model_file import load_model, save_model
    from sidelight.models.weights import weights
    from sidelight.parallel.place import ThreadPlace
    from sidelight.parallel.ray_place import RayPlace
    from sidelight.voting import LabellingFunction, Votes, labelling_function, votes

__version__ = "0.1.0"

logging.getLogger("sidelight").addHandler(logging.NullHandler())  # silent unless the user asks for it

_PLACES = {  # where each public name lives; a module is loaded when one of its names is first used
    "sidelight": ("annotation_tools", "data", "features", "interop", "recipes", "rules"),
    "sidelight.models.agreement": ("agree",),
    "sidelight.estimators.aligner": ("Aligner",),
    "sidelight.estimators.co_training": ("CoTraining",),
    "sidelight.estimators.constrained": ("Constrained", "HandedScores"),
    "sidelight.errors": (
        "DataError",
        "Infeasible",
        "Intractable",
        "ModelFileError",
        "NotFitted",
        "PlaceError",
        "SidelightError",
    ),
    "sidelight.estimators.taggers": ("Classifier", "Tagger"),
    "sidelight.evidence": (
        "Candidates",
        "Chunk",
        "Companion",
        "Evidence",
        "Gold",
        "Partial",
        "Unlabeled",
        "Voted",
        "candidates",
        "companion",
        "gold",
        "partial",
        "shuffled",
        "unlabeled",
    ),
    "sidelight.features": ("Matrix", "WithDense", "word_classes"),
    "sidelight.features.segments.segment_features": ("SegmentFeatures",),
    "sidelight.evaluate.gold_folds": ("GoldFolds",),
    "sidelight.estimators.joint": ("Joint",),
    "sidelight.estimators.latent_classifier": ("LatentClassifier",),
    "sidelight.models.explain": ("explain",),
    "sidelight.models.export": ("export",),
    "sidelight.models.model": ("Model",),
    "sidelight.models.weights": ("weights",),
    "sidelight.models.model_file": ("load_model", "save_model"),
    "sidelight.estimators.predictor": ("Predictor",),
    "sidelight.parallel.place": ("ThreadPlace",),
    "sidelight.parallel.ray_place": ("RayPlace",),
    "sidelight.core.records": ("Round",),
    "sidelight.estimators.segment_tagger": ("SegmentTagger",),
    "sidelight.estimators.sequential_learner": ("SequentialLearner",),
    "sidelight.estimators.evidence_worth": ("worth",),
    "sidelight.voting": ("LabellingFunction", "Votes", "labelling_function", "votes"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Aligner",
    "Candidates",
    "Chunk",
    "Classifier",
    "CoTraining",
    "Companion",
    "Constrained",
    "DataError",
    "Evidence",
    "Gold",
    "GoldFolds",
    "HandedScores",
    "Infeasible",
    "Intractable",
    "Joint",
    "LabellingFunction",
    "LatentClassifier",
    "Matrix",
    "Model",
    "ModelFileError",
    "NotFitted",
    "Partial",
    "PlaceError",
    "Predictor",
    "RayPlace",
    "Round",
    "SegmentFeatures",
    "SegmentTagger",
    "SequentialLearner",
    "SidelightError",
    "Tagger",
    "ThreadPlace",
    "Unlabeled",
    "Voted",
    "Votes",
    "WithDense",
    "agree",
    "annotation_tools",
    "candidates",
    "companion",
    "compare",
    "data",
    "describe",
    "evaluate",
    "explain",
    "export",
    "features",
    "gold",
    "interop",
    "labelling_function",
    "load_model",
    "partial",
    "recipes",
    "rules",
    "save_model",
    "shuffled",
    "unlabeled",
    "votes",
    "weights",
    "word_classes",
    "worth",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'sidelight' has no attribute {name!r}")
    place = _PLACE_OF[name]
    module = importlib.import_module(f"sidelight.{name}" if place == "sidelight" else place)
    value = module if place == "sidelight" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

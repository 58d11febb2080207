"""Structured predictors learned from whatever supervision there is."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from sidelight.describe import describe  # at once: modules of the same names would hide these functions
from sidelight.evaluate import compare, evaluate
from sidelight.explain import explain
from sidelight.weights import weights

if TYPE_CHECKING:
    from sidelight import features, recipes, rules
    from sidelight.agreement import agree
    from sidelight.aligner import Aligner
    from sidelight.co_training import CoTraining
    from sidelight.constrained import Constrained, HandedScores
    from sidelight.errors import DataError, Infeasible, Intractable, ModelFileError, NotFitted, SidelightError
    from sidelight.estimators import Classifier, Tagger
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
    from sidelight.evidence_worth import worth
    from sidelight.features import Matrix, WithDense, word_classes
    from sidelight.features.segments import SegmentFeatures
    from sidelight.gold_folds import GoldFolds
    from sidelight.joint import Joint
    from sidelight.latent_classifier import LatentClassifier
    from sidelight.model import Model
    from sidelight.model_file import load_model, save_model
    from sidelight.predictor import Predictor
    from sidelight.records import Round
    from sidelight.segment_tagger import SegmentTagger
    from sidelight.voting import LabellingFunction, Votes, labelling_function, votes

__version__ = "0.1.0"

logging.getLogger("sidelight").addHandler(logging.NullHandler())  # silent unless the user asks for it

_PLACES = {  # where each public name lives; a module is loaded when one of its names is first used
    "sidelight": ("features", "recipes", "rules"),
    "sidelight.agreement": ("agree",),
    "sidelight.aligner": ("Aligner",),
    "sidelight.co_training": ("CoTraining",),
    "sidelight.constrained": ("Constrained", "HandedScores"),
    "sidelight.errors": ("DataError", "Infeasible", "Intractable", "ModelFileError", "NotFitted", "SidelightError"),
    "sidelight.estimators": ("Classifier", "Tagger"),
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
    "sidelight.features.segments": ("SegmentFeatures",),
    "sidelight.gold_folds": ("GoldFolds",),
    "sidelight.joint": ("Joint",),
    "sidelight.latent_classifier": ("LatentClassifier",),
    "sidelight.model": ("Model",),
    "sidelight.model_file": ("load_model", "save_model"),
    "sidelight.predictor": ("Predictor",),
    "sidelight.records": ("Round",),
    "sidelight.segment_tagger": ("SegmentTagger",),
    "sidelight.evidence_worth": ("worth",),
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
    "Predictor",
    "Round",
    "SegmentFeatures",
    "SegmentTagger",
    "SidelightError",
    "Tagger",
    "Unlabeled",
    "Voted",
    "Votes",
    "WithDense",
    "agree",
    "candidates",
    "companion",
    "compare",
    "describe",
    "evaluate",
    "explain",
    "features",
    "gold",
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
    found = importlib.import_module(f"sidelight.{name}" if place == "sidelight" else place)
    value = found if place == "sidelight" else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

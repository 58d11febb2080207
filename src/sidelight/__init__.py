"""Structured predictors learned from whatever supervision there is."""

from sidelight import features, recipes
from sidelight.describe import describe
from sidelight.errors import DataError, Infeasible, Intractable, ModelFileError, NotFitted, SidelightError
from sidelight.estimators import Classifier, Tagger
from sidelight.evaluate import compare, evaluate
from sidelight.evidence import (
    Candidates,
    Chunk,
    Companion,
    Evidence,
    Gold,
    Partial,
    Unlabeled,
    candidates,
    companion,
    gold,
    partial,
    shuffled,
    unlabeled,
)
from sidelight.features import Matrix, WithDense
from sidelight.model import Model
from sidelight.model_file import load_model, save_model
from sidelight.records import Round
from sidelight.segment_tagger import SegmentTagger

__version__ = "0.1.0"

__all__ = [
    "Candidates",
    "Chunk",
    "Classifier",
    "Companion",
    "DataError",
    "Evidence",
    "Gold",
    "Infeasible",
    "Intractable",
    "Matrix",
    "Model",
    "ModelFileError",
    "NotFitted",
    "Partial",
    "Round",
    "SegmentTagger",
    "SidelightError",
    "Tagger",
    "Unlabeled",
    "WithDense",
    "candidates",
    "companion",
    "compare",
    "describe",
    "evaluate",
    "features",
    "gold",
    "load_model",
    "partial",
    "recipes",
    "save_model",
    "shuffled",
    "unlabeled",
]

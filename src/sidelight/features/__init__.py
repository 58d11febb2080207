"""From inputs to rows of features, and from rows to scores and counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidelight.features.attributes import AttributeExtractor, Attributes
from sidelight.features.extractor import Extractor, restore
from sidelight.features.hashing import HashingExtractor
from sidelight.features.inputs import Matrix, MatrixSequence, WithDense
from sidelight.features.matrices import Given, MatrixExtractor
from sidelight.features.ready import chunking, emissions, spelling, window, words
from sidelight.features.templates import Templates, parse_templates, read_templates, with_classes
from sidelight.features.vocabulary import TemplateExtractor
from sidelight.features.word_classes import WordClasses, word_classes

FeatureSet = Templates | Attributes | Given

__all__ = [
    "Attributes",
    "Extractor",
    "FeatureSet",
    "Given",
    "Matrix",
    "MatrixSequence",
    "Templates",
    "WithDense",
    "WordClasses",
    "attributes",
    "chunking",
    "emissions",
    "extractor_of",
    "features_for",
    "parse_templates",
    "read_templates",
    "restore",
    "spelling",
    "window",
    "with_classes",
    "word_classes",
    "words",
]


def attributes(*, min_count: int = 1, transitions: bool = True) -> Attributes:
    """Attributes that the tokens bring themselves: dicts or lists of names."""
    return Attributes(min_count, transitions)


def features_for(x: Any) -> FeatureSet:
    """The features that suit an input when none were chosen: matrix rows, attributes of dicts, or a window of words."""
    if isinstance(x, MatrixSequence):
        return Given()
    first = x[0] if len(x) else ""
    return Attributes() if isinstance(first, Mapping) else window()


def extractor_of(features: FeatureSet) -> Extractor:
    """A fresh extractor for a set of features."""
    if isinstance(features, Given):
        return MatrixExtractor(features)
    if isinstance(features, Attributes):
        return AttributeExtractor(features)
    return TemplateExtractor(features) if features.hash_bits is None else HashingExtractor(features)

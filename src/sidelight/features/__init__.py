"""From inputs to rows of features, and from rows to scores and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.features.attributes import AttributeExtractor, Attributes
from sidelight.features.extractor import Extractor, restore
from sidelight.features.hashing import HashingExtractor
from sidelight.features.inputs import Matrix, MatrixSequence, WithDense
from sidelight.features.matrices import Given, MatrixExtractor
from sidelight.features.ready import chunking, emissions, spelling, standard, window, words
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
    "standard",
    "window",
    "with_classes",
    "word_classes",
    "words",
]


def attributes(*, min_count: int = 1, transitions: bool = True) -> Attributes:
    """Attributes that the tokens bring themselves: dicts or lists of names."""
    return Attributes(min_count, transitions)


def features_for(xs: Sequence[Any], *, min_count: int = 1, hash_bits: int | None = None) -> FeatureSet:
    """The features that suit inputs when none were chosen: matrix rows, attributes of dicts, `standard()` for words.

    >>> features_for([["light", "on"]]) == standard(), features_for([[("on", "RP")]]) == standard(columns=2)
    (True, True)
    """
    first = next((x for x in xs if len(x)), "")
    if isinstance(first, MatrixSequence):
        return Given()
    token = first[0] if len(first) else ""
    if isinstance(token, Mapping):
        return Attributes(min_count)
    columns = len(token) if isinstance(token, (tuple, list)) and len(token) else 1
    return standard(columns, min_count=min_count, hash_bits=hash_bits)


def extractor_of(features: FeatureSet) -> Extractor:
    """A fresh extractor for a set of features."""
    if isinstance(features, Given):
        return MatrixExtractor(features)
    if isinstance(features, Attributes):
        return AttributeExtractor(features)
    return TemplateExtractor(features) if features.hash_bits is None else HashingExtractor(features)

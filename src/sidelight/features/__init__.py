"""From inputs to rows of features, and from rows to scores and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from sidelight.core.checks import arguments_checked
from sidelight.core.file_contents import text_of
from sidelight.errors import DataError
from sidelight.features.attributes.attributes import AttributeExtractor, Attributes
from sidelight.features.extractor import Extractor
from sidelight.features.hashing import HashingExtractor
from sidelight.features.inputs import Matrix, MatrixSequence, WithDense, check_sequences, kinds_in, lists_are_attributes
from sidelight.features.matrices import GivenMatrix, MatrixExtractor
from sidelight.features.template_sets import chunking, emissions, spelling, standard, window, words
from sidelight.features.vocabulary import TemplateExtractor
from sidelight.features.words.distributional import WordClasses, word_classes
from sidelight.features.words.templates import Templates, parse_templates, read_templates, with_classes

FeatureSet = Templates | Attributes | GivenMatrix

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


@arguments_checked
def features_for(xs: Sequence[Any], *, min_count: int = 1, hash_bits: int | None = None) -> FeatureSet:
    """The default features for inputs: matrix rows, attributes of dicts, `standard()` for words.

    Tokens that are lists are columns, or names of attributes if most of their strings read name=value; raises
    `DataError` if this is ambiguous.

    >>> features_for([["light", "on"]]) == standard(), features_for([[("on", "RP")]]) == standard(columns=2)
    (True, True)
    """
    if isinstance(xs, Matrix) or any(isinstance(x, MatrixSequence) for x in xs):
        return GivenMatrix()
    check_sequences(xs)
    kinds = kinds_in(xs)
    if len(kinds) > 1:
        raise DataError(f"tokens are {' and '.join(sorted(kinds))}", remedy="give all tokens in the same form")
    if kinds == {"dicts"} or (kinds == {"lists"} and lists_are_attributes(xs)):
        return Attributes(min_count)
    columns = len(next(x[0] for x in xs if len(x))) if kinds == {"lists"} else 1
    return standard(max(1, columns), min_count=min_count, hash_bits=hash_bits)


def extractor_of(features: FeatureSet) -> Extractor:
    """A fresh extractor for a set of features."""
    if isinstance(features, GivenMatrix):
        return MatrixExtractor(features)
    if isinstance(features, Attributes):
        return AttributeExtractor(features)
    return TemplateExtractor(features) if features.hash_bits is None else HashingExtractor(features)


def restore(spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Extractor:
    """The extractor that `state` described; raises `ModelFileError` if it makes no sense."""
    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], Extractor]] = {
        "templates": TemplateExtractor.restored,
        "hashing": HashingExtractor.restored,
        "attributes": AttributeExtractor.restored,
        "matrix": MatrixExtractor.restored,
    }
    return kinds[text_of(spec, "kind", among=tuple(kinds))](spec, tensors)

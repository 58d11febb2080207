"""What turns inputs into rows: the learned side of a set of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import text_of
from sidelight.errors import DataError
from sidelight.features.rows import Rows

Tensors = dict[str, NDArray[Any]]


class Extractor(Protocol):
    """Numbers the features of inputs. `grow` may add attributes, `rows` never does."""

    @property
    def n_attributes(self) -> int: ...

    @property
    def n_dense(self) -> int: ...

    @property
    def transitions(self) -> bool: ...

    def copy(self) -> Extractor:
        """One that can grow without changing this one."""
        ...

    def grow(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        """The rows of a batch; features not seen before get new numbers."""
        ...

    def rows(self, xs: Sequence[Any], *, n_jobs: int | None = None) -> Rows:
        """The rows of a batch; unknown features are left out."""
        ...

    def name(self, attribute: int) -> str:
        """The name of an attribute, for people."""
        ...

    def state(self) -> tuple[dict[str, Any], Tensors]:
        """What a model file keeps: JSON values and arrays."""
        ...


def check_dense(rows: Rows, expected: int) -> Rows:
    """Refuse dense rows of another width than the model's."""
    if rows.dense.shape[1] != expected:
        raise DataError(
            f"dense rows with {rows.dense.shape[1]} dimensions where the model has {expected}",
            remedy="give the same kind of dense rows as in training",
        )
    return rows


def restore(spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Extractor:
    """The extractor that `state` described; raises `ModelFileError` where it makes no sense."""
    from sidelight.features.attributes.attributes import AttributeExtractor
    from sidelight.features.hashing import HashingExtractor
    from sidelight.features.matrices import MatrixExtractor
    from sidelight.features.vocabulary import TemplateExtractor

    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], Extractor]] = {
        "templates": TemplateExtractor.restored,
        "hashing": HashingExtractor.restored,
        "attributes": AttributeExtractor.restored,
        "matrix": MatrixExtractor.restored,
    }
    return kinds[text_of(spec, "kind", among=tuple(kinds))](spec, tensors)


NO_VALUES = np.empty(0)

"""Extractors: the learned part of a set of features, which turns inputs into rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from sidelight.errors import UnknownFeatures
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
        """The state for model files: JSON values and arrays."""
        ...


TOKENS = 20  # fewer say little
SHARE = 0.05


def warn_where_unknown(known: int, unknown: int, *, tokens: int) -> None:
    """Warn where the model knows nearly none of the features of a batch, constant ones left out of both numbers."""
    total = known + unknown
    if tokens >= TOKENS and total >= tokens and known < SHARE * total:
        warnings.warn(
            f"the model knows {known:,} of the {total:,} features of the inputs, so its answers mean little; give "
            "inputs that are written as those it was trained on",
            UnknownFeatures,
            stacklevel=4,
        )
